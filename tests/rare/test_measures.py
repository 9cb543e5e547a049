"""The one class of tilted measures, and the pilot that chooses one."""

import pickle

import pytest

import simulator
from simulator import InvalidInput, Steered, Tilted
from simulator.play import sampling
from tests.helpers.rare_cases import FAMILY, ROUNDS, WORST


def test_there_is_one_class_of_tilted_measures():
    assert Tilted is simulator.rare.Tilted is sampling.Tilted
    chosen = Tilted.pilot(WORST, FAMILY, ROUNDS, epsilon=6.2)
    assert type(chosen) is sampling.Tilted
    assert chosen == sampling.Tilted(chosen.theta)
    assert pickle.loads(pickle.dumps(chosen)) == chosen


def test_equal_measures_are_written_alike():
    assert {str(Tilted(theta)) for theta in (0, 0.0, -0.0)} == {"tilted:0.0"}


def test_the_pilot_chooses_what_was_wanted():
    assert isinstance(Tilted.pilot(WORST, FAMILY, ROUNDS, delta=1e-4, steered=True), Steered)
    for given in ({}, {"epsilon": 1.0, "delta": 0.1}):
        with pytest.raises(InvalidInput, match="give the epsilon to aim at, or the delta"):
            Tilted.pilot(WORST, FAMILY, ROUNDS, **given)
