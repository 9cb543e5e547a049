"""The interface of privacy filters, and a filter in use."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from simulator.foundations.errors import (
    Breach,
    DpcomposeError,
    InvalidInput,
    NotApplicable,
    raised,
)
from simulator.foundations.validation import instance, probability_below_one
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.parameters import positive

State = tuple[Any, ...]
Price = tuple[Any, ...]
"""What a filter's ``step`` takes after the state: (epsilon, delta) of most filters."""


def unseen(state: Any, loss: float) -> Any:
    """The state: what a filter makes of an answer where it depends on guarantees alone."""
    return state


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


class OverMenu(NamedTuple):
    """A filter for rounds at listed prices only, for kernels.

    Attributes
    ----------
    step : ``step(state, number, other)`` returns ``(admitted, new_state)``; numba compiles it.
    initial : the state before the first round, a tuple of floats.
    numbers : the two numbers that ``step`` takes for each price, in the order of the list.
    """

    step: Callable[..., tuple[bool, Any]]
    initial: tuple[float, ...]
    numbers: Sequence[tuple[float, float]]


class Accounted(Protocol):
    """A mechanism, as far as a filter needs it; ``relation`` defines which databases neighbour."""

    def guarantee(self, relation: Any, /) -> Guarantee:
        """The guarantee of one round."""

    def worst_law(self, relation: Any, /) -> PrivacyLossLaw | None:
        """The privacy-loss law of its worst pair; None where only the guarantee is known."""


@dataclass(frozen=True)
class Filter(ABC):
    """A promise about the whole interaction; immutable, see :meth:`fresh`.

    Attributes
    ----------
    epsilon : the promised epsilon, above 0.
    delta : the promised delta of the whole, in [0, 1).
    rounds_delta : the part of ``delta`` for the rounds' own deltas. The sum filter fixes it to
        delta, the rogers filter to delta / 2; they take 0 or that value.

    A subclass gives ``name``, a short string; ``initial``, the state before the first round, a
    tuple of floats; and ``step = staticmethod(rule)``, where ``rule(state, epsilon, delta)``
    returns ``(admitted, new_state)`` and is a plain scalar function, which numba compiles. With
    ``proved = False`` the promise is not used as a bound on what was played. With ``prices_vary =
    False`` a menu must fix every parameter, so that every price is known beforehand, and a price
    need not be (epsilon, delta): ``step`` takes it apart and :meth:`over_menu` numbers it. ``sums =
    True`` means that a state consists of sums of costs that increase with the price, so that the
    order of rounds changes it by rounding only; ``rounds_up = True`` that its arithmetic rounds, so
    that a round may fit in one order and not in another. ``observe = staticmethod(rule)``, where
    ``rule(state, loss)`` returns the state after an admitted round with that privacy loss
    ln(p0/p1) of its answer, lets a filter depend on what was realised; it is a plain scalar
    function, too, and the loss may be infinite.

    >>> from simulator import PureDP
    >>> from simulator.theory import parse_filter
    >>> running = parse_filter("sum:1").fresh()
    >>> running.spend(PureDP(0.75))
    >>> running.admits(PureDP(0.25)), running.admits(PureDP(0.5))
    (True, False)
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
    observe: ClassVar[Callable[..., Any]] = staticmethod(unseen)

    def __post_init__(self) -> None:
        kind = type(self)
        if not isinstance(getattr(kind, "name", None), str):
            raise InvalidInput(f'the filter {kind.__name__} needs a class attribute name = "..."')
        if not isinstance(inspect.getattr_static(kind, "step", None), staticmethod):
            raise InvalidInput(
                f"the filter {kind.__name__} needs step = staticmethod(rule), where "
                "rule(state, epsilon, delta) returns (admitted, new_state)"
            )
        if not isinstance(inspect.getattr_static(kind, "observe"), staticmethod):
            raise InvalidInput(
                f"the filter {kind.__name__} needs observe = staticmethod(rule), where "
                "rule(state, loss) returns the new state"
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
        if not isinstance(self.initial, tuple):
            raise InvalidInput(
                f"the filter {kind.__name__} needs initial, the state before the first round, as "
                f"a tuple of numbers, not {self.initial!r}"
            )

    def __str__(self) -> str:
        return f"{self.name}:{self.epsilon!r},{self.delta!r},{self.rounds_delta!r}"

    @property
    @abstractmethod
    def initial(self) -> State:
        """The first state for ``step``, budgets included."""

    def _fixes_rounds_delta(self, part: float) -> None:
        """Raise InvalidInput unless ``rounds_delta`` is 0 or this filter's own part."""
        if self.rounds_delta not in (0.0, part):
            raise InvalidInput(
                f"the {self.name} filter reserves {part!r} of its delta for the rounds' own "
                f"deltas, and cannot take rounds_delta = {self.rounds_delta!r}; leave it out"
            )

    def _check(self) -> None:
        if not self.delta > self.rounds_delta:
            least = "0" if not self.rounds_delta else f"rounds_delta = {self.rounds_delta!r}"
            raise InvalidInput(
                f"the {self.name} filter needs delta above {least}, not {self.delta!r}"
            )

    def bounds_delta(self, epsilon: float) -> float:
        """The promised bound on delta(``epsilon``) of the whole: 1 where there is none."""
        return self.delta if self.proved and epsilon >= self.epsilon else 1.0

    def bounds_epsilon(self, delta: float) -> float:
        """The promised bound on epsilon(``delta``) of the whole: infinity where there is none."""
        return self.epsilon if self.proved and delta >= self.delta else math.inf

    def price(self, guarantee: Guarantee) -> Price:
        """The price at which ``step`` accounts for a round with that guarantee.

        Raises NotApplicable for a guarantee that the filter cannot account for.
        """
        epsilon = guarantee.core.pure_epsilon
        if not math.isfinite(epsilon):
            raise NotApplicable(f"the {self.name} filter cannot account for {guarantee}")
        return epsilon, guarantee.leak

    def price_of(self, mechanism: Accounted, relation: Any) -> Price:
        """The price of a round with that mechanism, whatever the pair of neighbours.

        By default the price of its guarantee. Raises NotApplicable as :meth:`price` does.
        """
        return self.price(mechanism.guarantee(relation))

    def stepped(self, state: State, price: Price) -> tuple[bool, Any]:
        """What ``step`` returns; raises Breach where it raises, or returns anything but a pair."""
        step = type(self).step
        try:
            found = step(state, *price)
        except (DpcomposeError, KeyboardInterrupt):
            raise
        except BaseException as error:
            said = raised(error, step)
            raise Breach(f"the step of the {self.name} filter raised {said}") from error
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise Breach(
                f"the step of the {self.name} filter returned {found!r:.80}, which is not "
                "(admitted, new_state)"
            )
        admitted, after = found
        if not isinstance(admitted, int | np.bool_):
            raise Breach(
                f"the step of the {self.name} filter must return True or False before the state, "
                f"not {admitted!r:.80}"
            )
        return bool(admitted), self._state("the step", after, any(map(_is_nan, state)))

    def _state(self, of: str, after: Any, may_be_nan: bool) -> State:
        """The state after a round; raises Breach unless it is a tuple of what may be numbers."""
        if isinstance(after, tuple):
            for each in after:
                if type(each) is float and each == each:
                    continue  # the usual case, in every round
                if each is None or isinstance(each, str) or (_is_nan(each) and not may_be_nan):
                    break
            else:
                return after
        raise Breach(
            f"{of} of the {self.name} filter must return the state as a tuple of numbers, not "
            f"{after!r:.80}"
        )

    def observed(self, state: State, loss: float) -> State:
        """What ``observe`` returns; raises Breach where it raises, or returns no state."""
        observe = type(self).observe
        if observe is unseen:
            return state
        try:
            found: State = observe(state, loss)
        except (DpcomposeError, KeyboardInterrupt):
            raise
        except BaseException as error:
            said = raised(error, observe)
            raise Breach(f"observe of the {self.name} filter raised {said}") from error
        # infinite losses of both signs have no sum
        return self._state("observe", found, math.isinf(loss) or any(map(_is_nan, state)))

    def over_menu(self, prices: Sequence[Price]) -> OverMenu:
        """The filter for rounds at these prices only, for kernels.

        By default its own step over the prices. Raises NotApplicable where there is none for them.
        """
        for price in prices:
            self.stepped(self.initial, price)  # a kernel does not name the filter in an error
        self.observed(self.initial, 0.0)
        return OverMenu(type(self).step, self.initial, [(e, d) for e, d in prices])

    @property
    def observes(self) -> bool:
        """Whether the filter depends on the realised losses."""
        return type(self).observe is not unseen

    def with_one_sum(self, epsilon: float) -> Filter:
        """A filter with the same largest delta at ``epsilon`` that adds up one sum; by default it.

        For the search of the worst adversary.
        """
        return self

    def fresh(self) -> RunningFilter:
        """A filter with nothing spent."""
        return RunningFilter(self)


class RunningFilter:
    """A filter in use: the promise and the state after the rounds so far.

    >>> from simulator import PureDP
    >>> from simulator.theory import SumFilter
    >>> running = SumFilter(1.0).fresh()
    >>> running.spend(PureDP(0.75))
    >>> running.admits(PureDP(0.5)), running.fresh().admits(PureDP(0.5))
    (False, True)
    """

    def __init__(self, spec: Filter) -> None:
        self.spec = instance("the filter", spec, Filter)
        self.state: State = spec.initial

    def admits(self, guarantee: Guarantee) -> bool:
        """Whether a round with that guarantee may run now. Does not change the state."""
        return self._step(guarantee)[0]

    def spend(self, guarantee: Guarantee) -> None:
        """Account for a round. Raises Breach, with the state unchanged, if it is not admitted."""
        admitted, state = self._step(guarantee)
        if not admitted:
            raise Breach(
                f"the {self.spec.name} filter does not admit {guarantee}: what is left of "
                f"({self.spec.epsilon:g}, {self.spec.delta:g}) is too little; spend less or stop"
            )
        self.state = state

    def observe(self, loss: float) -> None:
        """Take in the privacy loss ln(p0/p1) of the answer of the round that was just spent.

        Without effect on a filter that depends on guarantees alone. Raises InvalidInput for NaN.
        """
        loss = float(loss)
        if math.isnan(loss):
            raise InvalidInput("a privacy loss must be a number, not nan")
        self.state = self.spec.observed(self.state, loss)

    def _step(self, guarantee: Guarantee) -> tuple[bool, Any]:
        """(Admitted, state after the round). Raises InvalidInput unless given a guarantee."""
        if not isinstance(guarantee, Guarantee):
            raise InvalidInput(
                f"a filter accounts for a guarantee, as PureDP(0.1), not {guarantee!r:.80}"
            )
        return self.spec.stepped(self.state, self.spec.price(guarantee))

    def fresh(self) -> RunningFilter:
        """The same promise with nothing spent."""
        return RunningFilter(self.spec)
