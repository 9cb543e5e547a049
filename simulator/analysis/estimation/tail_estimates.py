"""Tails of the privacy loss, Pr[L > t]: at one threshold, and at all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.analysis.estimation import band
from simulator.analysis.estimation.estimate import Estimate
from simulator.analysis.estimation.intervals import clopper_pearson
from simulator.engine.outcomes.loss_sample import LossSample, signed_sample
from simulator.engine.outcomes.samples import Floats, error_level, numbers
from simulator.foundations.curves import DrawnTable
from simulator.foundations.errors import InvalidInput
from simulator.foundations.ties import ROUNDS, beyond
from simulator.foundations.validation import point, whole


@dataclass(frozen=True, kw_only=True, eq=False)
class TailBand(DrawnTable):
    """Tail probabilities with limits that hold at every threshold at once.

    The arrays have one entry per threshold, in the order given; ``confidence`` is that of the
    whole band. ``widened`` as in :class:`~simulator.analysis.estimation.Estimate`.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import tail_band
    >>> band = tail_band(np.random.default_rng(0).uniform(-1.0, 2.0, 200), [0.0, 1.0])
    >>> band.value.round(3).tolist(), band.trials
    ([0.715, 0.395], 200)
    """

    thresholds: Floats
    value: Floats
    lower: Floats
    upper: Floats
    confidence: float
    trials: int
    method: str = band.METHOD
    widened: Floats | float = 0.0

    def drawn(self) -> tuple[str, str, tuple[Floats, Floats, Floats, Floats]]:
        """The tail and its band, by threshold."""
        return "threshold", "tail", (self.thresholds, self.value, self.lower, self.upper)


def tail(
    losses: ArrayLike | LossSample,
    threshold: float,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
) -> Estimate:
    """Pr[L > threshold] in experiment 0, or Pr[-L > threshold] in experiment 1.

    ``losses`` has shape (trials,), drawn in that experiment, always ln Pr[V0=v]/Pr[V1=v]; infinite
    ones are allowed. A loss that equals the threshold but for the rounding of a sum of ``rounds``
    rounds is not above it, see ``ties``; without ``rounds`` those of 10,000 are allowed for, 4e-10
    near 0. Clopper-Pearson interval for this one threshold; for several see :func:`tail_band`.
    Raises InvalidInput.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import tail
    >>> print(tail(np.random.default_rng(0).uniform(-1.0, 2.0, 200), threshold=1.0))
    0.395 [0.327, 0.466] (95%, Clopper-Pearson)
    """
    signed = signed_sample(losses, experiment)
    least = np.array([beyond(point("threshold", threshold), whole("rounds", rounds))])
    few, many = (int(hits[0]) for hits in signed.count_above(least))
    found = clopper_pearson(few, signed.trials, confidence)
    if few == many:
        return found
    highest = clopper_pearson(many, signed.trials, confidence)
    middle = clopper_pearson((few + many) // 2, signed.trials, confidence)
    widened = max(highest.lower - found.lower, highest.upper - found.upper)
    return replace(middle, lower=found.lower, upper=highest.upper, widened=widened)


def tail_band(
    losses: ArrayLike | LossSample,
    thresholds: ArrayLike,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
) -> TailBand:
    """The tail function at ``thresholds`` with a band that is simultaneous over all thresholds.

    The thresholds may be chosen after looking at the losses; ``rounds`` as in :func:`tail`. Why it
    is simultaneous, and its source: see ``band``. Raises InvalidInput.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import tail_band
    >>> losses = np.random.default_rng(0).uniform(-1.0, 2.0, 200)
    >>> tail_band(losses, [0.0, 1.0]).value.round(3).tolist()
    [0.715, 0.395]
    """
    signed = signed_sample(losses, experiment)
    points = np.atleast_1d(numbers(thresholds, "thresholds"))
    if points.ndim != 1 or np.isnan(points).any():
        raise InvalidInput("thresholds must be a list of numbers without NaN")
    few, many = signed.count_above(beyond(points, whole("rounds", rounds)))
    lower, upper, widened = band_limits(few, many, signed.trials, error_level(confidence))
    return TailBand(
        thresholds=points,
        value=(few + many) / (2 * signed.trials),
        lower=lower,
        upper=upper,
        confidence=confidence,
        trials=signed.trials,
        widened=widened,
    )


def band_limits(
    few: NDArray[np.int64], many: NDArray[np.int64], trials: int, alpha: float
) -> tuple[Floats, Floats, Floats]:
    """The band for counts that lie between ``few`` and ``many``, and by how much it is wider."""
    lower, upper_of_few = band.exceedance_limits(few, trials, alpha)
    if few is many:
        return lower, upper_of_few, np.zeros_like(lower)
    lower_of_many, upper = band.exceedance_limits(many, trials, alpha)
    return lower, upper, np.maximum(lower_of_many - lower, upper - upper_of_few)
