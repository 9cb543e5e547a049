"""Properties of DP, chapter 5: composition, its two scenarios, and the budget exercises."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from simulator.claims.cast import (
    ALICE,
    WITH_ALICE,
    WITHOUT_ALICE,
    Playing,
    play,
    respond_by_answer,
)
from simulator.claims.enumeration import view_law
from simulator.claims.findings import equal, number, upper_bound
from simulator.claims.model import Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.sources import CHAPTER_5
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.mechanisms import Geometric, Laplace
from simulator.queries import counting_query, function_query, histogram_query
from simulator.result import Result
from simulator.theory.guarantees import PureDP
from simulator.theory.laws import LaplaceLaw


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


def _largest_loss(result: Result) -> float:
    return max(float(np.abs(result.losses(b)).max()) for b in (0, 1))


@claim(
    "chapter5-scenario-1",
    CHAPTER_5,
    "Scenario 1",
    "Two hospitals with overlapping data each run a mechanism: who is in both data sets is "
    "protected with ε₁+ε₂.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def hospitals(
    *, first: float = 0.3, second: float = 0.2, trials: int = 400, share: float = 1.0
) -> Finding:
    """Played: a different pair of databases in each round, Alice in both or in none."""
    other_hospital = Database({"others": 4})

    def attacker(coins: Any) -> Playing:
        yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, first)
        yield other_hospital, other_hospital.add("alice"), Geometric(ALICE, second)

    result = play(attacker, PureDP(first), 2, trials, seed=21)
    return upper_bound(
        _largest_loss(result),
        share * (first + second),
        f"largest |loss| in {2 * trials} plays",
        method="simulation",
        false_alarm=0.0,
    )


@claim(
    "chapter5-scenario-2",
    CHAPTER_5,
    "Scenario 2",
    "Asking for the diabetics with high blood pressure when both counts were at least 100, else "
    "for the heart patients: the two answers together are (ε₁+ε₂)-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def follow_up(
    *, first: float = 0.3, second: float = 0.2, trials: int = 400, share: float = 1.0
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
        counts = yield (*pair, Laplace(both_counts, first))
        yield (*pair, Laplace(both if (counts >= 100.0).all() else heart, second))

    result = play(analyst, PureDP(first), 2, trials, seed=22)
    return upper_bound(
        _largest_loss(result),
        share * (first + second),
        f"largest |loss| in {2 * trials} plays",
        method="simulation",
        false_alarm=0.0,
    )


@claim(
    "chapter5-lemma-1-1",
    CHAPTER_5,
    "Lemma 1.1",
    "A₁ that is ε₁-DP, then A₂(a₁, ·) that is ε₂-DP for every a₁, are (ε₁+ε₂)-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def two_stages(*, first: float = 0.5, second: float = 0.25, share: float = 1.0) -> Finding:
    """All outcomes of two randomized responses, the second exchanged after an answer 1."""
    law = view_law(respond_by_answer([first, second]), PureDP(max(first, second)), 2)
    worst = max(map(abs, law.support))
    return upper_bound(worst, share * (first + second), "largest |loss| of an outcome")


@claim(
    "chapter5-lemma-1-2",
    CHAPTER_5,
    "Lemma 1.2 (basic composition)",
    "A sequence of algorithms, each ε_i-DP whatever the outputs before, is Σε_i-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def many_stages(*, total: float = 2.0, stages: int = 7, share: float = 1.0) -> Finding:
    """Budgets in geometric progression that add up to ``total``; every outcome is listed."""
    weights = 0.7 ** np.arange(stages)
    epsilons = list(total * weights / weights.sum())
    law = view_law(respond_by_answer(epsilons), PureDP(max(epsilons)), stages)
    worst = max(map(abs, law.support))
    return upper_bound(worst, share * math.fsum(epsilons), "largest |loss| of an outcome")


@claim(
    "chapter5-exercise-1-4",
    CHAPTER_5,
    "Exercise 1.4",
    "Dividing the budget equally among k runs of the Laplace mechanism takes noise k times as "
    "large (our answer).",
    Verdict.HOLDS,
    wrong={"exponent": 0.5},
)
def noise_of_k_runs(*, epsilon: float = 1.0, runs: int = 25, exponent: float = 1.0) -> Finding:
    """The largest total loss of ``runs`` answers with noise larger by runs^exponent."""
    factor = runs**exponent
    worst = runs * LaplaceLaw(epsilon / factor).support[1]
    return upper_bound(
        worst, epsilon, f"largest total loss with noise {factor:g} times as large", note=f"k={runs}"
    )


@claim(
    "chapter5-histogram-sensitivity",
    CHAPTER_5,
    "Exercise 1.5",
    "A histogram of d disjoint sets has global sensitivity 2, each of its counts 1.",
    Verdict.HOLDS,
    wrong={"replace_one": False},
)
def histogram_sensitivity(*, cells: int = 4, replace_one: bool = True) -> Finding:
    """All neighbours of a small data set; the chapter's neighbours differ in one entry's value."""
    histogram = histogram_query(range(cells))
    data = Database(dict.fromkeys(range(cells), 2))
    neighbours = (
        [data.replace(i, j) for i in range(cells) for j in range(cells) if i != j]
        if replace_one
        else [data.remove(i) for i in range(cells)] + [data.add(i) for i in range(cells)]
    )
    changes = np.array([np.abs(histogram(data) - histogram(other)) for other in neighbours])
    stated = histogram.sensitivity(REPLACE_ONE if replace_one else ADD_REMOVE)
    assert stated == changes.sum(axis=1).max()
    return equal(
        float(changes.sum(axis=1).max()),
        2.0,
        "largest L1 change",
        note=f"largest change of one count {number(float(changes.max()))}; "
        "under add/remove-one the histogram has 1",
    )


@claim(
    "chapter5-exercise-1-5",
    CHAPTER_5,
    "Exercise 1.5",
    "d separate counts with equal shares of ε take noise d/ε each, the joint histogram 2/ε: "
    "d/2 times less (our answer).",
    Verdict.HOLDS,
    wrong={"joint_sensitivity": 1.0},
)
def separate_counts(
    *, epsilon: float = 1.0, cells: int = 20, joint_sensitivity: float = 2.0
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
