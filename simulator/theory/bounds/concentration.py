"""Concentration inequalities for sums and martingales, each with its condition.

All return a bound on Pr[X_1 + ... + X_k - (sum of conditional means) >= t], a number in [0, 1]; t
<= 0 gives 1. "Conditional" is given the past X_1, ..., X_{i-1}.
"""

from __future__ import annotations

import math

from simulator.foundations.validation import nonnegative, open_probability, point


def _tail(t: float, exponent: float) -> float:
    return 1.0 if t <= 0.0 else math.exp(-exponent)


def azuma_tail(t: float, squared_ranges: float) -> float:
    """exp(-2 t^2 / sum r_i^2), for martingales.

    Condition: given the past, X_i lies in an interval of length r_i (which may itself depend on
    the past); ``squared_ranges`` is the sum of r_i^2. Privacy losses with abs(c_i) <= epsilon have
    r_i = 2 epsilon, so the exponent is t^2 / (2 k epsilon^2).

    Source: Azuma 1967 and McDiarmid 1989; Roth 2011, Lecture 4, Theorem 5.

    >>> from simulator.theory import azuma_tail
    >>> round(azuma_tail(2.0, squared_ranges=100 * 0.2**2), 6)
    0.135335
    """
    t, squared_ranges = point("t", t), nonnegative("squared_ranges", squared_ranges)
    if squared_ranges == 0.0:
        return 1.0 if t <= 0.0 else 0.0
    return _tail(t, 2.0 * t * t / squared_ranges)


def azuma_deviation(delta: float, squared_ranges: float) -> float:
    """The t at which :func:`azuma_tail` is ``delta``, 0 < delta < 1.

    >>> from simulator.theory import azuma_deviation, azuma_tail
    >>> t = azuma_deviation(1e-6, squared_ranges=100 * 0.2**2)
    >>> round(t, 6), round(azuma_tail(t, 100 * 0.2**2), 9)
    (5.256522, 1e-06)
    """
    squared_ranges = nonnegative("squared_ranges", squared_ranges)
    return math.sqrt(0.5 * squared_ranges * -math.log(open_probability("delta", delta)))


def azuma_absolute_tail(t: float, squared_deviations: float) -> float:
    """exp(-t^2 / (2 sum a_i^2)), for martingales.

    Condition: abs(X_i - its conditional mean) <= a_i; ``squared_deviations`` is the sum of a_i^2. A
    variable in an interval of length r has a_i <= r, and the exponent is then a quarter of that of
    :func:`azuma_tail`; privacy losses have a_i = 2 epsilon.

    Source: Azuma 1967.

    >>> from simulator.theory import azuma_absolute_tail
    >>> round(azuma_absolute_tail(2.0, squared_deviations=100 * 0.1**2), 6)
    0.135335
    """
    return azuma_tail(t, 4.0 * nonnegative("squared_deviations", squared_deviations))


def hoeffding_tail(t: float, squared_ranges: float) -> float:
    """exp(-2 t^2 / sum r_i^2), for independent X_i in intervals of length r_i.

    Source: Hoeffding 1963, Theorem 2.

    >>> from simulator.theory import hoeffding_tail
    >>> round(hoeffding_tail(2.0, squared_ranges=100 * 0.2**2), 6)
    0.135335
    """
    return azuma_tail(t, squared_ranges)


def bernstein_tail(t: float, variance: float, deviation: float) -> float:
    """exp(-t^2 / (2 V + 2 b t / 3)), for independent X_i.

    Condition: X_i - E X_i <= b (``deviation``); V (``variance``) is the sum of the variances.

    Source: Bernstein 1924; Boucheron, Lugosi and Massart 2013, Corollary 2.11.

    >>> from simulator.theory import bernstein_tail
    >>> round(bernstein_tail(2.0, variance=100 * 0.1**2, deviation=0.1), 6)
    0.153355
    """
    return freedman_tail(t, variance, deviation)


def freedman_tail(t: float, variance: float, deviation: float) -> float:
    """exp(-t^2 / (2 V + 2 b t / 3)), for martingales.

    Condition: X_i minus its conditional mean is at most b (``deviation``), and the sum of the
    conditional variances is at most V (``variance``) on every path.

    Source: Freedman 1975, Theorem 1.6.

    >>> from simulator.theory import freedman_tail
    >>> round(freedman_tail(2.0, variance=100 * 0.1**2, deviation=0.1), 6)
    0.153355
    """
    t = point("t", t)
    variance, deviation = nonnegative("variance", variance), nonnegative("deviation", deviation)
    spread = 2.0 * variance + 2.0 * deviation * max(t, 0.0) / 3.0
    if spread == 0.0:
        return 1.0 if t <= 0.0 else 0.0
    return _tail(t, t * t / spread)


def freedman_deviation(delta: float, variance: float, deviation: float) -> float:
    """The t at which :func:`freedman_tail` is ``delta``, 0 < delta < 1.

    >>> from simulator.theory import freedman_deviation
    >>> round(freedman_deviation(1e-6, variance=1.0, deviation=0.1), 6)
    5.737173
    """
    variance, deviation = nonnegative("variance", variance), nonnegative("deviation", deviation)
    log_inverse = -math.log(open_probability("delta", delta))
    linear = deviation * log_inverse / 3.0
    return linear + math.sqrt(linear * linear + 2.0 * variance * log_inverse)
