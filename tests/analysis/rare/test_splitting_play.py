"""Multilevel splitting of whole plays: what a clone takes along, filters, leaks, breaches."""

import numpy as np
import pytest

import simulator.analysis.rare.splitting
from simulator import PureDP, RandomizedResponse
from simulator.adversaries import Rule
from simulator.analysis.rare import enumerate_states
from simulator.analysis.rare.choosing import choose
from simulator.analysis.rare.question import Question
from simulator.analysis.rare.splitting import next_level, one_run
from simulator.engine.specification import Specification
from simulator.errors import Breach, Refusal
from simulator.foundations.seeds import generator
from simulator.theory.filters.sums import SumFilter
from tests.helpers.rare_cases import ALARM, FAMILY, assert_holds, graph_of
from tests.helpers.small_games import ALICE, ANYTHING, WITH_ALICE, WITHOUT_ALICE, adaptive


def two_faces(coins):
    """Its first toss decides between a strong and a weak mechanism, for good."""
    mechanism = RandomizedResponse(ALICE, 0.9 if coins.random() < 0.2 else 0.1)
    while True:
        yield WITHOUT_ALICE, WITH_ALICE, mechanism


TWO_FACES = Specification(two_faces, PureDP(1.0), 6, 8000, seed=2)


def always(_state, _i, _answer, _coins):
    return 0.0, 0


def split(specification, b, epsilon):
    """The divergence at ``epsilon``."""
    question = Question(specification, b, epsilon, confidence=1 - ALARM)
    return choose(question, "splitting").play().read().delta


def test_runs_of_splitting_are_unbiased():
    """All of four responses: 1225 runs of 10 paths; five deviations, a false alarm in 1e-6."""
    rule = Rule(always, ((WITHOUT_ALICE, WITH_ALICE, RandomizedResponse(ALICE, 0.5)),))
    four = Specification(rule, PureDP(0.5), 4, 1000, seed=5)
    runs = np.array([one_run(four, 0, [0.75, 1.75], 10, run)[0] for run in range(1225)])
    truth = (1.0 / (1.0 + np.exp(-0.5))) ** 4
    assert abs(runs.mean() - truth) < 5.0 * runs.std() / 35.0 < 0.1 * truth


def two_faces_delta(epsilon):
    total = 0.0
    for share, stake in ((0.2, 0.9), (0.8, 0.1)):
        rule = Rule(always, ((WITHOUT_ALICE, WITH_ALICE, RandomizedResponse(ALICE, stake)),))
        total += share * graph_of(rule, 0, 6, PureDP(1.0)).delta(epsilon)
    return total


def test_clones_share_their_past():
    assert_holds(split(TWO_FACES, 0, 3.1), two_faces_delta(3.1))


def test_clones_that_toss_their_own_coins_are_caught(monkeypatch):
    """Answers replayed on other coins: the clone has lost what its past was worth."""
    fresh = np.random.default_rng(8)
    monkeypatch.setattr(
        simulator.analysis.rare.splitting,
        "restore",
        lambda recorded: generator(int(fresh.integers(1 << 30)), 0, 0, 0),
    )
    with pytest.raises((AssertionError, Refusal)):
        assert_holds(split(TWO_FACES, 0, 3.1), two_faces_delta(3.1))


def test_a_breach_names_its_round():
    def stops(coins):
        yield WITHOUT_ALICE, WITH_ALICE, RandomizedResponse(ALICE, 0.3)

    with pytest.raises(Breach, match="round 2, trial 0 of experiment 0: the adversary stopped"):
        split(Specification(stops, FAMILY, 4, 400), 0, 0.5)


@pytest.mark.parametrize("b", [0, 1])
def test_under_a_filter_and_with_infinite_losses(b):
    s = Specification(adaptive("leaky"), ANYTHING, 4, 6000, seed=4, filter=SumFilter(1.6, 0.1))
    assert_holds(split(s, b, 0.8), enumerate_states(s, b).delta(0.8))


@pytest.mark.parametrize(
    ("peaks", "level"), [([0, 1, 2, 3], 2), ([1, 3, 3, 3], 1), ([0, 0, 1, 1], 0), ([2, 2, 2], 2)]
)
def test_a_level_is_one_that_some_paths_pass(peaks, level):
    assert next_level(np.array(peaks, dtype=float), 30) == level


def test_peaks_that_differ_by_rounding_are_one_level():
    """A level that only rounding passes would stop the pilot, or clone half of an atom."""
    peaks = np.array([1.0, np.nextafter(3.0, 0.0), 3.0, np.nextafter(3.0, 4.0)])
    assert next_level(peaks, 30) == 1.0
