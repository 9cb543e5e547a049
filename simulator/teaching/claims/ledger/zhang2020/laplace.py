"""Zhang 2020, lecture 7, part 2: the Laplace mechanism and its accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain, combinations
from typing import Annotated

import numpy as np
from scipy.integrate import quad
from scipy.stats import laplace

from simulator.data.databases import REPLACE_ONE, Database
from simulator.data.queries import function_query, histogram_query
from simulator.foundations.knobs import Within
from simulator.mechanisms import Laplace
from simulator.teaching.claims.findings import equal, number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import challenges, play
from simulator.teaching.claims.ledger.shared.parameters import (
    Constant,
    Delta,
    Epsilon,
    Factor,
    NoiseFactor,
    Seed,
)
from simulator.teaching.claims.ledger.theorems.sensitivity import histogram_sensitivity
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import largest_loss_seen
from simulator.theory import PureDP

Scale = Annotated[float, "scale of the noise", Within(1e-6, 1e9)]
LogFailure = Annotated[float, "the bound allows a failure of e^-t", Within(1e-6, 500.0)]
Rate = Annotated[float, "the exponent is multiplied by it", Within(0.0, 100.0)]
Coordinates = Annotated[int, "coordinates of the query", Within(1, 10**5)]
Names = Annotated[int, "names that are counted", Within(1, 10**9)]
Failure = Annotated[float, "probability that some answer errs by more", Within(1e-12, 1.0)]
Threshold = Annotated[float, "the number that is compared with", Within(0.0, 1e6)]
ConditionsEach = Annotated[int, "conditions that a person has at most", Within(1, 12)]
Sensitivity = Annotated[float, "L1 sensitivity that the noise is made for", Within(1e-6, 1e6)]


@claim(
    "zhang2020-laplace-variance",
    "part 2, the Laplace distribution",
    "The Laplace distribution of scale b has variance 2b².",
    Verdict.HOLDS,
    wrong={"factor": 1.0},
)
def laplace_variance(*, scale: Scale = 1.7, factor: Factor = 2.0) -> Finding:
    """The second moment of the printed density, by quadrature on the half line."""
    # in units of the scale: quad looks for the mass near 1, and misses it where the scale is large
    second = scale**2 * 2 * quad(lambda u: u * u * math.exp(-u) / 2, 0, math.inf)[0]
    return equal(second, factor * scale**2, "variance", relative=1e-7)


@claim(
    "zhang2020-laplace-mechanism",
    "part 2, the Laplace mechanism",
    "Noise Lap(Δf/ε) in each of the k coordinates makes a query of L1 sensitivity Δf (ε, 0)-DP.",
    Verdict.HOLDS,
    wrong={"noise": 0.5},
)
def laplace_mechanism(
    *, epsilon: Epsilon = 0.6, noise: NoiseFactor = 1.0, seed: Seed = 1
) -> Finding:
    """A histogram played at ``noise`` times the stated scale: the largest loss of any answer.

    The supremum of the loss is |f(x) - f(y)|_1 / b, reached where every coordinate's noise
    points away from the other database.
    """
    bins = ("asthma", "flu", "none")
    without = Database({"asthma": 3, "flu": 8, "none": 20})
    mechanism = Laplace(histogram_query(bins), epsilon / noise)
    with_alice = without.add("flu")
    result = play(
        challenges((without, with_alice, mechanism)), PureDP(2 * epsilon), 1, 1000, seed=seed
    )
    far = np.array([0.0, -50.0, 0.0])
    return upper_bound(
        max(mechanism.pair(without, with_alice).loss(far), largest_loss_seen(result)),
        epsilon,
        "largest privacy loss",
        note="the three-bin histogram of 31 people, 2000 plays",
    )


@claim(
    "zhang2020-fact-3.7",
    "part 2, Fact 3.7",
    "Laplace noise of scale b is at least tb in absolute value with probability e^-t.",
    Verdict.HOLDS,
    wrong={"rate": 0.5},
)
def fact_3_7(*, scale: Scale = 2.5, t: LogFailure = 3.2, rate: Rate = 1.0) -> Finding:
    """Both tails of scipy's Laplace law."""
    tails = 2 * float(laplace.sf(t * scale, scale=scale))
    return equal(tails, math.exp(-rate * t), f"Pr[|Y| ≥ {number(t)}b]")


def tail_of_largest(k: int, threshold: float) -> float:
    """Pr[max of k independent |Lap(1)| >= threshold], exactly."""
    return -math.expm1(k * math.log1p(-math.exp(-threshold)))


@claim(
    "zhang2020-theorem-3.8",
    "part 2, Theorem 3.8",
    "All k answers of the Laplace mechanism err by less than ln(k/δ) Δf/ε with probability "
    "at least 1-δ.",
    Verdict.NOT_TIGHT,
    wrong={"constant": 0.5},
)
def theorem_3_8(*, k: Coordinates = 20, delta: Delta = 0.2, constant: Constant = 1.0) -> Finding:
    """The exact tail 1-(1-δ/k)^k, below δ by the slack of the union bound."""
    tail = tail_of_largest(k, constant * math.log(k / delta))
    return upper_bound(tail, delta, "Pr[largest error ≥ ln(k/δ) Δf/ε]", note=f"k = {k}")


@claim(
    "zhang2020-first-names",
    "part 2, example of first names",
    "The counts of 10,000 names with (1, 0)-DP: with probability 95% none is off by more than "
    "ln(10000/0.05), about 12.2.",
    Verdict.HOLDS,
    wrong={"threshold": 10.0},
)
def first_names(
    *, names: Names = 10_000, failure: Failure = 0.05, threshold: Threshold = 12.2
) -> Finding:
    """The number itself, and the exact probability of an error beyond the rounded number."""
    exact = math.log(names / failure)
    tail = tail_of_largest(names, threshold)
    return statement(
        round(exact, 1) == threshold and tail <= failure,
        f"ln({names}/{failure:g}) = {number(exact)}; some error passes {threshold} with "
        f"probability {number(tail)}",
    )


claim(
    "zhang2020-histogram-sensitivity",
    "part 2, example of first names",
    "A histogram has L1 sensitivity 1, neighbours being at distance |x-y|_1 ≤ 1. (The lecture also "
    "draws neighbours that differ in one row; replacing a row moves two bins.)",
    Verdict.HOLDS,
    wrong={"relation": REPLACE_ONE},
)(histogram_sensitivity)


def condition_counts(m: int) -> Callable[[Database], np.ndarray]:
    """A query: how many people have each of m conditions; a record is a person's set of them."""

    def count(database: Database) -> np.ndarray:
        total = np.zeros(m)
        for person, times in database.records():
            total[list(person)] += times  # type: ignore[call-overload]
        return total

    return count


@claim(
    "zhang2020-most-common-condition",
    "part 2, example of the most common condition",
    "Counting m conditions, of which a person may have any number, has L1 sensitivity m.",
    Verdict.HOLDS,
    wrong={"conditions_each": 1},
)
def most_common_condition(
    *,
    m: Annotated[int, "counted conditions (all combinations are listed)", Within(1, 6)] = 4,
    conditions_each: ConditionsEach = 4,
) -> Finding:
    """Add each possible person to each of some databases; people have limited conditions."""
    sets = chain.from_iterable(combinations(range(m), r) for r in range(conditions_each + 1))
    people = list(sets)
    count = condition_counts(m)
    base = Database([people[-1], people[1], people[1]])
    change = max(float(np.abs(count(base.add(p)) - count(base)).sum()) for p in people)
    return equal(change, float(m), "sensitivity", note=f"m = {m}")


@claim(
    "zhang2020-noisy-counts-not-released",
    "part 2, example of the most common condition",
    "With the noise Lap(1/ε) of report noisy max, the m noisy counts themselves must not be "
    "released: they would not be ε-DP.",
    Verdict.HOLDS,
    wrong={"sensitivity": 6.0},
)
def counts_not_released(
    *,
    m: Annotated[int, "counted conditions (all combinations are listed)", Within(1, 8)] = 6,
    epsilon: Epsilon = 0.5,
    sensitivity: Sensitivity = 1.0,
) -> Finding:
    """The loss of releasing all counts at scale ``sensitivity``/ε, when Alice has everything."""
    query = function_query(condition_counts(m), float(m))
    scaled = Laplace(query, epsilon * m / sensitivity)
    without = Database([(0,), (1, 2)])
    everything = without.add(tuple(range(m)))
    loss = abs(scaled.pair(without, everything).loss(np.full(m, -50.0)))
    return statement(
        loss > epsilon * (1 + 1e-9),
        f"loss up to {number(loss)} = mε at ε = {number(epsilon)}, m = {m}",
    )
