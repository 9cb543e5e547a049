"""Recognise a challenge that was prepared before: by its three objects, or as equal to one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from simulator.engine.interpreted.fused import Play, Terms
from simulator.identity.changes import (
    FIXED,
    NOTHING,
    Watched,
    changed,
    is_frozen_of_house,
    is_function_of_house,
    watch,
)
from simulator.mechanisms import Pair
from simulator.mechanisms.base import ScalarMechanism, ScalarPair

MAX_PREPARED = 4096
"""Prepared challenges kept at once; an adversary with ever new ones must not fill the memory."""
MAX_MET_ONCE = 64


def not_played(terms: Terms) -> tuple[float, float]:
    """Stand in for the play of a pair that no draw has taken."""
    raise NotImplementedError


@dataclass(slots=True, eq=False)
class Ready:
    """A challenge checked and prepared.

    Attributes
    ----------
    pair : its two output distributions.
    price : what a filter charges for it.
    allowed : the least and the largest loss that a round may have, see
        ``allowed_losses``; NaN where the mechanism has no likelihood, so
        that every loss is looked at. ``least`` and ``most`` are the two, for the hot path.
    challenge : the three objects, where they may be kept. They are held, so that their ids stay
        their own.
    watched : what it rests on, see :mod:`simulator.identity.changes`.
    scalar : whether the pair is played by scalar functions of this package.
    play, terms, plays_for : such a pair's answer and loss in one call, what that is called with,
        and the draw that it was made for, see ``takes``.
    """

    pair: Pair
    price: tuple[float, float]
    allowed: tuple[float, float]
    challenge: tuple[Any, Any, Any] | None = None
    watched: Watched = NOTHING
    least: float = field(init=False)
    most: float = field(init=False)
    scalar: bool = field(init=False)
    play: Play = field(init=False, default=not_played)
    terms: Terms = field(init=False, default=())
    plays_for: object = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.least, self.most = self.allowed
        pair = self.pair
        self.scalar = type(pair) is ScalarPair and is_function_of_house(pair.scalars.sample)


class AtHand(NamedTuple):
    """A prepared challenge with what is to be looked at before it is played again.

    Where ``query`` is None that is ``ready.watched``. Most challenges rest on less, and it is
    written out here: the mechanism holds its query and a privacy parameter and nothing else, the
    query holds one attribute, and all of it is told by its identity.
    """

    database_0: Any = None
    database_1: Any = None
    ready: Ready | None = None
    query: Any = None
    kind: type[Any] = object
    """The mechanism's class."""
    parameter_name: str = ""
    parameter: float = 0.0
    query_kind: type[Any] = object
    attribute: str = ""
    content: Any = None
    """What the query's one attribute holds."""


def at_hand(ready: Ready) -> AtHand:
    """A kept challenge, with what its ``watched`` comes to written out."""
    assert ready.challenge is not None
    database_0, database_1, mechanism = ready.challenge
    instances, variables = ready.watched
    if isinstance(mechanism, ScalarMechanism) and len(instances) == 2 and not variables:
        (one, kind, attributes), (query, query_kind, inside) = instances
        name = mechanism.parameter_name
        if (
            one is mechanism and attributes.keys() == {"query", name}
            and attributes["query"] is query and type(attributes[name]) is float
            and len(inside) == 1
        ):  # fmt: skip
            ((attribute, content),) = inside.items()
            return AtHand(
                database_0, database_1, ready, query, kind, name, attributes[name], query_kind,
                attribute, content,
            )  # fmt: skip
    return AtHand(database_0, database_1, ready)


class Recognised:
    """Challenges kept under the ids of their objects, and under their value.

    An adversary that keeps its mechanisms is recognised by their ids, in no time; one that makes
    them anew every round by the query and the parameter inside, or by their being equal to earlier
    ones.

    Attributes
    ----------
    by_mechanism : the challenge in which a mechanism was prepared last, under its id: an AtHand as
        a bare tuple, which Python takes apart three times as fast.
    by_id : the same under the ids of all three objects.
    by_parts : under the ids of the databases and the query, the mechanism's class and parameter.
    by_value : under the challenge itself.
    """

    def __init__(self) -> None:
        self.by_mechanism: dict[int, tuple[Any, ...]] = {}
        self.by_id: dict[tuple[int, int, int], tuple[Any, ...]] = {}
        self.by_parts: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self.by_value: dict[Any, Ready] = {}
        self.parameter_names: dict[type[Any], str] = {}
        self.met_once: dict[int, Any] = {}

    def get(self, challenge: tuple[Any, Any, Any], prepare: Callable[[Any], Ready]) -> Ready:
        """What was prepared for an equal challenge, if nothing has changed since; or prepare it."""
        database_0, database_1, mechanism = challenge
        ready = self._of_equal_parts(database_0, database_1, mechanism)
        if ready is None:
            try:
                ready = self.by_value.get(challenge)
            except TypeError:  # not hashable
                return prepare(challenge)
            if ready is None or not self._still(ready, challenge):
                ready = prepare(challenge)
                if ready.challenge is not None:
                    self._keep(ready)
                return ready
        if self._met_before(mechanism) and (watched := watch(challenge)) is not None:
            again = Ready(ready.pair, ready.price, ready.allowed, challenge, watched)
            self._keep_ids(at_hand(again), challenge)
        return ready

    def _still(self, ready: Ready, challenge: tuple[Any, Any, Any]) -> bool:
        """Whether a challenge is what its equal was when that was prepared."""
        assert ready.challenge is not None
        return all(map(alike, ready.challenge, challenge)) and not changed(ready.watched)

    def _of_equal_parts(self, database_0: Any, database_1: Any, mechanism: Any) -> Ready | None:
        """What was prepared for these databases, this query and an equal parameter."""
        kind = type(mechanism)
        name = self.parameter_names.get(kind)
        if name is None:
            return None
        try:
            attributes = mechanism.__dict__
            query, parameter = attributes["query"], attributes[name]
            if type(parameter) is not float or len(attributes) != 2:
                return None
            found = self.by_parts.get((id(database_0), id(database_1), kind, id(query), parameter))
            if found is None:
                return None
            ready: Ready
            _, _, ready, _, _, _, _, query_kind, attribute, content = found
            inside = query.__dict__
            if (
                type(query) is query_kind and len(inside) == 1 and inside[attribute] is content
            ):  # fmt: skip
                return ready
        except Exception:  # an attribute was deleted
            pass
        return None

    def _met_before(self, mechanism: Any) -> bool:
        """Whether this very object was met lately; one made anew every round is met once."""
        if self.met_once.get(id(mechanism)) is mechanism:
            return True
        if len(self.met_once) >= MAX_MET_ONCE:
            self.met_once.clear()
        self.met_once[id(mechanism)] = mechanism
        return False

    def _keep(self, ready: Ready) -> None:
        """Keep what was prepared now."""
        assert ready.challenge is not None
        make_room(self.by_value)
        # anew, so that the key is the challenge that is held
        self.by_value.pop(ready.challenge, None)
        self.by_value[ready.challenge] = ready
        found = at_hand(ready)
        self._keep_ids(found, ready.challenge)
        if found.query is not None:
            make_room(self.by_parts)
            self.parameter_names[found.kind] = found.parameter_name
            ids = id(found.database_0), id(found.database_1)
            self.by_parts[*ids, found.kind, id(found.query), found.parameter] = tuple(found)

    def _keep_ids(self, found: AtHand, challenge: tuple[Any, Any, Any]) -> None:
        make_room(self.by_id)
        make_room(self.by_mechanism)
        database_0, database_1, mechanism = challenge  # held, so that the ids stay its own
        bare = tuple(found)
        self.by_id[id(database_0), id(database_1), id(mechanism)] = bare
        self.by_mechanism[id(mechanism)] = bare


def make_room(kept: dict[Any, Any]) -> None:
    """Forget everything once it is too much."""
    if len(kept) >= MAX_PREPARED:
        kept.clear()


def alike(kept: Any, other: Any) -> bool:
    """Whether two values that claim to be equal are so, by what they hold and not by their word."""
    if kept is other:
        return True
    kind = type(kept)
    if kind is not type(other):
        return False
    if kind in FIXED:
        return bool(kept == other)
    if kind is tuple:
        return len(kept) == len(other) and all(map(alike, kept, other))
    if is_frozen_of_house(kind):
        mine, others = kept.__dict__, other.__dict__
        return mine.keys() == others.keys() and all(alike(mine[n], others[n]) for n in mine)
    return False  # and it is prepared anew
