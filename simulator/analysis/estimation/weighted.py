"""Rare events from importance-weighted samples: tails and hockey-stick, in log space.

A sample drawn from a law Q, with log-weights ln dP_b/dQ beside the losses, estimates E_b[f] by the
mean of W f. Both ends of an interval are valid at every sample size. The lower one bets on larger
means, which needs only that weights are not negative: a path that is never drawn can only make it
too low (Waudby-Smith and Ramdas 2023). The upper one is the least of what betting on W f / B
gives, where W f <= B is known in advance, and of a ceiling that the caller knows, such as the exact
curve of the family. Without a useful bound there are ends alone, and no value. A sample without a
hit is refused.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from simulator.analysis.estimation.betting import METHOD, bets_on_mean, lower_limit, upper_limit
from simulator.analysis.estimation.estimate import Estimate, estimate_of_log_mean
from simulator.analysis.estimation.wealth import ABOVE, BELOW
from simulator.engine.outcomes.log_mean import VALID_ENDS
from simulator.engine.outcomes.loss_sample import Excess, LossSample, excess
from simulator.engine.outcomes.samples import (
    Floats,
    checked_log_weights,
    error_level,
    signed_losses,
)
from simulator.engine.outcomes.weighted_sample import LogSample, WeightedSample
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.ties import ROUNDS, beyond, tolerance
from simulator.foundations.validation import finite, whole

HIDDEN = "these trials may miss large losses that come on rare paths"
"""Why a weighted sample gives ends alone."""
CLOSE = 2.0
"""Ends whose ratio is at most this hold a value by themselves."""
MOST_ADVISED = 1e9
"""The most trials that are advised."""
_ROUNDING = 1e-9
"""By how much log-weights, sums over many rounds, may exceed their bound by rounding."""


def weighted_tail(
    losses: ArrayLike | WeightedSample,
    log_weights: ArrayLike | None,
    threshold: float,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
    log_bound: float | None = None,
    ceiling: float = 1.0,
) -> Estimate:
    """Pr0[L > threshold], or Pr1[-L > threshold] for ``experiment`` 1, from a sample under Q.

    ``losses`` and ``log_weights`` = ln dP_b/dQ, b the experiment, have shape (trials,); a
    :class:`WeightedSample` holds both, with None for the second. ``rounds`` says what rounding
    adds, see :func:`simulator.analysis.estimation.tail`. ``log_bound`` is ln B with
    W·1{L > threshold} <= B known in advance, see :func:`tail_log_bound`; ``ceiling`` a number that
    the truth does not exceed. Without a useful bound there are ends and no value. Raises
    InvalidInput, and Refusal without a hit.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import weighted_tail
    >>> losses = np.random.default_rng(0).exponential(size=2000)
    >>> estimate = weighted_tail(losses, -losses, threshold=1.0, log_bound=-1.0)
    >>> 0 <= estimate.lower <= estimate.upper <= 0.2
    True
    """
    least = beyond(finite("threshold", threshold), whole("rounds", rounds))
    return log_sample_estimate(
        weighted_sample(losses, log_weights, experiment).above(float(least)),
        confidence,
        log_bound,
        ceiling=ceiling,
    )


def weighted_delta(
    losses: ArrayLike | WeightedSample,
    log_weights: ArrayLike | None,
    epsilon: float,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
    log_bound: float | None = None,
    ceiling: float = 1.0,
) -> Estimate:
    """Hockey-stick divergence E[W (1 - e^{ε-L})₊] at ``epsilon`` from a sample under Q.

    Arguments and errors as in :func:`weighted_tail`; for ``log_bound`` see
    :func:`delta_log_bound`.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import weighted_delta
    >>> losses = np.random.default_rng(0).exponential(size=2000)
    >>> estimate = weighted_delta(losses, -losses, epsilon=1.0, log_bound=-1.0)
    >>> 0 <= estimate.lower <= estimate.upper <= 0.2
    True
    """
    sample = weighted_sample(losses, log_weights, experiment)
    centre = finite("epsilon", epsilon)
    found = log_sample_estimate(
        sample.excess(centre),
        confidence,
        log_bound,
        ceiling=ceiling,
    )
    # rounding lifts no loss by more than the tolerance, and no delta by more than that times the
    # probability of losses near epsilon or beyond, which the sample bounds
    slack = float(tolerance(centre, whole("rounds", rounds)))
    moved = slack * math.exp(min(sample.log_mass_above(centre - slack), 0.0))
    upper = max(min(ceiling, found.upper + moved), found.value)
    return replace(found, lower=max(0.0, found.lower - moved), upper=upper)


def exchanged_log_weights(losses: ArrayLike, log_weights: ArrayLike) -> Floats:
    """Weights with which the same sample serves experiment 1: ln dP1/dQ = ln dP0/dQ - L.

    With them ``weighted_tail(..., experiment=1)`` is Pr1[-L > t], which needs a sample tilted
    toward small L, and ``weighted_tail(..., experiment=0)`` is Pr1[L > t], the chance in
    experiment 1 of the very event that a sample tilted toward large L is made for.

    Valid when every view possible in experiment 1 is possible under Q. Raises NotApplicable when a
    loss is -inf: such views are impossible in experiment 0, so their weight is lost in ln dP0/dQ.

    >>> from simulator.analysis.estimation import exchanged_log_weights
    >>> exchanged_log_weights([0.5, -0.5], [0.0, 0.25]).tolist()
    [-0.5, 0.75]
    """
    array = signed_losses(losses, 0)
    log_w = checked_log_weights(log_weights, array.size)
    if np.any(array == -np.inf):
        raise NotApplicable(
            "a loss is -inf, so it has no weight from experiment 0: draw the sample in experiment 1"
        )
    return log_w - array


def log_excess(signed: Floats, log_weights: Floats, epsilon: float) -> Floats:
    """Logarithm of W (1 - e^{ε-L})₊, -inf where it vanishes."""
    factor = excess(signed, epsilon)
    hit = factor > 0.0
    return np.where(hit, log_weights + np.log(np.where(hit, factor, 1.0)), -np.inf)


def weighted_sample(
    losses: ArrayLike | WeightedSample, log_weights: ArrayLike | None, experiment: int
) -> WeightedSample:
    """Signed losses of the experiment and their weights, from arrays or from a sample of both."""
    if isinstance(losses, WeightedSample):
        if log_weights is not None:
            raise InvalidInput("a weighted sample already has weights: log_weights must be None")
        return losses.signed(experiment)
    signed = LossSample.of(signed_losses(losses, experiment))
    return WeightedSample.of(signed, () if log_weights is None else log_weights)


def log_sample_estimate(
    sample: LogSample,
    confidence: float,
    log_bound: float | None = None,
    *,
    ceiling: float = 1.0,
) -> Estimate:
    """Mean of e^x, at most ``ceiling``, with an interval valid at every sample size.

    If the bound exceeds the value more than ``trials`` times, a single value at the bound would
    exceed the sum of the sample: there are ends alone, unless these are CLOSE. Raises Refusal
    without a hit.
    """
    alpha = error_level(confidence) / 2.0
    summary = sample.summary()
    summary.require_hit()
    method, upper = VALID_ENDS, RoundedLimit(ceiling, ceiling)
    if log_bound is None:
        lower = lower_from_pilot(sample, alpha)
    else:
        scaled = scaled_by_bound(sample, finite("log_bound", log_bound))
        # which of two lower limits is the better depends on the sample: each has half of the error
        below, above = lower_of(scaled, alpha / 2.0), upper_of(scaled, alpha)
        piloted = lower_from_pilot(sample, alpha / 2.0)
        ends = [max(unscaled(a, log_bound), b) for a, b in zip(below, piloted)]
        lower = RoundedLimit(*ends)
        upper = RoundedLimit(*(min(unscaled(limit, log_bound), ceiling) for limit in above))
        method = f"{METHOD}, weights bounded in advance"
    found = estimate_of_log_mean(summary, (lower.outward, upper.outward), confidence, method)
    if not sample.exact:
        least, most = (math.exp(each.log_value) for each in sample.outer())
        wider = (lower.inward - lower.outward, upper.outward - upper.inward, most - least)
        found = replace(found, widened=max(0.0, *wider))
    return value_if_held(found, log_bound, summary.log_value, sample.trials)


class RoundedLimit(NamedTuple):
    """A limit rounded outward, and an inner bound on it; equal if every loss is known."""

    outward: float
    inward: float


def lower_of(found: Excess, alpha: float, begin: int = 0) -> RoundedLimit:
    """Lower limit of the mean, failing with probability at most ``alpha``; bets from ``begin``."""
    few = found.spread(found.low)
    bets = bets_on_mean(few, alpha, ABOVE, begin)
    outward = lower_limit(few, alpha, bets)
    exact = found.sample.exact
    return RoundedLimit(
        outward, outward if exact else lower_limit(found.at(found.high), alpha, bets)
    )


def upper_of(found: Excess, alpha: float) -> RoundedLimit:
    """Upper limit of the mean of a function in [0, 1], failing likewise."""
    many = found.spread(found.high)
    bets = bets_on_mean(many, alpha, BELOW)
    outward = upper_limit(many, alpha, bets)
    exact = found.sample.exact
    return RoundedLimit(
        outward, outward if exact else upper_limit(found.at(found.low), alpha, bets)
    )


def lower_from_pilot(sample: LogSample, alpha: float) -> RoundedLimit:
    """Lower limit of the mean of e^x, without a bound; first trials set the scale of the bets."""
    scales = {start: sample.peak(start) for start in sample.losses.pilots()}
    found_hits = [start for start, scale in scales.items() if scale > -math.inf]
    if not found_hits:
        return RoundedLimit(0.0, 0.0)
    start = found_hits[0]
    scale = scales[start]
    limits = lower_of(sample.scaled(scale), alpha, start)
    return RoundedLimit(*(limit * math.exp(scale) for limit in limits))


def weighted_lower_limit(log_sample: Floats, alpha: float) -> float:
    """Lower limit of the mean of e^x, failing with probability at most ``alpha``.

    No bound on the sample is needed; the first tenth of the trials sets the scale of the bets.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import weighted_lower_limit
    >>> sample = np.log(np.linspace(0.5, 1.5, 200))
    >>> 0.8 < weighted_lower_limit(sample, alpha=0.05) < 1.0
    True
    """
    if np.ndim(log_sample) != 1 or not np.size(log_sample):
        raise InvalidInput("log_sample must be an array of one number per trial, at least one")
    return lower_from_pilot(LogSample.of(log_sample), alpha).outward


def value_if_held(
    found: Estimate, log_bound: float | None, log_value: float, trials: int
) -> Estimate:
    """The estimate, without its value unless the bound is useful or the ends are CLOSE."""
    if found.upper <= CLOSE * found.lower:
        return found
    if log_bound is None or log_bound - log_value > math.log(MOST_ADVISED):
        return found.without_value(HIDDEN)
    if useful(log_bound, log_value, trials):
        return found
    needed = 2.0 * math.exp(log_bound - log_value)
    return found.without_value(f"{HIDDEN}: try {needed:.2g} trials")


def useful(log_bound: float, log_value: float, trials: int) -> bool:
    """Whether a bound on the weighted variable is within ``trials`` times its mean."""
    return log_bound - log_value <= math.log(trials)


def unscaled(limit: float, log_bound: float) -> float:
    """A limit of the scaled sample, times its bound; at most e^700."""
    return math.exp(min(math.log(limit) + log_bound, 700.0)) if limit > 0.0 else 0.0


def scaled_by_bound(sample: LogSample, log_bound: float) -> Excess:
    """The sample over its bound, in [0, 1]; InvalidInput when the bound does not hold."""
    passed = float(sample.bottom.max()) - log_bound
    if passed > _ROUNDING:
        raise InvalidInput(
            f"a weighted value exceeds its bound by a factor {math.exp(min(passed, 700)):.6g}"
            ": the bound on psi or theta is wrong"
        )
    return sample.bounded(log_bound)
