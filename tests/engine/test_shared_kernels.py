"""A kernel is compiled once for rules that differ in the numbers of their menus alone."""

import re
from dataclasses import replace

import numpy as np
import pytest

from simulator import Laplace, PureDP, RandomizedResponse, simulate
from simulator.adversaries import Rule
from simulator.adversaries.registry import entries
from simulator.data import ADD_REMOVE
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.block import engine_for
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.specification import Specification
from simulator.foundations.errors import Breach
from simulator.theory.filters.sums import SumFilter


def rule_of(step, kind, *epsilons, state=0.0):
    menu = tuple((WITHOUT_ALICE, EVERYONE, kind(ALICE, epsilon)) for epsilon in epsilons)
    return Rule(step, menu, state=state)


def press(state, i, answer, coins):
    return state, 1 if answer > 0.5 else 0


def pressing(above):
    def step(state, i, answer, coins):
        return state, 1 if answer > above else 0

    return step


def pressing_from(first):
    def step(state, i, answer, coins):
        return state, 1 if i >= first else 0

    return step


def kernel(rule, engine=Engine, filter_=None):
    return engine.build(rule, PureDP(9.0), ADD_REMOVE, filter_).kernel


@pytest.mark.sampled
@pytest.mark.parametrize("engine", [Engine, TiltedEngine])
def test_other_numbers_have_the_same_kernel(engine):
    one = kernel(rule_of(press, Laplace, 0.1, 0.2), engine)
    assert kernel(rule_of(press, Laplace, 0.3, 0.4, 0.5), engine) is one
    assert kernel(rule_of(pressing(0.5), Laplace, 0.1, 0.2), engine) is one  # the same program
    assert kernel(rule_of(pressing(0.6), Laplace, 0.1, 0.2), engine) is one
    assert kernel(rule_of(pressing_from(3), Laplace, 0.1, 0.2), engine) is not one


def test_the_floats_of_a_program_are_given_to_its_kernel():
    """A shared kernel whose threshold were a constant would play the first one's game."""
    for above in (0.5, 3.0, -2.0):
        rule, family = rule_of(pressing(above), Laplace, 0.1, 0.2), PureDP(1.0)
        s = Specification(rule, family, 20, 50, seed=2, keep_views=50)
        compiled = Engine.build(rule, family, ADD_REMOVE).play_block(s, 0, 0)
        assert compiled.views == play_as_generator(s, 0, 0).views


@pytest.mark.nightly
def test_whatever_is_constant_in_a_kernel_makes_another():
    one = kernel(rule_of(press, Laplace, 0.1, 0.2))
    others = [
        kernel(rule_of(pressing_from(3), Laplace, 0.1, 0.2)),
        kernel(rule_of(pressing_from(4), Laplace, 0.1, 0.2)),
        kernel(rule_of(press, RandomizedResponse, 0.1, 0.2)),
        kernel(rule_of(press, Laplace, 0.1, 0.2), filter_=SumFilter(1.0)),
    ]
    assert len({*map(id, [one, *others])}) == 5


@pytest.mark.parametrize("state", [1.0, 3, -2.5])
def test_a_shared_kernel_starts_in_the_state_that_it_is_given(state):
    """A state that grows leaves the menu in the round in which it is used as a move."""

    def step(state, i, answer, coins):
        return state + 1, 0 if i < 2 else state

    rule = rule_of(step, Laplace, 0.1, state=state)
    for other in (state, state + 1):
        move = f"made the move {other + 2:g}, which is not on its menu"
        with pytest.raises(Breach, match=re.escape(move)):
            simulate(replace(rule, state=other), PureDP(1.0), 5, 2, jobs=1, progress=False)


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_library_adversaries_share_their_kernels(entry):
    if not entry.plays_in(PureDP(0.1)):
        return
    kernels = set()
    for family, rounds in ((PureDP(0.1), 9), (PureDP(0.2), 7)):
        made = Specification(entry.make(family, rounds), family, rounds, 1)
        kernels.add(id(engine_for(made).kernel))
    assert len(kernels) == 1


def test_a_shared_kernel_plays_the_menu_that_it_is_given():
    for epsilon in (0.1, 0.2, 0.3):
        rule = rule_of(press, RandomizedResponse, epsilon, epsilon)
        played = simulate(rule, PureDP(1.0), 5, 200, seed=3, jobs=1, progress=False)
        steps = played.losses(0) / epsilon
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
        assert np.abs(steps).max() == pytest.approx(5.0)
