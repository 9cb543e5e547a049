"""Trade-off functions: the least type II error of any test, as a function of its type I error.

For the null hypothesis P0 (Alice is not in) against P1 (she is), f(alpha) = inf{beta} over tests
of type I error at most alpha (Dong, Roth, Su, "Gaussian Differential Privacy", JRSS-B 2022,
Definition 2.1). f and the hockey-stick divergence of the exchanged pair, delta(epsilon) =
sup_S P1(S) - exp(epsilon) P0(S), are convex conjugates (Proposition 2.12 there):

    delta(epsilon) = 1 + f*(-exp(epsilon)),   f(alpha) = sup_epsilon 1 - delta - exp(epsilon) alpha.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite, nonnegative, point
from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.pld.distribution import PLD

Floats = NDArray[np.float64]


class TradeOff(ABC):
    """A convex, non-increasing function on [0, 1] with f(alpha) <= 1 - alpha.

    >>> from simulator.theory import GaussianTradeOff
    >>> GaussianTradeOff(1.0)([0.0, 0.5, 1.0]).round(6).tolist()
    [1.0, 0.158655, 0.0]
    """

    def __call__(self, alpha: ArrayLike) -> Floats:
        """Least type II error at type I error ``alpha`` (elementwise; InvalidInput off [0, 1])."""
        errors = np.asarray(alpha, dtype=float)
        if not ((errors >= 0) & (errors <= 1)).all():
            raise InvalidInput("type I errors must be in [0, 1]")
        return self._evaluate(errors)

    @abstractmethod
    def _evaluate(self, alpha: Floats) -> Floats: ...

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """Hockey-stick divergence sup_S P1(S) - exp(epsilon) P0(S), by conjugation."""


@dataclass(frozen=True)
class GaussianTradeOff(TradeOff):
    """G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu): a unit normal against one shifted by mu >= 0.

    >>> from simulator.theory import GaussianTradeOff
    >>> round(float(GaussianTradeOff(1.0)(0.05)), 6)
    0.740489
    >>> GaussianTradeOff(3.0).compose(GaussianTradeOff(4.0))
    GaussianTradeOff(mu=5.0)
    """

    mu: float

    def __post_init__(self) -> None:
        nonnegative("mu", finite("mu", self.mu))

    def _evaluate(self, alpha: Floats) -> Floats:
        return np.asarray(scipy.special.ndtr(-scipy.special.ndtri(alpha) - self.mu))

    def delta(self, epsilon: float) -> float:
        """Exact: the curve of the Gaussian mechanism (Balle and Wang 2018, Theorem 5)."""
        epsilon = point("epsilon", epsilon)
        if self.mu == 0:
            return max(0.0, float(-np.expm1(min(epsilon, 0.0))))
        return GaussianLaw(self.mu).delta(epsilon)

    def compose(self, *others: GaussianTradeOff) -> GaussianTradeOff:
        """Composition adds the squares of mu (Dong, Roth, Su 2022, Corollary 3.3)."""
        return GaussianTradeOff(float(np.hypot.reduce([self.mu, *(o.mu for o in others)])))


@dataclass(frozen=True, eq=False)
class PiecewiseTradeOff(TradeOff):
    """Straight lines between vertices: alpha ascends from 0 to 1, beta descends to 0, convex.

    >>> from simulator.theory import PiecewiseTradeOff
    >>> line = PiecewiseTradeOff.from_guarantee(epsilon=1.0)
    >>> round(float(line(0.1)), 6), round(line.delta(0.5), 6)
    (0.728172, 0.287649)
    """

    alpha: Floats
    beta: Floats

    def __post_init__(self) -> None:
        shaped = self.alpha.ndim == 1 and self.alpha.shape == self.beta.shape
        if not (shaped and self.alpha.size >= 2 and (np.diff(self.alpha) >= 0).all()):
            raise InvalidInput("vertices need equal length, at least two, and ascending alpha")
        if self.alpha[0] != 0 or self.alpha[-1] != 1:
            raise InvalidInput("vertices must reach from alpha = 0 to alpha = 1")
        turns = np.diff(self.alpha)[:-1] * np.diff(self.beta)[1:]
        turns = turns - np.diff(self.alpha)[1:] * np.diff(self.beta)[:-1]
        if (turns < -1e-12).any() or (np.diff(self.beta) > 1e-15).any():
            raise InvalidInput("a trade-off function must be convex and non-increasing")

    @classmethod
    def from_law(cls, law: PrivacyLossLaw) -> PiecewiseTradeOff:
        """Exact f of a finite law, by the Neyman-Pearson lemma: reject where the loss is small."""
        if not isinstance(law, FiniteLaw):
            raise InvalidInput(
                "exact vertices need a law with finitely many losses; use EnclosedTradeOff.from_pld"
            )
        p0 = np.exp(law.log_masses)
        p1 = np.exp(law.log_masses - law.losses)
        power = np.cumsum(np.r_[law.dual_infinite_mass, p1])
        alpha = np.minimum(np.r_[np.cumsum(np.r_[0.0, p0]), 1.0], 1.0)
        beta = np.maximum(np.r_[1 - power, 0.0], 0.0)
        beta[-2] = 0.0  # zero up to rounding, as all of P1 is rejected
        return cls(alpha, beta)

    @classmethod
    def from_guarantee(cls, epsilon: float, delta: float = 0.0) -> PiecewiseTradeOff:
        """The dominating pair of (epsilon, delta)-DP (Wasserman and Zhou 2010, Theorem 2.4).

        max(0, 1 - delta - exp(epsilon) alpha, exp(-epsilon) (1 - delta - alpha)).
        """
        if not (np.isfinite(epsilon) and epsilon >= 0 and 0 <= delta <= 1):
            raise InvalidInput(f"need epsilon >= 0 and delta in [0, 1], got {epsilon!r}, {delta!r}")
        kept = 1 - delta
        corner = kept * np.exp(-np.logaddexp(0.0, epsilon))
        return cls(np.array([0.0, corner, kept, 1.0]), np.array([kept, corner, 0.0, 0.0]))

    @classmethod
    def from_lines(cls, lines: Iterable[tuple[float, float]]) -> PiecewiseTradeOff:
        """Upper envelope of lines intercept - slope * alpha, given as (slope, intercept), and 0."""
        hull: list[tuple[float, float]] = []
        starts: list[float] = []
        for slope, intercept in sorted({*lines, (0.0, 0.0)}, key=lambda s: (-s[0], s[1])):
            while hull:
                steeper, higher = hull[-1]
                # Of two parallel lines the later one lies above.
                apart = steeper - slope
                meet = (higher - intercept) / apart if apart > 0 else -np.inf
                if meet > starts[-1]:
                    break
                hull.pop()
                starts.pop()
            starts.append(max(meet, 0.0) if hull else 0.0)
            hull.append((slope, intercept))
        inside = [(a, line) for a, line in zip(starts, hull) if a < 1]
        last_slope, last_intercept = inside[-1][1]
        alpha = [a for a, _ in inside] + [1.0]
        beta = [b - s * a for a, (s, b) in inside] + [last_intercept - last_slope]
        return cls(np.array(alpha), np.clip(np.minimum.accumulate(beta), 0.0, 1.0))

    def _evaluate(self, alpha: Floats) -> Floats:
        # Where alpha repeats the least beta counts: f is the infimum.
        keep = np.r_[np.diff(self.alpha) > 0, True]
        return np.asarray(np.interp(alpha, self.alpha[keep], self.beta[keep]))

    def delta(self, epsilon: float) -> float:
        """Exact conjugate: a convex piecewise linear f attains it at a vertex."""
        epsilon = point("epsilon", epsilon)
        if epsilon < 700.0:
            return float(np.max(1 - self.beta - np.exp(epsilon) * self.alpha))
        # e^epsilon overflows; a vertex at alpha = 0 costs 0.
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            cost = np.exp(epsilon + np.log(self.alpha))
        return float(np.max(1 - self.beta - np.where(self.alpha > 0, cost, 0.0)))


@dataclass(frozen=True)
class EnclosedTradeOff:
    """A trade-off function between two known ones: lower <= f <= upper on all of [0, 1]."""

    lower: PiecewiseTradeOff
    upper: PiecewiseTradeOff

    def __call__(self, alpha: float) -> Bracket:
        """Ends of the least type II error at type I error ``alpha``."""
        upper = float(self.upper(alpha))
        return Bracket(min(float(self.lower(alpha)), upper), upper)

    @classmethod
    def from_pld(cls, pld: PLD, epsilons: ArrayLike) -> EnclosedTradeOff:
        """The trade-off function of a composition, from delta at the given epsilons.

        Every epsilon gives a line below f. Between neighbours delta never increases, so with the
        slope of the smaller and the intercept of the larger the line is above f's lines in between.
        """
        points = np.unique(np.asarray(epsilons, dtype=float))
        if points.ndim != 1 or points.size < 2 or not np.isfinite(points).all():
            raise InvalidInput("need at least two distinct finite epsilons")
        exchanged = pld.reversed()
        deltas = [exchanged.delta(float(epsilon)) for epsilon in points]
        slopes = np.exp(points)
        below = [(s, 1 - d.upper) for s, d in zip(slopes, deltas)]
        gentler = np.r_[0.0, slopes]
        intercepts = [1 - d.lower for d in deltas] + [1.0]
        above = [(float(s), float(b)) for s, b in zip(gentler, intercepts)]
        return cls(PiecewiseTradeOff.from_lines(below), PiecewiseTradeOff.from_lines(above))
