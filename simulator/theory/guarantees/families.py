"""Guarantees of one round, and their text form.

Each guarantee is a frozen value that defines a family of mechanisms. The parameters that it implies
in other notions are numbers (infinite where nothing is implied), so comparing guarantees is
comparing numbers, and bounds on compositions sum them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import probability_below_one
from simulator.foundations.wording import did_you_mean
from simulator.theory.guarantees.amplified import ShuffledDP, SubsampledDP
from simulator.theory.guarantees.dominated import (
    DiscreteGaussianDP,
    DominatedDP,
    SubsampledGaussianDP,
)
from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.pure import PureDP, kept, pure_delta
from simulator.theory.guarantees.renyi import RenyiDP
from simulator.theory.guarantees.renyi_divergence import (
    bounded_range_renyi,
    renyi_to_delta,
)
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.theory.outward import UNIT
from simulator.theory.parameters import nonnegative
from simulator.training.families import BallsInBinsDP, RandomAllocationDP


@dataclass(frozen=True)
class ApproxDP(Guarantee):
    """(epsilon, delta)-differential privacy, delta in [0, 1).

    Extremal pair: with probability delta the bit is revealed, otherwise randomized response
    (Kairouz, Oh and Viswanath 2017, Theorem 3.3).
    """

    epsilon: float
    delta: float
    kind: ClassVar[str] = "approx"

    def __post_init__(self) -> None:
        self._set("epsilon", nonnegative("epsilon", self.epsilon))
        self._set("delta", probability_below_one("delta", self.delta))

    def admits(self, other: Guarantee) -> bool:
        """See :meth:`Guarantee.admits`."""
        return within(other.pure_epsilon, self.epsilon) or within(
            other.hockey_stick(self.epsilon), self.delta
        )

    def _hockey_stick(self, epsilon: float) -> float:
        return self.delta + (1.0 - self.delta) * pure_delta(self.epsilon, epsilon)

    @property
    def worst_law(self) -> PrivacyLossLaw:
        """Randomized response that reveals the bit with probability delta."""
        return randomized_response(self.epsilon, self.delta)

    @property
    def core(self) -> Guarantee:
        """Pure differential privacy with the same epsilon."""
        return PureDP(self.epsilon)

    @property
    def leak(self) -> float:
        """The delta."""
        return self.delta

    @property
    def pure_epsilon(self) -> float:
        """The epsilon when delta is 0, else infinity."""
        return self.epsilon if self.delta == 0.0 else math.inf

    @property
    def implied(self) -> Guarantee | None:
        """Pure differential privacy when delta is 0, else None."""
        return self.core if self.delta == 0.0 else None


@dataclass(frozen=True)
class GaussianDP(Guarantee):
    """mu-Gaussian differential privacy: dominated by N(0, 1) against N(mu, 1).

    Source: Dong, Roth and Su 2022, Definition 2.6. The Gaussian mechanism has mu = Delta / sigma.
    """

    mu: float
    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        self._set("mu", nonnegative("mu", self.mu))

    def admits(self, other: Guarantee) -> bool:
        """See :meth:`Guarantee.admits`."""
        return within(other.gdp_mu, self.mu)

    def _hockey_stick(self, epsilon: float) -> float:
        return gaussian_delta(self.mu, epsilon)

    @property
    def worst_law(self) -> PrivacyLossLaw:
        """Two normal laws, mu apart."""
        return GaussianLaw(self.mu) if self.mu > 0.0 else randomized_response(0.0)

    @property
    def pure_epsilon(self) -> float:
        """Zero for mu = 0, else infinity: the Gaussian loss is unbounded."""
        return 0.0 if self.mu == 0.0 else math.inf

    @property
    def zcdp_rho(self) -> float:
        """mu^2 / 2 (Bun and Steinke 2016, Proposition 1.6)."""
        return kept(self.mu, self.mu * self.mu / 2.0)

    @property
    def gdp_mu(self) -> float:
        """The mu itself."""
        return self.mu


@dataclass(frozen=True)
class ZCDP(Guarantee):
    """rho-zero-concentrated differential privacy (Bun and Steinke 2016, Definition 1.1).

    ``hockey_stick`` is an upper bound (Canonne, Kamath and Steinke 2020, Proposition 12).
    """

    rho: float
    kind: ClassVar[str] = "zcdp"

    def __post_init__(self) -> None:
        self._set("rho", nonnegative("rho", self.rho))

    def admits(self, other: Guarantee) -> bool:
        """See :meth:`Guarantee.admits`."""
        return within(other.zcdp_rho, self.rho)

    def _hockey_stick(self, epsilon: float) -> float:
        return 0.0 if self.rho == 0.0 else renyi_to_delta(self.renyi, epsilon)

    @property
    def pure_epsilon(self) -> float:
        """Zero for rho = 0, else infinity."""
        return 0.0 if self.rho == 0.0 else math.inf

    @property
    def gdp_mu(self) -> float:
        """Zero for rho = 0, else infinity: zCDP implies no Gaussian differential privacy."""
        return 0.0 if self.rho == 0.0 else math.inf

    @property
    def zcdp_rho(self) -> float:
        """The rho itself."""
        return self.rho


@dataclass(frozen=True)
class BoundedRange(Guarantee):
    """epsilon-bounded range: the loss of any one pair lies in some interval of width epsilon.

    The exponential mechanism with weight epsilon / (2 Delta) keeps it. Extremal pairs: loss t with
    probability (1 - e^(t-epsilon)) / (1 - e^(-epsilon)), else t - epsilon, t in [0, epsilon].

    Source: Durfee and Rogers 2019 (definition); Dong, Durfee and Rogers 2020, Section 4.
    """

    epsilon: float
    kind: ClassVar[str] = "range"

    def __post_init__(self) -> None:
        self._set("epsilon", nonnegative("epsilon", self.epsilon))

    def admits(self, other: Guarantee) -> bool:
        """See :meth:`Guarantee.admits`."""
        return within(other.range_width, self.epsilon)

    def _hockey_stick(self, epsilon: float) -> float:
        if epsilon >= self.epsilon:
            return 0.0
        return math.expm1((epsilon - self.epsilon) / 2.0) ** 2 / -math.expm1(-self.epsilon)

    @property
    def pure_epsilon(self) -> float:
        """The width: a loss in an interval of that width that contains 0 is at most the width."""
        return self.epsilon

    @property
    def range_width(self) -> float:
        """The width itself."""
        return self.epsilon

    @property
    def mean_loss(self) -> float:
        """Largest mean loss, u - 1 - ln u with u = epsilon / (1 - e^-epsilon).

        Source: Dong, Durfee and Rogers 2020, Section 7.
        """
        if self.epsilon == 0.0:
            return 0.0
        excess = self.epsilon / -math.expm1(-self.epsilon) - 1.0
        rounded_up = excess - math.log1p(excess) + 8.0 * UNIT * (excess + self.epsilon)
        return min(rounded_up, kept(self.epsilon, self.epsilon**2 / 8.0))

    @property
    def zcdp_rho(self) -> float:
        """epsilon^2 / 8 (Cesar and Rogers 2021), or that of pure privacy if less."""
        return min(kept(self.epsilon, self.epsilon**2 / 8.0), PureDP(self.epsilon).zcdp_rho)

    @property
    def gdp_mu(self) -> float:
        """The mu of randomized response of half the width, the worst of the extremal pairs."""
        return PureDP(self.epsilon / 2.0).gdp_mu

    def renyi(self, alpha: float) -> float:
        """See :func:`simulator.theory.guarantees.renyi_divergence.bounded_range_renyi`."""
        return bounded_range_renyi(self.epsilon, alpha)


KINDS: dict[str, type[Guarantee]] = {
    kind.kind: kind
    for kind in (
        PureDP,
        ApproxDP,
        GaussianDP,
        ZCDP,
        BoundedRange,
        RenyiDP,
        ShuffledDP,
        SubsampledDP,
        SubsampledGaussianDP,
        RandomAllocationDP,
        BallsInBinsDP,
        DiscreteGaussianDP,
        DominatedDP,
    )
}
"""The families that :func:`parse_guarantee` reads, by the name before the colon."""


WRITTEN = {
    "pure": ("EPSILON", "0.1"),
    "approx": ("EPSILON,DELTA", "0.1,1e-6"),
    "gaussian": ("MU", "0.5"),
    "zcdp": ("RHO", "0.1"),
    "range": ("EPSILON", "0.3"),
    "renyi": ("ALPHA,EPSILON", "2,0.1"),
    "subsampled-gaussian": ("SIGMA,RATE", "1,0.01"),
    "random-allocation": ("SIGMA,STEPS[,SELECTED]", "1,100"),
    "balls-in-bins": ("SIGMA,BINS,EPOCHS[,C0,C1,...]", "1,10,4"),
    "discrete-gaussian": ("SIGMA,SENSITIVITY", "2,1"),
    "subsampled": ("EPSILON,DELTA,RATE", "1,0,0.1"),
    "shuffled": ("EPSILON,REPORTS", "1,10000"),
    "dominated": ("LAW", "JSON"),
}
"""The parameters after the colon in the text of each family, and an example."""

FORMS = ", ".join(f"{kind}:{parameters}" for kind, (parameters, _) in WRITTEN.items())
"""The text forms of all families."""


def parse_guarantee(text: str) -> Guarantee:
    """Read ``pure:0.2``, ``approx:0.1,1e-6``, ``gaussian:0.5``, ``zcdp:0.1``, ``range:0.3``.

    Also ``subsampled-gaussian:SIGMA,RATE``, ``random-allocation:SIGMA,STEPS[,SELECTED]``,
    ``balls-in-bins:SIGMA,BINS,EPOCHS[,C0,C1,...]``,
    ``discrete-gaussian:SIGMA,SENSITIVITY``,
    ``subsampled:EPSILON,DELTA,RATE``, ``shuffled:EPSILON,REPORTS``, and ``renyi:ALPHA,EPSILON``
    with as many pairs as there are orders, and ``dominated:LAW``, the law as JSON. Inverse of
    ``str()``. Raises InvalidInput on anything else.
    """
    word, _, values = text.strip().partition(":")
    if word not in KINDS:
        near = did_you_mean(word, KINDS)
        raise InvalidInput(f"unknown family {text!r}{near or f'; write one of {FORMS}'}")
    if not values:
        parameters, example = WRITTEN[word]
        raise InvalidInput(
            f"{word} needs {parameters}: write {word}:{parameters}, as {word}:{example}"
        )
    try:
        return KINDS[word].of_text(values)
    except InvalidInput as error:
        raise InvalidInput(f"family {text!r}: {error}") from None


__all__ = [
    "KINDS",
    "ZCDP",
    "ApproxDP",
    "BallsInBinsDP",
    "BoundedRange",
    "DiscreteGaussianDP",
    "DominatedDP",
    "GaussianDP",
    "Guarantee",
    "PureDP",
    "RandomAllocationDP",
    "RenyiDP",
    "ShuffledDP",
    "SubsampledDP",
    "SubsampledGaussianDP",
    "parse_guarantee",
]
