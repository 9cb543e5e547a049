"""The inverse ε(δ) of the hockey-stick curve from importance-weighted samples."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy
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
    useful,
    weighted_sample,
)
from simulator.engine.outcomes.log_mean import LARGEST_SHARE, MINIMUM_HITS, VALID_ENDS
from simulator.engine.outcomes.loss_sample import Excess
from simulator.engine.outcomes.points import Points
from simulator.engine.outcomes.samples import error_level
from simulator.engine.outcomes.weighted_sample import WeightedSample
from simulator.foundations.errors import NotApplicable
from simulator.foundations.roots import crossing
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
    minimum_hits: int = MINIMUM_HITS,
    largest_share: float = LARGEST_SHARE,
) -> Estimate:
    """Least ε >= 0 with E[W (1 - e^{ε-L})₊] at most ``delta``, from a sample under Q.

    ``losses`` and ``log_weights`` = ln dP_b/dQ have shape (trials,); ``rounds`` says what rounding
    adds to a loss. Both ends are valid at every sample size, by inverting the betting test: the
    lower one needs no bound on the weights, the upper one needs ``log_bound(ε)``, ln of a bound on
    W (1 - e^{ε-L})₊ that is known in advance (for tilted play
    ``lambda e: delta_log_bound(theta, psi_bar, e)``), and is at most ``ceiling``, an ε known to be
    at or above the truth. Without a useful bound there is a guess: the ε whose asymptotic interval
    for δ(ε) contains ``delta``, left out with fewer than ``minimum_hits`` at the value itself or a
    weight beyond ``largest_share``. Raises InvalidInput; NotApplicable when no ε is finite;
    Refusal without a hit.
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
    bounded = log_bound is not None and useful(log_bound(point), log_delta, sample.trials)
    inner: list[float] = []

    def limits() -> tuple[float, float]:
        lower, upper = _asymptotic_limits(sample, log_delta, alpha, point)
        inner.extend((lower.inward - lower.outward, _further_out(upper)))
        return lower.outward, min(upper.outward, max(ceiling, point))

    guess, no_guess = summary.guess(
        limits, bounded=bounded, minimum_hits=minimum_hits, largest_share=largest_share
    )
    lower, upper = _betting_limits(
        sample, log_delta=log_delta, alpha=alpha, point=point, log_bound=log_bound
    )
    slack = tolerance(point, whole("rounds", rounds))
    method = VALID_ENDS
    if log_bound is not None:
        method = f"{METHOD}, test inversion, weights bounded in advance"
    return Estimate(
        value=point,
        lower=max(0.0, min(float(lower.outward - slack), point)),
        upper=max(min(float(upper.outward + slack), ceiling), point),
        confidence=confidence,
        method=method,
        hits=summary.hits,
        effective_sample_size=summary.effective_sample_size,
        largest_weight_share=summary.largest_share,
        relative_standard_error=_relative_error(sample, point),
        guess=guess,
        no_guess=no_guess,
        widened=max(0.0, lower.inward - lower.outward, _further_out(upper), *inner),
    )


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


def _asymptotic_limits(
    sample: WeightedSample, log_delta: float, alpha: float, point: float
) -> tuple[RoundedLimit, RoundedLimit]:
    """Ends of the ε around the point whose interval for δ(ε) contains the target."""

    def gap(epsilon: float, side: int, high: bool) -> float:
        """Logarithm of the limit of δ(ε) on one side, above the target."""
        summary = sample.excess(epsilon).outer()[high]
        if summary.hits == 0:
            return -math.inf
        freedom = max(summary.effective_sample_size - 1.0, 1.0)
        reach = float(-scipy.special.stdtrit(freedom, alpha)) * summary.relative_error
        return summary.log_value + side * reach - log_delta

    step = _relative_error(sample, point) * point
    step = step if math.isfinite(step) and step > 0.0 else 0.01
    largest = sample.losses.largest_finite(0.0)

    def lower(high: bool) -> float:
        return _first_crossing(lambda epsilon: gap(epsilon, -1, high), point, -step, 0.0)

    def upper(high: bool) -> float:
        found = _first_crossing(lambda epsilon: gap(epsilon, +1, high), point, step, largest)
        return math.inf if found >= largest else found

    below, above = lower(False), upper(True)
    if sample.exact:
        return RoundedLimit(below, below), RoundedLimit(above, above)
    return RoundedLimit(below, lower(True)), RoundedLimit(above, upper(False))


def _first_crossing(gap: Callable[[float], float], start: float, step: float, end: float) -> float:
    """Where ``gap`` first changes sign going from ``start`` toward ``end``; ``end`` if nowhere."""
    inside, sign = start, gap(start) > 0.0
    while inside != end:
        outside = max(inside + step, end) if step < 0.0 else min(inside + step, end)
        ahead = gap(outside)
        if (ahead > 0.0) != sign and math.isfinite(ahead):
            return crossing(gap, inside, outside, xtol=1e-10)
        if not math.isfinite(ahead):
            return end
        inside, step = outside, 2.0 * step
    return end


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
        guess = _point(first, log_delta)
        error = _relative_error(first, guess)
        known = math.isfinite(guess) and math.isfinite(error)
        floor = max(0.0, guess * (1.0 - _PILOT_ERRORS * error)) if known else 0.0
        scale = sample.excess(floor).peak(start)
        if scale > -math.inf:
            break
    return start, floor, scale
