"""The one class of tilted measures, and the pilot that chooses one."""

import pickle

import pytest

import simulator
from simulator import InvalidInput, PureDP, Steered, Tilted
from simulator.adversaries.registry import make
from simulator.play import sampling

FAMILY, ROUNDS = PureDP(0.5), 20
WORST = make("fixed-worst-case", FAMILY, ROUNDS)


def test_there_is_one_class_of_tilted_measures():
    assert Tilted is simulator.rare.Tilted is sampling.Tilted
    chosen = Tilted.pilot(WORST, FAMILY, ROUNDS, epsilon=6.2)
    assert type(chosen) is sampling.Tilted
    assert chosen == sampling.Tilted(chosen.theta)
    assert pickle.loads(pickle.dumps(chosen)) == chosen


def test_the_pilot_chooses_what_was_wanted():
    assert isinstance(Tilted.pilot(WORST, FAMILY, ROUNDS, delta=1e-4, steered=True), Steered)
    for given in ({}, {"epsilon": 1.0, "delta": 0.1}):
        with pytest.raises(InvalidInput, match="give the epsilon to aim at, or the delta"):
            Tilted.pilot(WORST, FAMILY, ROUNDS, **given)
