"""The theta of a covering measure, from its exact exponential moments, without a pilot.

The weighted variable W (1 - e^{epsilon - L})+ is at most e^{M(theta) - theta epsilon} c_theta,
which the chosen theta minimises; c_theta is that of
:func:`simulator.analysis.estimation.delta_log_bound`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy

from simulator.analysis.estimation import delta_log_bound
from simulator.engine.block import covering_engine
from simulator.engine.enumerated.moments import Moments
from simulator.engine.sampling import THETA_BITS, Covering, rounded
from simulator.engine.specification import Specification
from simulator.foundations.errors import NotApplicable

FEW = 1e-3
"""The least change of the bound's logarithm for another step."""
MOST_EXPONENT = 5e5
"""The largest theta times a loss for which weights are not dominated by rounding."""


def cover(specification: Specification, b: int, epsilon: float) -> Covering:
    """The covering measure with the least bound for delta(``epsilon``) of experiment ``b``.

    Raises NotApplicable if the adversary's states cannot be enumerated.
    """
    return Covering(least_theta(covering_engine(specification, b).moments, epsilon))


def least_theta(moments: Moments, epsilon: float) -> float:
    """The theta whose bound for delta(``epsilon``) is the least, to a few percent."""

    def log_bound(theta: float) -> float:
        return delta_log_bound(theta, moments.log_moment(theta), epsilon)

    return _least(log_bound, epsilon, moments)


def cover_delta(specification: Specification, b: int, delta: float) -> Covering:
    """The covering measure for epsilon(``delta``) of experiment ``b``.

    It is the best one for the least epsilon at which a bound over all theta falls to ``delta``.
    """
    moments = covering_engine(specification, b).moments
    log_delta = math.log(delta)

    def epsilon_bound(theta: float) -> float:
        if theta <= 0.0:
            return math.inf
        return (delta_log_bound(theta, moments.log_moment(theta), 0.0) - log_delta) / theta

    return Covering(_least(epsilon_bound, 0.0, moments))


def _least(objective: Callable[[float], float], epsilon: float, moments: Moments) -> float:
    """The minimiser of a unimodal objective, to a few percent of theta."""
    a = moments.automaton
    largest = MOST_EXPONENT / max(epsilon, a.rounds * a.largest_loss, 1e-300)
    high = 1.0 / max(1.0, epsilon)
    low, here, ahead = 0.0, objective(0.0), objective(high)
    while ahead < here - FEW and 2.0 * high < largest:
        low, high = high, 2.0 * high
        here, ahead = ahead, objective(high)
    if high <= 0.0:
        raise NotApplicable("no theta makes large losses likelier")
    found = scipy.optimize.minimize_scalar(
        objective, bounds=(0.5 * low, high), method="bounded", options={"xatol": 0.01 * high}
    )
    least = found.x if found.fun <= min(here, ahead) else (low if here <= ahead else high)
    return float(rounded(least, THETA_BITS))
