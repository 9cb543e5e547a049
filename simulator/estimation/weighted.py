"""Rare events from importance-weighted samples: tails and hockey-stick, in log space.

A sample drawn from a law Q, with log-weights ln dP_b/dQ beside the losses, estimates E_b[f] by the
mean of W f. Both ends of an interval are valid at every sample size. The lower one bets on larger
means, which needs only that weights are not negative: a path that is never drawn can only make it
too low (Waudby-Smith and Ramdas 2023). The upper one is the least of what betting on W f / B
gives, where W f <= B is known in advance, and of a ceiling that the caller knows, such as the exact
curve of the family. Where these ends are far apart an asymptotic interval stands beside them, as a
guess. Where it would rest on too few hits, or on one dominating weight, the guess is left out, and
the valid ends remain; nothing is said of a sample without a hit.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from simulator.deferred import logsumexp
from simulator.errors import InvalidInput, NotApplicable
from simulator.estimation.betting import (
    METHOD,
    betting_lower,
    betting_upper,
    lower_limit_nonnegative,
    plug_in_bets,
)
from simulator.estimation.estimate import Estimate
from simulator.estimation.inversion import excess
from simulator.estimation.log_mean import LARGEST_SHARE, MINIMUM_HITS, VALID_ENDS, LogMean
from simulator.estimation.samples import (
    Floats,
    checked_log_weights,
    error_level,
    signed_losses,
)
from simulator.ties import ROUNDS, beyond, tolerance
from simulator.validation import finite, whole

_PILOT_SHARE = 10  # one trial in ten sets the scale of the weights, and is then not bet on
_LARGEST_LOG = 34.0  # a value e^34 above the pilot's largest is clipped: conservative
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
    ceiling: float = 1.0,
    minimum_hits: int = MINIMUM_HITS,
    largest_share: float = LARGEST_SHARE,
) -> Estimate:
    """Pr0[L > threshold], or Pr1[-L > threshold] for ``experiment`` 1, from a sample under Q.

    ``losses`` and ``log_weights`` = ln dP_b/dQ, b the experiment, have shape (trials,); ``rounds``
    says what rounding adds, see :func:`simulator.estimation.tail`.
    ``log_bound`` is ln B with W·1{L > threshold} <= B known in advance, see
    :func:`tail_log_bound`; ``ceiling`` a number that the truth does not exceed. Without a useful
    bound there is no guess with fewer than ``minimum_hits`` or a weight beyond ``largest_share`` of
    the sum. Raises InvalidInput, and Refusal without a hit.
    """
    signed = signed_losses(losses, experiment)
    log_w = checked_log_weights(log_weights, signed.size)
    least = beyond(finite("threshold", threshold), whole("rounds", rounds))
    log_sample = np.where(signed > least, log_w, -np.inf)
    return log_sample_estimate(
        log_sample,
        confidence,
        log_bound,
        ceiling=ceiling,
        minimum_hits=minimum_hits,
        largest_share=largest_share,
    )


def weighted_delta(
    losses: ArrayLike,
    log_weights: ArrayLike,
    epsilon: float,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
    log_bound: float | None = None,
    ceiling: float = 1.0,
    minimum_hits: int = MINIMUM_HITS,
    largest_share: float = LARGEST_SHARE,
) -> Estimate:
    """Hockey-stick divergence E[W (1 - e^{ε-L})₊] at ``epsilon`` from a sample under Q.

    Arguments and errors as in :func:`weighted_tail`; for ``log_bound`` see
    :func:`delta_log_bound`.
    """
    signed = signed_losses(losses, experiment)
    log_w = checked_log_weights(log_weights, signed.size)
    centre = finite("epsilon", epsilon)
    found = log_sample_estimate(
        log_excess(signed, log_w, centre),
        confidence,
        log_bound,
        ceiling=ceiling,
        minimum_hits=minimum_hits,
        largest_share=largest_share,
    )
    # rounding lifts no loss by more than the tolerance, and no delta by more than that times the
    # probability of losses near epsilon or beyond, which the sample bounds
    slack = float(tolerance(centre, whole("rounds", rounds)))
    near = log_w[signed > centre - slack]
    moved = slack * math.exp(min(float(logsumexp(near)) - math.log(signed.size), 0.0))
    upper = max(min(ceiling, found.upper + moved), found.value)
    return replace(found, lower=max(0.0, found.lower - moved), upper=upper)


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
    log_bound: float | None = None,
    *,
    ceiling: float = 1.0,
    minimum_hits: int = MINIMUM_HITS,
    largest_share: float = LARGEST_SHARE,
) -> Estimate:
    """Mean of e^x, at most ``ceiling``, with an interval valid at every sample size.

    A bound that exceeds the value more than ``trials`` times says little: a single value at the
    bound, unseen, would be more than all that was seen. There is a guess then, too.
    """
    alpha = error_level(confidence) / 2.0
    summary = LogMean.of(log_sample)
    bounded = log_bound is not None and useful(log_bound, summary.log_value, log_sample.size)

    def limits() -> tuple[float, float]:
        low, high = summary.asymptotic_limits(alpha)
        return low, min(high, max(ceiling, math.exp(summary.log_value)))

    guess, no_guess = summary.guess(
        limits, bounded=bounded, minimum_hits=minimum_hits, largest_share=largest_share
    )
    if log_bound is None:
        ends = weighted_lower_limit(log_sample, alpha), ceiling
        return summary.estimate(ends, confidence, VALID_ENDS, guess, no_guess)
    scaled = scaled_by_bound(log_sample, finite("log_bound", log_bound))
    # which of two lower limits is the better depends on the sample: each has half of the error
    lower = max(
        unscaled(betting_lower(scaled, alpha / 2.0), log_bound),
        weighted_lower_limit(log_sample, alpha / 2.0),
    )
    upper = min(unscaled(betting_upper(scaled, alpha), log_bound), ceiling)
    method = f"{METHOD}, weights bounded in advance"
    return summary.estimate((lower, upper), confidence, method, guess, no_guess)


def weighted_lower_limit(log_sample: Floats, alpha: float) -> float:
    """Lower limit of the mean of e^x, failing with probability at most ``alpha``.

    No bound on the sample is needed; the first tenth of the trials sets the scale of the bets.
    """
    pilot = max(1, log_sample.size // _PILOT_SHARE)
    scale = float(log_sample[:pilot].max())
    if scale == -math.inf:
        return 0.0
    scaled = np.exp(np.minimum(log_sample - scale, _LARGEST_LOG))
    bets = plug_in_bets(scaled, alpha)
    open_ = bets.starts[:-1] >= pilot
    bets = replace(bets, above=np.where(open_, bets.above, 0.0))
    return lower_limit_nonnegative(scaled, bets, alpha) * math.exp(scale)


def useful(log_bound: float, log_value: float, trials: int) -> bool:
    """Whether a bound on the weighted variable is within ``trials`` times its mean."""
    return log_bound - log_value <= math.log(trials)


def unscaled(limit: float, log_bound: float) -> float:
    """A limit of the scaled sample, times its bound; at most e^700."""
    return math.exp(min(math.log(limit) + log_bound, 700.0)) if limit > 0.0 else 0.0


def scaled_by_bound(log_sample: Floats, log_bound: float) -> Floats:
    """The sample over its bound, in [0, 1]; InvalidInput when the bound does not hold."""
    passed = float(log_sample.max()) - log_bound
    if passed > _ROUNDING:
        raise InvalidInput(
            f"a weighted value passes its stated bound by a factor {math.exp(min(passed, 700)):.6g}"
            ": the bound on psi or theta is wrong"
        )
    return np.exp(np.minimum(log_sample - log_bound, 0.0))
