"""Tails of the privacy loss, Pr[L > t]: at one threshold, and at all of them at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.errors import InvalidInput
from simulator.estimation import band
from simulator.estimation.estimate import Estimate
from simulator.estimation.intervals import clopper_pearson
from simulator.estimation.samples import Floats, error_level, numbers, signed_losses
from simulator.ties import ROUNDS, beyond
from simulator.validation import point, whole


@dataclass(frozen=True, kw_only=True)
class TailBand:
    """Tail probabilities with limits that hold at every threshold at once.

    The four arrays have one entry per threshold, in the order given; ``confidence`` is that of the
    whole band.
    """

    thresholds: Floats
    value: Floats
    lower: Floats
    upper: Floats
    confidence: float
    trials: int
    method: str = band.METHOD


def tail(
    losses: ArrayLike,
    threshold: float,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
) -> Estimate:
    """Pr[L > threshold] in experiment 0, or Pr[-L > threshold] in experiment 1.

    ``losses`` has shape (trials,), drawn in that experiment, always ln Pr[V0=v]/Pr[V1=v]; infinite
    ones are allowed. A loss that equals the threshold but for the rounding of a sum of ``rounds``
    rounds is not above it, see :mod:`simulator.ties`; without ``rounds`` those of 10,000 are
    allowed for, 4e-10 near 0. Clopper-Pearson interval for this one threshold; for several see
    :func:`tail_band`. Raises InvalidInput.
    """
    signed = signed_losses(losses, experiment)
    threshold = point("threshold", threshold)
    hits = np.count_nonzero(signed > beyond(threshold, whole("rounds", rounds)))
    return clopper_pearson(int(hits), signed.size, confidence)


def tail_band(
    losses: ArrayLike,
    thresholds: ArrayLike,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
) -> TailBand:
    """The tail function at ``thresholds`` with a band that is simultaneous over all thresholds.

    The thresholds may be chosen after looking at the losses; ``rounds`` as in :func:`tail`. Why it
    is simultaneous, and its source: see :mod:`simulator.estimation.band`. Raises InvalidInput.
    """
    signed = signed_losses(losses, experiment)
    points = np.atleast_1d(numbers(thresholds, "thresholds"))
    if points.ndim != 1 or np.isnan(points).any():
        raise InvalidInput("thresholds must be a list of numbers without NaN")
    counts = count_above(signed, points, rounds)
    lower, upper = band.exceedance_limits(counts, signed.size, error_level(confidence))
    return TailBand(
        thresholds=points,
        value=counts / signed.size,
        lower=lower,
        upper=upper,
        confidence=confidence,
        trials=signed.size,
    )


def count_above(signed: Floats, thresholds: Floats, rounds: int) -> NDArray[np.intp]:
    """Number of losses of ``rounds`` rounds above each threshold, by more than rounding."""
    least = beyond(thresholds, whole("rounds", rounds))
    return np.asarray(signed.size - np.searchsorted(np.sort(signed), least, side="right"))
