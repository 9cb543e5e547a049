"""The contract of a user's filter, and its transitions, each called twice and compared."""

from __future__ import annotations

import math
from bisect import bisect_left
from numbers import Real
from typing import Any, Protocol, runtime_checkable

from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.interface import Guarantee

_SAME = 1e-12
"""Relative distance of states that may differ by rounding only."""


@runtime_checkable
class OwnFilter(Protocol):
    """A user's filter: a first state ``initial``, and a rule ``admit``.

    ``admit(state, guarantee)`` returns whether a round with that guarantee may run, and the state
    after it. It depends on its two arguments alone: no coins, no counters, no attribute that it
    changes. States are hashable, equal to themselves and not None, and finitely many are reached.

    With the attribute ``monotone = True`` there may be many more states. Then a state is one
    finite number, and for every guarantee

    1. the state after an admitted round is not below the state before it;
    2. what a state refuses, every larger state refuses;
    3. of two states that both admit, the larger one leads to the larger state (or to an equal one).

    A running sum of costs with a limit has all three, and so have its root, the epsilon of a
    formula, or a table's rows. The search relies on them for all states, in the filter's own
    arithmetic up to 1e-12 of a state, and checks them on the states that it reaches. It also tries
    a pure guarantee smaller than the menu's, which ``admit`` may refuse or raise an error for.

    Optional attributes ``epsilon`` and ``delta`` are the promise: the filter is sound where no
    adversary gets more than ``delta`` at ``epsilon``. ``delta`` is 0 where it is left out.

    >>> from simulator.worst import OwnFilter, worst_case
    >>> class AtMostThree:
    ...     initial = 0
    ...     def admit(self, state, guarantee):
    ...         return state < 3, state + 1
    >>> isinstance(AtMostThree(), OwnFilter)
    True
    >>> worst = worst_case("randomized-response:0.5", epsilon=1.0, filter=AtMostThree())
    >>> round(worst.delta.upper, 4)
    0.0949
    """

    @property
    def initial(self) -> Any:
        """The state before the first round."""

    def admit(self, state: Any, guarantee: Guarantee) -> tuple[bool, Any]:
        """Whether the round may run, and the state after it."""


def promise_of(filter_: object) -> tuple[float, float] | None:
    """The filter's promise (epsilon, delta); None where it states none.

    Raises InvalidInput where these are not numbers, or out of range.
    """
    epsilon = getattr(filter_, "epsilon", None)
    delta = getattr(filter_, "delta", None)
    if epsilon is None:
        return None
    delta = 0.0 if delta is None else delta
    if not (_is_number(epsilon) and epsilon >= 0.0 and _is_number(delta) and 0.0 <= delta <= 1.0):
        raise InvalidInput(
            "a filter's promise is two numbers, epsilon >= 0 and delta in [0, 1], not "
            f"epsilon = {epsilon!r:.80} and delta = {delta!r:.80}"
        )
    return float(epsilon), float(delta)


class Transitions:
    """The cached transitions of a user's filter; :meth:`check` calls them again."""

    def __init__(self, filter_: OwnFilter) -> None:
        """Raises InvalidInput where ``filter_`` does not meet the contract."""
        if not isinstance(filter_, OwnFilter):
            raise InvalidInput(
                "a filter has a state `initial` and a method admit(state, guarantee), "
                f"and {filter_!r} lacks one of them"
            )
        self.monotone = bool(getattr(filter_, "monotone", False))
        self.initial = filter_.initial
        self._filter = filter_
        self._known: dict[tuple[Any, Guarantee], Any] = {}
        if self.monotone:
            if not _is_number(self.initial):
                raise InvalidInput(
                    f"a monotone filter's `initial` is a finite number, not {self.initial!r:.80}"
                )
        elif not _is_state(self.initial):
            raise InvalidInput(
                "a filter's `initial` is hashable and equal to itself (a tuple, not a list), "
                f"{self.initial!r:.80} is not"
            )

    def after(self, state: Any, guarantee: Guarantee) -> Any:
        """The state after a round; None where it is refused.

        Raises InvalidInput where the filter breaks its contract.
        """
        key = (state, guarantee)
        if key not in self._known:
            self._known[key] = self._called(state, guarantee)
        return self._known[key]

    def check(self) -> None:
        """Call every transition again, and check the order of those of a monotone filter.

        Raises InvalidInput where one differs, or breaks the contract of ``monotone``.
        """
        for (state, guarantee), after in self._known.items():
            again = self._called(state, guarantee)
            if again != after:
                raise InvalidInput(
                    f"the filter's admit({state!r:.80}, {guarantee}) led to {_words(after)} and "
                    f"then to {_words(again)}: it must depend on its two arguments alone"
                )
        if self.monotone:
            for guarantee in dict.fromkeys(guarantee for _, guarantee in self._known):
                self._check_monotone(guarantee)

    def _called(self, state: Any, guarantee: Guarantee) -> Any:
        answer = self._filter.admit(state, guarantee)
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise InvalidInput(
                "a filter's admit returns (whether the round may run, the state), not "
                f"{answer!r:.80}"
            )
        admitted, after = answer
        if not admitted:
            return None
        if self.monotone and not (_is_number(after) and after >= state):
            raise InvalidInput(
                f"a monotone filter's state is a finite number that grows, not {state!r:.80} and "
                f"then {after!r:.80}"
            )
        if after is None or not _is_state(after):
            raise InvalidInput(
                f"a filter's states are hashable, equal to themselves and not None, {after!r:.80} "
                "is not"
            )
        return after

    def _check_monotone(self, guarantee: Guarantee) -> None:
        """Raise InvalidInput where a larger state admits more, or leads to a smaller state."""
        met = sorted((s, after) for (s, g), after in self._known.items() if g == guarantee)
        states = [state for state, _ in met]
        largest: list[tuple[float, float, float]] = []  # before each place: state, after, so far
        top = (-math.inf, -math.inf)
        refused = math.inf
        for state, after in met:
            largest.append((state, *top))
            if after is None:
                refused = min(refused, state)
            elif after > top[1]:
                top = (state, after)
        for state, after in met:
            if after is None:
                continue
            if refused < state - _SAME * abs(state):
                raise InvalidInput(
                    f"the filter says monotone = True, but its state {refused!r} refuses "
                    f"{guarantee} and the larger state {state!r} admits it"
                )
            place = bisect_left(states, state - _SAME * abs(state))
            smaller, before = largest[place][1:] if place < len(largest) else top
            if before > after + _SAME * abs(after):
                raise InvalidInput(
                    f"the filter says monotone = True, but {guarantee} leads from the state "
                    f"{smaller!r} to {before!r} and from the larger {state!r} to {after!r}"
                )


def _is_number(value: Any) -> bool:
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, Real)):
        return False
    return math.isfinite(value)


def _is_state(value: Any) -> bool:
    return _hashable(value) and bool(value == value)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _words(after: Any) -> str:
    return "a refusal" if after is None else f"{after!r:.80}"
