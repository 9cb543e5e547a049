"""Every mechanism plays as a round of the experiment, beside any other, and replays."""

import math

import numpy as np
import pytest
from scipy import stats

from simulator.adversaries.contract import Rule
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.data.queries import counting_query, counting_scores
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.block import Specification
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.views.views import replay
from simulator.foundations.errors import Breach, BrokenPromise
from simulator.mechanisms import AboveThreshold, Cells, Laplace, PostProcessed
from simulator.teaching.mechanisms import (
    JustAFew,
    LloydStep,
    LocalSensitivityMedian,
    NameAndShame,
    SampleAndAggregate,
    SmoothSensitivityMedian,
    TwoPartyCount,
    lloyd_centres,
)
from simulator.theory.guarantees.pure import ApproxDP, PureDP

PATIENTS = Database([(1, 0.1), (1, 0.4), (2, 0.2), (2, 0.5), (2, -0.7)])
ALICE = (2, 0.9)
TOGETHER = PATIENTS.add(ALICE)
FAMILY = ApproxDP(0.5, 0.25)
COUNT = counting_query(ALICE)


def spread(database):
    return max(value for _, value in database)


def parity(outcome):
    return outcome % 2


def value(record):
    return record[1]


def one_of_each(coins):
    yield PATIENTS, TOGETHER, Laplace(COUNT, 0.5)
    named = yield PATIENTS, TOGETHER, NameAndShame(0.25)
    few, median = JustAFew(1, 5), SmoothSensitivityMedian(0.25, 0.01, -1, 1, value)
    yield PATIENTS, TOGETHER, few if ALICE in named else median
    yield PATIENTS, TOGETHER, SmoothSensitivityMedian(0.5, 0.01, -1, 1, value)
    yield PATIENTS, TOGETHER, SampleAndAggregate(spread, 3, 0.5, 0.01, lower=-1, upper=1)
    first = yield PATIENTS, TOGETHER, AboveThreshold(counting_scores([ALICE, (1, 0.1)]), 1, 0.5)
    cut = Cells(Laplace(COUNT, 0.5), (0.5, first + 1.0))
    yield PATIENTS, TOGETHER, PostProcessed(cut, parity)
    centres = ((0.5,), (-0.5,))
    for _ in range(2):  # each step's centres come from the last one's answer
        answer = yield PATIENTS, TOGETHER, LloydStep(centres, 0.25, (value,))
        centres = lloyd_centres(answer, centres)
    yield PATIENTS, TOGETHER, TwoPartyCount(COUNT, 1.0)


@pytest.mark.parametrize("b", [0, 1])
def test_one_of_each_plays_and_replays(b):
    specification = Specification(one_of_each, FAMILY, rounds=10, trials=60, keep_views=60)
    outcome = play_as_generator(specification, b, 0)
    assert not np.isnan(outcome.losses).any()
    for view, loss in zip(outcome.views, outcome.losses, strict=True):
        again = replay(view, one_of_each, FAMILY)
        assert again.loss == loss
        assert len(again.challenges) == 10


def by_last_answer(state, i, answer, coins):
    return state, 1 + i % 2 if answer > 0.5 else 0


@pytest.mark.nightly
def test_the_scalar_ones_compile_to_the_same_views():
    cut = Cells(Laplace(COUNT, 0.5), (0.5, 1.5))
    mechanisms = (
        AboveThreshold(counting_scores([ALICE, (1, 0.1)]), 1, 0.5),
        PostProcessed(cut, parity),
        SampleAndAggregate(spread, 3, 0.5, 0.01, lower=-1, upper=1),
    )
    rule = Rule(by_last_answer, tuple((PATIENTS, TOGETHER, m) for m in mechanisms))
    played = []
    for compiled in (True, False):
        engine = Engine.build(rule, FAMILY, ADD_REMOVE, compiled=compiled)
        assert engine.complaint == ""
        losses, answers = np.zeros(40), np.zeros((40, 6))
        coins, noise = np.random.default_rng(0), np.random.default_rng(1)
        engine.play(1, coins, noise, losses, 6, answers=answers)
        played.append(np.column_stack([losses, answers]))
    np.testing.assert_allclose(*played, rtol=1e-13, atol=1e-13)
    assert len(np.unique(played[0][:, 1:])) > 3


def shame(coins):
    while True:
        yield PATIENTS, TOGETHER, NameAndShame(0.05)


@pytest.mark.nightly
def test_ten_rounds_of_name_and_shame_name_alice():
    # exactly: 1 - 0.95^10 of the trials of experiment 1; false alarm 1e-6
    specification = Specification(shame, ApproxDP(0.0, 0.05), rounds=10, trials=4_000)
    losses = play_as_generator(specification, 1, 0).losses
    named = int(np.isinf(losses).sum())
    assert stats.binomtest(named, len(losses), 1 - 0.95**10).pvalue > 1e-6
    assert stats.binomtest(named, len(losses), 0.05).pvalue < 1e-6
    hidden = play_as_generator(specification, 0, 0).losses
    assert hidden == pytest.approx(np.full(len(hidden), -10 * math.log1p(-0.05)), rel=1e-12)


STEADY, SHAKY = Database({0.0: 6, 10.0: 3}), Database({0.0: 5, 10.0: 4})


def median_hunter(coins):
    while True:
        yield STEADY, SHAKY, LocalSensitivityMedian(0.1, 0.0, 10.0)


def test_one_median_answer_breaks_its_promise_and_ends_the_play():
    specification = Specification(
        median_hunter, PureDP(0.1), rounds=1, trials=50, relation=REPLACE_ONE
    )
    with pytest.raises(
        BrokenPromise, match=r"LocalSensitivityMedian.* promised 0\.1, a round lost"
    ):
        play_as_generator(specification, 0, 0)


def test_mechanisms_outside_the_family_are_refused():
    specification = Specification(shame, PureDP(5.0), rounds=1, trials=1, relation=ADD_REMOVE)
    with pytest.raises(Breach, match="outside the family"):
        play_as_generator(specification, 0, 0)
