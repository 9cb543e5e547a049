"""Zhang 2020, lecture 7, part 3: how many queries, and lower bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import Annotated

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.special import ndtri_exp

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, Power
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.theory.laws.gaussian_curve import gaussian_delta

AllSubsets = Annotated[bool, "whether exponentially many means all 2^n subset queries"]
Coordinated = Annotated[bool, "whether the noise of the answers is coordinated"]
LogDatabases = Annotated[
    int, "2^s databases are distinguished (all combinations are listed)", Within(1, 2)
]
Offset = Annotated[int, "what is taken off", Within(-(10**6), 10**6)]
Databases = Annotated[
    int, "databases that are tried, or distinguished (all combinations are listed)", Within(2, 6)
]
Success = Annotated[float, "probability of hitting the own answer", Within(1e-6, 1.0)]

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


@claim(
    "zhang2020-queries-with-error-o-n",
    "part 3, How many queries can we answer?",
    "At fixed (ε, δ), close to n² counting queries can be answered with an error of o(n).",
    Verdict.HOLDS,
    wrong={"exponent": 2.0},
)
def vanishing_error(*, exponent: Power = 1.8, power: Power = 1.0) -> Finding:
    """For n^exponent queries the error over n^power falls all along, a hundredfold in all.

    Any exponent below 2 ``power`` would do, only later, and 2 ``power`` itself does not.
    """
    ratios = relative_errors(lambda n: n**exponent, lambda n: n**power)
    falls = all(b < a for a, b in pairwise(ratios))
    return statement(
        falls and ratios[-1] < ratios[0] / 100,
        f"n^{exponent:g} queries, error / n^{power:g}, n from 1e3 to 1e30: error ratio "
        + ", ".join(map(number, ratios)),
    )


claim(
    "zhang2020-queries-with-error-o-sqrt-n",
    "part 3, How many queries can we answer?",
    "At fixed (ε, δ), close to n counting queries can be answered with an error of o(√n).",
    Verdict.HOLDS,
    wrong={"exponent": 1.0},
    given={"exponent": 0.8, "power": 0.5},
)(vanishing_error)


@claim(
    "zhang2020-queries-meet-attack",
    "part 3, How many queries can we answer?",
    "These limits and the attack of Theorem 2 agree: to its n (log n)² queries the private answers "
    "that reach them err by more than √n. (ours)",
    Verdict.HOLDS,
    wrong={"power": 0.5},
)
def limits_meet_attack(*, power: Power = 1.0) -> Finding:
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


def least_error_of_all_subsets(n: float, epsilon: float, delta: float) -> float:
    """An error in rows that no (epsilon, delta)-DP answers to all 2^n subset queries stay within.

    Theorem 1 of the lecture: answers within E reveal all rows but 4E, and no guess of a random row
    is right with probability above e^ε/(1+e^ε) + δ.
    """
    return n * (1.0 - (math.exp(epsilon) / (1.0 + math.exp(epsilon)) + delta)) / 4.0


@claim(
    "zhang2020-exponentially-many-queries",
    "part 3, How many queries can we answer?",
    "By coordinating the noise an exponential number of queries can be answered with noise only "
    "slightly larger than o(√n); we read it as 2^n queries, n the size of the database.",
    Verdict.FAILS,
    wrong={"all_subsets": False},
    fault=Fault.READING,
)
def exponentially_many(*, all_subsets: AllSubsets = True) -> Finding:
    """The power of n with which the error must grow for all 2^n subset queries, by Theorem 1.

    The wrong variant is another reading, e^((ln n)²) queries on a universe of a million: there
    the error of coordinated noise decides. Slightly larger means a power below 0.55,
    from n = 1e20 to 1e30 where logarithms matter little.
    """
    sizes = (1e20, 1e30)
    log_errors = [
        math.log(
            least_error_of_all_subsets(n, 1.0, 1e-6)
            if all_subsets
            else coordinated_error(n, math.log(n) ** 2, math.log(1e6))
        )
        for n in sizes
    ]
    power = (log_errors[1] - log_errors[0]) / math.log(sizes[1] / sizes[0])
    least = least_error_of_all_subsets(1.0, 1.0, 1e-6)
    return statement(
        power < 0.55,
        f"the error grows like n^{power:.3f} from n = 1e20 to 1e30",
        printed="exponentially many queries, noise little above o(√n); in what they are "
        "exponential is not said",
        right=f"all 2^n subset queries take an error of at least {number(least)} n rows at "
        "(1, 1e-6), or by Theorem 1 too many rows are known",
        note="the other reading is true: zhang2020-many-more-queries",
    )


@claim(
    "zhang2020-many-more-queries",
    "part 3, How many queries can we answer?",
    "By coordinating the noise far more than n² queries, here e^((ln n)²), get an error only "
    "slightly larger than √n.",
    Verdict.HOLDS,
    wrong={"coordinated": False},
)
def many_more_queries(*, coordinated: Coordinated = True) -> Finding:
    """With what power of n the error grows, as above; independent noise is near √queries."""
    if coordinated:
        return exponentially_many(all_subsets=False)
    power = (math.log(1e30) ** 2 - math.log(1e20) ** 2) / 2 / math.log(1e10)
    return statement(power < 0.55, f"the error grows like n^{power:.3f} from n = 1e20 to 1e30")


def hypercube(bits: int) -> tuple[np.ndarray, np.ndarray]:
    """All vectors of bits, shape (2^bits, bits), and the ordered pairs of neighbours among them."""
    vectors = np.array(list(product((0, 1), repeat=bits)))
    apart = np.abs(vectors[:, None] - vectors[None, :]).sum(axis=2)
    return vectors, np.argwhere(apart == 1)


def exists(neighbours: np.ndarray, targets: Sequence[int], success: float, epsilon: float) -> bool:
    """Whether some epsilon-DP mechanism hits the answer of each target with ``success``.

    A linear program in the probabilities of one answer per target on every database, of which
    ``neighbours`` lists the ordered pairs of neighbours, shape (pairs, 2).
    """
    size, answers = int(neighbours.max()) + 1, len(targets)
    pairs = np.repeat(neighbours, answers, axis=0)
    columns, rows = np.tile(range(answers), len(neighbours)), np.arange(len(pairs))
    ratios = np.zeros((len(pairs), size * answers))
    ratios[rows, pairs[:, 0] * answers + columns] = 1.0
    ratios[rows, pairs[:, 1] * answers + columns] = -math.exp(epsilon)
    least = np.zeros((size, answers))
    least[list(targets), range(answers)] = success
    sums = np.kron(np.eye(size), np.ones(answers))
    bounds = [(low, 1.0) for low in least.ravel()]
    solved = linprog(
        np.zeros(size * answers), ratios, np.zeros(len(pairs)), sums, np.ones(size), bounds
    )
    return bool(solved.status == 0)


def least_epsilon(neighbours: np.ndarray, targets: Sequence[int], success: float) -> float:
    """The least epsilon at which such a mechanism exists, by bisection to 1e-6."""
    low, high = 0.0, 16.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        found = exists(neighbours, targets, success, middle)
        low, high = (low, middle) if found else (middle, high)
    return high


def all_neighbours(databases: int) -> np.ndarray:
    """The ordered pairs of databases that are all neighbours of one another."""
    return np.argwhere(~np.eye(databases, dtype=bool))


@claim(
    "zhang2020-pigeonhole",
    "part 3, The pigeonhole principle",
    "If 2^s databases at distance Δ of one another each get an answer of their own with "
    "probability 1/2, then ε ≥ ln(2)(s-1)/Δ.",
    Verdict.NOT_TIGHT,
    wrong={"offset": -1},
)
def pigeonhole(*, s: LogDatabases = 2, offset: Offset = 1) -> Finding:
    """The least ε over all mechanisms on {0, 1}^(2^s), by linear program, against the print.

    The databases are the vectors with a single 1, at distance Δ = 2 of one another; between them
    lie all the others, which the mechanism must serve too.
    """
    vectors, neighbours = hypercube(2**s)
    targets = np.flatnonzero(vectors.sum(axis=1) == 1)
    distance = int(np.abs(vectors[targets[0]] - vectors[targets[1]]).sum())
    least = least_epsilon(neighbours, targets.tolist(), 0.5)
    printed = math.log(2) * (s - offset) / distance
    return upper_bound(
        printed,
        least,
        "printed bound on ε",
        printed=f"ε ≥ {number(printed)}",
        right=f"ε = {number(least)} is enough",
        note=f"s = {s}, Δ = {distance}; counting the database's own answer as well gives "
        f"ln(2^s - 1)/Δ = {number(math.log(2**s - 1) / distance)}",
    )


@claim(
    "zhang2020-lower-bound-idea",
    "part 3, Lower bounds for differential privacy",
    "If answers are reasonably close to the truth with even moderate probability, ε cannot be "
    "very small.",
    Verdict.HOLDS,
    wrong={"success": 0.25},
)
def lower_bound_idea(*, databases: Databases = 4, success: Success = 0.5) -> Finding:
    """The least ε at a success of 1/2 and of the 1/4 that guessing alone has."""
    least = least_epsilon(all_neighbours(databases), range(databases), success)
    return statement(
        least > 0.01,
        f"hitting each of {databases} disjoint regions with probability {number(success)} takes "
        f"ε = {number(least)}",
    )


@claim(
    "zhang2020-offline-limits",
    "part 1, Model of Computation, offline",
    "With no information about the queries, accurate answers to all possible ones are infeasible.",
    Verdict.HOLDS,
    wrong={"epsilon": 12.0},
)
def offline_limits(*, epsilon: Epsilon = 1.0, delta: Delta = 1e-6) -> Finding:
    """The least error of private answers to all subset queries, as a share of the rows.

    Accurate means here an error below one row in a hundred. At a large ε the argument is void.
    """
    least = least_error_of_all_subsets(1.0, epsilon, delta)
    return statement(
        least > 0.01,
        f"some answer errs by {100 * least:.3g}% of the rows or more at ({epsilon:g}, {delta:g})",
    )
