"""Trees of events, and the rounds that they resolve to.

Leaves are rounds of one mechanism; inner nodes compose, repeat, sample or select. Under a
neighbouring relation a tree resolves to rounds, each with its guarantees and, where one is known,
the law of its privacy loss.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import ClassVar

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.events.units import Unit
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.transforms import group
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.outward import above
from simulator.theory.parameters import count, several

_MOST_ROUNDS = 2**53
_DEEPEST = 90
"""Most levels of a tree, ``compose`` counting as two, so that its document can be parsed."""


@dataclass(frozen=True)
class EventRounds:
    """Rounds of one mechanism that a tree resolves to.

    Attributes
    ----------
    law : of the pair that dominates the mechanism from D0 to D1 (reversed, from D1 to D0); None
        where no theorem gives one.
    guarantees : of every round, at least one; the last has the best Renyi curve.
    others : further laws that dominate the mechanism in both directions; which of them composes to
        least depends on the other rounds.
    exact : whether some pair of databases attains this law, so that its lower ends are certain.
    attained : the guarantee whose family has this round as its worst case, if any.
    where : the path of the event in the tree.
    count : how many rounds.
    alternating : whether they are not played in a row, as those of a repeated composition.

    >>> from simulator import Account
    >>> from simulator.theory.events import laplace
    >>> rounds, = Account().then(laplace(10.0), 5).rounds
    >>> rounds.count, rounds.guarantees
    (5, (PureDP(epsilon=0.1), DominatedDP(law=LaplaceLaw(epsilon=0.1))))
    """

    law: PrivacyLossLaw | None
    guarantees: tuple[Guarantee, ...]
    _: KW_ONLY
    others: tuple[PrivacyLossLaw, ...] = ()
    exact: bool = False
    attained: Guarantee | None = None
    where: str = ""
    count: int = 1
    alternating: bool = False


class EventTree(ABC):
    """A node with its subtree. ``kind`` is its name in a document.

    >>> from simulator.theory.events import EventTree, gaussian, subsampled
    >>> tree = subsampled(gaussian(1.0), 0.01)
    >>> isinstance(tree, EventTree), tree.kind
    (True, 'subsampled')
    """

    kind: ClassVar[str]
    _depth = 1

    def _hold(self, events: tuple[EventTree, ...], levels: int = 1) -> None:
        """Store the depth of the tree; raises InvalidInput for a non-event and beyond 90 levels."""
        for event in events:
            check_event(event)
        depth = levels + max((event._depth for event in events), default=0)
        if depth > _DEEPEST:
            raise InvalidInput(
                f"an event may be nested {_DEEPEST} levels deep, compose counting as two; name "
                "all events of a composition in one compose, and repeated ones in self_compose"
            )
        object.__setattr__(self, "_depth", depth)

    @abstractmethod
    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """The rounds of the tree for a unit; ``path`` is the path of this node.

        Raises NotApplicable where no theorem is known, with the path, the reason and the relation
        that has one.
        """


class Leaf(EventTree):
    """One round of one mechanism.

    A sensitivity is what one record moves under the relation of the account, see
    :class:`~simulator.theory.events.units.Unit`.
    """

    @abstractmethod
    def once(self) -> EventRounds:
        """The round, at an empty path, for one record."""

    def in_group(self, size: int) -> EventRounds:
        """The round for a group of ``size`` records; here by group privacy, an upper end.

        Raises NotApplicable where none is stated.
        """
        one = self.once()
        promised = group(one.guarantees[0], size)
        return EventRounds(promised.dominating_law, (promised,))

    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """The one round of :meth:`once`, or of :meth:`in_group`, at its path."""
        where = f"{path} ({self.kind})"
        try:
            found = self.once() if unit.records == 1 else self.in_group(unit.records)
        except NotApplicable as error:
            raise NotApplicable(f"{where}: {error}") from None
        yield replace(found, where=where)


@dataclass(frozen=True)
class ComposedEvent(EventTree):
    """Events on one database, each chosen after the answers of those before it.

    >>> from simulator.theory.events import compose, gaussian, laplace
    >>> len(compose(gaussian(2.0), laplace(10.0)).events)
    2
    """

    events: tuple[EventTree, ...]
    kind: ClassVar[str] = "compose"

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", several("events", self.events))
        self._hold(self.events, 2)
        if not self.events:
            raise InvalidInput("compose needs at least one event")

    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """The rounds of each event in turn."""
        for place, event in enumerate(self.events):
            yield from event.resolved(unit, f"{path}.events[{place}]")


def compose(*events: EventTree) -> ComposedEvent:
    """``compose(gaussian(2.0), laplace(10.0))``: one after the other, adaptively.

    >>> from simulator import Account
    >>> from simulator.theory.events import compose, gaussian, laplace
    >>> round(Account(compose(gaussian(4.0), laplace(10.0))).epsilon(1e-6).upper, 4)
    1.1244
    """
    return ComposedEvent(events)


@dataclass(frozen=True)
class RepeatedEvent(EventTree):
    """The same event ``count`` times, adaptively.

    >>> from simulator import Account
    >>> from simulator.theory.events import gaussian, self_compose
    >>> round(Account(self_compose(gaussian(10.0), 100)).epsilon(1e-6).upper, 4)
    4.8866
    """

    event: EventTree
    count: int
    kind: ClassVar[str] = "self_compose"

    def __post_init__(self) -> None:
        self._hold((self.event,))
        object.__setattr__(self, "count", count("count", self.count, bits=53))

    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """The rounds of the event, as often as it is repeated."""
        parts = list(self.event.resolved(unit, f"{path}.event"))
        for part in parts:
            times = part.count * self.count
            if times > _MOST_ROUNDS:
                raise InvalidInput(f"{path}: the counts multiply to more than 2**53 rounds")
            alternating = part.alternating or (len(parts) > 1 and self.count > 1)
            yield replace(part, count=times, alternating=alternating)


def check_event(event: object) -> None:
    """Raise InvalidInput unless ``event`` is an event."""
    if not isinstance(event, EventTree):
        raise InvalidInput(f"an event of simulator.theory.events was expected, not {event!r:.80}")


def refuse(path: str, event: EventTree, why: str) -> NotApplicable:
    """The error for a node without a theorem."""
    return NotApplicable(f"{path} ({event.kind}): {why}")


def ratio_up(numerator: float, denominator: float) -> float:
    """The quotient of two positive floats, rounded up where it is not exact.

    A loss such as sensitivity over scale is thus never understated.
    """
    numerator, denominator = float(numerator), float(denominator)  # Fraction takes no numpy float
    nearest = numerator / denominator
    if math.isinf(nearest):
        return nearest
    if Fraction(nearest) * Fraction(denominator) < Fraction(numerator):
        return above(nearest)
    return nearest
