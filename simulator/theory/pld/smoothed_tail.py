"""delta(epsilon) of any composition by inverting its transform: certified, without a grid.

With S the total loss, M(z) = E0[exp(zS); S finite] and U ~ N(s^2/2, s^2) independent, so that
E[exp(-U)] = 1, the transform of S + U is M(z) exp(s^2 z(1+z)/2), and for every theta > 0

    delta_s(E) = E0[(1 - exp(E - S - U))_+]
               = (1/2 pi) int M(z) exp(s^2 z(1+z)/2 - zE) / (z(1+z)) d omega,   z = theta + i omega.

Dominance. (1 - exp(E - l))_+ is convex in exp(-l) and E[exp(-U)] = 1, so by Jensen
delta <= delta_s: S + U is a pessimistic law. The excess of the smoothed function over the kinked
one at distance y = l - E from the kink is the time value of a Black-Scholes option, the integral
of its vega over volatilities up to s, hence at most s^2 exp(s^2/8) times the density of U at -y.
Taking expectations, with p_s the density of S + U,

    delta_s(E) - s^2 exp(s^2/8) p_s(E) <= delta(E) <= delta_s(E).

The gap is second order in s and does not grow with the number of rounds, and the line may run
through the saddle point (exponential tilting), so relative accuracy survives in the far tail.
For -1 < theta < 0 the same integral is -(1 - delta_s(E)), which serves large delta.

Trapezoidal rule with spacing 2 pi/W: by Poisson summation its error is exactly
sum_{n != 0} exp(theta n W) delta_s(E + nW), of known sign and bounded by Chernoff. The sum stops
at Omega; what is cut off is bounded through exp(-s^2 omega^2/2), and through what is known of the
decay of M. Where M itself decays, as of many Laplace rounds, nothing need be smoothed: s = 0, and
the rest is at most sup abs(M)/(pi Omega). Rounding is added up term by term.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np

from simulator.theory.laws.base import Floats, RealOrComplex
from simulator.theory.outward import UNIT
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.laplace_near_atoms import NearAtoms
from simulator.theory.pld.pairwise_sums import dot
from simulator.theory.pld.tail import TINY, SlopedBracket
from simulator.theory.pld.transform_on_line import Sampled, Scale, log_decay, sample

_CUTOFF = 8.8  # s * Omega: exp(-8.8^2/2) is 1.5e-17
MAX_POINTS = 1 << 20
MAX_WORK = 1 << 28
_ALIAS = 1e-15
"""What is folded in from other periods, relative to the answer, by default."""
_FULL = 705.0
_MUCH_SHORTER = 0.2
"""A line without the rough part is taken where it is so much shorter: that part is work as well."""
_ROOM = 1 + 1e-9
"""For the rounding of sums that bound errors."""
_LOST = 1e-290
"""More than all terms that underflow, of M(theta)."""


def _chernoff_constant(theta: Floats) -> Floats:
    """Logarithm of sup_y (1 - e^-y)_+ e^(-theta y) = theta^theta/(1+theta)^(1+theta); 0 below 0.

    (1 - e^-y)_+ <= c e^(theta y) for theta > 0 (Canonne, Kamath, Steinke 2020, Lemma 9), and
    min(1, e^-y) <= e^(theta y) for theta in [-1, 0].
    """
    positive = np.maximum(theta, 0.0)
    logs = np.log(np.maximum(positive, 1e-300))
    return np.asarray(positive * logs - (1 + positive) * np.log1p(positive))


def log_chernoff_constant(theta: float) -> float:
    """The same at one theta, rounded up."""
    return float(_chernoff_constant(np.array(theta))) + 16 * UNIT * (1 + abs(theta))


@dataclass(frozen=True)
class Window:
    """A period W, and the exponents that bound the mass folded in from above and from below."""

    period: float
    theta_above: float
    theta_below: float


def choose_window(
    parts: CountedLaws,
    epsilon: float,
    theta: float,
    smoothing: float,
    log_value: float,
    *,
    folded: float = _ALIAS,
) -> Window:
    """The shortest period whose folded mass is about ``folded`` of exp(log_value), an estimate."""
    reach = np.logspace(-8, 3, 111) * max(theta, 1.0)
    # delta takes Chernoff exponents >= 0, 1 - delta those in [-1, 0].
    least, most = (0.0, np.inf) if theta > 0 else (-1.0, 0.0)
    above = np.minimum(theta + reach, most)
    below = np.maximum(theta - reach, least)

    def need(other: Floats) -> tuple[float, float]:
        with np.errstate(over="ignore"):  # an epsilon beyond all losses
            log_bound = _log_bound(parts.approximation, smoothing, other) - other * epsilon
        width = np.maximum(log_bound - log_value - np.log(folded), 1.0) / np.abs(other - theta)
        best = int(np.argmin(width))
        return float(width[best]), float(other[best])

    (up, theta_above), (down, theta_below) = need(above), need(below)
    return Window(max(up, down), theta_above, theta_below)


def _log_bound(parts: CountedLaws, smoothing: float, theta: Floats) -> Floats:
    smooth = smoothing**2 * theta * (1 + theta) / 2
    return np.asarray(parts.log_mgf(theta) + smooth + _chernoff_constant(theta))


@dataclass(frozen=True)
class Folding:
    """What the trapezoidal rule adds from other periods, by Chernoff's bound.

    ``logs`` are its exponents with what is bounded by them at epsilon = 0.
    """

    theta: float
    period: float
    logs: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, parts: CountedLaws, smoothing: float, theta: float, window: Window) -> Folding:
        """The sums that do not depend on epsilon."""
        others = (window.theta_above, window.theta_below)
        return cls(
            theta,
            window.period,
            tuple((each, float(_log_bound(parts, smoothing, np.array(each)))) for each in others),
        )

    def at(self, epsilon: float) -> float:
        """The bound, for delta at this epsilon."""
        total = 0.0
        for other, log_bound in self.logs:
            decay = abs(other - self.theta) * self.period
            log_expm1 = decay + np.log(-np.expm1(-decay))
            total += float(np.exp(min(log_bound - other * epsilon - log_expm1, 700.0)))
        return 2 * total  # twice: the exponents are large numbers, and rounded


@dataclass(frozen=True)
class SmoothedTail:
    """One line of integration: the weights of its points, ready to be summed at any epsilon."""

    lost: float  # the mass at infinite loss
    theta: float
    _: KW_ONLY
    smoothing: float
    folding: Folding
    centre: float
    omega: Floats
    values: RealOrComplex  # terms of delta
    slopes: RealOrComplex  # of its slope
    densities: RealOrComplex  # of the density
    log_scale: float
    scale_slack: float
    value_noise: float
    density_noise: float
    rough: NearAtoms | None = None

    @classmethod
    def make(
        cls,
        parts: CountedLaws,
        epsilon: float,
        theta: float,
        smoothing: float,
        window: Window,
        *,
        cutoff: float = 0.0,
        negligible: float = 1e-18,
        rough: NearAtoms | None = None,
    ) -> SmoothedTail:
        """Sample the transform on Re z = theta, for use near ``epsilon``.

        Up to ``cutoff``, which only a line that is smoothed can leave open. What is ``negligible``
        in comparison with M(theta), over all points, is left out. A ``rough`` part is not smoothed,
        and is not on the line.
        """
        cutoff = cutoff or _CUTOFF / smoothing
        spacing = 2 * np.pi / window.period
        grid = spacing * np.arange(points_needed(window.period, cutoff) + 1, dtype=np.float64)
        scale = Scale.of(parts, theta)
        negligible = negligible / cutoff if rough is None else 0.0
        line = sample(parts, theta, grid, smoothing, epsilon=epsilon, negligible=negligible)
        wrong = np.abs(line.ratio) * line.error
        if rough is not None:
            line, wrong = _without(line, rough, theta, parts.laplaces.top - epsilon)
        terms, wrong = line.ratio * (spacing / np.pi), wrong * (spacing / np.pi)
        terms[line.omega == 0.0] /= 2
        z = theta + 1j * line.omega
        slopes = terms / (1 + z)
        values = slopes / z
        rest, whole_rest = _cut_off(parts, theta, smoothing, float(grid[-1]))
        if rough is not None:
            rest = float(np.exp(rough.log_rest(theta, grid[-1]))) / (np.pi * float(grid[-1]))
        rest += line.left_out * spacing / np.pi + _LOST
        whole_rest += line.left_out_whole * spacing / np.pi + _LOST
        return cls(
            parts.infinite_mass,
            theta,
            smoothing=smoothing,
            folding=Folding.of(parts, smoothing, theta, window),
            centre=epsilon,
            omega=line.omega,
            values=values,
            slopes=slopes,
            densities=terms,
            log_scale=scale.log - theta * epsilon + smoothing**2 * theta * (1 + theta) / 2,
            scale_slack=scale.slack,
            value_noise=(float((wrong / np.abs(z * (1 + z))).sum()) + rest) * _ROOM,
            density_noise=(float(wrong.sum()) + whole_rest) * _ROOM,
            rough=rough,
        )

    @property
    def size(self) -> int:
        """How many points the line has."""
        return self.omega.size

    @property
    def reach(self) -> float:
        """Beyond a few decay lengths the terms would no longer be centred."""
        return 2 / max(abs(self.theta), 1e-300)

    def at(self, epsilon: float) -> SlopedBracket:
        """Certified bracket of delta(epsilon), with the infinite mass."""
        shift = epsilon - self.centre
        exponent = self.log_scale - self.theta * shift
        if abs(self.theta * shift) > 1e4 or exponent > _FULL:
            return SlopedBracket(0.0, 1.0)
        # Below the range of doubles the bracket is [0, tiny].
        scale = float(np.exp(max(exponent, -_FULL)))
        turn = np.exp(-1j * self.omega * shift) if shift else np.ones(1)
        value = float((self.values * turn).real.sum())
        slope = -float((self.slopes * turn).real.sum()) * scale
        relative = 8 * UNIT * (4 + abs(self.log_scale) + abs(self.theta * epsilon))
        relative += self.scale_slack
        noise = self.value_noise + self._turning(self._sizes[0], shift) + abs(value) * relative
        gap = 0.0
        if self.smoothing:
            density = float((self.densities * turn).real.sum()) + self.density_noise
            density += self._turning(self._sizes[1], shift)
            gap = self.smoothing**2 * np.exp(self.smoothing**2 / 8) * density * (1 + relative)
        folded = self.folding.at(epsilon)
        low = scale * (abs(value) - noise) - folded
        high = scale * (abs(value) + noise)
        if self.rough is not None:
            apart = self.rough.at(epsilon)
            low = max(scale * (value - noise) - folded, 0.0) + apart.lower
            high = max(scale * (value + noise), 0.0) + apart.upper
            low = low if exponent > -_FULL else 0.0
            return SlopedBracket.of_delta(low, high + TINY, slope + apart.slope)
        if self.theta > 0:
            low = max(low - scale * gap, 0.0) if exponent > -_FULL else 0.0
            return SlopedBracket.of_delta(low, high + TINY, slope, lost=self.lost)
        return SlopedBracket.of_delta(1 - high - scale * gap, 1 - low, slope)

    @cached_property
    def _sizes(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Sums of the terms' moduli, and of these times omega: of the values, of the densities."""
        moduli = np.abs(self.values), np.abs(self.densities)
        first, second = ((float(each.sum()), dot(each, self.omega)) for each in moduli)
        return first, second

    def _turning(self, sizes: tuple[float, float], shift: float) -> float:
        """Bound on the rounding of a sum, in pairs, of terms that are turned."""
        return 8 * UNIT * (64 * sizes[0] + 2 * abs(shift) * sizes[1])


def _without(line: Sampled, rough: NearAtoms, theta: float, turn: float) -> tuple[Sampled, Floats]:
    """The line less its rough part, and bounds on the errors of that; all points are there."""
    ratio, off = rough.ratios(theta, line.omega)
    turned = ratio * np.exp(1j * line.omega * turn)
    wrong = np.abs(line.ratio) * line.error + off + np.abs(ratio) * line.error
    return replace(line, ratio=line.ratio - turned), wrong


def _cut_off(
    parts: CountedLaws, theta: float, smoothing: float, last: float
) -> tuple[float, float]:
    """Bounds on what is beyond the last point, of delta and of the density."""
    most = float(np.exp(log_decay(parts, theta, np.array([last]))[0]))
    if smoothing == 0.0:
        return most / (np.pi * last), 0.0
    # The integral of the Gaussian factor beyond the last point.
    whole = most * math.erfc(smoothing * last / math.sqrt(2)) / (np.sqrt(2 * np.pi) * smoothing)
    return min(whole / last**2, most / (np.pi * last)), whole


def points_needed(period: float, cutoff: float) -> int:
    """How many points the trapezoidal rule takes up to a frequency."""
    return int(np.ceil(cutoff * period / (2 * np.pi))) + 1


def most_points(work: int) -> int:
    """How many points the memory (a million of them) and the allowed work admit."""
    return min(MAX_POINTS, max(MAX_WORK // work, 1 << 12))


def coarsest_fit(period: float, points: int) -> float:
    """The least smoothing that takes no more points."""
    return float(_CUTOFF * period / (2 * np.pi * points))


@dataclass(frozen=True)
class Extent:
    """How much is smoothed, and where the line ends (0: where smoothing ends it).

    With a ``rough`` part nothing is smoothed, and that part is not on the line.
    """

    smoothing: float
    cutoff: float
    rough: NearAtoms | None = None


def choose_line(parts: CountedLaws, theta: float, smoothing: float, error: float) -> Extent:
    """The shortest line whose end costs about ``error`` of M(theta).

    Without smoothing where the transform decays soon enough, else with the given one.
    """
    omega = np.geomspace(1e-4, 1.0, 161) * (_CUTOFF / smoothing)
    most = np.exp(log_decay(parts, theta, omega))
    bare = most / (np.pi * omega) <= error
    rest = most * _erfc(smoothing * omega / np.sqrt(2)) / (np.sqrt(2 * np.pi) * smoothing)
    enough = np.maximum(rest / omega**2, smoothing**2 * rest) <= error
    enough[-1] = True
    end = int(np.argmax(bare if bare.any() else enough))
    rough = NearAtoms.of(parts) if theta > 0 else None
    if rough is not None:
        short = np.exp(np.minimum(rough.log_rest(theta, omega), 0.0)) / (np.pi * omega) <= error
        first = int(np.argmax(short))
        if short[first] and omega[first] < _MUCH_SHORTER * omega[end]:
            return Extent(0.0, float(omega[first]), rough)
    return Extent(0.0 if bare.any() else smoothing, float(omega[end]))


def _erfc(points: Floats) -> Floats:
    return np.array([math.erfc(point) for point in points])
