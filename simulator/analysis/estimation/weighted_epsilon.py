"""The inverse ε(δ) of the hockey-stick curve from importance-weighted samples."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from simulator.analysis.estimation.betting import METHOD
from simulator.analysis.estimation.estimate import Estimate
from simulator.analysis.estimation.inversion import (
    CellsCurve,
    Curve,
    Inversion,
    WeightedCurve,
    point_epsilon,
    relative_error_of_epsilon,
)
from simulator.analysis.estimation.weighted import (
    RoundedLimit,
    scaled_by_bound,
    value_if_held,
    weighted_sample,
)
from simulator.engine.outcomes.log_mean import VALID_ENDS
from simulator.engine.outcomes.loss_sample import Excess
from simulator.engine.outcomes.points import Points
from simulator.engine.outcomes.samples import error_level
from simulator.engine.outcomes.weighted_sample import WeightedSample
from simulator.foundations.errors import NotApplicable
from simulator.foundations.ties import ROUNDS, tolerance
from simulator.foundations.validation import open_probability, whole

_LEAST_TARGET = -600.0
"""The least ln of a target over its bound that floats can hold."""
_PILOT_ERRORS = 3.0
"""How many standard errors below the pilot's ε the bound must hold."""
_LARGEST_LOG = 34.0
"""The largest scaled log-weight; clipping a weight only lowers the wealth."""


def weighted_epsilon(
    losses: ArrayLike | WeightedSample,
    log_weights: ArrayLike | None,
    delta: float,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
    log_bound: Callable[[float], float] | None = None,
    ceiling: float = math.inf,
) -> Estimate:
    """Least ε >= 0 with E[W (1 - e^{ε-L})₊] at most ``delta``, from a sample under Q.

    ``losses`` and ``log_weights`` = ln dP_b/dQ have shape (trials,); ``rounds`` says what rounding
    adds to a loss. Both ends are valid at every sample size, by inverting the betting test: the
    lower one needs no bound on the weights, the upper one needs ``log_bound(ε)``, ln of a bound on
    W (1 - e^{ε-L})₊ that is known in advance (for tilted play
    ``lambda e: delta_log_bound(theta, psi_bar, e)``), and is at most ``ceiling``, an ε known to be
    at or above the truth. Without a useful bound there are ends and no value. Raises InvalidInput;
    NotApplicable when no ε is finite; Refusal without a hit.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import weighted_epsilon
    >>> losses = np.random.default_rng(0).exponential(size=2000)
    >>> estimate = weighted_epsilon(losses, -losses, delta=0.01, log_bound=lambda epsilon: -epsilon)
    >>> 0 <= estimate.lower <= estimate.upper <= 4
    True
    """
    sample = weighted_sample(losses, log_weights, experiment)
    log_delta = math.log(open_probability("delta", delta))
    alpha = error_level(confidence) / 2.0
    point = _point(sample, log_delta)
    if math.isinf(point):
        raise NotApplicable(
            f"no finite epsilon has delta {delta:g}: infinite losses alone are more likely"
        )
    summary = sample.excess(point).summary()
    summary.require_hit()
    lower, upper = _betting_limits(
        sample, log_delta=log_delta, alpha=alpha, point=point, log_bound=log_bound
    )
    slack = tolerance(point, whole("rounds", rounds))
    method = VALID_ENDS
    if log_bound is not None:
        method = f"{METHOD}, test inversion, weights bounded in advance"
    found = Estimate(
        value=point,
        lower=max(0.0, min(float(lower.outward - slack), point)),
        upper=max(min(float(upper.outward + slack), ceiling), point),
        confidence=confidence,
        method=method,
        hits=summary.hits,
        effective_sample_size=summary.effective_sample_size,
        largest_weight_share=summary.largest_share,
        relative_standard_error=_relative_error(sample, point),
        widened=max(0.0, lower.inward - lower.outward, _further_out(upper)),
    )
    return value_if_held(found, log_bound and log_bound(point), log_delta, sample.trials)


def weighted_point(sample: WeightedSample, delta: float, experiment: int) -> float:
    """The ε at which the sample's own mean is ``delta``: where to measure, and no estimate."""
    return _point(sample.signed(experiment), math.log(delta))


def _point(sample: WeightedSample, log_delta: float) -> float:
    return point_epsilon(sample.losses.middles(), sample.log_totals(), log_delta, sample.trials)


def _relative_error(sample: WeightedSample, point: float) -> float:
    losses = sample.losses
    return relative_error_of_epsilon(
        losses.middles(), sample.middles(), point, losses.counts_or_none()
    )


def _further_out(upper: RoundedLimit) -> float:
    """By how much an upper limit was moved outward; 0 if both are infinite."""
    return upper.outward - upper.inward if upper.inward < upper.outward else 0.0


def _betting_limits(
    sample: WeightedSample,
    *,
    log_delta: float,
    alpha: float,
    point: float,
    log_bound: Callable[[float], float] | None,
) -> tuple[RoundedLimit, RoundedLimit]:
    """Limits valid at every sample size, scaled at a floor that a pilot chose.

    The lower limit needs no bound on the weights, as the wealth of bets on a larger mean cannot
    become negative; the upper one needs it at every ε from the floor on, and is infinite
    without.
    """
    nothing = RoundedLimit(math.inf, math.inf)
    start, floor, scale = _pilot(sample, log_delta)
    if log_bound is not None and log_delta - log_bound(floor) < _LEAST_TARGET:
        log_bound = None  # floats cannot hold the ratio of target and bound
    if log_bound is not None:
        scale = log_bound(floor)
        scaled_by_bound(sample.excess(floor), scale)  # the bound is checked on all trials
    elif scale == -math.inf:
        return RoundedLimit(0.0, 0.0), nothing
    target = math.exp(log_delta - scale)

    def inversion(ends: Callable[[Excess], Points], floor: float | None = None) -> Inversion:
        curve: Curve = CellsCurve(sample, scale, ends, bounded=floor is not None)
        if sample.exact:
            weights = np.exp(np.minimum(sample.least - scale, _LARGEST_LOG))
            curve = WeightedCurve(sample.losses.least, weights, sample.losses.cuts)
        return Inversion(curve, target, alpha, floor=floor or 0.0, start=start)

    outward = inversion(lambda found: found.spread(found.low)).lower(point)
    inward = outward
    if not sample.exact:
        inward = inversion(lambda found: found.at(found.high)).lower(point)
    lower = RoundedLimit(outward, inward)
    if log_bound is None:
        return lower, nothing
    if target >= 1.0:  # the bound itself is at most the target at the floor
        return RoundedLimit(*(min(end, floor) for end in lower)), RoundedLimit(floor, floor)
    outward = inversion(lambda found: found.spread(found.high), floor).upper(point)
    inward = outward
    if not sample.exact:
        inward = inversion(lambda found: found.at(found.low), floor).upper(point)
    return lower, RoundedLimit(outward, inward)


def _pilot(sample: WeightedSample, log_delta: float) -> tuple[int, float, float]:
    """The number of pilot trials, the floor that they choose, and their largest value there.

    The floor is an ε well below the unknown one, or 0.
    """
    start, floor, scale = 1, 0.0, -math.inf
    for start in sample.losses.pilots():
        first = sample.first(start)
        point = _point(first, log_delta)
        error = _relative_error(first, point)
        known = math.isfinite(point) and math.isfinite(error)
        floor = max(0.0, point * (1.0 - _PILOT_ERRORS * error)) if known else 0.0
        scale = sample.excess(floor).peak(start)
        if scale > -math.inf:
            break
    return start, floor, scale
