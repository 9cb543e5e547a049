"""δ(ε) along ε, with a band that holds at every ε at once.

With G(t) = Pr[L > t], δ(ε) = E[(1 - e^{ε-L})₊] is the integral of e^{ε-t} G(t) over t >= ε, by
parts. So whatever bounds the tail at all thresholds at once bounds δ at all ε at once, with the
same confidence: the band of :mod:`simulator.estimation.band` is integrated. Between two thresholds
of a ladder G lies between its values there, which moves each end outward by at most the step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simulator.errors import InvalidInput
from simulator.estimation import band
from simulator.estimation.loss_sample import LossSample, signed_sample
from simulator.estimation.samples import Floats, numbers
from simulator.estimation.tail_estimates import TailBand, tail_band
from simulator.store.frames import Tabular
from simulator.ties import ROUNDS, tolerance

METHOD = f"{band.METHOD}, integrated"

STEP = 1.01
"""Ratio of the numbers of losses above two neighbouring thresholds of the ladder, deep down."""
EVEN = 1024
"""Thresholds of the ladder that are evenly spread over the losses."""
BEYOND = 1e300
"""A threshold that infinite losses alone pass."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DeltaBand(Tabular):
    """Hockey-stick divergences with limits that hold at every ε at once.

    The four arrays have one entry per ε, in the order given; ``confidence`` is that of the whole
    band, ``widened`` as in :class:`~simulator.estimation.Estimate`.
    """

    epsilons: Floats
    value: Floats
    lower: Floats
    upper: Floats
    confidence: float
    trials: int
    method: str = METHOD
    widened: Floats | float = 0.0


def delta_band(
    losses: ArrayLike | LossSample,
    epsilons: ArrayLike,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
) -> DeltaBand:
    """δ(ε) at ``epsilons``, any finite numbers, with a band that is simultaneous over all ε.

    ``losses``, ``experiment`` and ``rounds`` as in :func:`~simulator.estimation.delta`, whose
    interval for a single ε is narrower. The ε may be chosen after looking at the losses. Raises
    InvalidInput.
    """
    signed = signed_sample(losses, experiment)
    points = np.atleast_1d(numbers(epsilons, "epsilons"))
    if points.ndim != 1 or not np.isfinite(points).all():
        raise InvalidInput("epsilons must be a list of finite numbers")
    tails = tail_band(signed, ladder(signed), 0, confidence, rounds=rounds)
    lower, upper = limits_of_delta(tails, points)
    # what rounding adds to a loss, and what the tail's rule for ties takes from it
    slack = 2.0 * tolerance(points, rounds)
    value = np.array([signed.excess(float(point)).centre.mean() for point in points])
    return DeltaBand(
        epsilons=points,
        value=value,
        lower=np.minimum(np.maximum(lower - slack, 0.0), value),
        upper=np.maximum(np.minimum(upper + slack, 1.0), value),
        confidence=confidence,
        trials=signed.trials,
        widened=widening_of_delta(tails, points),
    )


def ladder(sample: LossSample) -> Floats:
    """Thresholds at losses, fine where few lie above: of increasing order, the last BEYOND all."""
    n = sample.trials
    depth = np.arange(int(np.log(n) / np.log(STEP)) + 2 if n > 1 else 1)
    from_top = np.minimum(np.floor(STEP**depth), n)
    even = np.linspace(1.0, n, min(n, EVEN))
    ranks = np.unique(np.concatenate([from_top, even]).astype(np.int64))
    chosen = sample.at_ranks(n - ranks[::-1])
    return np.append(np.unique(chosen[np.isfinite(chosen)]), BEYOND)


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


def widening_of_delta(tails: TailBand, epsilons: Floats) -> Floats:
    """By how much the limits of δ at each ε are wider for those of the tail that are."""
    wider = np.broadcast_to(np.asarray(tails.widened, dtype=np.float64), tails.thresholds.shape)
    weight, beyond = weights_of_steps(tails.thresholds, epsilons)
    of_upper = weight @ np.concatenate([[0.0], wider[:-1]]) + beyond * wider[-1]
    return np.asarray(np.maximum(weight @ wider, of_upper))
