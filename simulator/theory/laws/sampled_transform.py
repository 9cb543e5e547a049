"""The transform of a sampled Gaussian's loss on a line, by quadrature with a proven error.

With x ~ N(0, 1), the shift mu, the rate q and m(x) = ln(1 - q + q exp(mu x - mu^2/2)),

    F(p) = E[exp(p m(x))]

is M(z) of removing a record at p = 1 + z and of adding one at p = -z. Re p is at least 1 or at most
0, so F(Re p) >= 1 by Jensen.

*The trapezoidal rule.* In the strip abs(Im x) < pi/mu the integrand is analytic. With v = mu Im x
and B = 1 - q + q exp(mu x - mu^2/2) there, and B0 the same at Re x: abs(arg B) <= abs(v), and B0
cos(v/2) <= abs(B) <= B0. So with abs(Im x) <= a the integral of the modulus is at most F(Re p)
exp(a^2/2 + abs(Im p) mu a) cos(mu a/2)^min(Re p, 0), and the rule with spacing h is off by twice
that over exp(2 pi a/h) - 1 (Trefethen and Weideman 2014, Theorem 5.1). Where r, the posterior
probability below, is at most rho <= 1/2, B/B0 = 1 - r + r exp(i v), so abs(arg B) <= rho abs(v) and
abs(B/B0)^2 >= 1 - 2 rho (1 - rho) (1 - cos v). r rises in x: that is up to some X, beyond which the
bounds above hold, and exp(Re p m - x^2/2) is at most its value at X with mu x for m, if that falls.
A low rate takes few nodes by it.

*The decay.* In the variable m the integrand's density is g = phi exp(Re p m)/(mu r), where r is the
posterior probability q exp(mu x - mu^2/2 - m). By parts, abs(F(p)) <= TV(g)/abs(Im p). The slope of
ln g is (Re p + 1) mu r - mu - x: positive before -mu and mu Re p, negative after both. And c(w) =
abs(F(p)/F(Re p))^2, w = Im p, is a characteristic function, so 1 - c(2w) <= 4 (1 - c(w)): what is
known at large w also bounds c at smaller ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.theory.laws.base import Floats, PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.line_nodes import Nodes
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, mixed_loss
from simulator.theory.outward import UNIT

_DIGITS = 43.0
"""The rule, and each end that it leaves out, is off by about exp(-43) of F(Re p)."""
_LEFT_OUT = 8 * math.exp(-_DIGITS)
_STEP_BITS = 20
_STRIPS, _NARROW = np.linspace(0.02, 0.98, 49), np.geomspace(1.0, 60.0, 40)
"""Half widths of the strip, as shares of the widest, and by themselves."""
_SHARES = (2.0, 8.0, 64.0, 1e3, 1e4, 1e5)
"""Posteriors rho, as multiples of the rate."""
_CELLS = 1024
"""Cells in which a density is bounded by its ends and its slope."""
_ROOM = 1 + 1e-9
_STEEPEST = 1e3
"""Up to this mu (1 + theta) exponents are below a million: their rounding is within the room."""
_SHARE_OF_ROOM = 0.1
"""Share of the room that exponents may be rounded by, at a larger one."""
_FAR, _MARKS = 100.0, 512
"""An end beyond the first is drawn nearer, to one of so many points."""
_DOUBLINGS = 4.0 ** np.arange(12)
_LOG_ROOT = math.log(2 * math.pi) / 2


@dataclass(frozen=True)
class SampledTransform:
    """F of one sampled Gaussian, for the direction of a law."""

    mu: float
    rate: float
    removal: bool

    @classmethod
    def of(cls, law: PrivacyLossLaw) -> SampledTransform | None:
        """The transform of a Gaussian on a Poisson sample; None for any other law."""
        if not (isinstance(law, PoissonSubsampledLaw) and isinstance(law.base, GaussianLaw)):
            return None
        return cls(law.base.mu, law.rate, law.exchanged) if 0.0 < law.rate < 1.0 else None

    def can_be_tilted(self, theta: float) -> bool:
        """Whether exponents are rounded by less than this module's margins.

        At a low rate they are small at larger tilts too: what counts is the share of the record.
        """
        if self.mu * (1.0 + theta) <= _STEEPEST:
            return True
        power = self.power(theta)
        x = np.array(self._ends(power))
        w, m, r = self._at(x)  # abs(m) and r are largest at the ends
        rounding = abs(power) * self._loss_error(w, m, r) + 2 * UNIT * (np.abs(power * m) + x**2)
        return bool(rounding.max() <= _SHARE_OF_ROOM * (_ROOM - 1))

    def _loss_error(self, w: Floats, m: Floats, r: Floats) -> Floats:
        return np.asarray(8 * UNIT * (np.abs(m) + r * (4 + np.abs(w) + self._size)))

    @property
    def largest_tilt(self) -> float:
        """Up to which ``log_value`` holds; negative where it holds at no tilt.

        Of adding a record, the losses that matter at a large tilt are at most -ln(1 - rate).
        """
        tilt = _STEEPEST / self.mu - 1.0
        return tilt if self.removal else max(tilt, _STEEPEST**2 / (1.0 - math.log1p(-self.rate)))

    def power(self, theta: float) -> float:
        """Re p at Re z = theta >= 0."""
        return 1.0 + theta if self.removal else -theta

    def nodes_needed(self, theta: float, omega: float) -> float:
        """About how many nodes serve all abs(Im z) <= omega."""
        power = self.power(theta)
        low, high = self._ends(power)
        return (high - low) / self._spacing(power, omega)

    def log_value(self, theta: float) -> tuple[float, float]:
        """Ln M(theta), and a bound on its error."""
        nodes = self.nodes(theta)
        return nodes.log_total, nodes.wrong

    def nodes(self, theta: float, omega: float = 0.0) -> Nodes:
        """Nodes for Re z = theta and all abs(Im z) <= omega."""
        power = self.power(theta)
        h = self._spacing(power, omega)
        low, high = self._ends(power)
        x = h * np.arange(math.floor(low / h) - 1, math.ceil(high / h) + 2, dtype=np.float64)
        w, m, r = self._at(x)
        exponents = power * m - x**2 / 2
        top = float(exponents.max())
        masses = np.exp(exponents - top)
        total = float(masses.sum())
        kept = masses > math.exp(-_DIGITS) / x.size * total
        weights, m, r, x = masses[kept] / total, m[kept], r[kept], x[kept]
        error = self._loss_error(w[kept], m, r)
        each = abs(power) * (error + 2 * UNIT * np.abs(m)) + 2 * UNIT * x**2
        wrong = float((weights * each).sum()) + (masses.size + 16) * UNIT + 4 * _LEFT_OUT
        log_total = top + math.log(total) + math.log(h) - _LOG_ROOT
        wrong += 8 * UNIT * (4 + abs(top) + abs(log_total))
        losses = m if self.removal else -m
        return Nodes(losses, weights, error, wrong, log_total, left_out=_LEFT_OUT)

    def mean_deviation(self, theta: float) -> float:
        """Upper bound on the mean distance of the tilted loss from a centre.

        abs(M(theta + i w)) changes by at most M(theta) times that, for a unit of w.
        """
        power = self.power(theta)
        x = np.linspace(*self._ends(power), _CELLS + 1)
        _, m, r = self._at(x)
        density = np.exp(power * m - x**2 / 2 - _LOG_ROOT - self.log_value(theta)[0])
        most = _most_in_cells(density, x, *self._slopes(x, r, power * self.mu, 0.0)) * np.diff(x)
        centre = float((most * m[1:]).sum())
        away = np.abs(m - centre)
        inside = float((most * np.maximum(away[:-1], away[1:])).sum())
        # Outside ln(1 - q) <= m <= max(mu x, 0).
        reach = self.mu * (1 + abs(power) * self.mu) - math.log1p(-self.rate) + abs(centre)
        return inside * _ROOM + _LEFT_OUT * reach

    def _slopes(self, x: Floats, r: Floats, pull: float, shift: float) -> tuple[Floats, Floats]:
        """The least and the most of pull r(x) - shift - x in each cell; r rises."""
        low, high = pull * r[:-1], pull * r[1:]
        return np.minimum(low, high) - shift - x[1:], np.maximum(low, high) - shift - x[:-1]

    def variation(self, theta: float) -> float:
        """Upper bound on TV(g)/F(Re p), by which abs(M(z)/M(theta)) <= TV/Im z."""
        power = self.power(theta)
        low, high = sorted((-self.mu, power * self.mu))  # g rises before both, falls after both
        left, right = self._ends(power)  # there is little of g outside
        left, right = max(low, left), min(high, right)
        x = np.r_[
            -np.geomspace(-low, -left, _MARKS)[:-1] if low < left else (),
            np.linspace(left, right, _CELLS + 1),
            np.geomspace(right, high, _MARKS)[1:] if right < high else (),
        ]
        w, m, r = self._at(x)
        logs = (power + 1) * m - x**2 / 2 - w - math.log(self.rate * self.mu) - _LOG_ROOT
        g = np.exp(np.minimum(logs - self.log_value(theta)[0], 600.0))
        least, most = self._slopes(x, r, (power + 1) * self.mu, self.mu)
        change = np.abs(np.diff(g))
        turns = (least < 0.0) & (most > 0.0)  # else g is monotone there
        inside = _most_in_cells(g, x, least, most) * np.maximum(-least, most) * np.diff(x)
        change[turns] = np.maximum(change, inside)[turns]
        return (float(change.sum()) + float(g[0]) + float(g[-1])) * _ROOM

    def _at(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        w = self.mu * x - self.mu**2 / 2
        m = mixed_loss(w, self.rate)
        return w, m, self.rate * np.exp(w - m)

    @cached_property
    def _size(self) -> float:
        return self.mu**2 - math.log(self.rate)

    def _spacing(self, power: float, omega: float) -> float:
        widest = math.pi / self.mu
        a = np.r_[_STRIPS * widest, _NARROW[: np.searchsorted(_NARROW, _STRIPS[-1] * widest)]]
        up, down, turned = max(power, 0.0) * self.mu, max(-power, 0.0), omega * self.mu * a
        anywhere = a**2 / 2 + turned - down * np.log(np.cos(self.mu * a / 2))
        need = anywhere
        for rho in self.rate * np.array(_SHARES):
            if rho > 0.5:
                break
            odds = rho * (1 - self.rate) / (self.rate * (1 - rho))
            x = math.log(odds) / self.mu + self.mu / 2
            if x >= up + 1:  # beyond x the integral is at most exp(up x - x^2/2)
                modulus = np.log1p(-2 * rho * (1 - rho) * (1 - np.cos(self.mu * a)))
                near = a**2 / 2 + rho * turned - down / 2 * modulus
                beyond = anywhere + up * x - x**2 / 2
                need = np.minimum(need, np.maximum(near, beyond) + 0.75)  # ln 2 is less
        need = _DIGITS + need
        h = 2 * math.pi / float((need / a).min())
        mantissa, exponent = math.frexp(h)
        return math.ldexp(math.floor(math.ldexp(mantissa, _STEP_BITS)), exponent - _STEP_BITS)

    def _ends(self, power: float) -> tuple[float, float]:
        """Beyond, the sum of the rule is negligible: phi falls, times a bound of exp(power m)."""
        below = -power * -math.log1p(-self.rate) if power < 0 else 0.0
        left = math.sqrt(2 * (_DIGITS + below))
        if power < 0:
            return -left, max(math.sqrt(2 * _DIGITS), self.mu / 2)
        # exp(power m) <= exp(power w) where w >= 0; and F >= rate^power of the mean of that.
        above = min(self.mu**2 * power * (power - 1) / 2, -power * math.log(self.rate))
        right = max(power * self.mu + math.sqrt(2 * (_DIGITS + max(above, 0.0))), self.mu / 2)
        if right <= _FAR:
            return -left, right
        # m rises: in each cell exp(power m - x^2/2) is at most its factors at the two ends
        x = np.geomspace(left, right, _MARKS)
        _, m, _ = self._at(x)
        most = power * m[1:] * _ROOM - x[:-1] ** 2 / 2
        some = np.flatnonzero(most > -_DIGITS - 3.0 - 2 * math.log(right))
        return -left, float(x[some[-1] + 1]) if some.size else left


def decay(variation: float, omega: float) -> float:
    """Bound on abs(M(z)/M(theta)) for every Im z >= omega > 0, by a ``variation``."""
    known = (1 - min(variation / omega, 1e9) ** 2 / _DOUBLINGS) / _DOUBLINGS
    return math.sqrt(min(max(1 - float(known.max()), 0.0), 1.0)) * (1 + 1e-12)


def _most_in_cells(values: Floats, x: Floats, least: Floats, most: Floats) -> Floats:
    """Bound on a function in each cell, by its ends and the slope of its logarithm."""
    steep = np.maximum(-least, most) * np.diff(x)
    return np.maximum(values[:-1], values[1:]) * np.exp(np.minimum(steep / 2, 700.0))
