"""Rare events from importance-weighted samples: tails and hockey-stick, in log space.

A sample drawn from a law Q, with log-weights ln dP_b/dQ beside the losses, estimates E_b[f] by the
mean of W f. An interval is valid at every sample size when W f has a bound known in advance
(betting on W f / B, Waudby-Smith and Ramdas 2023), and labelled asymptotic otherwise. Estimates
that rest on too few hits, or on one dominating weight, are refused.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from simulator.errors import InvalidInput, NotApplicable
from simulator.estimation.betting import METHOD, betting_lower, betting_upper
from simulator.estimation.estimate import Estimate
from simulator.estimation.inversion import excess
from simulator.estimation.log_mean import ASYMPTOTIC, LARGEST_SHARE, MINIMUM_HITS, LogMean
from simulator.estimation.samples import Floats, checked_log_weights, error_level, signed_losses
from simulator.ties import ROUNDS, beyond
from simulator.validation import finite, whole

_ROUNDING = 1e-9  # log-weights are sums over many rounds; they may pass their bound by rounding


def weighted_tail(
    losses: ArrayLike,
    log_weights: ArrayLike,
    threshold: float,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
    log_bound: float | None = None,
    minimum_hits: int = MINIMUM_HITS,
    largest_share: float = LARGEST_SHARE,
) -> Estimate:
    """Pr0[L > threshold], or Pr1[-L > threshold] for ``experiment`` 1, from a sample under Q.

    ``losses`` and ``log_weights`` = ln dP_b/dQ, b the experiment, have shape (trials,); ``rounds``
    says what rounding adds, see :func:`simulator.estimation.tail`.
    ``log_bound`` is ln B with W·1{L > threshold} <= B known in advance, see
    :func:`tail_log_bound`. Raises InvalidInput, and Refusal with fewer than ``minimum_hits`` or a
    weight beyond ``largest_share`` of the sum.
    """
    signed = signed_losses(losses, experiment)
    log_w = checked_log_weights(log_weights, signed.size)
    least = beyond(finite("threshold", threshold), whole("rounds", rounds))
    log_sample = np.where(signed > least, log_w, -np.inf)
    return log_sample_estimate(log_sample, confidence, log_bound, minimum_hits, largest_share)


def weighted_delta(
    losses: ArrayLike,
    log_weights: ArrayLike,
    epsilon: float,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    log_bound: float | None = None,
    minimum_hits: int = MINIMUM_HITS,
    largest_share: float = LARGEST_SHARE,
) -> Estimate:
    """Hockey-stick divergence E[W (1 - e^{ε-L})₊] at ``epsilon`` from a sample under Q.

    Arguments and errors as in :func:`weighted_tail`; for ``log_bound`` see
    :func:`delta_log_bound`.
    """
    signed = signed_losses(losses, experiment)
    log_w = checked_log_weights(log_weights, signed.size)
    log_sample = log_excess(signed, log_w, finite("epsilon", epsilon))
    return log_sample_estimate(log_sample, confidence, log_bound, minimum_hits, largest_share)


def exchanged_log_weights(losses: ArrayLike, log_weights: ArrayLike) -> Floats:
    """Weights with which the same sample serves experiment 1: ln dP1/dQ = ln dP0/dQ - L.

    With them ``weighted_tail(..., experiment=1)`` is Pr1[-L > t], which needs a sample tilted
    toward small L, and ``weighted_tail(..., experiment=0)`` is Pr1[L > t], the chance in
    experiment 1 of the very event that a sample tilted toward large L is made for.

    Valid when every view possible in experiment 1 is possible under Q. Raises NotApplicable when a
    loss is -inf: such views are impossible in experiment 0, so their weight is lost in ln dP0/dQ.
    """
    array = signed_losses(losses, 0)
    log_w = checked_log_weights(log_weights, array.size)
    if np.any(array == -np.inf):
        raise NotApplicable(
            "a loss is -inf, so experiment 0 knows no weight for it: draw the sample of "
            "experiment 1 itself"
        )
    return log_w - array


def log_excess(signed: Floats, log_weights: Floats, epsilon: float) -> Floats:
    """Logarithm of W (1 - e^{ε-L})₊, -inf where it vanishes."""
    factor = excess(signed, epsilon)
    hit = factor > 0.0
    return np.where(hit, log_weights + np.log(np.where(hit, factor, 1.0)), -np.inf)


def log_sample_estimate(
    log_sample: Floats,
    confidence: float,
    log_bound: float | None,
    minimum_hits: int = MINIMUM_HITS,
    largest_share: float = LARGEST_SHARE,
) -> Estimate:
    """Mean of e^x, at most 1, with an interval: betting within [0, e^log_bound], else asymptotic.

    A bound that exceeds the value more than ``trials`` times says nothing: a single value at the
    bound, unseen, would be more than all that was seen. The interval is then asymptotic too.
    """
    alpha = error_level(confidence) / 2.0
    summary = LogMean.of(log_sample)
    summary.refuse_if_unreliable(minimum_hits, largest_share)
    if log_bound is None or not useful(log_bound, summary.log_value, log_sample.size):
        lower, upper = summary.asymptotic_limits(alpha)
        return summary.estimate((lower, min(upper, 1.0)), confidence, ASYMPTOTIC)
    scaled = scaled_by_bound(log_sample, finite("log_bound", log_bound))
    scale = math.exp(log_bound)
    limits = betting_lower(scaled, alpha) * scale, betting_upper(scaled, alpha) * scale
    limits = limits[0], min(limits[1], 1.0)
    return summary.estimate(limits, confidence, f"{METHOD}, weights bounded in advance")


def useful(log_bound: float, log_value: float, trials: int) -> bool:
    """Whether a bound on the weighted variable is within ``trials`` times its mean."""
    return log_bound - log_value <= math.log(trials)


def scaled_by_bound(log_sample: Floats, log_bound: float) -> Floats:
    """The sample over its bound, in [0, 1]; InvalidInput when the bound does not hold."""
    passed = float(log_sample.max()) - log_bound
    if passed > _ROUNDING:
        raise InvalidInput(
            f"a weighted value passes its stated bound by a factor {math.exp(min(passed, 700)):.6g}"
            ": the bound on psi or theta is wrong"
        )
    return np.exp(np.minimum(log_sample - log_bound, 0.0))
