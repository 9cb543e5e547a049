"""Certified ends of the divergences of a mean of ratios, from its characteristic function.

D(x) = E(U + W - x)_+ - (m - x)_+, where m is the mean of U and W an independent centred normal
variable of deviation ``blur``, has the Fourier transform -(phi(f) e^(-(blur f)^2 / 2) - e^(i f m))
/ f^2. The sum of D over periods P is a Fourier series. With D(x0), at a point x0 in the low tail,
taken off, the term at f = 0 is not needed. What is left out: the terms from the M-th on, by a bound
on |phi| that falls; the other periods, by a law that is larger in convex order.

W is a spread, so E(U + W - x)_+ is an upper end; with y = x + t blur,
(U + W - y)_+ <= (U - x)_+ + (W - t blur)_+ makes it a lower end.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.foundations.errors import NotApplicable
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.training.laws.moving_averages import MovingAverage

_BLURS = np.arange(2.0, 9.01, 0.5)
_ROUNDING = 1e-14
"""Of the transform, for each score, relative to E min(1, f U): of its table and 50 roundings."""
_GROWTHS = 200
"""Most steps of 5% in which the period is found."""
_FAR = 8.0
"""Blurs by which the anchor and the period leave room."""


@dataclass(frozen=True, eq=False)
class TransformEnds:
    """Ends of E(U - x)_+ and E(x - U)_+ at ratios between ``anchor`` and ``anchor + period``."""

    average: MovingAverage
    anchor: float
    period: float
    blur: float
    _: KW_ONLY
    terms: NDArray[np.complex128]
    left_out: float

    @classmethod
    def at(
        cls, average: MovingAverage, larger: PrivacyLossLaw, delta: float, epsilon: float, most: int
    ) -> TransformEnds:
        """Ends for a delta near this one and for epsilons up to ``epsilon``.

        ``larger`` is the loss of adding a record under a law that is larger in convex order; there
        are at most ``most`` frequencies.
        """
        ratio = math.exp(epsilon)
        small = error_share(delta) * delta / min(ratio, 3.0)
        removal = larger.reversed()

        def put(x: float) -> float:
            return x * larger.delta(-math.log(x)) if x > 0.0 else 0.0

        anchor = _last(lambda x: put(x) <= small, 0.0, 1.0 / ratio)
        step = ratio - anchor
        for _ in range(_GROWTHS):
            if removal.delta(math.log(anchor + step)) <= small:
                break
            step *= 1.05
        else:
            raise NotApplicable("the ratios are too far apart")
        period, blur, number = step, 0.0, 8

        def cut(number: int) -> float:
            frequency = 2.0 * math.pi / period * number
            modulus = average.envelope(frequency) + average.outside
            return period / (math.pi**2 * number) * modulus

        least = 0  # of this many frequencies, too much is left out
        rungs = [min(math.ceil(number * 1.25**k), most) for k in range(40)]
        top = len(rungs) - 1
        while least < top:
            middle = (least + top) // 2
            least, top = (least, middle) if cut(rungs[middle]) <= small else (middle + 1, top)
        number = rungs[top]
        left = cut(number)
        if left > small:
            # The blur in periods that makes the terms left out small; the period makes room for it.
            share = math.sqrt(2.0 * math.log(left / small)) / (2.0 * math.pi * number)
            if 2.0 * _FAR * share > 0.75:
                raise NotApplicable("the ratios are too far apart for so few frequencies")
            period /= 1.0 - 2.0 * _FAR * share
            blur, left = share * period, small
        beyond = _periods(removal, anchor + step, period, 1.5 * float(average.covariances[0]))
        below = put(anchor) * (1.0 + 0.5 * anchor / period)  # convex: its sum over the periods
        beyond += 2.02 * blur * _tail(_FAR)
        base = 2.0 * math.pi / period
        frequencies = base * np.arange(1.0, number + 1.0)
        terms = average.transform(frequencies) / frequencies**2
        # 4 / P sum_m min(1, f) / f^2, and the roundings of sums as large as the period
        large = np.minimum(frequencies, 1.0) / frequencies**2
        rounding = _ROUNDING * average.terms * 4.0 / period * float(large.sum())
        rounding += 1e-15 * period
        terms *= np.exp(-0.5 * (blur * frequencies) ** 2)
        error = left + beyond + below + rounding
        return cls(average, anchor - _FAR * blur, period, blur, terms=terms, left_out=error)

    @cached_property
    def _frequencies(self) -> NDArray[np.float64]:
        return np.asarray(2.0 * math.pi / self.period * np.arange(1, self.terms.size + 1))

    @cached_property
    def _differences(self) -> NDArray[np.complex128]:
        """The terms without those of the mean."""
        frequencies = self._frequencies
        damped = np.exp(-0.5 * (self.blur * frequencies) ** 2) / frequencies**2
        of_mean = np.expm1(1j * frequencies * self.average.mean) / frequencies**2
        return self.terms - of_mean + (damped - 1.0 / frequencies**2)

    @cached_property
    def _mean_terms(self) -> NDArray[np.complex128]:
        frequencies = self._frequencies
        return np.exp(1j * frequencies * self.average.mean) / frequencies**2

    @cached_property
    def _at_anchor(self) -> float:
        return self._series(self.anchor)

    def _excess(self, x: float) -> float:
        """D(x), within ``left_out``."""
        return self._series(x) - self._at_anchor

    def _series(self, x: float) -> float:
        """The terms that are known, and of the mean's series those from there on."""
        turns = np.exp(-1j * self._frequencies * x)
        known = float((self._differences * turns).real.sum())
        first = float((self._mean_terms * turns).real.sum())
        return self._point(x - self.average.mean) - 2.0 / self.period * (known + first)

    def _point(self, y: float) -> float:
        """(2 / P) sum_(m >= 1) cos(f_m y) / f_m^2."""
        share = y / self.period % 1.0
        return 0.5 * self.period * (share * share - share + 1.0 / 6.0)

    def calls(self, x: float) -> tuple[float, float]:
        """A lower and an upper end of E(U - x)_+."""
        return self._ends(x, 1.0)

    def puts(self, x: float) -> tuple[float, float]:
        """A lower and an upper end of E(x - U)_+."""
        return self._ends(x, -1.0)

    def _ends(self, x: float, sign: float) -> tuple[float, float]:
        def blurred(at: float) -> float:
            return self._excess(at) + max(sign * (self.average.mean - at), 0.0)

        error = self.average.ratio_error
        upper = (blurred(x) + self.left_out) / (1.0 - error) + self.average.outside
        lower = 0.0
        for far in _BLURS if self.blur else (0.0,):
            at = x + sign * far * self.blur
            if self.anchor <= at <= self.anchor + self.period:
                lower = max(lower, blurred(at) - self.blur * _tail(far) - self.left_out)
        lower -= self.average.outside * x if sign < 0.0 else 0.0
        return max(lower, 0.0) / (1.0 + error), upper

    def removal(self, epsilon: float) -> tuple[float, float]:
        """Both ends of E(U - e^epsilon)_+."""
        return self.calls(math.exp(epsilon))

    def addition(self, epsilon: float) -> tuple[float, float]:
        """Both ends of E(1 - e^epsilon U)_+."""
        ratio = math.exp(epsilon)
        lower, upper = self.puts(1.0 / ratio)
        outside = self.average.outside
        return ratio * lower, ratio * (upper - outside) + outside


def error_share(delta: float) -> float:
    """The share of delta that each error may be: less where epsilon depends on it more."""
    return 2e-3 * max(1.0, math.log10(1e-2 / delta))


def _periods(removal: PrivacyLossLaw, first: float, period: float, log_moment: float) -> float:
    """A bound on sum_k E(U - first - k period)_+, where E U^3 is at most e^(2 log_moment).

    The rest from x on is at most E(U - x)_+ + E(U - x)_+^2 / (2 period), and the square at most
    (E(U - x)_+ E U^3)^(1/2) by the inequality of Cauchy and Schwarz.
    """
    total, x = 0.0, first
    for _ in range(200):
        here = removal.delta(math.log(x))
        rest = math.sqrt(here) * math.exp(log_moment) / (2.0 * period)
        if rest <= 1e-2 * (total + here):
            break
        total, x = total + here, x + period
    return total + here + rest


def _tail(far: float) -> float:
    """E(N - far)_+ of a standard normal N."""
    density = math.exp(-0.5 * far * far) / math.sqrt(2.0 * math.pi)
    return max(density - far * float(scipy.special.ndtr(-far)), 0.0)


def _last(holds, low: float, high: float) -> float:  # type: ignore[no-untyped-def]
    """About the last point at which something holds that holds at ``low``."""
    if holds(high):
        return high
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
