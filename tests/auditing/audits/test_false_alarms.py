"""Audits of mechanisms exactly at their claim: false alarms are as rare as stated.

The number of alarms in independent audits is compared with a binomial law: the stated probability
that an honest audit fails here is 1e-4 per mechanism.
"""

import math

import numpy as np
import pytest
import scipy.stats

from simulator import PureDP
from simulator.auditing import audit
from simulator.auditing.audits.repeats import surprise
from simulator.auditing.evidence.ratio_bets import RatioBets
from simulator.theory import ApproxDP, GaussianDP

CONFIDENCE = 0.8


def randomized_response(bit, n, rng):
    return (rng.random(n) < 0.6) == bool(bit)


def laplace(value, n, rng):  # on a grid, so that the low bits give nothing away
    return np.round(value + rng.laplace(0.0, 2.0, n), 3)


def gaussian(value, n, rng):
    return np.round(value + rng.normal(0.0, 1.0, n), 3)


def all_or_nothing(bit, n, rng):
    """With probability 0.05 the input itself."""
    return np.where(rng.random(n) < 0.05, bit, 2)


def shifted(value, n, rng):
    """Uniform on a unit interval that moves by 0.1: (0, 0.1)."""
    return np.round(rng.random(n) + 0.1 * value, 3)


def five_bits(bit, n, rng):
    """Five bits of randomized response."""
    return ((rng.random((n, 5)) < 0.55) == bool(bit)).astype(int)


EDGES = {
    "randomized response": (randomized_response, PureDP(math.log(1.5))),
    "laplace": (laplace, PureDP(0.5)),
    "gaussian at its delta": (gaussian, ApproxDP(1.0, GaussianDP(1.0).hockey_stick(1.0))),
    "gaussian at its curve": (gaussian, GaussianDP(1.0)),
    "all or nothing": (all_or_nothing, ApproxDP(0.3, 0.05)),
    "shifted": (shifted, ApproxDP(0.0, 0.1)),
    "five bits": (five_bits, PureDP(5 * math.log(0.55 / 0.45))),
}


def most_alarms(audits):
    """So many alarms or fewer, but for 1e-4, if each has the stated probability."""
    return int(scipy.stats.binom.isf(1e-4, audits, 1.0 - CONFIDENCE))


def alarms(name, audits, samples):
    """False alarms in audits of a mechanism, on both orders of its inputs."""
    sample, claimed = EDGES[name]
    found = 0
    for seed in range(audits):
        inputs = (0, 1) if seed % 2 else (1, 0)
        found += audit(
            sample, *inputs, claimed=claimed, samples=samples, confidence=CONFIDENCE, seed=seed,
            bits=False,
        ).violated  # fmt: skip
    return found


@pytest.mark.parametrize("name", ["randomized response", "all or nothing"])
def test_few_audits_of_what_keeps_its_claim(name):
    assert alarms(name, 8, 64) <= most_alarms(8)


@pytest.mark.nightly
@pytest.mark.parametrize("samples", [64, 1500])
@pytest.mark.parametrize("name", EDGES)
def test_hundreds_of_audits_of_what_keeps_its_claim(name, samples):
    audits = 400 if samples < 1000 else 100
    assert alarms(name, audits, samples) <= most_alarms(audits)


def test_bets_against_less_than_the_claim_raise_too_many_alarms(monkeypatch):
    """The same count catches bets that are valid for epsilon = 0 alone."""
    choose = RatioBets.choose
    monkeypatch.setattr(RatioBets, "choose", lambda self, points: choose(self, [(0.0, 0.0)]))
    assert alarms("randomized response", 8, 600) > most_alarms(8)


def test_a_call_that_begins_as_an_earlier_one_is_a_surprise_where_answers_vary():
    assert surprise([3, 1], [3, 1, 2, 2]) == pytest.approx(2 * math.log(4))
    assert surprise([3, 1, 5], [3, 1]) == pytest.approx(2 * math.log(2))
    assert surprise([7, 7], [7, 7, 7]) == 0.0
    assert surprise([3, 2], [3, 1]) == -math.inf
