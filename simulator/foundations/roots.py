"""Roots and least points of functions of one number, by SciPy.

Its optimizers are imported with the first root: what needs none starts faster.
"""

from __future__ import annotations

from collections.abc import Callable

_LONGEST = 2000
"""The most steps of a search: halving alone gets from 1 to 5e-324 in 1,075."""


def crossing(
    excess: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float = 2e-12,
    rtol: float = 2.0**-50,
) -> float:
    """The approximate root of a function whose signs at ``low`` and ``high`` differ.

    It is within ``xtol + rtol * abs(root)`` of a change of sign; ``rtol`` is at least 2^-50. Raises
    ValueError where the signs agree or a value is NaN.

    Source: Brent 1973, Algorithms for Minimization without Derivatives, Chapter 4.
    """
    from scipy.optimize import brentq

    return float(brentq(excess, low, high, xtol=xtol, rtol=rtol, maxiter=_LONGEST))


def least_point(
    function: Callable[[float], float], low: float, high: float, *, xtol: float = 1e-5
) -> tuple[float, float]:
    """The point between ``low`` and ``high`` with the least value found, and this value.

    A local minimum, within about ``xtol`` of it where the function has one.

    Source: Brent 1973, Chapter 5.
    """
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": xtol})
    return float(found.x), float(found.fun)
