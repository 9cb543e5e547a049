"""The hockey-stick divergence δ(ε) and its inverse ε(δ), from plain simulation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from simulator.estimation.betting import METHOD, betting_interval
from simulator.estimation.estimate import Estimate
from simulator.estimation.inversion import (
    Inversion,
    excess,
    point_epsilon,
    relative_error_of_epsilon,
)
from simulator.estimation.samples import Floats, error_level, signed_losses
from simulator.ties import ROUNDS, tolerance
from simulator.validation import finite, open_probability, whole


def delta(
    losses: ArrayLike,
    epsilon: float,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
) -> Estimate:
    """Hockey-stick divergence E[(1 - e^{ε-L})₊] at ``epsilon``, any finite number.

    ``losses`` has shape (trials,), drawn in ``experiment``, always ln Pr[V0=v]/Pr[V1=v]; in
    experiment 1 the roles are exchanged, L becomes -L. The estimator is the mean of a [0, 1]
    variable; its betting interval (Waudby-Smith and Ramdas 2023) is valid at every sample size,
    with its ends moved outward by what rounding adds to a loss of so many ``rounds``: δ is 0 at
    the largest loss, where a computed one may lie above. Raises InvalidInput.
    """
    signed, centre = signed_losses(losses, experiment), finite("epsilon", epsilon)
    slack = tolerance(centre, whole("rounds", rounds))
    found = betting_interval(excess(signed, centre), confidence)
    # δ(ε + s) >= δ(ε) - s: its derivative is that of a probability
    return replace(found, lower=max(0.0, found.lower - slack), upper=min(1.0, found.upper + slack))


def epsilon(
    losses: ArrayLike, delta: float, experiment: int = 0, confidence: float = 0.95
) -> Estimate:
    """Least ε >= 0 with hockey-stick divergence at most ``delta``, strictly between 0 and 1.

    ``losses`` as in :func:`delta`. The interval inverts the betting test, see
    :mod:`simulator.estimation.inversion`; it is valid at every sample size. An infinite ``upper``
    means that ``delta`` is too small for so few trials. ``hits`` counts the losses above the value.
    Raises InvalidInput.
    """
    signed = signed_losses(losses, experiment)
    target = open_probability("delta", delta)
    alpha = error_level(confidence) / 2.0
    ones, zeros = np.ones_like(signed), np.zeros_like(signed)
    point = point_epsilon(signed, zeros, math.log(target))
    inversion = Inversion(signed, ones, target, alpha)
    return Estimate(
        value=point,
        lower=inversion.lower(point),
        upper=inversion.upper(point),
        confidence=confidence,
        method=f"{METHOD}, test inversion",
        hits=int(np.count_nonzero(signed > point)),
        effective_sample_size=float(signed.size),
        largest_weight_share=_largest_share(signed, point),
        relative_standard_error=relative_error_of_epsilon(signed, zeros, point),
    )


def _largest_share(signed: Floats, point: float) -> float:
    if math.isinf(point):
        return 1.0
    sample = excess(signed, point)
    total = float(sample.sum())
    return float(sample.max()) / total if total > 0.0 else 1.0
