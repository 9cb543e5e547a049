"""Properties of DP, chapter 5: composition, its two scenarios, and the budget exercises."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.data.queries import counting_query, function_query, histogram_query
from simulator.foundations.knobs import Within
from simulator.mechanisms import Geometric, Laplace
from simulator.teaching.claims.findings import equal, number, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import (
    ALICE,
    WITH_ALICE,
    WITHOUT_ALICE,
    Playing,
    play,
)
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Factor, Power, Seed
from simulator.teaching.claims.ledger.theorems.composition import budgets_add_up
from simulator.teaching.claims.ledger.theorems.sensitivity import histogram_sensitivity
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import seen_within
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.laplace import LaplaceLaw

Two = tuple[float, float]
Epsilons = Annotated[Two, "ε of every round, or of every part"]
Trials = Annotated[int, "plays of each experiment", Within(1, 2000)]
Runs = Annotated[int, "runs of the Laplace mechanism", Within(1, 10**6)]
Cells = Annotated[int, "cells of the histogram", Within(1, 64)]
JointSensitivity = Annotated[float, "L1 sensitivity of the whole histogram", Within(0.01, 100.0)]


class Patient(NamedTuple):
    """A person, and which of three conditions they have."""

    name: str
    diabetic: bool
    hypertensive: bool
    heart: bool


_ALICE = Patient("alice", True, True, True)
_OTHERS = Database(
    {Patient("other", True, True, False): 99, Patient("else", False, False, True): 9}
)


@claim(
    "chapter5-scenario-1",
    "Scenario 1",
    "Two hospitals with overlapping data each run a mechanism: who is in both data sets is "
    "protected with ε₁+ε₂.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def hospitals(
    *, epsilons: Epsilons = (0.3, 0.2), trials: Trials = 400, share: Factor = 1.0, seed: Seed = 21
) -> Finding:
    """Played: a different pair of databases in each round, Alice in both or in none."""
    other_hospital = Database({"others": 4})

    def attacker(coins: Any) -> Playing:
        yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, epsilons[0])
        yield other_hospital, other_hospital.add("alice"), Geometric(ALICE, epsilons[1])

    result = play(attacker, PureDP(max(epsilons)), 2, trials, seed)
    return seen_within(result, share * sum(epsilons))


@claim(
    "chapter5-scenario-2",
    "Scenario 2",
    "Asking for the diabetics with high blood pressure when both counts were at least 100, else "
    "for the heart patients: the two answers together are (ε₁+ε₂)-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def follow_up(
    *, epsilons: Epsilons = (0.3, 0.2), trials: Trials = 400, share: Factor = 1.0, seed: Seed = 22
) -> Finding:
    """Played as it stands; a patient with both conditions moves the first pair of counts by 2."""
    both_counts = function_query(
        lambda data: np.array(
            [data.count(lambda p: p.diabetic), data.count(lambda p: p.hypertensive)]
        ),
        sensitivity=2.0,
        name="diabetics and hypertensives",
    )
    both = counting_query(lambda p: p.diabetic and p.hypertensive)
    heart = counting_query(lambda p: p.heart)

    def analyst(coins: Any) -> Playing:
        pair = (_OTHERS, _OTHERS.add(_ALICE))
        counts = yield (*pair, Laplace(both_counts, epsilons[0]))
        yield (*pair, Laplace(both if (counts >= 100.0).all() else heart, epsilons[1]))

    result = play(analyst, PureDP(max(epsilons)), 2, trials, seed)
    return seen_within(result, share * sum(epsilons))


claim(
    "chapter5-lemma-1-1",
    "Lemma 1.1",
    "A₁ that is ε₁-DP, then A₂(a₁, ·) that is ε₂-DP for every a₁, are (ε₁+ε₂)-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilons": (0.5, 0.25)},
)(budgets_add_up)

claim(
    "chapter5-lemma-1-2",
    "Lemma 1.2 (basic composition)",
    "A sequence of algorithms, each ε_i-DP whatever the outputs before, is Σε_i-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilons": (0.7, 0.5, 0.35, 0.2, 0.15, 0.1, 0.05)},
)(budgets_add_up)


@claim(
    "chapter5-exercise-1-4",
    "Exercise 1.4",
    "Dividing the budget equally among k runs of the Laplace mechanism takes noise k times as "
    "large (our answer).",
    Verdict.HOLDS,
    wrong={"exponent": 0.5},
)
def noise_of_k_runs(*, epsilon: Epsilon = 1.0, runs: Runs = 25, exponent: Power = 1.0) -> Finding:
    """The largest total loss of ``runs`` answers with noise larger by runs^exponent."""
    factor = runs**exponent
    worst = runs * LaplaceLaw(epsilon / factor).support[1]
    return upper_bound(
        worst, epsilon, f"largest total loss with noise {factor:g} times as large", note=f"k={runs}"
    )


claim(
    "chapter5-histogram-sensitivity",
    "Exercise 1.5",
    "A histogram of d disjoint sets has global sensitivity 2, each of its counts 1; neighbours "
    "differ in one entry's value.",
    Verdict.HOLDS,
    wrong={"relation": ADD_REMOVE},
    given={"relation": REPLACE_ONE, "claimed": 2.0},
)(histogram_sensitivity)


@claim(
    "chapter5-exercise-1-5",
    "Exercise 1.5",
    "d separate counts with equal shares of ε take noise d/ε each, the joint histogram 2/ε: "
    "d/2 times less (our answer).",
    Verdict.HOLDS,
    wrong={"joint_sensitivity": 1.0},
)
def separate_counts(
    *, epsilon: Epsilon = 1.0, cells: Cells = 20, joint_sensitivity: JointSensitivity = 2.0
) -> Finding:
    """Least scales: d rounds of loss 1/scale by composition; one vector that moves by 2 in L1.

    Composition counts every one of the d rounds, although a replaced record moves two counts.
    """
    separate = cells * 1.0 / epsilon
    histogram = histogram_query(range(cells))
    joint = histogram.sensitivity(REPLACE_ONE) / epsilon
    return equal(
        separate / joint,
        cells / joint_sensitivity,
        "separate over joint noise",
        note=f"the separate counts with noise {separate:g} really lose only "
        f"{number(2.0 / separate)}",
    )
