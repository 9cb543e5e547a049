"""The interface of guarantees of one round."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

from simulator.foundations import grammar
from simulator.foundations.validation import point
from simulator.theory.guarantees.renyi_divergence import check_order
from simulator.theory.laws.base import PrivacyLossLaw

# Relative; rounding in a unit conversion must not turn a legal move into a breach.
_SLACK = 1e-12


def within(value: float, limit: float) -> bool:
    """Whether ``value`` is at most ``limit``, up to rounding."""
    return value <= limit * (1.0 + _SLACK)


@dataclass(frozen=True)
class Guarantee(ABC):
    """The promise of every mechanism of a family about one round, in both directions.

    ``str()`` gives the form that :func:`parse_guarantee` reads, such as ``pure:0.2``. A subclass is
    a frozen dataclass; it gives ``kind``, ``admits`` and ``_hockey_stick(self, epsilon) -> float``,
    delta at an epsilon >= 0. A family that is dominated by a pair of laws derives from
    :class:`DominatedFamily`, which has the rest.

    Attributes
    ----------
    kind : the name before the colon.

    >>> from simulator.theory import parse_guarantee
    >>> guarantee = parse_guarantee("approx:0.1,1e-6")
    >>> guarantee.leak, guarantee.core, str(guarantee)
    (1e-06, PureDP(epsilon=0.1), 'approx:0.1,1e-06')
    """

    kind: ClassVar[str]

    def _set(self, name: str, value: object) -> None:
        """Store a checked parameter of a frozen guarantee."""
        object.__setattr__(self, name, value)

    def __str__(self) -> str:
        values = ",".join(repr(float(getattr(self, field.name))) for field in fields(self))
        return f"{self.kind}:{values}"

    @classmethod
    def of_named(cls, named: grammar.Term) -> Guarantee:
        """Inverse of ``str()``, and of a text with the parameters' names. Raises InvalidInput."""
        return grammar.made(named, cls)

    @abstractmethod
    def admits(self, other: Guarantee) -> bool:
        """Whether every mechanism that keeps ``other`` also keeps this guarantee.

        >>> from simulator import PureDP
        >>> PureDP(0.2).admits(PureDP(0.1)), PureDP(0.2).admits(PureDP(0.3))
        (True, False)
        """

    def implies(self, other: Guarantee) -> bool:
        """Whether every mechanism that keeps this guarantee belongs to the family ``other``.

        >>> from simulator import PureDP
        >>> from simulator.theory import ApproxDP
        >>> PureDP(0.1).implies(ApproxDP(0.1, 1e-6))
        True
        """
        return other.admits(self)

    def hockey_stick(self, epsilon: float) -> float:
        """delta(epsilon) of one round at any real ``epsilon``, exact or an upper bound.

        The largest in the family, attained by its extremal pair. A negative epsilon is reduced to a
        positive one, as families are symmetric in the two experiments.

        >>> from simulator import PureDP
        >>> round(PureDP(1.0).hockey_stick(0.5), 6)
        0.287649
        """
        epsilon = point("epsilon", epsilon)
        if epsilon < 0.0:
            return -math.expm1(epsilon) + math.exp(epsilon) * self._hockey_stick(-epsilon)
        return self._hockey_stick(epsilon)

    @abstractmethod
    def _hockey_stick(self, epsilon: float) -> float: ...

    @property
    def core(self) -> Guarantee:
        """The guarantee conditioned on the bit not being revealed outright; see :attr:`leak`."""
        return self

    @property
    def leak(self) -> float:
        """Probability that the extremal pair reveals the bit; the rest keeps :attr:`core`."""
        return 0.0

    @property
    def worst_law(self) -> PrivacyLossLaw | None:
        """Law of the pair that dominates the family in either order and belongs to it, if any."""
        return None

    @property
    def dominating_law(self) -> PrivacyLossLaw | None:
        """Law of a pair, in the family or not, that dominates it in either order, if any."""
        return self.worst_law

    @property
    def adding_law(self) -> PrivacyLossLaw | None:
        """Law of adding a record, where it is exact and removing one has another; or None."""
        return None

    @property
    def implied(self) -> Guarantee | None:
        """An implied guarantee, whose rho, mu and Renyi divergences this one has; or None."""
        return None

    @property
    def pure_epsilon(self) -> float:
        """Least epsilon of pure differential privacy implied, or infinity."""
        return math.inf

    @property
    def range_width(self) -> float:
        """Least width of an interval that holds the privacy loss of any one pair, or infinity."""
        return 2.0 * self.pure_epsilon

    @property
    def mean_loss(self) -> float:
        """Largest mean privacy loss (Kullback-Leibler divergence, nats) of the family."""
        return self.zcdp_rho

    @property
    def loss_variance(self) -> float:
        """Bound on the variance of the privacy loss of any one pair, or infinity."""
        return self.range_width**2 / 4.0

    @property
    def zcdp_rho(self) -> float:
        """Least rho of zero-concentrated differential privacy implied, or infinity."""
        return math.inf if self.implied is None else self.implied.zcdp_rho

    @property
    def renyi_orders(self) -> tuple[float, ...]:
        """The orders at which :meth:`renyi` is stated; it is infinite beyond the last.

        Empty where it is stated at every order.
        """
        return ()

    @property
    def gdp_mu(self) -> float:
        """Least mu of Gaussian differential privacy implied, or infinity."""
        return math.inf if self.implied is None else self.implied.gdp_mu

    def renyi(self, alpha: float) -> float:
        """Bound on the Renyi divergence of order ``alpha`` > 1, in nats; infinite if none.

        >>> from simulator import PureDP
        >>> round(PureDP(1.0).renyi(2.0), 6)
        0.735326
        """
        if self.implied is not None:
            return self.implied.renyi(alpha)
        return check_order(alpha) * self.zcdp_rho
