"""How the error level is shared between the two ends, by second ways to the same numbers."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from simulator.analysis.estimation import weighted
from simulator.analysis.estimation.band import exceedance_limits
from simulator.analysis.estimation.betting import betting_interval
from simulator.analysis.estimation.hockey_stick import delta
from simulator.analysis.estimation.weighted import weighted_delta

HITS = np.random.default_rng(4).random(600) < 0.3
LOSSES = np.where(HITS, 60.0, -60.0)
"""Losses whose excess over 0 is 1 or 0, but for rounding."""


def test_an_interval_of_delta_is_that_of_a_mean():
    found, expected = delta(LOSSES, 0.0, confidence=0.9), betting_interval(HITS, 0.9)
    assert found.lower == pytest.approx(expected.lower, rel=1e-7)
    assert found.upper == pytest.approx(expected.upper, rel=1e-7)


def test_two_lower_ends_share_the_error_of_one(monkeypatch):
    """Bets scaled by the bound and bets scaled by a pilot have half each; the pilot's are out."""
    monkeypatch.setattr(weighted, "lower_from_pilot", lambda *_: weighted.RoundedLimit(0.0, 0.0))
    found = weighted_delta(LOSSES, np.zeros(600), 0.0, confidence=0.9, log_bound=0.0)
    assert found.lower == pytest.approx(betting_interval(HITS, 0.95).lower, rel=1e-7)
    assert found.upper == pytest.approx(betting_interval(HITS, 0.9).upper, rel=1e-7)


@pytest.mark.parametrize("hits", [3, 40, 200])
def test_each_limit_of_a_band_is_where_the_martingale_reaches_two_over_alpha(hits):
    trials, alpha = 400, 0.05
    limits = exceedance_limits(np.array([hits]), trials, alpha)
    depth = math.ceil(math.log2(math.sqrt(trials)))
    ends = (limits[0][0], 1, range(-depth, 7)), (limits[1][0], -1, range(-depth, 1))
    for limit, sign, powers in ends:
        p, logs = float(limit), []
        for c in (1.0 + sign * 2.0**power for power in powers):
            if c * p < 1.0:
                stay = (trials - hits) * math.log((1.0 - c * p) / (1.0 - p))
                logs.append(hits * math.log(c) + stay if c > 0.0 else -math.inf)
        reached = logsumexp(logs) - math.log(len(powers))
        assert reached == pytest.approx(math.log(2.0 / alpha), abs=1e-6)
