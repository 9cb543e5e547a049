"""The claim of a privacy filter, of this package or a user's."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from simulator.adversaries.contract import Challenge
from simulator.attacks.claims import AttackedClaim, State
from simulator.foundations.errors import DpcomposeError, InvalidInput, NotApplicable, raised
from simulator.foundations.validation import finite, nonnegative
from simulator.theory.filters.interface import Filter
from simulator.theory.guarantees.interface import Guarantee
from simulator.worst.own_filter import OwnFilter


@dataclass(frozen=True, kw_only=True)
class FilterClaim(AttackedClaim):
    """A privacy filter: whatever it admits is (epsilon, delta)-DP together.

    Attributes
    ----------
    filter : of this package, or a user's (:class:`~simulator.worst.own_filter.OwnFilter`).
    promised : the epsilon.

    >>> from simulator.attacks import FilterClaim
    >>> from simulator.theory import SumFilter
    >>> str(FilterClaim(filter=SumFilter(1.0), promised=1.0, delta=0.0))
    'the filter sum:1.0,0.0,0.0'
    """

    filter: Filter | OwnFilter
    promised: float
    _guarantees: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        nonnegative("a promised epsilon", finite("a promised epsilon", self.promised))

    def __str__(self) -> str:
        name = str(self.filter) if isinstance(self.filter, Filter) else type(self.filter).__name__
        return f"the filter {name}"

    @property
    def observes(self) -> bool:  # type: ignore[override]
        """Whether the filter depends on realised losses."""
        return isinstance(self.filter, Filter) and self.filter.observes

    @property
    def initial(self) -> State:
        """No round, and the filter's first state."""
        return 0, self.filter.initial

    def after(self, state: State, challenge: Challenge, loss: float) -> State | None:
        """The filter's state after the round; None where it refuses."""
        played, state = state
        if played == self.rounds:
            return None
        after = 0 if self.rounds is None else played + 1  # counted where they are limited
        price = self._price(challenge.mechanism)
        if isinstance(self.filter, Filter):
            admitted, then = self.filter.stepped(state, price)
            return (after, self.filter.observed(then, loss)) if admitted else None
        found = self.admitted(state, price)
        if not isinstance(found, tuple) or len(found) != 2:
            raise InvalidInput(f"admit returns (admitted, state), not {found!r:.80}")
        admitted, then = found
        return (after, then) if admitted else None

    def timed(self, seconds: float) -> Filter | OwnFilter:
        """The filter; a user's one refuses with NotApplicable after so much processor time."""
        if isinstance(self.filter, Filter):
            return self.filter
        return _Timed(self, time.process_time() + max(seconds, 5.0))

    def epsilon(self, state: State) -> float:
        """The promised epsilon."""
        return self.promised

    @property
    def largest(self) -> float:
        """The promised epsilon."""
        return self.promised

    def admitted(self, state: State, guarantee: Guarantee) -> Any:
        """What a user's filter returns. Raises InvalidInput where it raises."""
        admit = self.filter.admit  # type: ignore[union-attr]
        try:
            return admit(state, guarantee)
        except (DpcomposeError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise InvalidInput(f"the filter's admit raised {raised(error, admit)}") from error

    def _price(self, mechanism: Any) -> Any:
        if mechanism not in self._guarantees:
            if isinstance(self.filter, Filter):
                found: Any = self.filter.price_of(mechanism, self.relation)
            else:
                found = mechanism.guarantee(self.relation)
            self._guarantees[mechanism] = found
        return self._guarantees[mechanism]


class _Timed:
    """A user's filter with a deadline, whose errors are one line."""

    def __init__(self, claim: FilterClaim, deadline: float) -> None:
        self.claim, self.deadline = claim, deadline
        self.initial = claim.filter.initial
        self.monotone = bool(getattr(claim.filter, "monotone", False))

    def admit(self, state: Any, guarantee: Guarantee) -> Any:
        """What the filter returns."""
        if time.process_time() > self.deadline:
            raise NotApplicable("the filter takes too long, or has too many states")
        return self.claim.admitted(state, guarantee)
