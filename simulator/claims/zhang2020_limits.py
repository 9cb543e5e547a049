"""Zhang 2020, lecture 7, part 3: how many queries, and lower bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.special import ndtri_exp

from simulator.claims.findings import number, statement, upper_bound
from simulator.claims.model import Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.sources import ZHANG_2020
from simulator.theory.gaussian import gaussian_delta

SIZES = tuple(10.0**exponent for exponent in (3, 6, 12, 20, 30))


def largest_error(queries: float, epsilon: float, delta: float, failure: float) -> float:
    """Error that no counting answer passes but with probability ``failure``, by Gaussian noise.

    The noise is the least that makes ``queries`` adaptive answers (ε, δ)-DP together: μ² adds up
    (Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2022, Corollary 3.3).
    """
    mu = float(brentq(lambda m: gaussian_delta(m, epsilon) / delta - 1.0, 1e-6, 10.0))
    sigma = math.sqrt(queries) / mu
    return -float(ndtri_exp(math.log(failure / (2 * queries)))) * sigma


def relative_errors(
    queries: Callable[[float], float], scale: Callable[[float], float]
) -> list[float]:
    """Largest error over ``scale`` for databases of growing size, at ε = 1, δ = 1e-6, 95%."""
    return [largest_error(queries(n), 1.0, 1e-6, 0.05) / scale(n) for n in SIZES]


def vanishing(ratios: list[float], asked: str) -> Finding:
    """Judge that an error is of smaller order: the ratios fall all along, a hundredfold in all."""
    falls = all(b < a for a, b in pairwise(ratios))
    shown = ", ".join(number(ratio) for ratio in ratios)
    return statement(
        falls and ratios[-1] < ratios[0] / 100, f"{asked}, n from 1e3 to 1e30: error ratio {shown}"
    )


@claim(
    "zhang2020-queries-with-error-o-n",
    ZHANG_2020,
    "part 3, How many queries can we answer?",
    "At fixed (ε, δ), close to n² counting queries can be answered with an error of o(n).",
    Verdict.HOLDS,
    wrong={"exponent": 2.0},
)
def error_o_n(*, exponent: float = 1.8) -> Finding:
    """n^1.8 queries; any power below 2 would do, only later, and 2 itself does not."""
    return vanishing(
        relative_errors(lambda n: n**exponent, lambda n: n), f"n^{exponent:g} queries, error / n"
    )


@claim(
    "zhang2020-queries-with-error-o-sqrt-n",
    ZHANG_2020,
    "part 3, How many queries can we answer?",
    "At fixed (ε, δ), close to n counting queries can be answered with an error of o(√n).",
    Verdict.HOLDS,
    wrong={"exponent": 1.0},
)
def error_o_sqrt_n(*, exponent: float = 0.8) -> Finding:
    """n^0.8 queries; any power below 1 would do, only later, and 1 itself does not."""
    return vanishing(
        relative_errors(lambda n: n**exponent, math.sqrt), f"n^{exponent:g} queries, error / √n"
    )


@claim(
    "zhang2020-queries-meet-attack",
    ZHANG_2020,
    "part 3, How many queries can we answer?",
    "These limits and the attack of Theorem 2 agree: for its n (log n)² queries privacy needs an "
    "error above √n.",
    Verdict.HOLDS,
    wrong={"power": 0.5},
)
def limits_meet_attack(*, power: float = 1.0) -> Finding:
    """The error of the private answers over √n, for (n log² n)^power queries."""
    ratios = relative_errors(lambda n: (n * math.log2(n) ** 2) ** power, math.sqrt)
    return statement(
        min(ratios) > 1.0 and ratios[-1] >= ratios[0],
        "n (log n)² queries, n from 1e3 to 1e30: error / √n " + ", ".join(map(number, ratios)),
    )


def exponential_many_error(n: float, log_queries: float, log_universe: float) -> float:
    """Error of a synthetic database chosen by the exponential mechanism at ε = 1, 95%.

    A random database of m rows errs by at most √(n² (ln 2 + ln queries)/(2m)) on all queries for
    some m (Hoeffding), so one of universe^m does; the choice adds 2(m ln universe + 3). The best
    m is taken. Source: Blum, Ligett and Roth 2008; Dwork and Roth 2014, Theorem 4.2.
    """
    rows = np.geomspace(1.0, n, 400)
    sampling = n * np.sqrt((math.log(2) + log_queries) / (2 * rows))
    return float((sampling + 2 * (rows * log_universe + 3.0)).min())


@claim(
    "zhang2020-exponentially-many-queries",
    ZHANG_2020,
    "part 3, How many queries can we answer?",
    "Coordinated noise answers exponentially many queries with an error far below n, where "
    "independent noise, of the order of √queries, is of no use.",
    Verdict.HOLDS,
    wrong={"log_queries_power": 1.2},
)
def exponentially_many(*, log_queries_power: float = 0.3) -> Finding:
    """e^(n^0.3) queries on a universe of a million, at ε = 1 by a synthetic database.

    Shown is o(n) (about n^{2/3} times the third root of ln(queries)), at δ = 0. The printed
    "slightly larger than o(√n)" needs δ > 0 and private multiplicative weights, not computed here.
    """
    ratios = [exponential_many_error(n, n**log_queries_power, math.log(1e6)) / n for n in SIZES]
    return statement(
        all(b < a for a, b in pairwise(ratios)) and ratios[-1] < ratios[0] / 100,
        "error / n for n from 1e3 to 1e30: " + ", ".join(map(number, ratios)),
    )


def least_epsilon(databases: int, success: float) -> float:
    """The least ε at which some mechanism hits each of ``databases`` targets with ``success``.

    All databases are neighbours of one another. Bisection over the linear program in the
    probabilities p[i, j] of target j on database i: an independent witness of the bound.
    """
    low, high = 0.0, 40.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if exists(databases, success, middle) else (middle, high)
    return high


def exists(databases: int, success: float, epsilon: float) -> bool:
    """Whether the linear program has a mechanism: rows add to 1, ratios within e^ε."""
    m = databases
    rows, limits = [], []
    for j in range(m):
        for i in range(m):
            for other in range(m):
                if i != other:
                    row = np.zeros((m, m))
                    row[i, j], row[other, j] = 1.0, -math.exp(epsilon)
                    rows.append(row.ravel())
                    limits.append(0.0)
    sums = np.kron(np.eye(m), np.ones(m))
    bounds = [(success if i == j else 0.0, 1.0) for i in range(m) for j in range(m)]
    solved = linprog(
        np.zeros(m * m), np.array(rows), limits, sums, np.ones(m), bounds, method="highs"
    )
    return bool(solved.status == 0)


@claim(
    "zhang2020-pigeonhole",
    ZHANG_2020,
    "part 3, The pigeonhole principle",
    "If 2^s databases at distance Δ of one another each get an answer of their own with "
    "probability 1/2, then ε >= ln(2)(s-1)/Δ.",
    Verdict.NOT_TIGHT,
    wrong={"offset": -1},
)
def pigeonhole(*, s: int = 2, distance: int = 1, offset: int = 1) -> Finding:
    """The least ε by linear programming, against the printed bound.

    Counting the database's own answer as well gives ε >= ln(2^s - 1)/Δ, which is attained.
    """
    least = least_epsilon(2**s, 0.5) / distance
    printed = math.log(2) * (s - offset) / distance
    sharp = math.log(2**s - 1) / distance
    return upper_bound(
        printed,
        least,
        "printed lower bound on ε",
        printed=f"ε >= {number(printed)}",
        right=f"the least ε is {number(least)}",
        note=f"s = {s}, Δ = {distance}: ln(2^s - 1)/Δ = {number(sharp)}, by linear program "
        f"{number(least)}",
    )


@claim(
    "zhang2020-lower-bound-idea",
    ZHANG_2020,
    "part 3, Lower bounds for differential privacy",
    "If answers are reasonably close to the truth with even moderate probability, ε cannot be "
    "very small.",
    Verdict.HOLDS,
    wrong={"success": 0.25},
)
def lower_bound_idea(*, databases: int = 4, success: float = 0.5) -> Finding:
    """The least ε at a success of 1/2 and of the 1/4 that guessing alone has."""
    least = least_epsilon(databases, success)
    return statement(
        least > 0.01,
        f"hitting each of {databases} disjoint regions with probability {number(success)} takes "
        f"ε = {number(least)}",
    )
