"""The menu of a game: the mechanisms of a round, each with its law and its guarantee.

An entry is a mechanism, or one whose parameter the adversary chooses. On a grid of losses an entry
has one option for each parameter on the grid.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from simulator.adversaries.contract import Challenge
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.data.databases import Relation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import positive
from simulator.mechanisms import (
    ScalarMechanism,
)
from simulator.mechanisms.table import Table
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import bounded_range_law

_MOST_PARAMETERS = 1_000
"""Most options of a free parameter."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """One choice of a round.

    Attributes
    ----------
    label : its name in pictures and transcripts.
    entry : its index in the menu.
    law : of the loss, in the experiment that is searched.
    guarantee : for which a filter charges.
    least : the least guarantee of the parameters that the option covers.
    challenge : to be played.
    """

    label: str
    entry: int
    law: PrivacyLossLaw
    guarantee: Guarantee
    least: Guarantee
    challenge: Challenge


@dataclass(frozen=True)
class Entry(ABC):
    """One line of a menu.

    >>> from simulator.worst import entries
    >>> entry, = entries("laplace:0.2")
    >>> entry.name, entry.guarantee, entry.exact
    ('laplace:0.2', PureDP(epsilon=0.2), False)
    """

    name: str

    @property
    def exact(self) -> bool:
        """Whether its options are all of its choices, with finitely many losses each."""
        return False

    @property
    @abstractmethod
    def lengths(self) -> tuple[float, ...]:
        """Losses that should be grid points."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The guarantee that holds for every parameter."""

    @abstractmethod
    def options(self, place: int, step: float) -> list[Option]:
        """Its options on a grid, as the entry of index ``place``."""


@dataclass(frozen=True)
class FixedEntry(Entry):
    """A mechanism with fixed parameters."""

    law: PrivacyLossLaw
    promise: Guarantee
    challenge: Challenge

    @property
    def exact(self) -> bool:
        """Whether the law has finitely many losses."""
        return self.law.is_discrete

    @property
    def lengths(self) -> tuple[float, ...]:
        """The sizes of the losses of the law's atoms."""
        return tuple(abs(float(loss)) for loss in self.law.atom_losses if loss != 0.0)

    @property
    def guarantee(self) -> Guarantee:
        """The stated guarantee."""
        return self.promise

    def options(self, place: int, step: float) -> list[Option]:
        """The mechanism itself."""
        return [
            Option(
                label=self.name,
                entry=place,
                law=self.law,
                guarantee=self.promise,
                least=self.promise,
                challenge=self.challenge,
            )
        ]


@dataclass(frozen=True)
class FreeEntry(Entry):
    """A mechanism whose epsilon the adversary may choose in [low, high].

    Attributes
    ----------
    law_of, promise_of, challenge_of : of one epsilon.
    """

    low: float
    high: float
    _: KW_ONLY
    law_of: Callable[[float], PrivacyLossLaw]
    promise_of: Callable[[float], Guarantee]
    challenge_of: Callable[[float], Challenge]

    def __post_init__(self) -> None:
        positive("the lower end of a free parameter", self.low)
        if not self.low <= positive("the upper end of a free parameter", self.high):
            raise InvalidInput(
                f"a free parameter needs low <= high, not {self.low:g}..{self.high:g}"
            )

    @property
    def lengths(self) -> tuple[float, ...]:
        """Both ends."""
        return (self.low, self.high)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the upper end."""
        return self.promise_of(self.high)

    def options(self, place: int, step: float) -> list[Option]:
        """The options of both ends and the multiples of the step; each covers those below it.

        Of many multiples, every second, third, ... one.
        """
        step *= max(1, math.ceil((self.high - self.low) / step / _MOST_PARAMETERS))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        points = [i * step for i in range(first, last + 1)]
        if not points or points[0] > self.low * (1.0 + 1e-9):
            points.insert(0, self.low)
        if points[-1] < self.high * (1.0 - 1e-9):
            points.append(self.high)
        points[0], points[-1] = self.low, self.high
        return [
            self.option(place, epsilon, below)
            for below, epsilon in zip([self.low, *points], points)
        ]

    def option(self, place: int, epsilon: float, below: float) -> Option:
        """The option of one epsilon, which covers the interval from ``below`` on."""
        return Option(
            label=f"{self.name.partition(':')[0]}:{epsilon:.6g}",
            entry=place,
            law=self.law_of(epsilon),
            guarantee=self.promise_of(epsilon),
            least=self.promise_of(below),
            challenge=self.challenge_of(epsilon),
        )


@dataclass(frozen=True)
class BoundedRangeEntry(Entry):
    """The exponential mechanism: any extremal pair of bounded range ``width``."""

    width: float

    @property
    def lengths(self) -> tuple[float, ...]:
        """The width."""
        return (self.width,)

    @property
    def guarantee(self) -> Guarantee:
        """Bounded range."""
        return BoundedRange(self.width)

    def options(self, place: int, step: float) -> list[Option]:
        """The pairs with losses t and t - width for t on the grid."""
        cells = max(round(self.width / step), 2)
        found = []
        for j in range(1, cells):
            law = bounded_range_law(self.width, self.width * j / cells)
            label = f"{self.name}@{self.width * j / cells:.6g}"
            table = about_alice(Table.of_law(ALICE, law))
            found.append(
                Option(
                    label=label,
                    entry=place,
                    law=law,
                    guarantee=self.guarantee,
                    least=self.guarantee,
                    challenge=table,
                )
            )
        return found


def about_alice(mechanism: ScalarMechanism) -> Challenge:
    """The challenge of a mechanism on the databases without Alice and with her."""
    return Challenge(WITHOUT_ALICE, EVERYONE, mechanism)


def as_neighbours(challenge: Challenge, relation: Relation) -> Challenge:
    """The challenge, moved from Alice's two databases to neighbours under the relation."""
    if challenge[:2] != (WITHOUT_ALICE, EVERYONE) or relation.are_neighbours(*challenge[:2]):
        return challenge
    return challenge._replace(database_0=WITHOUT_ALICE.add("others"))
