"""The inverse ε(δ) of the hockey-stick curve from importance-weighted samples."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from simulator.deferred import brentq, stdtrit
from simulator.errors import NotApplicable
from simulator.estimation.betting import METHOD
from simulator.estimation.estimate import Estimate
from simulator.estimation.inversion import Inversion, point_epsilon, relative_error_of_epsilon
from simulator.estimation.log_mean import LARGEST_SHARE, MINIMUM_HITS, VALID_ENDS, LogMean
from simulator.estimation.samples import (
    Floats,
    checked_log_weights,
    error_level,
    signed_losses,
)
from simulator.estimation.weighted import log_excess, scaled_by_bound, useful
from simulator.ties import ROUNDS, tolerance
from simulator.validation import open_probability, whole

_PILOT_SHARE = 10  # one trial in ten chooses where the bound is taken, and is then not bet on
_LEAST_TARGET = -600.0
_PILOT_ERRORS = 3.0  # how far below the pilot's ε the bound must still hold
_LARGEST_LOG = 34.0  # weights far above the bound are clipped: lowers wealth, never raises it


def weighted_epsilon(
    losses: ArrayLike,
    log_weights: ArrayLike,
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
    weight beyond ``largest_share``. Raises InvalidInput; NotApplicable when no finite ε will do;
    Refusal without a hit.
    """
    signed = signed_losses(losses, experiment)
    log_w = checked_log_weights(log_weights, signed.size)
    log_delta = math.log(open_probability("delta", delta))
    alpha = error_level(confidence) / 2.0
    point = point_epsilon(signed, log_w, log_delta)
    if math.isinf(point):
        raise NotApplicable(
            f"no finite epsilon has delta {delta:g}: infinite losses alone are more likely"
        )
    summary = LogMean.of(log_excess(signed, log_w, point))
    bounded = log_bound is not None and useful(log_bound(point), log_delta, signed.size)

    def limits() -> tuple[float, float]:
        low, high = _asymptotic_limits(signed, log_w, log_delta, alpha, point)
        return low, min(high, max(ceiling, point))

    guess, no_guess = summary.guess(
        limits, bounded=bounded, minimum_hits=minimum_hits, largest_share=largest_share
    )
    lower, upper = _betting_limits(
        signed, log_w, log_delta=log_delta, alpha=alpha, point=point, log_bound=log_bound
    )
    slack = tolerance(point, whole("rounds", rounds))
    method = VALID_ENDS
    if log_bound is not None:
        method = f"{METHOD}, test inversion, weights bounded in advance"
    return Estimate(
        value=point,
        lower=max(0.0, min(float(lower - slack), point)),
        upper=max(min(float(upper + slack), ceiling), point),
        confidence=confidence,
        method=method,
        hits=summary.hits,
        effective_sample_size=summary.effective_sample_size,
        largest_weight_share=summary.largest_share,
        relative_standard_error=relative_error_of_epsilon(signed, log_w, point),
        guess=guess,
        no_guess=no_guess,
    )


def _asymptotic_limits(
    signed: Floats, log_w: Floats, log_delta: float, alpha: float, point: float
) -> tuple[float, float]:
    """Ends of the ε around the point whose interval for δ(ε) contains the target."""

    def gap(epsilon: float, side: int) -> float:
        """Logarithm of the limit of δ(ε) on one side, above the target."""
        summary = LogMean.of(log_excess(signed, log_w, epsilon))
        if summary.hits == 0:
            return -math.inf
        freedom = max(summary.effective_sample_size - 1.0, 1.0)
        reach = float(-stdtrit(freedom, alpha)) * summary.relative_error
        return summary.log_value + side * reach - log_delta

    step = relative_error_of_epsilon(signed, log_w, point) * point
    step = step if math.isfinite(step) and step > 0.0 else 0.01
    largest = float(signed[np.isfinite(signed)].max(initial=0.0))
    lower = _first_crossing(lambda epsilon: gap(epsilon, -1), point, -step, 0.0)
    upper = _first_crossing(lambda epsilon: gap(epsilon, +1), point, step, largest)
    return lower, math.inf if upper >= largest else upper


def _first_crossing(gap: Callable[[float], float], start: float, step: float, end: float) -> float:
    """Where ``gap`` first changes sign going from ``start`` toward ``end``; ``end`` if nowhere."""
    inside, sign = start, gap(start) > 0.0
    while inside != end:
        outside = max(inside + step, end) if step < 0.0 else min(inside + step, end)
        ahead = gap(outside)
        if (ahead > 0.0) != sign and math.isfinite(ahead):
            return float(brentq(gap, inside, outside, xtol=1e-10))
        if not math.isfinite(ahead):
            return end
        inside, step = outside, 2.0 * step
    return end


def _betting_limits(
    signed: Floats,
    log_w: Floats,
    *,
    log_delta: float,
    alpha: float,
    point: float,
    log_bound: Callable[[float], float] | None,
) -> tuple[float, float]:
    """Limits valid at every sample size, scaled at a floor that a pilot chose.

    The lower limit needs no bound on the weights, as wealth that bets on a larger mean cannot be
    ruined by a large value; the upper one needs it at every ε from the floor on, and is infinite
    without.
    """
    start = max(1, signed.size // _PILOT_SHARE)
    floor = _floor(signed[:start], log_w[:start], log_delta)
    log_sample = log_excess(signed, log_w, floor)
    if log_bound is not None and log_delta - log_bound(floor) < _LEAST_TARGET:
        log_bound = None  # no use: so far above the target that floats do not hold their ratio
    if log_bound is None:
        scale = float(log_sample[:start].max())
        if scale == -math.inf:
            return 0.0, math.inf
    else:
        scale = log_bound(floor)
        scaled_by_bound(log_sample, scale)  # the bound is checked on all trials
    weights = np.exp(np.minimum(log_w - scale, _LARGEST_LOG))
    target = math.exp(log_delta - scale)
    lower = Inversion(signed, weights, target, alpha, start=start).lower(point)
    if log_bound is None:
        return lower, math.inf
    if target >= 1.0:  # the bound itself is at most the target at the floor
        return min(lower, floor), floor
    upper = Inversion(signed, weights, target, alpha, floor=floor, start=start).upper(point)
    return lower, upper


def _floor(signed: Floats, log_w: Floats, log_delta: float) -> float:
    """An ε safely below the one looked for, by the pilot trials alone; 0 if they cannot say."""
    if signed.size == 0:
        return 0.0
    guess = point_epsilon(signed, log_w, log_delta)
    error = relative_error_of_epsilon(signed, log_w, guess)
    if not (math.isfinite(guess) and math.isfinite(error)):
        return 0.0
    return max(0.0, guess * (1.0 - _PILOT_ERRORS * error))
