"""Mean and standard deviation of the loss along the rounds, with bands that hold for all rounds.

Source: Maurer and Pontil (COLT 2009): Theorem 4 for the mean of a bounded variable, Theorem 10 for
its standard deviation, both from the sample variance. A union bound over rounds and sides makes the
bands simultaneous.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simulator.engine.outcomes.samples import Floats, error_level
from simulator.foundations.curves import DrawnTable
from simulator.foundations.errors import InvalidInput


@dataclass(frozen=True, kw_only=True, eq=False)
class MomentBand(DrawnTable):
    """Moments of the finite losses after each round, all arrays of shape (rounds,).

    Attributes
    ----------
    mean, mean_lower, mean_upper : in nats; NaN from the round on where no loss is finite.
    deviation, deviation_lower, deviation_upper : the standard deviation.
    confidence : with which all rounds' intervals hold together, at every number of trials.

    >>> from simulator.analysis.estimation import moment_band
    >>> moments = [[1.0, 3.0], [10.0, 21.0], [100, 100]]      # sums, sums of squares, trials
    >>> band = moment_band(moments, reach=[0.5, 1.0])
    >>> band.mean.round(6).tolist(), band.deviation.round(4).tolist()
    ([0.01, 0.03], [0.3177, 0.4596])
    """

    mean: Floats
    mean_lower: Floats
    mean_upper: Floats
    deviation: Floats
    deviation_lower: Floats
    deviation_upper: Floats
    confidence: float

    def drawn(self) -> tuple[str, str, tuple[Floats, Floats, Floats, Floats]]:
        """The mean loss and its band, by the rounds played."""
        rounds = np.arange(1.0, len(self.mean) + 1.0)
        return (
            "rounds played",
            "mean privacy loss",
            (rounds, self.mean, self.mean_lower, self.mean_upper),
        )


def moment_band(moments: ArrayLike, reach: ArrayLike, confidence: float = 0.95) -> MomentBand:
    """Band from sums of losses, of their squares, and counts: ``moments`` of shape (3, rounds).

    ``reach``, shape (rounds,), bounds the absolute loss after each round in advance. Raises
    InvalidInput if it does not, or if shapes do not fit.

    >>> from simulator.analysis.estimation import moment_band
    >>> band = moment_band([[1.0], [10.0], [100]], reach=[0.5])      # sums, sums of squares, trials
    >>> band.mean.tolist(), band.mean_lower.round(4).tolist(), band.mean_upper.round(4).tolist()
    ([0.01], [-0.2108], [0.2308])
    """
    three = np.asarray(moments, dtype=np.float64)
    if three.ndim != 2 or len(three) != 3:
        raise InvalidInput(f"moments must have the shape (3, rounds), not {three.shape}")
    total, squares, count = three
    size = np.asarray(reach, dtype=np.float64)
    if size.shape != total.shape or not (np.isfinite(size) & (size >= 0.0)).all():
        raise InvalidInput("reach needs one finite number >= 0 per round")
    rounds = len(total)
    n = np.where(count > 1, count, np.nan)
    mean = total / n
    if (np.abs(mean) > size * (1.0 + 1e-9)).any():
        raise InvalidInput("a mean loss exceeds its stated reach: the reach is wrong")
    variance = np.maximum(squares - n * mean**2, 0.0) / (n - 1.0)
    deviation = np.sqrt(variance)
    # per round two sides of the mean, with ln(2/a) in Theorem 4, and two of the deviation
    logarithm = math.log(2.0 * 4.0 * rounds / error_level(confidence))
    width = 2.0 * size
    radius = np.sqrt(2.0 * variance * logarithm / n) + 7.0 * width * logarithm / (3.0 * (n - 1.0))
    about = width * np.sqrt(2.0 * logarithm / (n - 1.0))
    return MomentBand(
        mean=mean,
        mean_lower=np.maximum(mean - radius, -size),
        mean_upper=np.minimum(mean + radius, size),
        deviation=deviation,
        deviation_lower=np.maximum(deviation - about, 0.0),
        deviation_upper=np.minimum(deviation + about, size),
        confidence=confidence,
    )
