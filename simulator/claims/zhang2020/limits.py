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
from simulator.theory.gaussian_curve import gaussian_delta

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


def vanishing(ratios: list[float], what: str) -> Finding:
    """Judge that an error is of smaller order: the ratios fall all along, a hundredfold in all."""
    falls = all(b < a for a, b in pairwise(ratios))
    shown = ", ".join(number(ratio) for ratio in ratios)
    return statement(
        falls and ratios[-1] < ratios[0] / 100, f"{what}, n from 1e3 to 1e30: error ratio {shown}"
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


def coordinated_error(n: float, log_queries: float, log_universe: float) -> float:
    """Error of multiplicative weights with private choices, at (1, 1e-6), 95%.

    Each of T steps chooses a query by the exponential mechanism and measures it by Laplace, both
    at ε0; 2T such rounds are T ε0²-zCDP together. The potential argument leaves an error of
    2n √(ln universe / T) besides the errors of the choice, 2(ln queries + t)/ε0, and of the
    measurement, t/ε0, each step failing with probability e^-t. The best T is taken. Sources:
    Hardt, Ligett and McSherry 2012, Theorem 2.2; Bun and Steinke 2016, Propositions 1.3 and 1.4.
    """
    log_inverse_delta = math.log(1e6)
    rho = (math.sqrt(log_inverse_delta + 1.0) - math.sqrt(log_inverse_delta)) ** 2
    steps = np.geomspace(1.0, 1e4 * n, 600)
    t = np.log(2 * steps / 0.05)
    potential = 2 * n * np.sqrt(log_universe / steps)
    return float((potential + (2 * log_queries + 3 * t) * np.sqrt(steps / rho)).min())


@claim(
    "zhang2020-many-more-queries",
    ZHANG_2020,
    "part 3, How many queries can we answer?",
    "By coordinating the noise far more than n² queries get an error little above √n.",
    Verdict.HOLDS,
    wrong={"coordinated": False},
)
def many_more_queries(*, coordinated: bool = True) -> Finding:
    """e^((ln n)²) queries on a universe of a million: with what power of n the error grows.

    Little above √n means here a power below 0.55, from n = 1e20 to 1e30 where logarithms matter
    little. Independent noise is of the order of √queries.
    """
    sizes = (1e20, 1e30)
    log_errors = [
        math.log(coordinated_error(n, math.log(n) ** 2, math.log(1e6)))
        if coordinated
        else math.log(n) ** 2 / 2
        for n in sizes
    ]
    power = (log_errors[1] - log_errors[0]) / math.log(sizes[1] / sizes[0])
    return statement(
        power < 0.55,
        f"the error grows like n^{power:.3f} from n = 1e20 to 1e30, at e^((ln n)²) queries",
    )


@claim(
    "zhang2020-exponentially-many-queries",
    ZHANG_2020,
    "part 3, How many queries can we answer?",
    "An exponential number of queries, such as all 2^n subset queries, can be answered privately "
    "with an error only slightly larger than √n.",
    Verdict.FAILS,
    wrong={"power": 0.9},
)
def exponentially_many(*, n: float = 1e6, power: float = 0.5) -> Finding:
    """Theorem 1 of the same lecture forbids it: such answers give most of the rows away.

    Slightly larger: n^power ln n. Under (1, 1e-6)-DP nobody guesses a random row right more often
    than with probability e/(1+e) + δ.
    """
    error = n**power * math.log(n)
    recovered = max(0.5, 1.0 - 4.0 * error / n)
    allowed = math.e / (1 + math.e) + 1e-6
    return upper_bound(
        recovered,
        allowed,
        "fraction of rows known",
        printed=f"2^n queries with an error of √n ln n = {number(error)} rows, n = {number(n)}",
        right=f"then {100 * recovered:.1f}% of the rows are known where {100 * allowed:.1f}% may "
        "be; 2^n subset queries need an error of the order of n",
        note="read as exponential in n, the only size on the slide; coordinated noise errs by "
        "√(n ln queries) or so, so e^((ln n)²) queries are possible, 2^n are not",
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
    "probability 1/2, then ε ≥ ln(2)(s-1)/Δ.",
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
        "printed bound on ε",
        printed=f"ε ≥ {number(printed)}",
        right=f"ε = {number(least)} is enough",
        note=f"s = {s}, Δ = {distance}; the least ε is that of a linear program, and "
        f"ln(2^s - 1)/Δ = {number(sharp)}",
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
