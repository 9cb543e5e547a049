"""The menu of a game: what may be asked in a round, with its law and what a filter charges for it.

An entry is a mechanism, or a mechanism that leaves a parameter to the adversary. On a grid of
losses it becomes options, one for each parameter on the grid.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

from simulator.adversaries.contract import Challenge
from simulator.adversaries.people import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.errors import InvalidInput, NotApplicable
from simulator.mechanisms import (
    Free,
    Gaussian,
    Geometric,
    Laplace,
    LeakyRandomizedResponse,
    RandomizedResponse,
    ScalarMechanism,
)
from simulator.mechanisms.table import Table
from simulator.theory.guarantees import (
    ApproxDP,
    BoundedRange,
    GaussianDP,
    Guarantee,
    PureDP,
    parse_guarantee,
)
from simulator.theory.laws import (
    GaussianLaw,
    LaplaceLaw,
    PrivacyLossLaw,
    bounded_range_law,
    randomized_response,
)
from simulator.validation import positive


@dataclass(frozen=True, kw_only=True)
class Option:
    """One thing to ask.

    Attributes
    ----------
    label : for pictures and transcripts.
    entry : its place in the menu.
    law : of the loss, in the experiment that is searched.
    guarantee : what a filter is charged for it.
    least : what a filter is charged at least for any parameter of which ``law`` is the worst.
    challenge : what to play.
    """

    label: str
    entry: int
    law: PrivacyLossLaw
    guarantee: Guarantee
    least: Guarantee
    challenge: Challenge


@dataclass(frozen=True)
class Entry(ABC):
    """One line of a menu."""

    name: str

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether its options are all that it may ask, with finitely many losses."""

    @property
    @abstractmethod
    def lengths(self) -> tuple[float, ...]:
        """Losses that a grid should hold, if it can."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What it promises, whatever the parameter."""

    @abstractmethod
    def options(self, place: int, step: float) -> list[Option]:
        """What it may ask on a grid, as the ``place``-th entry of a menu."""


@dataclass(frozen=True)
class Fixed(Entry):
    """A mechanism with nothing left open."""

    law: PrivacyLossLaw
    promise: Guarantee
    challenge: Challenge

    @property
    def exact(self) -> bool:
        """See :attr:`Entry.exact`."""
        return self.law.is_discrete

    @property
    def lengths(self) -> tuple[float, ...]:
        """See :attr:`Entry.lengths`."""
        return tuple(abs(float(loss)) for loss in self.law.atom_losses if loss != 0.0)

    @property
    def guarantee(self) -> Guarantee:
        """See :attr:`Entry.guarantee`."""
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
class Open(Entry):
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
    def exact(self) -> bool:
        """Never: what lies between two options may be asked as well."""
        return False

    @property
    def lengths(self) -> tuple[float, ...]:
        """Both ends."""
        return (self.low, self.high)

    @property
    def guarantee(self) -> Guarantee:
        """That of the upper end."""
        return self.promise_of(self.high)

    def options(self, place: int, step: float) -> list[Option]:
        """The multiples of the step, and both ends. Each stands for all from the one before."""
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
        """One epsilon, which stands for all from ``below`` on."""
        return Option(
            label=f"{self.name.partition(':')[0]}:{epsilon:.6g}",
            entry=place,
            law=self.law_of(epsilon),
            guarantee=self.promise_of(epsilon),
            least=self.promise_of(below),
            challenge=self.challenge_of(epsilon),
        )


@dataclass(frozen=True)
class AnyRange(Entry):
    """The exponential mechanism: any extremal pair of bounded range ``width``."""

    width: float

    @property
    def exact(self) -> bool:
        """Never: any loss t between those on the grid may be asked as well."""
        return False

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
    """Ask it on the databases without Alice and with her."""
    return Challenge(WITHOUT_ALICE, EVERYONE, mechanism)


def as_neighbours(challenge: Challenge, relation: Relation) -> Challenge:
    """The challenge; one on Alice's two databases on neighbours under the relation."""
    if challenge[:2] != (WITHOUT_ALICE, EVERYONE) or relation.are_neighbours(*challenge[:2]):
        return challenge
    return challenge._replace(database_0=WITHOUT_ALICE.add("others"))


def _gaussian(mu: float) -> Gaussian:
    return Gaussian(ALICE, 1.0 / mu)


_ONE_NUMBER: dict[str, tuple[Any, Any, Any]] = {
    "randomized-response": (randomized_response, PureDP, partial(RandomizedResponse, ALICE)),
    "pure": (randomized_response, PureDP, partial(RandomizedResponse, ALICE)),
    "geometric": (randomized_response, PureDP, partial(Geometric, ALICE)),
    "laplace": (LaplaceLaw, PureDP, partial(Laplace, ALICE)),
    "gaussian": (GaussianLaw, GaussianDP, _gaussian),
}
NAMES = (*_ONE_NUMBER, "exponential", "approx")
"""What :func:`parse_menu` knows, as ``bounds`` does."""


def _numbers(text: str, word: str) -> list[float]:
    try:
        return [float(value) for value in text.split(",")]
    except ValueError:
        raise InvalidInput(f"menu entry {word!r}: {text!r} is not a number") from None


def parse_entry(text: str) -> Entry:
    """Read ``laplace:0.1``, ``randomized-response:0.01..0.2``, ``exponential:1``, ``approx:E,D``.

    For ``gaussian`` the number is mu, sensitivity over sigma. Raises InvalidInput on anything else.
    """
    word, colon, values = text.strip().partition(":")
    if word not in NAMES or not colon:
        raise InvalidInput(
            f"unknown menu entry {text!r}; write one of {', '.join(NAMES)} with its parameter, as "
            "laplace:0.1"
        )
    if word == "approx":
        numbers = _numbers(values, text)
        if len(numbers) != 2:
            raise InvalidInput(f"menu entry {text!r}: approx takes EPSILON,DELTA")
        epsilon, delta = positive("epsilon", numbers[0]), numbers[1]
        mechanism = LeakyRandomizedResponse(ALICE, epsilon, delta)
        promise = ApproxDP(epsilon, delta)
        law = randomized_response(epsilon, delta)
        return Fixed(text.strip(), law, promise, about_alice(mechanism))
    if word == "exponential":
        return AnyRange(text.strip(), positive("the range", *_one(values, text)))
    law_of, promise_of, mechanism_of = _ONE_NUMBER[word]

    def challenge_of(parameter: float) -> Challenge:
        return about_alice(mechanism_of(parameter))

    low, dots, high = values.partition("..")
    if dots:
        ends = (*_one(low, text), *_one(high, text))
        return Open(
            text.strip(), *ends, law_of=law_of, promise_of=promise_of, challenge_of=challenge_of
        )
    number = positive("a menu entry's parameter", *_one(values, text))
    return Fixed(text.strip(), law_of(number), promise_of(number), challenge_of(number))


def _one(text: str, word: str) -> list[float]:
    numbers = _numbers(text, word)
    if len(numbers) != 1:
        raise InvalidInput(f"menu entry {word!r} takes one number")
    return numbers


def parse_menu(text: str) -> tuple[Entry, ...]:
    """Read entries separated by commas; a number alone belongs to the entry before it."""
    words: list[str] = []
    for part in text.split(","):
        if ":" in part or not words:
            words.append(part)
        else:
            words[-1] += f",{part}"
    return tuple(parse_entry(word) for word in words)


def dominating_entry(family: Guarantee) -> Entry:
    """The entry that is worst in a family: its dominating pair.

    Raises NotApplicable for a family that has none.
    """
    if isinstance(family, PureDP):
        return parse_entry(f"randomized-response:{family.epsilon!r}")
    if isinstance(family, ApproxDP):
        return parse_entry(f"approx:{family.epsilon!r},{family.delta!r}")
    if isinstance(family, GaussianDP):
        return parse_entry(f"gaussian:{family.mu!r}")
    if isinstance(family, BoundedRange):
        return parse_entry(f"exponential:{family.epsilon!r}")
    raise NotApplicable(f"the family {family} has no dominating pair to play against; name a menu")


def parse_family(text: str) -> tuple[Entry, ...]:
    """Read a family, as ``pure:0.2``, and return the menu of its dominating pair."""
    return (dominating_entry(parse_guarantee(text)),)


def entry_of(
    item: Entry | str | Challenge | ScalarMechanism | PrivacyLossLaw, relation: Relation
) -> Entry:
    """Make an entry of what a user has: its name, a challenge of a rule's menu, or a law.

    A mechanism alone is asked on Alice's two databases. Raises NotApplicable for a mechanism
    without a law, InvalidInput for anything that is none of these.
    """
    if isinstance(item, Entry):
        return item
    if isinstance(item, str):
        return parse_entry(item)
    if isinstance(item, PrivacyLossLaw):
        if not item.is_discrete:
            raise InvalidInput(
                f"a law with a continuous part is played by its mechanism: give that, not {item!r}"
            )
        table = Table.of_law(ALICE, item)
        return Fixed("table", item, table.guarantee(relation), about_alice(table))
    if isinstance(item, ScalarMechanism):
        item = about_alice(item)
    if isinstance(item, tuple) and len(item) == 3:
        return _of_challenge(Challenge(*item), relation)
    raise InvalidInput(f"a menu holds names, mechanisms, challenges or laws, not {item!r}")


def _of_challenge(challenge: Challenge, relation: Relation) -> Entry:
    mechanism = challenge.mechanism
    if not isinstance(mechanism, ScalarMechanism):
        raise NotApplicable(f"{mechanism!r} is not a mechanism with one scalar answer")
    challenge = as_neighbours(challenge, relation)
    ends = challenge.database_0, challenge.database_1
    if ends[0] != ends[1] and not relation.are_neighbours(*ends):
        raise InvalidInput(
            f"the two databases of a challenge on {mechanism!r} are no neighbours under the "
            f"relation {relation}"
        )
    if isinstance(mechanism.parameter, Free):
        free = mechanism.parameter
        if mechanism.parameter_name != "epsilon":
            raise NotApplicable(f"a free {mechanism.parameter_name} cannot be searched; name mu")
        return Open(
            type(mechanism).__name__,
            free.low,
            free.high,
            law_of=lambda e: mechanism.with_parameter(e).law(*ends, relation),
            promise_of=lambda e: mechanism.with_parameter(e).guarantee(relation),
            challenge_of=lambda e: challenge._replace(mechanism=mechanism.with_parameter(e)),
        )
    law = mechanism.law(*ends, relation)
    return Fixed(type(mechanism).__name__, law, mechanism.guarantee(relation), challenge)


def entries(menu: str | Iterable[Any], relation: Relation = ADD_REMOVE) -> tuple[Entry, ...]:
    """Make a menu of a text or of a sequence; raises InvalidInput for an empty one."""
    items: Sequence[Any] = parse_menu(menu) if isinstance(menu, str) else tuple(menu)
    if not items:
        raise InvalidInput("the menu is empty; name at least one mechanism")
    return tuple(entry_of(item, relation) for item in items)
