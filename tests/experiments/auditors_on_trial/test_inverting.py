"""Bounds by inverting a test."""

import numpy as np
import pytest

from experiments.auditors_on_trial.games import games
from experiments.auditors_on_trial.inverting import largest_rejected
from experiments.auditors_on_trial.subjects import AuditorUnderTest
from experiments.auditors_on_trial.trial import PURE_DELTA, program, tried

GAMES = {game.name: game for game in games()}


@pytest.mark.parametrize(
    ("truth", "found"), [(0.0, 0.0), (0.05, 1e-4), (1.0, 0.9001), (1.05, 1.0001), (99.0, 6.0001)]
)
def test_the_last_rejected_epsilon_is_the_bound(truth, found):
    assert largest_rejected(lambda epsilon: epsilon < truth - 1e-9) == pytest.approx(found)


def test_what_is_rejected_after_the_first_that_is_not_does_not_count():
    assert largest_rejected(lambda epsilon: epsilon != pytest.approx(0.3)) == pytest.approx(0.2001)


def test_rejecting_the_true_epsilon_itself_is_a_false_bound():
    def rejects_up_to_one(scores, level, delta, seed):
        return largest_rejected(lambda epsilon: epsilon < 1.01)

    auditor = AuditorUnderTest(
        name="one too many",
        runs=["many runs"],
        bound=rejects_up_to_one,
        claims="a bound",
        pure=True,
    )
    cell = tried("test", auditor, GAMES["Laplace, many runs"], plays=10)
    assert cell.false == cell.plays == 10
    assert not tried("test", auditor, GAMES["Gaussian, many runs"], plays=10).false


def test_a_pure_bound_is_held_to_the_pure_epsilon():
    """1 of randomized response, and not the epsilon at 1e-5, which is less."""
    seen = []

    def exactly_one(scores, level, delta, seed):
        seen.append(delta)
        return 1.0

    pure = AuditorUnderTest(
        name="one", runs=["many runs"], bound=exactly_one, claims="", pure=True, code="bound = 1"
    )
    mixed = AuditorUnderTest(name="one", runs=["many runs"], bound=exactly_one, claims="")
    game = GAMES["randomized response, many runs"]
    assert (tried("t", pure, game, plays=4).false, tried("t", mixed, game, plays=4).false) == (0, 4)
    assert seen[0] == PURE_DELTA
    assert "false += bound > 1\n" in program(pure, game)
    assert np.isclose(tried("t", pure, game, plays=4).truth, 1.0, rtol=1e-9)
