"""What every privacy filter has in common, and a filter in use."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.foundations.validation import probability_below_one
from simulator.theory.guarantees.families import Guarantee
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.parameters import positive

State = tuple[float, ...]
Price = tuple[float, float]


class Accounted(Protocol):
    """What a filter accounts for: a mechanism; ``relation`` defines which databases neighbour."""

    def guarantee(self, relation: Any, /) -> Guarantee:
        """What it promises about one round."""

    def worst_law(self, relation: Any, /) -> PrivacyLossLaw | None:
        """The privacy-loss law of its worst pair; None where the guarantee is all that is known."""


@dataclass(frozen=True)
class Filter(ABC):
    """What is promised for the whole interaction; immutable, see :meth:`fresh`.

    Attributes:
        epsilon: the promised epsilon, above 0.
        delta: the promised delta of the whole, in [0, 1).
        rounds_delta: the part of ``delta`` set aside for the rounds' own deltas. The sum and the
            rogers filter fix that part themselves: all of delta, and half of it. They take 0 for
            it, or that very part, and refuse another.

    A subclass gives ``name``, a short string; ``initial``, the state before the first round, a
    tuple of floats; and ``step = staticmethod(rule)``, where ``rule(state, epsilon, delta)``
    returns ``(admitted, new_state)`` and is a plain scalar function, which numba compiles. With
    ``proved = False`` nothing relies on the promise: it is no bound on what was played. With
    ``prices_vary = False`` a menu may leave no parameter free: every price is known beforehand.
    ``sums = True`` means that a state is sums of costs that rise with a price, so that equal rounds
    in another order lead to the same state but for rounding; ``rounds_up = True`` that its
    arithmetic rounds, so that a round may fit in one order and not in another.
    """

    epsilon: float
    delta: float = 0.0
    rounds_delta: float = 0.0
    name: ClassVar[str]
    source: ClassVar[str]
    proved: ClassVar[bool] = True
    prices_vary: ClassVar[bool] = True
    sums: ClassVar[bool] = False
    rounds_up: ClassVar[bool] = False
    step: ClassVar[Callable[..., tuple[bool, Any]]]

    def __post_init__(self) -> None:
        kind = type(self)
        if not isinstance(getattr(kind, "name", None), str):
            raise InvalidInput(f'the filter {kind.__name__} needs a class attribute name = "..."')
        if not isinstance(inspect.getattr_static(kind, "step", None), staticmethod):
            raise InvalidInput(
                f"the filter {kind.__name__} needs step = staticmethod(rule), where "
                "rule(state, epsilon, delta) returns (admitted, new_state)"
            )
        object.__setattr__(self, "epsilon", positive("a filter's epsilon", self.epsilon))
        for name in ("delta", "rounds_delta"):
            number = probability_below_one(f"a filter's {name}", getattr(self, name))
            object.__setattr__(self, name, number)
        if not 0.0 <= self.rounds_delta <= self.delta < 1.0:
            raise InvalidInput(
                f"a filter needs 0 <= rounds_delta <= delta < 1, not {self.rounds_delta!r} and "
                f"{self.delta!r}"
            )
        self._check()

    def __str__(self) -> str:
        return f"{self.name}:{self.epsilon!r},{self.delta!r},{self.rounds_delta!r}"

    @property
    @abstractmethod
    def initial(self) -> State:
        """The state before the first round, budgets included, for ``step``."""

    def _fixes_rounds_delta(self, part: float) -> None:
        """Raise InvalidInput for a part other than the one that this filter can keep."""
        if self.rounds_delta not in (0.0, part):
            raise InvalidInput(
                f"the {self.name} filter sets aside {part!r} of its delta for the rounds' own "
                f"deltas, and cannot keep rounds_delta = {self.rounds_delta!r}; leave it out"
            )

    def _check(self) -> None:
        if not self.delta > self.rounds_delta:
            raise InvalidInput(f"the {self.name} filter needs delta above rounds_delta")

    def bounds_delta(self, epsilon: float) -> float:
        """The promise's bound on delta(``epsilon``) of the whole: 1 where there is none."""
        return self.delta if self.proved and epsilon >= self.epsilon else 1.0

    def bounds_epsilon(self, delta: float) -> float:
        """The promise's bound on epsilon(``delta``) of the whole: infinity where there is none."""
        return self.epsilon if self.proved and delta >= self.delta else math.inf

    def price(self, guarantee: Guarantee) -> Price:
        """The (epsilon, delta) at which ``step`` accounts for a round with that guarantee.

        Raises NotApplicable for a guarantee that the filter cannot account for.
        """
        epsilon = guarantee.core.pure_epsilon
        if not math.isfinite(epsilon):
            raise NotApplicable(f"the {self.name} filter cannot account for {guarantee}")
        return epsilon, guarantee.leak

    def price_of(self, mechanism: Accounted, relation: Any) -> Price:
        """The price of a round with that mechanism, whatever the pair of neighbours.

        By default that of its guarantee. Raises NotApplicable as :meth:`price` does.
        """
        return self.price(mechanism.guarantee(relation))

    def over_menu(self, prices: Sequence[Price]) -> tuple[Callable[..., tuple[bool, Any]], State]:
        """A step that numba compiles and its first state, for rounds at these prices alone.

        By default the filter's own. Raises NotApplicable where a filter has none for them.
        """
        return type(self).step, self.initial

    def fresh(self) -> RunningFilter:
        """A filter with nothing spent."""
        return RunningFilter(self)


class RunningFilter:
    """A filter in use: the promise and what has been spent of it."""

    def __init__(self, spec: Filter) -> None:
        self.spec = spec
        self.state: State = spec.initial

    def admits(self, guarantee: Guarantee) -> bool:
        """Whether a round with that guarantee may run now. Changes nothing."""
        return self._step(guarantee)[0]

    def spend(self, guarantee: Guarantee) -> None:
        """Account for a round about to run. Raises Breach, with nothing spent, if not admitted."""
        admitted, state = self._step(guarantee)
        if not admitted:
            raise Breach(
                f"the {self.spec.name} filter does not admit {guarantee}: what is left of "
                f"({self.spec.epsilon:g}, {self.spec.delta:g}) is too little; spend less or stop"
            )
        self.state = state

    def _step(self, guarantee: Guarantee) -> tuple[bool, Any]:
        """Whether it is admitted, and the state after it. Raises InvalidInput for no guarantee."""
        if not isinstance(guarantee, Guarantee):
            raise InvalidInput(
                f"a filter accounts for a guarantee, as PureDP(0.1), not {guarantee!r:.80}"
            )
        return type(self.spec).step(self.state, *self.spec.price(guarantee))

    def fresh(self) -> RunningFilter:
        """The same promise with nothing spent."""
        return RunningFilter(self.spec)
