"""What may be attacked: a promise about every way to play, as a rule over states.

A claim is broken by an adversary that, when it stops, has
E0[(1 - e^(epsilon - loss))_+] > delta, where epsilon is what is promised for the play so far.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from simulator.adversaries.contract import Challenge
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import DpcomposeError, InvalidInput, raised
from simulator.foundations.validation import (
    finite,
    nonnegative,
    probability_below_one,
    real,
    whole,
)
from simulator.mechanisms import Mechanism
from simulator.theory.guarantees.interface import Guarantee

State = Any
"""What a claim remembers of a play: hashable, not None."""


class PastRound(NamedTuple):
    """One round of a view, as a user's promise sees it.

    Attributes
    ----------
    guarantee : of the mechanism that ran.
    mechanism : the mechanism itself.
    loss : the privacy loss ln(p0/p1) of its answer; 0 where a promise does not see answers.

    >>> from simulator import Laplace, PureDP, counting_query
    >>> from simulator.attacks import PastRound
    >>> past = PastRound(PureDP(0.1), Laplace(counting_query("alice"), 0.1), 0.0)
    >>> past.guarantee.pure_epsilon
    0.1
    """

    guarantee: Guarantee
    mechanism: Mechanism
    loss: float


@dataclass(frozen=True, kw_only=True)
class AttackedClaim(ABC):
    """A promise: an adversary that stops has at most ``delta`` beyond the epsilon of its state.

    Attributes
    ----------
    delta : promised, in [0, 1).
    rounds : the most rounds that an adversary may play; None where the claim ends the game.
    relation : when two databases are neighbours.
    """

    delta: float
    rounds: int | None = None
    relation: Relation = ADD_REMOVE

    def __post_init__(self) -> None:
        probability_below_one("a promised delta", self.delta)

    observes = False
    """Whether a state depends on the losses of answers."""

    @property
    @abstractmethod
    def initial(self) -> State:
        """The state before the first round."""

    @abstractmethod
    def after(self, state: State, challenge: Challenge, loss: float) -> State | None:
        """The state after a round with that loss ln(p0/p1); None where the round is refused."""

    @abstractmethod
    def epsilon(self, state: State) -> float:
        """What is promised to an adversary that stops in the state."""

    def merged(self, state: State) -> State:
        """A key that is equal for states that the search need not tell apart."""
        return state

    @property
    @abstractmethod
    def largest(self) -> float:
        """The scale of the promised epsilons: that of a filter, or of the first reading."""


@dataclass(frozen=True, kw_only=True)
class BoundClaim(AttackedClaim):
    """Any ``rounds`` rounds of what may be played are (epsilon, delta)-DP together.

    >>> from simulator.attacks import BoundClaim
    >>> BoundClaim(promised=1.0, delta=1e-6, rounds=10).epsilon(3)
    1.0
    """

    promised: float

    def __post_init__(self) -> None:
        nonnegative("a promised epsilon", finite("a promised epsilon", self.promised))
        probability_below_one("a promised delta", self.delta)
        if self.rounds is None:
            raise InvalidInput("a bound holds for a number of rounds: give rounds")
        whole("rounds", self.rounds)

    def __str__(self) -> str:
        return f"({self.promised:g}, {self.delta:g}) for {self.rounds} rounds"

    @property
    def initial(self) -> State:
        """The number of rounds so far: 0."""
        return 0

    def after(self, state: State, challenge: Challenge, loss: float) -> State | None:
        """One more round."""
        return state + 1 if state < (self.rounds or 0) else None

    def epsilon(self, state: State) -> float:
        """The promised epsilon."""
        return self.promised

    @property
    def largest(self) -> float:
        """The promised epsilon."""
        return self.promised


@dataclass(frozen=True, kw_only=True)
class OdometerClaim(AttackedClaim):
    """An odometer, which may be read after any round: its reading holds there, up to ``delta``.

    Attributes
    ----------
    odometer : with ``fresh()``, which returns what has ``spend(guarantee)`` and ``epsilon``. Its
        reading depends on the count of each guarantee, not on the order.

    >>> from simulator.attacks import OdometerClaim
    >>> from simulator.theory import MixtureOdometer
    >>> str(OdometerClaim(odometer=MixtureOdometer(0.1), delta=0.1, rounds=3))
    'the odometer MixtureOdometer'
    """

    odometer: Any
    _readings: dict[Any, float] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        return f"the odometer {type(self.odometer).__name__}"

    @property
    def initial(self) -> State:
        """No guarantee."""
        return ()

    def after(self, state: State, challenge: Challenge, loss: float) -> State | None:
        """The guarantees so far, each with its count."""
        counts = dict(state)
        if sum(counts.values()) == (self.rounds or 0):
            return None
        guarantee = challenge.mechanism.guarantee(self.relation)
        counts[guarantee] = counts.get(guarantee, 0) + 1
        return tuple(sorted(counts.items(), key=lambda each: str(each[0])))

    def epsilon(self, state: State) -> float:
        """The reading after these guarantees."""
        if state not in self._readings:
            running = self.odometer.fresh()
            for guarantee, times in state:
                for _ in range(times):
                    running.spend(guarantee)
            self._readings[state] = _reading("the odometer", running.epsilon)
        return self._readings[state]

    @property
    def largest(self) -> float:
        """The scale of its readings: 1."""
        return 1.0


@dataclass(frozen=True, kw_only=True)
class PromiseClaim(AttackedClaim):
    """A user's function from a view to the epsilon that is promised for it.

    Attributes
    ----------
    promise : takes the :class:`PastRound` of each round so far and returns an epsilon >= 0, or
        None to refuse the last round. An accountant reads the guarantees alone.

    >>> from simulator.attacks import PromiseClaim
    >>> adds = PromiseClaim(
    ...     promise=lambda view: sum(turn.guarantee.pure_epsilon for turn in view),
    ...     delta=0.0, rounds=3,
    ... )
    >>> adds.epsilon(adds.initial)
    0.0
    """

    promise: Callable[[tuple[PastRound, ...]], float | None]
    sees_answers: bool = False

    @property
    def observes(self) -> bool:  # type: ignore[override]
        """Whether the promise reads the losses of answers."""
        return self.sees_answers

    def __str__(self) -> str:
        return f"the promise {getattr(self.promise, '__name__', type(self.promise).__name__)}"

    @property
    def initial(self) -> State:
        """The empty view."""
        return ()

    def after(self, state: State, challenge: Challenge, loss: float) -> State | None:
        """The view with this round; None after the last one, or where the promise refuses."""
        if len(state) == (self.rounds or 0):
            return None
        guarantee = challenge.mechanism.guarantee(self.relation)
        view = (
            *state,
            PastRound(guarantee, challenge.mechanism, loss if self.sees_answers else 0.0),
        )
        return None if self._called(view) is None else view

    def epsilon(self, state: State) -> float:
        """What is promised for the view."""
        found = self._called(state)
        if found is None:
            raise InvalidInput(
                "the promise refuses a view that it admitted before, or the empty one"
            )
        return found

    def merged(self, state: State) -> State:
        """The count of each mechanism; also the promise where it depends on answers."""
        counts = frozenset(Counter(turn.mechanism for turn in state).items())
        return (counts, round(self.epsilon(state), 2)) if self.sees_answers else counts

    @property
    def largest(self) -> float:
        """The scale of its promises: 1."""
        return 1.0

    def _called(self, view: tuple[PastRound, ...]) -> float | None:
        try:
            found = self.promise(view)
        except (DpcomposeError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise InvalidInput(f"the promise raised {raised(error, self.promise)}") from error
        return None if found is None else _reading("the promise", found)


def _reading(of: str, found: Any) -> float:
    number = real(f"{of}'s epsilon", found)
    if not 0.0 <= number < math.inf:
        raise InvalidInput(f"{of} must return a finite epsilon of at least 0, not {found!r:.80}")
    return number
