"""Tallies, the shares that are fitted to them, and bets that are chosen before their draws."""

import math

import numpy as np
import pytest
import scipy.stats

from simulator.analysis.estimation.likelihood_bets import best_bet
from simulator.auditing.evidence.events import Batch
from simulator.auditing.evidence.fitted_shares import frequencies, logistic, masses, rising, split
from simulator.auditing.evidence.ratio_bets import RatioBets, ScoreCounts, frequencies_of


def tally_of_bits(counts=(0.0, 0.0)):
    counts = np.array([[n - k, k, 0.0] for n, k in zip((20.0, 20.0), counts)])
    return ScoreCounts(
        score=lambda batch: batch.answers, edges=np.array([0.5]), centres=np.arange(2.0),
        cost=0.0, counts=counts,
    )  # fmt: skip


def test_a_tally_counts_scores_by_bin_and_those_without_a_score_apart():
    tally = ScoreCounts(
        score=lambda batch: batch.answers, edges=np.array([0.0, 1.0]), centres=None, cost=0.0,
        counts=np.zeros((2, 4)),
    )  # fmt: skip
    assert tally.bins(np.array([-1.0, 0.0, 0.5, 1.0, 9.0, np.nan])).tolist() == [1, 2, 2, 1]


def test_logistic_shares_are_those_of_the_law_and_rising_ones_rise():
    """A million draws with log odds 0.4 s: shares within 0.01."""
    centres = np.linspace(-2.0, 2.0, 9)
    share = 1.0 / (1.0 + np.exp(-0.4 * centres))
    total = np.full(9, 1e6 / 9)
    counts = np.column_stack([np.array([total * share, total * (1 - share)]), [0.0, 0.0]])
    assert logistic(centres, counts)[:-1] == pytest.approx(share, abs=0.01)
    noisy = np.array([[5.0, 1.0, 9.0, 2.0, 0.0], [5.0, 9.0, 1.0, 8.0, 0.0]])
    found = rising(noisy).shares[:-1]
    assert np.all(np.diff(found) >= 0.0)
    assert np.any(np.diff(frequencies(noisy)[:-1]) < 0.0)


def test_the_laws_of_an_event_add_up_to_one():
    counts = np.array([[5.0, 1.0, 2.0], [1.0, 4.0, 3.0]])
    shares = split(counts, 1).shares
    assert shares[1] == shares[2] != shares[0]
    for law in masses(shares, counts):
        assert law.sum() == pytest.approx(1.0)


def test_a_bet_is_settled_by_what_was_known_before_its_draws():
    bets = RatioBets()
    bets.regressions = [tally_of_bits((2.0, 18.0))]
    bets.choose([(0.1, 0.0)])
    first, second = bets.choice.bet.logs(bets.choice.boldness)
    draws = np.array([0.0, 1.0]), np.array([1.0, 1.0])
    bets.bet(Batch(draws))
    assert bets.log == pytest.approx(first[0] + first[1] + 2 * second[1])
    assert bets.regressions[0].counts.sum() == 44


def test_nothing_is_bet_on_what_keeps_its_claim():
    bets = RatioBets()
    bets.regressions = [tally_of_bits((9.0, 11.0))]
    bets.choose([(1.0, 0.0)])
    assert bets.choice is None
    bets.bet(Batch((np.zeros(3), np.ones(3))))
    assert bets.log == 0.0


def test_a_bet_is_judged_by_the_draws_and_not_by_the_law_that_was_fitted():
    """Laplace noise exactly at its claim: a line through its bent log ratios promises growth."""
    edges = np.linspace(-3.0, 4.0, 29)
    below = [scipy.stats.laplace.cdf(edges, loc=at) for at in (0.0, 1.0)]
    law = np.diff(np.array(below), prepend=0.0, append=1.0, axis=1)
    counts = np.column_stack([1e4 * law, [0.0, 0.0]])
    centres = np.concatenate([[-3.1], edges]) + 0.1
    line = logistic(-centres, counts)
    promised = best_bet(line, masses(line, counts), 1.0, 0.0).rate
    assert 1e4 * promised > 20.0
    assert best_bet(line, frequencies_of(counts), 1.0, 0.0).rate < 0.1 * promised
    bets = RatioBets()
    bets.regressions = [
        ScoreCounts(
            score=lambda batch: batch.answers, edges=edges, centres=-centres, cost=0.0,
            counts=counts,
        )
    ]  # fmt: skip
    bets.choose([(1.0, 0.0)])
    assert bets.choice is None


def mean_evidence(peek):
    """The mean evidence of 2000 runs of 20 draws of randomized response at its claim."""
    rng, right = np.random.default_rng(3), math.e / (1.0 + math.e)
    total = 0.0
    for _ in range(2000):
        bets = RatioBets()
        counts = rng.binomial(20, [1 - right, right])
        bets.regressions = [tally_of_bits(counts.astype(float))]
        bits = tuple((rng.random(20) < share).astype(float) for share in (1 - right, right))
        if peek:  # the shares are of the draws bet on
            bets.regressions[0].counts *= 0.0
            bets.regressions[0].counts += [bets.regressions[0].bins(each) for each in bits]
        bets.choose([(1.0, 0.0)])
        bets.bet(Batch(bits))
        total += math.exp(bets.log)
    return total / 2000


@pytest.mark.nightly
def test_evidence_has_mean_one_at_the_claim_unless_the_draws_were_seen():
    """The mean is 1 or less; its standard error is below 0.02 here, so 1.1 is five of them."""
    assert 0.5 < mean_evidence(peek=False) < 1.1
    assert mean_evidence(peek=True) > 1.1
