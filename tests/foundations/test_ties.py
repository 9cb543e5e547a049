"""The one rule for losses that equal a threshold but for rounding, against exact arithmetic."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from simulator.foundations.ties import REACH, beyond, tolerance

COINS = np.random.default_rng(7)


def added_up(losses):
    """The float sum as a play adds it up, and its distance from the exact sum of these floats."""
    total = float(np.add.accumulate(losses)[-1])
    return total, abs(float(Fraction(total) - sum(map(Fraction, losses.tolist()))))


def wandering(rounds, stakes, low, high):
    """Round losses that keep their sum between ``low`` and ``high``, as long as it can last."""
    losses, total, sign = np.empty(rounds), 0.0, 1.0
    for i, stake in enumerate(COINS.choice(stakes, rounds)):
        sign = -1.0 if total + stake > high else 1.0 if total - stake < low else sign
        losses[i] = sign * stake
        total += losses[i]
    return losses


@pytest.mark.sampled
@pytest.mark.parametrize("rounds", [1, 30, 1000, 100_000])
@pytest.mark.parametrize("stakes", [[0.1], [0.1, 0.2, 0.7], [0.0012484]])
def test_rounding_stays_within_the_tolerance(rounds, stakes):
    """On the worst paths that still have a probability: up to REACH and back, over and over."""
    for low, high in ((-1.0, 1.0), (-REACH, REACH), (-REACH, 300.0)):
        losses = wandering(rounds, stakes, low, high)
        total, error = added_up(losses)
        assert error <= tolerance(total, rounds) / 4  # a quarter is left to formulas and thresholds


def test_the_tolerance_has_to_grow_with_the_rounds():
    """What 100,000 rounds err by is more than 30 rounds are allowed, and the other way round."""
    total, error = added_up(np.full(100_000, 0.1))
    assert tolerance(total, 100) < error < tolerance(total, 100_000)


@pytest.mark.parametrize("rounds", [2, 30, 1000])
def test_a_threshold_is_met_however_it_is_written(rounds):
    """Typed, multiplied, added up, one float up or down: no loss at it is above it."""
    for count in {1, 2, 3, rounds // 2, rounds}:
        written = [float(f"{count / 10:.10g}"), count * 0.1, math.fsum([0.1] * count)]
        written += [sum(itertools.repeat(0.1, count))]
        written += [math.nextafter(t, side) for t in written for side in (-math.inf, math.inf)]
        for loss, threshold in itertools.product(written, repeat=2):
            assert not loss > beyond(threshold, rounds)
            assert not -loss > beyond(-threshold, rounds)


@pytest.mark.parametrize("rounds", [1, 30, 10_000, 1_000_000])
def test_real_gaps_are_far_wider(rounds):
    """Atoms of k rounds of randomized response lie 2 epsilon apart, whatever passes for epsilon."""
    for epsilon in (1e-6, 1e-3, 0.1, 5.0):
        reach = min(rounds * epsilon, 40.0 + 10.0 * epsilon * math.sqrt(rounds))
        assert 1e-20 < tolerance(reach, rounds) < 2.0 * epsilon / 10.0


def test_infinite_thresholds_and_arrays():
    assert beyond(math.inf, 30) == math.inf
    assert beyond(-math.inf, 30) == -math.inf
    many = np.array([-math.inf, -1.0, 0.0, 1.0, math.inf])
    assert beyond(many, 30).tolist() == [beyond(t, 30) for t in many.tolist()]
    assert tolerance(-1.0, 30) == tolerance(1.0, 30) == 30 * tolerance(1.0, 1)
