"""Renyi divergences of the extremal pairs, and their conversions to (epsilon, delta)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from simulator.foundations.errors import InvalidInput
from simulator.theory.outward import not_lost

RenyiCurve = Callable[[float], float]
"""The Renyi divergence in nats as a function of its order alpha > 1; infinite where unbounded."""

Orders = Sequence[float]
"""Orders at which a curve is stated; it is infinite beyond the largest. Empty for a curve stated at
every order."""

_LOG_ORDER_RANGE = (-18.0, 18.0)  # of theta = alpha - 1; wide enough for delta down to 1e-300


def check_order(alpha: float) -> float:
    """Return ``alpha`` when it is a usable Renyi order (finite, above 1), else raise."""
    if not (math.isfinite(alpha) and alpha > 1.0):
        raise InvalidInput(f"Renyi order must be finite and above 1, not {alpha!r}")
    return alpha


def pure_renyi(epsilon: float, alpha: float) -> float:
    """Largest Renyi divergence of order ``alpha`` of any epsilon-DP mechanism: randomized response.

    With theta = alpha - 1 it is ln(cosh((theta + 1/2) epsilon) / cosh(epsilon / 2)) / theta,
    rearranged so that small epsilon keeps its digits and large epsilon does not overflow.

    Source: Mironov 2017, Proposition 5; Bun and Steinke 2016, Proposition 3.3.
    """
    theta = check_order(alpha) - 1.0
    if epsilon == 0.0:
        return 0.0
    if theta * epsilon > 1.0:
        growth = math.log1p(math.exp(-(2.0 * theta + 1.0) * epsilon)) - math.log1p(
            math.exp(-epsilon)
        )
        return epsilon + growth / theta
    rise = not_lost(math.expm1(theta * epsilon) * -math.expm1(-alpha * epsilon))
    share = not_lost(rise / (1.0 + math.exp(-epsilon)))
    return not_lost(math.log1p(share) / theta)


Gain = Callable[[float], float]
"""The logarithm of the factor of a conversion, as a function of alpha - 1."""


def best_gain(theta: float) -> float:
    """Theta ln theta - (1 + theta) ln(1 + theta): Canonne, Kamath and Steinke 2020, Prop. 12."""
    # without the difference of two large terms
    return -theta * math.log1p(1.0 / theta) - math.log1p(theta)


def no_gain(theta: float) -> float:
    """Zero: Mironov 2017, Proposition 3."""
    return 0.0


def renyi_to_delta(
    curve: RenyiCurve, epsilon: float, *, orders: Orders = (), gain: Gain = best_gain
) -> float:
    """Upper bound on delta(epsilon) from a Renyi curve, best over the order.

    The least e^((alpha-1)(curve(alpha) - epsilon) + gain(alpha-1)). Any order gives a valid bound,
    so the search needs no certificate; its objective is convex in the order.
    """

    def log_delta(theta: float) -> float:
        return theta * (curve(1.0 + theta) - epsilon) + gain(theta)

    return math.exp(min(0.0, _least(log_delta, orders)))


def renyi_to_epsilon(
    curve: RenyiCurve, delta: float, *, orders: Orders = (), gain: Gain = best_gain
) -> float:
    """Upper bound on epsilon(delta) from a Renyi curve, best over the order.

    The least curve(alpha) + (ln(1/delta) + gain(alpha-1))/(alpha-1).
    """
    log_inverse = -math.log(delta)

    def epsilon(theta: float) -> float:
        return curve(1.0 + theta) + (log_inverse + gain(theta)) / theta

    return max(0.0, _least(epsilon, orders))


def _least(objective: Callable[[float], float], orders: Orders) -> float:
    """Least value found over theta > 0, searched in ln theta; every order gives a valid bound.

    The objective of a curve stated at every order has one local minimum. With ``orders`` there may
    be one between any two, so each stated order is tried; the search ends at the last.
    """
    low, high = _LOG_ORDER_RANGE
    stated = [order - 1.0 for order in orders]
    if stated:
        high = math.log(max(stated))
        low = min(low, high - 1.0)
    from simulator.foundations.roots import least_point  # a plain guarantee finds no least point

    _, least = least_point(lambda log_theta: objective(math.exp(log_theta)), low, high, xtol=1e-10)
    ends = [] if stated else [math.exp(low), math.exp(high)]
    return min(least, *map(objective, stated + ends))
