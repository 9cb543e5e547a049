"""Events of one round with discrete noise, or with a random sensitivity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from simulator.foundations.errors import NotApplicable
from simulator.foundations.validation import flag
from simulator.theory.events.leaves import ROUNDED_UP, GaussianEvent, keeping
from simulator.theory.events.tree import (
    EventRounds,
    Leaf,
    ratio_up,
    refuse,
)
from simulator.theory.events.units import PRESENT_OR_NOT, Unit
from simulator.theory.guarantees.discrete_gaussian import DiscreteGaussianDP
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.discrete import (
    discrete_laplace,
    rounded_gaussian,
    rounded_laplace,
    staircase,
)
from simulator.theory.laws.gaussian_mixture import GaussianMixtureLaw
from simulator.theory.parameters import several

_MOST_SENSITIVITIES = 256
"""Most sensitivities of a mixture, which takes some seconds to compose."""


@dataclass(frozen=True)
class DiscreteGaussianEvent(Leaf):
    """Discrete Gaussian noise on a whole number, or with ``rounded`` rounded Gaussian noise.

    ``sensitivity`` is any whole number of at least 1. Source: see
    :class:`simulator.theory.DiscreteGaussianDP`; a rounded Gaussian keeps the Gaussian's guarantee.

    >>> from simulator import Account
    >>> from simulator.theory.events import discrete_gaussian
    >>> round(Account(discrete_gaussian(4.0)).delta(0.5).upper, 6)
    0.002753
    """

    sigma: float
    sensitivity: int = 1
    rounded: bool = False
    kind: ClassVar[str] = "discrete_gaussian"

    def __post_init__(self) -> None:
        flag("rounded", self.rounded)
        self.once()

    def once(self) -> EventRounds:
        """The discrete or rounded Gaussian pair, exact."""
        if not self.rounded:
            return keeping(DiscreteGaussianDP(self.sigma, self.sensitivity))
        law = rounded_gaussian(self.sigma, self.sensitivity)
        mu = GaussianEvent(self.sigma, float(self.sensitivity)).mu
        return EventRounds(law, (GaussianDP(mu),), exact=True)

    def in_group(self, size: int) -> EventRounds:
        """The pair of a sum that the records of the group move together."""
        return replace(self, sensitivity=self.sensitivity * size).once()


@dataclass(frozen=True)
class DiscreteLaplaceEvent(Leaf):
    """Two-sided geometric noise on a whole number, or with ``rounded`` rounded Laplace noise.

    The noise has mass proportional to exp(-epsilon_per_unit |x|), a scale of 1/epsilon_per_unit;
    ``sensitivity`` is any whole number of at least 1.

    >>> from simulator import Account
    >>> from simulator.theory.events import discrete_laplace
    >>> round(Account().then(discrete_laplace(0.1), 10).epsilon(1e-6).upper, 4)
    0.9994
    """

    epsilon_per_unit: float
    sensitivity: int = 1
    rounded: bool = False
    kind: ClassVar[str] = "discrete_laplace"

    def __post_init__(self) -> None:
        flag("rounded", self.rounded)
        self.once()

    def once(self) -> EventRounds:
        """The discrete or rounded Laplace pair, exact."""
        make = rounded_laplace if self.rounded else discrete_laplace
        law = make(self.epsilon_per_unit, self.sensitivity)
        promise = PureDP(self.epsilon_per_unit * self.sensitivity * ROUNDED_UP)
        return EventRounds(law, (promise,), exact=True)

    def in_group(self, size: int) -> EventRounds:
        """The pair of a sum that the records of the group move together."""
        return replace(self, sensitivity=self.sensitivity * size).once()


@dataclass(frozen=True)
class StaircaseEvent(Leaf):
    """Staircase noise at its own sensitivity.

    Source: see :func:`simulator.theory.laws.staircase`.

    >>> from simulator import Account
    >>> from simulator.theory.events import staircase
    >>> round(Account(staircase(1.0, share=0.4)).delta(0.5).upper, 6)
    0.276873
    """

    epsilon: float
    share: float
    kind: ClassVar[str] = "staircase"

    def __post_init__(self) -> None:
        self.once()

    def once(self) -> EventRounds:
        """The staircase pair, exact."""
        law = staircase(self.epsilon, self.share)
        return EventRounds(law, (PureDP(self.epsilon),), exact=True)


@dataclass(frozen=True)
class GaussianMixtureEvent(Leaf):
    """Noise N(0, sigma^2) on an answer that Alice's record moves by a random sensitivity.

    Its pair is known where her record's value is there, or 0 is. Replacing her record changes both
    laws, so under replace-one only a single sensitivity (Gaussian noise) has a theorem here. Its
    guarantee is that of the largest sensitivity.

    Raises NotApplicable for more than 256 sensitivities. Source: see
    :class:`simulator.theory.GaussianMixtureLaw`.

    >>> from simulator import Account
    >>> from simulator.theory.events import gaussian_mixture
    >>> event = gaussian_mixture(1.0, sensitivities=(0.0, 1.0), weights=(0.9, 0.1))
    >>> round(Account(event).delta(0.1).upper, 6)
    0.018472
    """

    sigma: float
    sensitivities: tuple[float, ...]
    weights: tuple[float, ...]
    kind: ClassVar[str] = "gaussian_mixture"

    def __post_init__(self) -> None:
        for name in ("sensitivities", "weights"):
            object.__setattr__(self, name, several(name, getattr(self, name)))
        if len(self.sensitivities) > _MOST_SENSITIVITIES:
            raise NotApplicable(
                f"a mixture of {len(self.sensitivities)} sensitivities composes too slowly, at "
                f"most {_MOST_SENSITIVITIES} are allowed; round them up to fewer values, "
                "which is never more private"
            )
        self.once()

    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """The round; raises NotApplicable for a random sensitivity of a replaced record."""
        if unit.relation not in PRESENT_OR_NOT and len(self.sensitivities) > 1:
            raise refuse(
                path, self, "a random sensitivity has a theorem under "
                f"{' and '.join(PRESENT_OR_NOT)} only, not under {unit.relation}"
            )  # fmt: skip
        yield from super().resolved(unit, path)

    def once(self) -> EventRounds:
        """The pair of a Gaussian mixture and a Gaussian, exact."""
        law = GaussianMixtureLaw(self.sigma, self.sensitivities, self.weights)
        promise = GaussianDP(ratio_up(max(self.sensitivities), self.sigma))
        return EventRounds(law, (promise,), exact=True)
