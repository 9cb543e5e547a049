"""Draws made ahead are the draws that single calls make, in their order."""

import math
from dataclasses import replace

import numpy as np
import pytest

from simulator import (
    Database,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    counting_query,
)
from simulator.engine.interpreted import ahead
from simulator.engine.interpreted.interpreter import play_interpreted
from simulator.engine.sampling import Guarded, Tilted
from simulator.engine.specification import Specification
from simulator.foundations.errors import Breach
from simulator.mechanisms import Geometric, finite, gaussian, geometric, laplace
from simulator.mechanisms import randomized_response as response
from simulator.theory import ApproxDP
from simulator.theory.filters.sums import SumFilter
from tests.helpers.oracle import compose_block

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
FAMILY = ApproxDP(10.0, 0.5)

PARAMS = (
    (laplace.LAPLACE, (0.0, 1.0, 2.0, 0.5, 0.5, 1.0)),
    (gaussian.GAUSSIAN, (0.0, 1.0, 2.0, 0.5, 1.0)),
    (geometric.GEOMETRIC, (0.0, 1.0, 0.3, 0.5, 0.5, 0.6)),
    (response.RANDOMIZED_RESPONSE, (0.0, 1.0, 0.7, 0.8, 0.3)),
    (finite.FINITE, (3.0, 0.2, 0.5, 1.0, 0.4, 0.9, 1.0, *[0.0] * 6)),
)


class Recorder:
    """A generator that writes down its draws."""

    def __init__(self):
        self.noise, self.made = np.random.default_rng(5), ""

    def __getattr__(self, name):
        letter = next(u for u, method in ahead.METHODS.items() if method == name)
        self.made += letter
        return getattr(self.noise, name)


def makes_its_draws_tilted(scalars, params):
    recorder = Recorder()
    for n in range(100):
        tilted = np.zeros(scalars.tilt_width(params))
        scalars.tilt(params, 0.02 * n, tilted)
        scalars.sample_tilted(params, tilted, recorder)
    return recorder.made == 100 * scalars.tilted_draws


def makes_its_draws(scalars, params):
    recorder = Recorder()
    for n in range(100):
        scalars.sample(params, n % 2, recorder)
    return recorder.made == 100 * scalars.draws


@pytest.mark.parametrize(("scalars", "params"), PARAMS, ids=lambda part: getattr(part, "name", ""))
def test_a_kind_makes_the_draws_that_it_states(scalars, params):
    assert makes_its_draws(scalars, params)
    assert not makes_its_draws(replace(scalars, draws=scalars.draws + "u"), params)
    if scalars.tilted_draws:
        assert makes_its_draws_tilted(scalars, params)
        assert not makes_its_draws_tilted(replace(scalars, tilted_draws="uu"), params)


@pytest.mark.parametrize("pattern", ["u", "n", "ee", "eu", "ue"])
def test_a_thousand_draws_are_those_of_single_calls(pattern):
    fill = ahead.fill_of(pattern, ahead.WORTH_COMPILING)
    together, one_by_one = np.random.default_rng(3), np.random.default_rng(3)
    single = [getattr(one_by_one, ahead.METHODS[u])() for _ in range(1000) for u in pattern]
    assert fill(together, 1000).tolist() == single
    assert together.random() == one_by_one.random()


MIXED = (
    Laplace(ALICE, 0.5),
    Gaussian(ALICE, 2.0),
    RandomizedResponse(ALICE, 0.5),
    Geometric(ALICE, 0.5),
)


@pytest.mark.parametrize("turn", [1, 7, 16, 17, 40, 10**9])
@pytest.mark.parametrize("first", range(4))
def test_play_is_the_same_where_the_kind_changes(first, turn):
    """The second kind comes in round ``turn``: with draws left over, with none, and never."""
    ahead.fill_of("eu", ahead.WORTH_COMPILING)  # compiled, as in a large game

    def adversary(coins):
        total, played = 0.0, 0
        while True:
            place = first if played < turn else (first + 1 + (total > 2.0)) % 4
            total += yield WITHOUT, EVERYONE, MIXED[place]
            played += 1

    s = Specification(adversary, FAMILY, 60, 3, 11, block_size=3, keep_views=3)
    for b in (0, 1):
        views = play_interpreted(s, b, 0).views
        assert [[*view.answers] for view in views] == [x.answers for x in compose_block(s, b, 0)]


@pytest.mark.parametrize("measure", [Tilted(0.4), Guarded(Tilted(0.3), 0.5, 0.4)], ids=str)
@pytest.mark.parametrize("first", range(3))
def test_tilted_play_is_the_same_with_single_draws(first, measure, monkeypatch):
    """Also after a trial whose last rounds a filter refuses, so that draws are left."""
    ahead.fill_of("ue", ahead.WORTH_COMPILING)
    filter_ = None if first == 1 else SumFilter(22.0)  # which takes no Gaussian

    def adversary(coins):
        while True:
            turned = first != 1 and coins.random() < 0.01
            yield WITHOUT, EVERYONE, MIXED[(first + 2 * turned) % 4]

    s = Specification(
        adversary, FAMILY, 60, 5, 11, block_size=5, sampling=measure, filter=filter_
    )  # fmt: skip
    for b in (0, 1):
        played = [play_interpreted(s, b, 0)]
        with monkeypatch.context() as patch:
            patch.setattr(ahead, "fill_of", lambda pattern, rounds: None)
            played.append(play_interpreted(s, b, 0))
        one, other = ((x.losses.tolist(), x.log_weights.tolist()) for x in played)
        assert one == other


def test_draws_that_are_left_have_not_been_made():
    drawn = ahead.Ahead(np.random.default_rng(1), 0)
    used = [drawn.source("n").standard_normal() for _ in range(20)]
    assert len(drawn.left) == 28
    drawn.put_back()
    expected = np.random.default_rng(1).standard_normal(21).tolist()
    assert [*used, drawn.noise.standard_normal()] == expected


def test_a_parameter_beyond_the_family_is_found_after_many_within():
    def adversary(coins):
        for epsilon in (0.1, 0.2, 0.15, 0.17, 0.21):
            yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)

    s = Specification(adversary, PureDP(0.2), 5, 1, 0)
    with pytest.raises(Breach, match=r"round 5, trial 0: Laplace.* outside the family"):
        play_interpreted(s, 0, 0)


def test_the_limit_between_two_parameters_is_in_proportion(monkeypatch):
    """A loss that is too large at .15 and allowed at .2 is found between the two."""

    def adversary(coins):
        for epsilon in (0.1, 0.2, 0.15):
            yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)

    s = Specification(adversary, PureDP(0.2), 3, 1, 0)
    play_interpreted(s, 0, 0)

    def too_large(params, answer):
        epsilon = 1.0 / params[2]
        return math.copysign(0.16 if math.isclose(epsilon, 0.15) else epsilon, answer)

    monkeypatch.setattr(Laplace, "scalars", replace(laplace.LAPLACE, loss=too_large))
    with pytest.raises(Breach, match=r"round 3.*broke its promise"):
        play_interpreted(s, 0, 0)
