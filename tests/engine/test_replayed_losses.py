"""A replayed loss is held to the recorded one: rounding is allowed for, and nothing else."""

import math

import pytest

from simulator import Laplace, PureDP, simulate
from simulator.engine.views.views import Replay, replay, same_loss
from simulator.errors import Breach
from tests.helpers.small_games import ALICE, WITH_ALICE, WITHOUT_ALICE


def steady(coins):
    while True:
        yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.5)


def test_a_loss_that_is_off_by_more_than_rounding_is_another_loss():
    replayed = Replay((), (0.5,) * 10)
    for off in (0.0, 1e-14, -1e-12):
        assert same_loss(replayed, 5.0 + off)
    for off in (1e-7, -1e-6, 1e-4, -1e-3):
        assert not same_loss(replayed, 5.0 + off)
    assert same_loss(Replay((), (math.inf,)), math.inf)
    assert not same_loss(Replay((), (math.inf,)), 5.0)


def test_a_view_is_not_replayed_to_a_loss_nearby():
    result = simulate(steady, PureDP(0.5), 6, 3, keep_views=1, jobs=1, progress=False)
    view = result.views[0]
    loss = replay(view, steady, PureDP(0.5)).loss
    assert replay(view, steady, PureDP(0.5), recorded=loss + 1e-14).loss == loss
    with pytest.raises(Breach, match="the recorded loss is"):
        replay(view, steady, PureDP(0.5), recorded=loss + 1e-6)
