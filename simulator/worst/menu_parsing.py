"""Menus from names in a text, mechanisms, challenges, laws or a family.

Source of the dominating pairs: see :mod:`simulator.theory.laws.extremal`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from simulator.adversaries.contract import Challenge
from simulator.adversaries.people import ALICE
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.extensions import added, load_added
from simulator.foundations.validation import numeral, positive
from simulator.foundations.wording import did_you_mean
from simulator.mechanisms import (
    Free,
    Gaussian,
    Geometric,
    Laplace,
    LeakyRandomizedResponse,
    PoissonSubsampled,
    RandomizedResponse,
    ScalarMechanism,
)
from simulator.mechanisms.table import Table
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.worst.menu import (
    BoundedRangeEntry,
    Entry,
    FixedEntry,
    FreeEntry,
    about_alice,
    as_neighbours,
)


def _gaussian(mu: float) -> Gaussian:
    return Gaussian(ALICE, 1.0 / mu)


_ONE_NUMBER: dict[str, tuple[Any, Any, Any]] = {
    "randomized-response": (randomized_response, PureDP, partial(RandomizedResponse, ALICE)),
    "pure": (randomized_response, PureDP, partial(RandomizedResponse, ALICE)),
    "geometric": (randomized_response, PureDP, partial(Geometric, ALICE)),
    "laplace": (LaplaceLaw, PureDP, partial(Laplace, ALICE)),
    "gaussian": (GaussianLaw, GaussianDP, _gaussian),
}
SAMPLED = ("subsampled-gaussian", "subsampled-gaussian-exchanged")
"""A Gaussian on a Poisson sample, where Alice's record is added and where it is removed."""
NAMES = (*_ONE_NUMBER, "exponential", "approx", *SAMPLED)
"""The names of mechanisms in a menu's text."""


def _numbers(text: str, word: str) -> list[float]:
    try:
        return [numeral(value) for value in text.split(",")]
    except ValueError:
        raise InvalidInput(f"menu entry {word!r}: {text!r} is not a number") from None


def parse_entry(text: str) -> Entry:
    """Read ``laplace:0.1``, ``randomized-response:0.01..0.2``, ``exponential:1``, ``approx:E,D``.

    For ``gaussian`` the number is mu, sensitivity over sigma. ``subsampled-gaussian:SIGMA,RATE``
    adds the record, ``subsampled-gaussian-exchanged`` removes it. An entry point
    ``dpcompose.mechanisms`` of another package makes a mechanism about Alice of the numbers.
    Raises InvalidInput on anything else.
    """
    word, colon, values = text.strip().partition(":")
    if word in added("mechanisms") and word not in NAMES and colon:
        mechanism = load_added("mechanisms", word)(*_numbers(values, text))
        return replace(entry_of(mechanism, ADD_REMOVE), name=text.strip())
    if word not in NAMES or not colon:
        known = [*NAMES, *added("mechanisms")]
        near = "" if word in NAMES else did_you_mean(word, known)
        raise InvalidInput(
            f"unknown menu entry {text!r}{near}; write one of {', '.join(known)} with its "
            "parameter, as laplace:0.1"
        )
    if word == "approx":
        numbers = _numbers(values, text)
        if len(numbers) != 2:
            raise InvalidInput(f"menu entry {text!r}: approx takes EPSILON,DELTA")
        epsilon, delta = positive("epsilon", numbers[0]), numbers[1]
        mechanism = LeakyRandomizedResponse(ALICE, epsilon, delta)
        promise = ApproxDP(epsilon, delta)
        law = randomized_response(epsilon, delta)
        return FixedEntry(text.strip(), law, promise, about_alice(mechanism))
    if word in SAMPLED:
        return _sampled(text.strip(), values, exchanged=word == SAMPLED[1])
    if word == "exponential":
        return BoundedRangeEntry(text.strip(), positive("the range", *_one(values, text)))
    law_of, promise_of, mechanism_of = _ONE_NUMBER[word]

    def challenge_of(parameter: float) -> Challenge:
        return about_alice(mechanism_of(parameter))

    low, dots, high = values.partition("..")
    if dots:
        ends = (*_one(low, text), *_one(high, text))
        return FreeEntry(
            text.strip(), *ends, law_of=law_of, promise_of=promise_of, challenge_of=challenge_of
        )
    number = positive("a menu entry's parameter", *_one(values, text))
    return FixedEntry(text.strip(), law_of(number), promise_of(number), challenge_of(number))


def _sampled(text: str, values: str, exchanged: bool) -> FixedEntry:
    numbers = _numbers(values, text)
    if len(numbers) != 2:
        raise InvalidInput(f"menu entry {text!r} takes SIGMA,RATE")
    promise = SubsampledGaussianDP(*numbers)
    mechanism = PoissonSubsampled(Gaussian(ALICE, promise.sigma), promise.rate)
    challenge, law = about_alice(mechanism), promise.attained_law
    if exchanged:
        challenge, law = Challenge(*challenge[1::-1], mechanism), law.reversed()
    return FixedEntry(text, law, promise, challenge)


def _one(text: str, word: str) -> list[float]:
    numbers = _numbers(text, word)
    if len(numbers) != 1:
        raise InvalidInput(f"menu entry {word!r} takes one number")
    return numbers


def parse_menu(text: str) -> tuple[Entry, ...]:
    """The entries of a text, separated by commas; a number alone belongs to the entry before it."""
    words: list[str] = []
    for part in text.split(","):
        if ":" in part or not words:
            words.append(part)
        else:
            words[-1] += f",{part}"
    return tuple(parse_entry(word) for word in words)


def parse_family(text: str) -> tuple[Entry, ...]:
    """Read a family, as ``pure:0.2``, and return the menu of its dominating pairs.

    That is one pair, or both directions of the Gaussian on a Poisson sample. Raises NotApplicable
    for a family that has none.
    """
    family = parse_guarantee(text)
    if isinstance(family, PureDP):
        return (parse_entry(f"randomized-response:{family.epsilon!r}"),)
    if isinstance(family, ApproxDP):
        return (parse_entry(f"approx:{family.epsilon!r},{family.delta!r}"),)
    if isinstance(family, GaussianDP):
        return (parse_entry(f"gaussian:{family.mu!r}"),)
    if isinstance(family, BoundedRange):
        return (parse_entry(f"exponential:{family.epsilon!r}"),)
    if isinstance(family, SubsampledGaussianDP):
        numbers = f"{family.sigma!r},{family.rate!r}"
        return tuple(parse_entry(f"{name}:{numbers}") for name in SAMPLED)
    raise NotApplicable(f"the family {family} has no dominating pair; give a menu")


def entry_of(
    item: Entry | str | Challenge | ScalarMechanism | PrivacyLossLaw, relation: Relation
) -> Entry:
    """Return the entry of a name, a challenge of a rule's menu, a mechanism, or a law.

    A mechanism alone gets Alice's two databases. Raises NotApplicable for a mechanism
    without a law, InvalidInput for any other item.
    """
    if isinstance(item, Entry):
        if isinstance(item, FixedEntry):
            item.challenge.mechanism.guarantee(relation)  # a sample needs its own relation
        return item
    if isinstance(item, str):
        return entry_of(parse_entry(item), relation)
    if isinstance(item, PrivacyLossLaw):
        if not item.is_discrete:
            raise InvalidInput(
                f"a law with a continuous part cannot be played: give its mechanism, not {item!r}"
            )
        table = Table.of_law(ALICE, item)
        return FixedEntry("table", item, table.guarantee(relation), about_alice(table))
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
            f"the two databases of a challenge on {mechanism!r} are not neighbours under the "
            f"relation {relation}"
        )
    if isinstance(mechanism.parameter, Free):
        free = mechanism.parameter
        if mechanism.parameter_name != "epsilon":
            raise NotApplicable(f"a free {mechanism.parameter_name} cannot be searched; give mu")
        return FreeEntry(
            type(mechanism).__name__,
            free.low,
            free.high,
            law_of=lambda e: mechanism.with_parameter(e).law(*ends, relation),
            promise_of=lambda e: mechanism.with_parameter(e).guarantee(relation),
            challenge_of=lambda e: challenge._replace(mechanism=mechanism.with_parameter(e)),
        )
    law = mechanism.law(*ends, relation)
    return FixedEntry(type(mechanism).__name__, law, mechanism.guarantee(relation), challenge)


def entries(menu: str | Iterable[Any], relation: Relation = ADD_REMOVE) -> tuple[Entry, ...]:
    """Return the menu of a text or a sequence; raises InvalidInput for an empty one."""
    items: Sequence[Any] = parse_menu(menu) if isinstance(menu, str) else tuple(menu)
    if not items:
        raise InvalidInput("the menu is empty; name at least one mechanism")
    return tuple(entry_of(item, relation) for item in items)
