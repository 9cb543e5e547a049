"""The one class of tilted measures, and the pilot that chooses one."""

import math
import pickle

import numpy as np
import pytest

import simulator
from simulator import simulate
from simulator.adversaries import Challenge, Rule
from simulator.analysis import Steered, Tilted
from simulator.analysis.rare import estimate_rare
from simulator.analysis.rare.steering import elite_level
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.engine import sampling
from simulator.mechanisms import LeakyRandomizedResponse
from simulator.theory import ApproxDP
from tests.helpers.rare_cases import FAMILY, ROUNDS, WORST, estimated


@pytest.mark.nightly
def test_there_is_one_class_of_tilted_measures():
    assert Tilted is simulator.analysis.rare.Tilted is sampling.Tilted
    chosen = estimated(WORST, 6.2).measure
    assert type(chosen) is sampling.Tilted
    assert chosen == sampling.Tilted(chosen.theta)
    assert pickle.loads(pickle.dumps(chosen)) == chosen


def test_equal_measures_are_written_alike():
    assert {str(Tilted(theta)) for theta in (0, 0.0, -0.0)} == {"tilted:0.0"}


def test_the_measure_of_an_event_is_one_to_play_under():
    event = estimated(WORST, delta=1e-4, trials=5000, method="steered")
    assert isinstance(event.measure, Steered)
    result = simulate(
        WORST, FAMILY, ROUNDS, 1000, seed=9, sampling=event.measure, experiments=[0], jobs=1
    )
    assert result.delta(event.epsilon).lower <= event.delta.upper
    for method in ("doob", "plain"):
        assert estimated(WORST, 1.0, 1000, method).measure is None


@pytest.mark.nightly
def test_an_elite_of_infinite_losses_is_aimed_at():
    """delta(0) is 0.85 and infinite losses alone have 0.65: epsilon(0.66) is 3.577156."""
    leaky = LeakyRandomizedResponse(ALICE, 0.5, 0.1)
    adversary = Rule(
        lambda state, i, answer, coins: (state, 0), (Challenge(WITHOUT_ALICE, EVERYONE, leaky),)
    )
    family = ApproxDP(0.5, 0.1)
    found = estimate_rare(adversary, family, 10, 2000, delta=0.66, method="tilted").at_delta
    assert found.lower < 3.577156 < found.upper


def test_the_level_of_an_elite_is_finite():
    assert elite_level(np.arange(1001.0)) == pytest.approx(900.0)
    assert elite_level(np.array([1.0, 3.0, math.inf, math.inf])) == 3.0
    assert elite_level(np.array([math.inf, math.inf])) == 0.0
