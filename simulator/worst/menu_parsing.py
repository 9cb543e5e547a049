"""Menus from names in a text, mechanisms, challenges, laws or a family.

Source of the dominating pairs: see :mod:`simulator.theory.laws.extremal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from simulator.adversaries.contract import Challenge
from simulator.data.alice import ALICE
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations import grammar
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.extensions import added, load_added
from simulator.foundations.validation import listed, positive
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
from simulator.theory.guarantees.interface import Guarantee
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


def _of_size(
    size: float | Free,
    law_of: Callable[[float], PrivacyLossLaw],
    promise_of: Callable[[float], Guarantee],
    mechanism_of: Callable[[float], ScalarMechanism],
) -> Entry:
    """A mechanism of one privacy parameter, which may be free between two numbers."""

    def challenge_of(parameter: float) -> Challenge:
        return about_alice(mechanism_of(parameter))

    if isinstance(size, Free):
        return FreeEntry(
            "", size.low, size.high, law_of=law_of, promise_of=promise_of, challenge_of=challenge_of
        )
    number = positive("a menu entry's parameter", size)
    return FixedEntry("", law_of(number), promise_of(number), challenge_of(number))


def _response(epsilon: float | Free) -> Entry:
    return _of_size(epsilon, randomized_response, PureDP, partial(RandomizedResponse, ALICE))


def _geometric(epsilon: float | Free) -> Entry:
    return _of_size(epsilon, randomized_response, PureDP, partial(Geometric, ALICE))


def _laplace(epsilon: float | Free) -> Entry:
    return _of_size(epsilon, LaplaceLaw, PureDP, partial(Laplace, ALICE))


def _gdp(mu: float | Free) -> Entry:
    return _of_size(mu, GaussianLaw, GaussianDP, lambda mu: Gaussian(ALICE, 1.0 / mu))


def _gaussian(sigma: float) -> Entry:
    mechanism = Gaussian(ALICE, sigma)
    mu = 1.0 / sigma
    return FixedEntry("", GaussianLaw(mu), GaussianDP(mu), about_alice(mechanism))


def _exponential(epsilon: float) -> Entry:
    return BoundedRangeEntry("", positive("the range", epsilon))


def _approx(epsilon: float, delta: float) -> Entry:
    epsilon = positive("epsilon", epsilon)
    mechanism = LeakyRandomizedResponse(ALICE, epsilon, delta)
    law = randomized_response(epsilon, delta)
    return FixedEntry("", law, ApproxDP(epsilon, delta), about_alice(mechanism))


def _sampled(sigma: float, rate: float) -> FixedEntry:
    promise = SubsampledGaussianDP(sigma, rate)
    mechanism = PoissonSubsampled(Gaussian(ALICE, promise.sigma), promise.rate)
    return FixedEntry("", promise.attained_law, promise, about_alice(mechanism))


def _sampled_exchanged(sigma: float, rate: float) -> Entry:
    entry = _sampled(sigma, rate)
    exchanged = Challenge(*entry.challenge[1::-1], entry.challenge.mechanism)
    return replace(entry, law=entry.law.reversed(), challenge=exchanged)


SAMPLED = ("subsampled-gaussian", "subsampled-gaussian-exchanged")
"""A Gaussian on a Poisson sample, where Alice's record is added and where it is removed."""
_ENTRIES: dict[str, Callable[..., Entry]] = {
    "randomized-response": _response,
    "pure": _response,
    "geometric": _geometric,
    "laplace": _laplace,
    "gaussian": _gaussian,
    "gdp": _gdp,
    "exponential": _exponential,
    "approx": _approx,
    SAMPLED[0]: _sampled,
    SAMPLED[1]: _sampled_exchanged,
}
NAMES = (*_ENTRIES,)
"""The names of mechanisms in a menu's text."""
_FREE = (_response, _geometric, _laplace, _gdp)


def _number_or_free(parameter: grammar.Parameter, text: str) -> Any:
    """A number, or the two ends of ``0.1..0.5``."""
    low, dots, high = text.partition("..")
    if not dots:
        return parameter.read(text)
    return Free(parameter.read(low), parameter.read(high))


def parse_entry(text: str) -> Entry:
    """The entry of ``laplace:0.1``, ``randomized-response:0.01..0.2`` or ``gaussian:sigma=2``.

    ``exponential:EPSILON`` is any pair of bounded range, ``gdp:MU`` Gaussian noise of sigma 1/mu.
    ``subsampled-gaussian:SIGMA,RATE`` adds the record, ``subsampled-gaussian-exchanged`` removes
    it. An entry point ``dpcompose.mechanisms`` of another package makes a mechanism about Alice of
    its parameters. Raises InvalidInput on anything else.
    """
    named = grammar.read_once(text)
    known = [*NAMES, *(name for name in added("mechanisms") if name not in NAMES)]
    if named.name in known and not named.text:
        raise InvalidInput(
            f"the menu entry {text!r} lacks its parameter; write it behind the colon, as "
            "laplace:0.1"
        )
    if named.name not in known:
        listed = [name for name in known if name in NAMES or _makes(name)]
        near = did_you_mean(named.name, listed)
        raise InvalidInput(
            f"unknown menu entry {text!r}{near}; write one of {', '.join(listed)} with its "
            "parameter, as laplace:0.1"
        )
    make = _ENTRIES.get(named.name) or load_added("mechanisms", named.name)
    if not callable(make):
        raise InvalidInput(f"{named.name} is no mechanism that an adversary can choose")
    parameters = grammar.parameters_of(make)
    values = grammar.bind(named, parameters, reader=_number_or_free)
    if make not in _FREE:
        for name, value in values.items():
            if isinstance(value, Free):
                raise InvalidInput(
                    f"{named}: {name} cannot be free; an epsilon can, and the mu of gdp:LOW..HIGH"
                )
    made = grammar.calling(named, make, values)
    entry = made if isinstance(made, Entry) else entry_of(made, ADD_REMOVE)
    texts = grammar.bind(named, parameters, reader=lambda _, text: text)
    ordered = [texts[name] for each in parameters if (name := each.keyword) in texts]
    return replace(entry, name=f"{named.name}:{','.join(ordered)}")


def _makes(name: str) -> bool:
    """Whether an entry point makes a mechanism that an adversary can choose."""
    try:
        return callable(load_added("mechanisms", name))
    except InvalidInput:  # its code is gone
        return False


def parse_menu(text: str) -> tuple[Entry, ...]:
    """The entries of a text, separated by commas.

    >>> from simulator.worst import parse_menu
    >>> [str(entry.guarantee) for entry in parse_menu("laplace:0.2,gaussian:4")]
    ['pure:0.2', 'gdp:0.25']
    """
    return tuple(parse_entry(word) for word in grammar.split(text))


def parse_family(text: str) -> tuple[Entry, ...]:
    """The menu of the dominating pairs of a family, as ``pure:0.2``.

    That is one pair, or both directions of the Gaussian on a Poisson sample. Raises NotApplicable
    for a family that has none.

    >>> from simulator.worst import parse_family
    >>> [entry.name for entry in parse_family("pure:0.2")]
    ['randomized-response:0.2']
    """
    family = parse_guarantee(text)
    if isinstance(family, PureDP):
        return (parse_entry(f"randomized-response:{family.epsilon!r}"),)
    if isinstance(family, ApproxDP):
        return (parse_entry(f"approx:{family.epsilon!r},{family.delta!r}"),)
    if isinstance(family, GaussianDP):
        return (parse_entry(f"gdp:{family.mu!r}"),)
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
            raise NotApplicable(f"a free {mechanism.parameter_name} cannot be searched")
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
    """Return the menu of a text or a sequence; raises InvalidInput for an empty one.

    >>> from simulator.worst import entries
    >>> [entry.name for entry in entries("laplace:0.2,randomized-response:0.1")]
    ['laplace:0.2', 'randomized-response:0.1']
    """
    items: Sequence[Any] = parse_menu(menu) if isinstance(menu, str) else listed("menu", menu)
    if not items:
        raise InvalidInput("the menu is empty; name at least one mechanism")
    return tuple(entry_of(item, relation) for item in items)
