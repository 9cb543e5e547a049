"""What one run shows: its limit, scores by their likelihood, and plays below the truth."""

import math
from dataclasses import replace

import numpy as np
import pytest

from simulator.errors import NotApplicable
from simulator.training.as_trained.described import TrainingRun
from simulator.training.as_trained.played import played_epsilon
from simulator.training.as_trained.rows import ALLOCATED, FIXED, ONCE, POISSON, loader_rows
from simulator.training.as_trained.shown import best_scores, shown_at_best, shown_by_play

RUN = TrainingRun(noise=2.0, records=40, batch=10, steps=10, delta=1e-5)
SCORED = (POISSON, ALLOCATED, FIXED)


def test_at_best_is_the_odds_of_guesses_that_are_all_right():
    """r^50 = .05, and the grid's steps are a fiftieth of the value."""
    r = 0.05 ** (1 / 50)
    limit = math.log(r / (1.0 - r))
    assert limit / 1.021 <= shown_at_best(50, 1e-15).epsilon <= limit
    assert shown_at_best(50, 0.01).epsilon < limit / 1.021


@pytest.mark.parametrize("loader", SCORED)
def test_best_scores_are_log_likelihood_ratios(loader):
    """exp(score) has mean 1 without the canary, exp(-score) with it; false alarm 1e-6 in all.

    Five deviations of each mean; the last epoch ends at half.
    """
    rng = np.random.default_rng(1)
    for included, sign in ((False, 1.0), (True, -1.0)):
        scores = best_scores(RUN, loader, np.full(100_000, included), rng)
        weights = np.exp(sign * scores)
        error = 5.0 * weights.std() / math.sqrt(len(weights))
        assert error < 0.05
        assert abs(weights.mean() - 1.0) <= error


@pytest.mark.parametrize("loader", SCORED)
def test_a_canary_with_more_than_its_gradient_is_noticed(loader):
    """The scores of a training of less noise are no likelihood ratios under this one's answers."""
    rng = np.random.default_rng(1)
    louder = replace(RUN, noise=1.8)
    scores = best_scores(louder, loader, np.full(100_000, True), rng)
    honest = best_scores(RUN, loader, np.full(100_000, True), rng)
    assert scores.mean() > honest.mean() + 5.0 * scores.std() / math.sqrt(len(scores))


def test_a_play_shows_less_than_is_certified():
    """Each bound is false with probability .05; these seeds are not."""
    upper = {row.loader: row.epsilon.upper for row in reversed(list(loader_rows(RUN)))}
    for loader in SCORED:
        assert shown_by_play(RUN, loader, canaries=40).epsilon <= upper[loader]
        assert 0.0 <= played_epsilon(RUN, loader, trials=300) <= upper[loader]


def test_what_has_no_score_or_game_is_not_applicable():
    with pytest.raises(NotApplicable, match="no best score"):
        shown_by_play(RUN, ONCE, canaries=10)
    long = replace(RUN, steps=10**6)
    with pytest.raises(NotApplicable, match="too many draws"):
        shown_by_play(long, POISSON, canaries=500)
    with pytest.raises(NotApplicable, match="not played"):
        played_epsilon(replace(RUN, steps=3), ONCE, trials=10)
