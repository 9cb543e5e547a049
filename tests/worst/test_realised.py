"""The worst adversary of filters of realised losses: against brute force, and in play."""

import math
from functools import partial

import numpy as np
import pytest

from experiments.filter_trial.variants import EachWithin, ShareEach, Threshold
from simulator import PureDP, simulate
from simulator.errors import NotApplicable
from simulator.theory import RealisedFilter
from simulator.theory.filters.realised import coarse_state
from simulator.worst import worst_case
from simulator.worst.realised import worst_realised

PROMISE = 1.0, 0.05


def brute_force(filter_, epsilons, rounds, epsilon):
    """The largest delta(epsilon), by the tree of all answers, with nothing remembered."""

    def value(state, loss, left):
        best = max(0.0, -math.expm1(epsilon - loss))
        for e in epsilons if left else ():
            admitted, after = filter_.step(state, e, 0.0)
            if not admitted:
                continue
            up = 1.0 / (1.0 + math.exp(-e))
            mean = sum(
                mass * value(filter_.observe(after, gained), loss + gained, left - 1)
                for gained, mass in ((e, up), (-e, 1.0 - up))
            )
            best = max(best, mean)
        return best

    return value(filter_.initial, 0.0, rounds)


def menu(*epsilons):
    return ",".join(f"randomized-response:{e}" for e in epsilons)


@pytest.mark.parametrize("kind", [RealisedFilter, EachWithin, Threshold, ShareEach])
def test_the_search_finds_what_brute_force_finds(kind):
    filter_, epsilons = kind(0.6, 0.05), (0.17, 0.31)
    exact = brute_force(filter_, epsilons, 6, 0.6)
    for experiment in (0, 1):  # the menu is symmetric
        found = worst_realised(menu(*epsilons), filter_, 6, epsilon=0.6, experiment=experiment)
        assert found.delta.lower <= exact <= found.delta.upper
        assert found.delta.upper - found.delta.lower < 1e-12
    coarse = partial(coarse_state, steps=5)
    if kind is RealisedFilter:
        ends = worst_realised(menu(*epsilons), filter_, 6, epsilon=0.6, coarse=coarse).delta
        assert ends.lower <= exact <= ends.upper


def test_adding_the_look_aheads_up_is_sound_and_taking_each_alone_is_not():
    coarse = partial(coarse_state, steps=50)
    sound = worst_realised(
        menu(0.09, 0.27), RealisedFilter(*PROMISE), 20, epsilon=1.0, coarse=coarse
    )
    assert 0.5 < sound.ratio.lower <= sound.ratio.upper <= 1.0
    assert worst_realised(menu(0.1), EachWithin(*PROMISE), 100, epsilon=1.0).ratio.lower > 2.5
    assert worst_realised(menu(0.25, 2), Threshold(*PROMISE), 6, epsilon=1.0).ratio.lower > 10.0
    assert worst_realised(menu(0.02), ShareEach(*PROMISE), 60, epsilon=1.0).ratio.upper <= 1.0


@pytest.mark.parametrize("experiment", [0, 1])
def test_the_adversary_gets_the_lower_end_in_play(experiment):
    filter_ = Threshold(*PROMISE)
    found = worst_realised(menu(0.25, 2), filter_, 6, epsilon=1.0, experiment=experiment)
    result = simulate(
        found.adversary, PureDP(2.0), 6, 1500, filter=filter_, seed=1, jobs=1, progress=False
    )
    losses = result.losses(experiment) * (-1.0 if experiment else 1.0)
    gains = np.maximum(0.0, -np.expm1(1.0 - losses))
    # Hoeffding with a false alarm of 1e-9
    assert abs(gains.mean() - found.delta.lower) < math.sqrt(math.log(2e9) / (2 * len(gains)))
    assert gains.mean() > 5 * filter_.delta


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(NotApplicable, match="realised"):
        worst_case(menu(0.1), epsilon=1.0, filter=RealisedFilter(*PROMISE))
    with pytest.raises(NotApplicable, match="infinitely many"):
        worst_realised("laplace:0.1", RealisedFilter(*PROMISE), 3, epsilon=1.0)
