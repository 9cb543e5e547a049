"""A number plus discrete normal, staircase or truncated noise."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import finite, positive
from simulator.mechanisms.base import ScalarMechanism, Scalars
from simulator.mechanisms.noise_mixture import (
    DISCRETE_NORMAL,
    LAPLACE,
    NOISE_MIXTURE,
    NORMAL,
    STAIRCASE,
    Noise,
    mixture_row,
)
from simulator.mechanisms.values import NO_LOSS, check_query, real, whole_number
from simulator.theory.guarantees.discrete_gaussian import DiscreteGaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.laws import discrete
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.truncated import TruncatedNoiseLaw


class AdditiveNoise(ScalarMechanism):
    """A real-valued query plus noise of a shape of :mod:`.noise_mixture`.

    A subclass is a frozen dataclass with a ``query``; it defines ``noise`` and ``law_of_shift``.

    >>> from simulator import counting_query
    >>> from simulator.data import ADD_REMOVE
    >>> from simulator.mechanisms import DiscreteGaussian
    >>> law = DiscreteGaussian(counting_query("alice"), 2.0).law_of_shift(1.0, ADD_REMOVE)
    >>> round(law.delta(0.5), 6)
    0.054007
    """

    __slots__ = ()

    scalars: ClassVar[Scalars] = NOISE_MIXTURE

    @abstractmethod
    def noise(self, relation: Relation) -> Noise:
        """The noise, calibrated to the query's sensitivity under the relation."""

    @abstractmethod
    def law_of_shift(self, shift: float, relation: Relation) -> PrivacyLossLaw:
        """The law of the loss where the values differ by ``shift`` > 0."""

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """One value on each database, see :func:`mixture_row`."""
        first, second = (real(type(self).__name__, value) for value in (value_0, value_1))
        return mixture_row(self.noise(relation), {first: 1.0}, {second: 1.0})

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """The law at this pair's shift."""
        shift = abs(float(self.query(database_0)) - float(self.query(database_1)))
        return self.law_of_shift(shift, relation) if shift > 0.0 else NO_LOSS

    def worst_law(self, relation: Relation = ADD_REMOVE) -> PrivacyLossLaw | None:
        """The law at a shift by the whole sensitivity."""
        return self.law_of_shift(self.query.sensitivity(relation), relation)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(AdditiveNoise):
    """A whole number plus noise on the integers, of mass proportional to exp(-x^2/(2 sigma^2)).

    Its family is that of its worst pair. Source: Canonne, Kamath and Steinke 2020; sampled by their
    Algorithm 3, in floating point.

    Parameters
    ----------
    query : whole-valued, such as a count.
    sigma : > 0, in the query's units.

    >>> from simulator import counting_query
    >>> from simulator.mechanisms import DiscreteGaussian
    >>> mechanism = DiscreteGaussian(counting_query("alice"), sigma=2.0)
    >>> round(mechanism.worst_law().delta(0.5), 6)
    0.054007
    """

    query: Query
    sigma: float

    parameter_name: ClassVar[str] = "sigma"

    def __post_init__(self) -> None:
        check_query("the discrete Gaussian", self.query)
        positive("sigma", self.sigma)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> DiscreteGaussianDP:
        """The family of its own pair at the whole sensitivity."""
        return DiscreteGaussianDP(self.sigma, self.query.sensitivity(relation))

    def noise(self, relation: Relation) -> Noise:
        """Discrete normal."""
        return Noise(DISCRETE_NORMAL, self.sigma)

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """Two whole numbers."""
        for value in (value_0, value_1):
            whole_number("discrete Gaussian", value, instead="Gaussian")
        return AdditiveNoise.row(self, value_0, value_1, relation)

    def law_of_shift(self, shift: float, relation: Relation) -> PrivacyLossLaw:
        """The law of discrete normal noise between values that differ by a whole number."""
        return discrete.discrete_gaussian(self.sigma, round(shift))


@dataclass(frozen=True, slots=True)
class Staircase(AdditiveNoise):
    """Staircase noise; for one share it has the least mean size of all epsilon-DP noise.

    Parameters
    ----------
    query : real-valued.
    epsilon : > 0.
    share : in [0, 1], the high part of each stair; 1/(1 + exp(epsilon/2)) has the least mean.

    Source: Geng and Viswanath 2014.

    >>> from simulator import counting_query
    >>> from simulator.mechanisms import Staircase
    >>> Staircase(counting_query("alice"), epsilon=1.0, share=0.4).guarantee()
    PureDP(epsilon=1.0)
    """

    query: Query
    epsilon: float
    share: float

    def __post_init__(self) -> None:
        check_query("the staircase mechanism", self.query)
        positive("epsilon", self.epsilon)
        if not 0.0 <= finite("share", self.share) <= 1.0:
            raise InvalidInput(f"the share must be in [0, 1], not {self.share!r}")

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """epsilon-DP."""
        return PureDP(self.epsilon)

    def noise(self, relation: Relation) -> Noise:
        """Stairs as wide as the sensitivity."""
        return Noise(STAIRCASE, self.query.sensitivity(relation), self.epsilon, self.share)

    def law_of_shift(self, shift: float, relation: Relation) -> PrivacyLossLaw:
        """The law at a shift by the whole sensitivity; raises NotApplicable at another."""
        if shift != self.query.sensitivity(relation):
            raise NotApplicable("the staircase's law is known at a shift by the whole sensitivity")
        return discrete.staircase(self.epsilon, self.share)


@dataclass(frozen=True, slots=True)
class TruncatedNoise(AdditiveNoise):
    """Normal or Laplace noise conditioned on [-reach, reach]; some answers reveal the database.

    Parameters
    ----------
    query : real-valued.
    kind : "gaussian" or "laplace".
    scale : > 0, the standard deviation, or the scale of Laplace noise; in the query's units.
    reach : in the query's units, beyond half of the sensitivity.

    >>> from simulator import counting_query
    >>> from simulator.mechanisms import TruncatedNoise
    >>> mechanism = TruncatedNoise(counting_query("alice"), "laplace", scale=10.0, reach=50.0)
    >>> round(mechanism.worst_law().infinite_mass, 6)
    0.000357
    """

    query: Query
    kind: str
    scale: float
    reach: float

    parameter_name: ClassVar[str] = "scale"

    def __post_init__(self) -> None:
        check_query("truncated noise", self.query)
        positive("scale", self.scale)
        positive("reach", self.reach)
        if self.kind not in ("gaussian", "laplace"):
            raise InvalidInput(f'the kind of noise is "gaussian" or "laplace", not {self.kind!r}')

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The largest finite loss, with the probability of an infinite one as the delta."""
        law = self.law_of_shift(self.query.sensitivity(relation), relation)
        return ApproxDP(law.support[1], law.infinite_mass)

    def noise(self, relation: Relation) -> Noise:
        """Normal or Laplace, with a reach."""
        shape = NORMAL if self.kind == "gaussian" else LAPLACE
        return Noise(shape, self.scale, reach=self.reach)

    def law_of_shift(self, shift: float, relation: Relation) -> PrivacyLossLaw:
        """The law of truncated noise: infinite losses where one value's noise does not reach."""
        kind = GaussianLaw if self.kind == "gaussian" else LaplaceLaw
        return TruncatedNoiseLaw(kind(shift / self.scale), self.reach / shift)
