"""Estimates of balls in bins: their accuracy where delta is small, beside plain Monte Carlo.

Plain Monte Carlo draws losses L under P, as jax_privacy does, and takes the mean of
(1 - e^{epsilon - L})+. At a delta that it can still reach, the figure is how many of its draws have
the width of one of ours, by the same betting intervals: widths fall with the root of the draws.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from experiments.benchmarks.measure import Line
from simulator.analysis.estimation import betting_interval
from simulator.training import balls_in_bins, estimate_allocation
from simulator.training.matrices.pairs import BinnedPair

DRAWS = 100_000
BAND = (1.0, 0.5, 0.375, 0.3125)


@dataclass(frozen=True)
class Binned:
    """Balls in bins, with noise correlated over a band of steps."""

    sigma: float
    bins: int
    rounds: int
    band: int = 1

    def __str__(self) -> str:
        return (
            f"{self.bins} bins, {self.rounds} rounds, band {self.band}, noise multiplier "
            f"{self.sigma:g}"
        )

    def pair(self) -> BinnedPair:
        """P and Q; the columns of C have norm 1."""
        band = np.array(BAND[: self.band])
        return balls_in_bins(self.sigma, self.bins, self.rounds, band / np.linalg.norm(band))


TRAININGS = (
    Binned(1.0, 10, 10),
    Binned(3.0, 10, 100, 2),
    Binned(3.0, 10, 100, 4),
    Binned(1.0, 100, 100),
    Binned(2.0, 100, 100),
    Binned(1.0, 100, 100, 4),
    Binned(3.0, 100, 1000, 3),
)


def accuracy() -> Iterator[Line]:
    """The error, the upper end and the time of delta near 1e-8 from 1e5 draws."""
    for training in TRAININGS:
        pair = training.pair()
        epsilon = estimate_allocation(pair, delta=1e-8, direction="removal", draws=4096)
        point = round(epsilon.worst.value, 3)
        start = time.process_time()
        delta = estimate_allocation(pair, epsilon=point).worst
        spent = time.process_time() - start
        detail = {"epsilon": point, "delta": delta.value, "lower": delta.lower}
        error = delta.relative_standard_error
        yield Line(f"{training}: error", error, "relative", 0.01, at_least=False, detail=detail)
        upper = delta.upper / delta.value
        yield Line(f"{training}: upper end", upper, "x the value", 1.05, at_least=False)
        yield Line(f"{training}: time", spent, "s, both directions", 10.0, at_least=False)


def beside_plain() -> Iterator[Line]:
    """How many plain draws are worth one of ours, at 1e-3, and at 1e-8 by the variance."""
    for training in TRAININGS:
        pair = training.pair()
        for target in (1e-3, 1e-8):
            at = estimate_allocation(pair, delta=target, direction="removal", draws=4096)
            point = round(at.worst.value, 3)
            ours = estimate_allocation(pair, epsilon=point, direction="removal", draws=DRAWS).worst
            if target > 1e-6:
                plain = betting_interval(plain_excess(pair, point, DRAWS))
                ratio = ((plain.upper - plain.lower) / (ours.upper - ours.lower)) ** 2
            else:  # of a variable in [0, 1] of mean delta the variance is delta, but for a factor
                ratio = 1.0 / (ours.value * DRAWS * ours.relative_standard_error**2)
            unit = "plain draws for one of ours"
            yield Line(f"{training}: delta {target:g}", ratio, unit, 1.0)


def without_draws() -> Iterator[Line]:
    """The width and the time of certified ends for one epoch of 100 bins."""
    from simulator.training.matrices.certified import BandedEnds

    for sigma, band, delta in product((1.0, 3.0, 10.0), (2, 3, 4), (1e-3, 1e-6, 1e-10)):
        training = Binned(sigma, 100, 100, band)
        start = time.process_time()
        found = BandedEnds(training.pair()).epsilon(delta)
        spent = time.process_time() - start
        width = found.upper / found.lower - 1.0
        name = f"{training}, delta {delta:g}, bands"
        yield Line(f"{name}: width", width, "relative", 0.02, at_least=False)
        yield Line(f"{name}: time", spent, "s", 10.0, at_least=False)


def plain_excess(pair: BinnedPair, epsilon: float, draws: int) -> np.ndarray:
    """(1 - e^{epsilon - L})+ of draws from P."""
    rng = np.random.default_rng(1)
    scores = pair.multiply_factor @ rng.standard_normal((pair.bins, draws))
    scores += pair.gram[:, rng.integers(pair.bins, size=draws)]
    excess = -np.expm1(np.minimum(epsilon - pair.log_ratio(scores), 0.0))
    assert math.isfinite(float(excess.max()))
    return np.asarray(excess)


BENCHMARKS = (accuracy, beside_plain, without_draws)
