"""δ(ε) along ε, with a band that holds at every ε at once.

With G(t) = Pr[L > t], δ(ε) = E[(1 - e^{ε-L})₊] is the integral of e^{ε-t} G(t) over t >= ε, by
parts. So a band of the tail at all thresholds gives one of δ at all ε, with the same confidence:
that of ``band`` is integrated. Between two neighbouring thresholds of the ladder G lies between its
values there, which moves each end outward by at most the step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.analysis.estimation import band
from simulator.analysis.estimation.tail_estimates import TailBand, band_limits, tail_band
from simulator.engine.outcomes.loss_sample import LossSample, signed_sample
from simulator.engine.outcomes.samples import Floats, error_level, numbers
from simulator.foundations.curves import DrawnTable
from simulator.foundations.errors import InvalidInput
from simulator.foundations.ties import ROUNDS, beyond, tolerance

METHOD = f"{band.METHOD}, integrated"

STEP = 1.01
"""Ratio of the numbers of losses above two neighbouring thresholds of the ladder, deep down."""
EVEN = 1024
"""Thresholds of the ladder that are evenly spread over the losses."""
BEYOND = 1e300
"""A threshold that only infinite losses exceed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DeltaBand(DrawnTable):
    """Hockey-stick divergences with limits that hold at every ε at once.

    The four arrays have one entry per ε, in the order given; ``confidence`` is that of the whole
    band, ``widened`` as in :class:`~simulator.analysis.estimation.Estimate`.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import delta_band
    >>> losses = np.random.default_rng(0).uniform(-1.0, 2.0, 200)
    >>> band = delta_band(losses, [0.0, 0.5, 1.0])
    >>> band.value.round(4).tolist(), bool((band.lower <= band.value).all())
    ([0.4247, 0.2853, 0.1579], True)
    """

    epsilons: Floats
    value: Floats
    lower: Floats
    upper: Floats
    confidence: float
    trials: int
    method: str = METHOD
    widened: Floats | float = 0.0

    def drawn(self) -> tuple[str, str, tuple[Floats, Floats, Floats, Floats]]:
        """The band by epsilon, as :meth:`DrawnTable.drawn` has it."""
        return "epsilon", "delta of epsilon", (self.epsilons, self.value, self.lower, self.upper)


def delta_band(
    losses: ArrayLike | LossSample,
    epsilons: ArrayLike,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
) -> DeltaBand:
    """δ(ε) at ``epsilons``, any finite numbers, with a band that is simultaneous over all ε.

    ``losses``, ``experiment`` and ``rounds`` as in ``delta``, whose interval for a single ε is
    narrower. The ε may be chosen after looking at the losses. Raises InvalidInput.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import delta_band
    >>> losses = np.random.default_rng(0).uniform(-1.0, 2.0, 200)
    >>> delta_band(losses, [0.0, 1.0]).value.round(4).tolist()
    [0.4247, 0.1579]
    """
    signed = signed_sample(losses, experiment)
    points = np.atleast_1d(numbers(epsilons, "epsilons"))
    if points.ndim != 1 or not np.isfinite(points).all():
        raise InvalidInput("epsilons must be a list of finite numbers")
    tails = tail_band(signed, ladder(signed), 0, confidence, rounds=rounds)
    lower, upper = limits_of_delta(tails, points)
    # once for the rounding of a loss, once for the rule of ties of the tail
    slack = 2.0 * tolerance(points, rounds)
    value = np.array([signed.excess(float(point)).centre.mean() for point in points])
    return DeltaBand(
        epsilons=points,
        value=value,
        lower=np.minimum(np.maximum(lower - slack, 0.0), value),
        upper=np.maximum(np.minimum(upper + slack, 1.0), value),
        confidence=confidence,
        trials=signed.trials,
        widened=widening_of_delta(signed, tails, points, rounds),
    )


def ladder(sample: LossSample) -> Floats:
    """Thresholds at losses, fine where few lie above: of increasing order, the last BEYOND all."""
    chosen = sample.at_ranks(sample.trials - numbers_from_top(sample.trials))
    return np.append(np.unique(chosen[np.isfinite(chosen)]), BEYOND)


def numbers_from_top(trials: int) -> NDArray[np.int64]:
    """Which losses are thresholds of the ladder, counted from the largest, 1; in falling order."""
    depth = np.arange(int(np.log(trials) / np.log(STEP)) + 2 if trials > 1 else 1)
    from_top = np.minimum(np.floor(STEP**depth), trials)
    even = np.linspace(1.0, trials, min(trials, EVEN))
    return np.unique(np.concatenate([from_top, even]).astype(np.int64))[::-1]


def limits_of_delta(tails: TailBand, epsilons: Floats) -> tuple[Floats, Floats]:
    """Limits of δ at each ε from limits of the tail at increasing thresholds, the last BEYOND all.

    Shape (n,) each.
    """
    weight, beyond = weights_of_steps(tails.thresholds, epsilons)
    above = np.concatenate([[1.0], tails.upper[:-1]])  # of G from each edge on
    leak = tails.lower[-1]
    lower = weight @ np.maximum(tails.lower, leak)
    upper = weight @ above
    return lower, upper + beyond * tails.upper[-1]


def weights_of_steps(thresholds: Floats, epsilons: Floats) -> tuple[Floats, Floats]:
    """e^{ε-t} integrated, from ε on, up to the first threshold and between neighbouring ones.

    Shape (epsilons, thresholds), and what is left beyond the last, shape (epsilons,).
    """
    edges = np.concatenate([[-np.inf], thresholds])
    left = np.exp(np.minimum(epsilons[:, None] - edges, 0.0))
    return left[:, :-1] - left[:, 1:], left[:, -1]


def widening_of_delta(sample: LossSample, tails: TailBand, epsilons: Floats, rounds: int) -> Floats:
    """By how much the limits of δ at each ε may be wider than those of every loss.

    The ladder of these has its thresholds at the losses: each lies between the least and the
    largest loss of its bin, and so does the number of losses above it.
    """
    if sample.exact:
        return np.zeros_like(epsilons)
    places = numbers_from_top(sample.trials)
    largest = sample.at_ranks(sample.trials - places)
    least = -sample.negated().at_ranks(places - 1)
    finite = np.isfinite(largest)
    largest, least = (np.append(ends[finite], BEYOND) for ends in (largest, least))
    most = sample.count_above(beyond(least, rounds))[1]
    most[:-1] = np.minimum(most[:-1], places[finite] - 1)
    few = sample.count_above(beyond(largest, rounds))[0]
    lower, upper, _ = band_limits(most, few, sample.trials, error_level(tails.confidence))
    inward = replace(tails, lower=lower, upper=upper)
    highest, _ = limits_of_delta(replace(inward, thresholds=largest), epsilons)
    _, lowest = limits_of_delta(replace(inward, thresholds=least), epsilons)
    found = limits_of_delta(tails, epsilons)
    return np.maximum(np.maximum(highest - found[0], found[1] - lowest), 0.0)
