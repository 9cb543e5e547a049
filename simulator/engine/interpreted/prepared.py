"""Checks and preparation of challenges, once for those that repeat.

A challenge is found again by its objects, or by equality with an earlier one. Contract: a mechanism
is a frozen dataclass, or another hashable value that compares by its content, and equal mechanisms
play alike. A challenge that holds a user's function or a mutable value is checked and prepared in
every round (see :func:`simulator.identity.keys.is_fixed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter, itemgetter
from typing import Any

from simulator.adversaries.contract import (
    Challenge,
    check_databases,
    check_mechanism,
    no_triple,
)
from simulator.data.databases import Database
from simulator.engine.interpreted.ready import Message, Ready
from simulator.engine.promises import Limit, allowed_losses, fault, limit_between, limit_of
from simulator.engine.sampling import RoundByRound, require_digits
from simulator.engine.specification import Specification
from simulator.foundations.errors import Breach, NotApplicable
from simulator.identity.keys import frozen_fields, is_fixed, key_of
from simulator.mechanisms import Ask, Handle, InteractiveMechanism
from simulator.mechanisms.base import ScalarMechanism, ScalarPair
from simulator.mechanisms.conversations import Conversations
from simulator.mechanisms.interactive import OpenedObject
from simulator.mechanisms.interactive_mechanism import Opening
from simulator.mechanisms.sensitivities import check_sensitivities
from simulator.mechanisms.tilted import TiltedLaw, tilted_law
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP

MAX_PREPARED = 4096
"""Most prepared challenges kept; beyond, all are dropped, which bounds the memory."""
MOST_MET = 1024
"""Most challenges recorded in a block."""
MOST_PARAMETERS = 128
"""Most parameters kept of one query on two databases; one that is new in every round would fill the
memory, and slow the collection of garbage."""


NO_LOSS = Limit(0.0)


class LossUnknown(NotApplicable):
    """A play that needs losses uses a mechanism without likelihood."""


@dataclass(slots=True, eq=False, kw_only=True)
class Admitted:
    """Two checked databases and a query, and the prepared challenges of its mechanisms.

    Attributes
    ----------
    key : the ids by which it is found.
    held : the objects that have these ids.
    by_parameter : the prepared challenges by the privacy parameter of the mechanism.
    row : the row of every parameter, where the mechanism states that it is the same.
    promised : the least and the largest parameter of a mechanism in the family, and its guarantee
        there; every parameter between them is in the family too.
    limit : the limit of a round's loss between the two.
    """

    key: tuple[Any, ...] = ()
    held: tuple[Any, ...] = ()
    by_parameter: dict[Any, Ready] = field(default_factory=dict)
    row: Any = None
    promised: tuple[tuple[float, Guarantee], ...] = ()
    limit: Limit = NO_LOSS

    def widen(self, parameter: float, guarantee: Guarantee) -> None:
        """Note a parameter in the family that is beyond the ones before."""
        known = sorted((*self.promised, (parameter, guarantee)), key=itemgetter(0))
        self.promised = known[0], known[-1]
        parameters = [parameter for parameter, _ in self.promised]
        self.limit = limit_between(parameters, [promised for _, promised in self.promised])

    def covers(self, parameter: float) -> bool:
        """Whether the parameter is between two that are in the family."""
        return bool(self.promised) and self.promised[0][0] <= parameter <= self.promised[1][0]


@cache
def reader(kind: Any) -> Callable[[Any], tuple[Any, Any]]:
    """A function that returns the query and the privacy parameter of mechanisms of a class.

    For a mechanism with other fields it returns the mechanism itself and None.
    """
    names = frozen_fields(kind)
    parameter = getattr(kind, "parameter_name", "")
    if issubclass(kind, ScalarMechanism) and names is not None and {*names} == {"query", parameter}:
        return attrgetter("query", parameter)
    return lambda mechanism: (mechanism, None)


class Prepared:
    """The prepared challenges of a block.

    In tilted play of experiment 1 the two databases are exchanged, so that large losses of the pair
    are the rare ones. Where every view is kept no losses are needed, and mechanisms without a
    likelihood may be played.

    Attributes
    ----------
    by_mechanism : the prepared challenge of a mechanism that was kept, by its id.
    by_objects, by_value : the admitted databases and queries, by ids and by values.
    last : the class, query and databases of the last round, their reader and their entry.
    """

    def __init__(self, specification: Specification, b: int, *, losses_needed: bool = True) -> None:
        self.specification = specification
        self.losses_needed = losses_needed
        self.exchanged = bool(b) and specification.sampling is not None
        # the loss of an answer of probability 0 in this experiment
        self.impossible = math.inf if b and not self.exchanged else -math.inf
        self.by_mechanism: dict[int, Ready] = {}
        self.by_objects: dict[tuple[Any, ...], Admitted] = {}
        self.by_value: dict[tuple[Any, ...], Admitted] = {}
        self.last: tuple[Any, ...] = (None,) * 6
        self.kept = 0
        self.conversations = Conversations()
        self.met: dict[Any, Challenge] = {}

    def ready(self, challenge: Any) -> Ready:
        """The prepared challenge for this one or an equal one; raises Breach."""
        try:
            database_0, database_1, mechanism = challenge
        except (TypeError, ValueError):
            if isinstance(challenge, Ask):
                return self.message(challenge)
            raise Breach(no_triple(challenge)) from None
        ready = self.by_mechanism.get(id(mechanism))
        if (
            ready is not None
            and ready.mechanism is mechanism
            and ready.database_0 is database_0
            and ready.database_1 is database_1
        ):  # fmt: skip
            return ready
        kind: Any = type(mechanism)
        last_kind, last_query, last_0, last_1, read, admitted = self.last
        if kind is not last_kind:
            read = reader(kind)
        query, parameter = read(mechanism)
        if (
            query is not last_query
            or database_0 is not last_0
            or database_1 is not last_1
            or kind is not last_kind
        ):
            admitted = self.admitted(kind, query, database_0, database_1)
            if admitted is None or not is_fixed(parameter):
                return self.prepare(database_0, database_1, mechanism)
            self.last = kind, query, database_0, database_1, read, admitted
        ready = admitted.by_parameter.get(parameter)
        if ready is None:
            ready = self.prepare(database_0, database_1, mechanism, admitted, parameter)
            self.make_room()
            if len(admitted.by_parameter) >= MOST_PARAMETERS:
                admitted.by_parameter.clear()
            admitted.by_parameter[parameter] = ready
        elif ready.mechanism is mechanism:  # it was kept from an earlier round
            ready.database_0, ready.database_1 = database_0, database_1
            if len(self.by_mechanism) >= MAX_PREPARED:
                self.by_mechanism.clear()
            self.by_mechanism[id(mechanism)] = ready
        else:
            ready.mechanism = mechanism
        return ready

    def admitted(self, kind: type, query: Any, database_0: Any, database_1: Any) -> Admitted | None:
        """The entry of equal databases and an equal query; None where it may not be kept."""
        last = self.last
        if (
            last[1] is query
            and last[0] is kind
            and type(database_0) is type(database_1) is type(last[2]) is type(last[3]) is Database
            and last[2] == database_0
            and last[3] == database_1
        ):
            return self.last[-1]
        key = kind, id(query), id(database_0), id(database_1)
        admitted = self.by_objects.get(key)
        if admitted is not None:
            return admitted
        # databases of a user's class may equal plain ones, and answer otherwise
        value = kind, type(database_0), type(database_1), query, database_0, database_1
        try:
            admitted = self.by_value.get(value)
        except TypeError:  # not hashable
            return None
        if admitted is not None:
            del self.by_objects[admitted.key]
        elif is_fixed(value[3:]):
            self.make_room()
            admitted = self.by_value[value] = Admitted()
        else:
            return None
        admitted.held, admitted.key = value, key
        self.by_objects[key] = admitted
        return admitted

    def make_room(self) -> None:
        """Count one more entry; drop all beyond MAX_PREPARED."""
        self.kept += 1
        if self.kept > MAX_PREPARED:
            self.kept = 0
            for kept in (self.by_mechanism, self.by_objects, self.by_value):
                kept.clear()

    def prepare(
        self,
        database_0: Any,
        database_1: Any,
        mechanism: Any,
        admitted: Admitted | None = None,
        parameter: Any = None,
    ) -> Ready:
        """A checked and prepared challenge; of an admitted one, the parameter. Raises Breach."""
        s = self.specification
        known = admitted if admitted is not None and admitted.by_parameter else None
        if known is not None and known.row is not None and type(parameter) is float:
            limit = self.limit_of_another(known, mechanism, parameter)
            price = () if s.filter is None else s.filter.price_of(mechanism, s.relation)
            self.meet(database_0, database_1, mechanism)
            pair = ScalarPair(mechanism.scalars, known.row, parameter)
            allowed = allowed_losses(limit, self.impossible)
            return Ready((database_0, database_1, mechanism), pair, price, allowed)
        if known is None:
            check_databases(database_0, database_1, s.relation)
        guarantee = check_mechanism(mechanism, s.family, s.relation)
        if known is None:
            check_sensitivities(mechanism, database_0, database_1, s.relation)
        if isinstance(mechanism, InteractiveMechanism):
            allowed = math.nan, math.nan  # its loss is that of all messages together
        elif mechanism.has_likelihood:
            allowed = allowed_losses(limit_of(guarantee).constant, self.impossible)
        elif self.losses_needed:
            raise LossUnknown(
                f"{mechanism!r} has no likelihood, so no loss is known: play it by simulate "
                "without sampling, and audit the views"
            )
        else:
            allowed = math.nan, math.nan
        price = () if s.filter is None else s.filter.price_of(mechanism, s.relation)
        self.meet(database_0, database_1, mechanism)
        both = (database_1, database_0) if self.exchanged else (database_0, database_1)
        pair = mechanism.pair(*both, s.relation)
        if isinstance(pair, Opening):
            pair.exchanged = self.exchanged
        if admitted is not None and vars(type(mechanism)).get("same_row"):
            admitted.row = getattr(pair, "row", None)  # a vector's pair has none
        return Ready((database_0, database_1, mechanism), pair, price, allowed)

    def limit_of_another(self, known: Admitted, mechanism: Any, parameter: float) -> float:
        """The limit of a round with another parameter of an admitted query; raises Breach.

        A parameter between two that are in the family is in it, and is not checked for itself.
        """
        if not known.covers(parameter):
            s = self.specification
            known.widen(parameter, check_mechanism(mechanism, s.family, s.relation))
        return known.limit.constant + known.limit.slope * parameter

    def meet(self, database_0: Any, database_1: Any, mechanism: Any) -> None:
        """Record a challenge, one of the first MOST_MET."""
        if not self.specification.trust and len(self.met) < MOST_MET:
            challenge = Challenge(database_0, database_1, mechanism)
            self.met.setdefault(key_of(challenge), challenge)

    def message(self, ask: Ask) -> Ready:
        """A message to an interactive mechanism of this trial, at no cost; raises Breach."""
        filter_ = self.specification.filter
        price = () if filter_ is None else filter_.price(PureDP(0.0))
        return Message(self.conversations.of(ask), ask.message, price)

    def begin_trial(self) -> None:
        """Drop the interactive mechanisms of the last trial."""
        if self.conversations.any:
            self.conversations = Conversations(self.conversations)

    def checked(self, ready: Ready, answer: Any, loss: float) -> Any:
        """An answer that is not a plain float, or whose loss is unknown, checked.

        An opened conversation becomes a handle. Raises Breach for an answer that is not finite, and
        for a loss beyond the mechanism's promise.
        """
        if isinstance(ready, Message):
            return ready.accepted(answer, loss, self.impossible)
        if isinstance(answer, OpenedObject):
            return self.conversations.open(answer)
        if isinstance(ready.pair, Opening):
            recorded = answer if isinstance(answer, Handle) else None
            return self.conversations.open(ready.pair.begun(), recorded)
        if math.isnan(ready.least):
            return answer
        infinite = isinstance(answer, float) and not math.isfinite(answer)
        if infinite or not ready.least <= loss <= ready.most:
            s = self.specification
            raise fault(ready.challenge, s.relation, answer, loss, self.impossible)
        return answer

    def law_of(self, ready: Ready, level: int) -> TiltedLaw:
        """The tilted law of a challenge's pair at a level of the sampling."""
        law = ready.laws.get(level)
        if law is None:
            assert isinstance(self.specification.sampling, RoundByRound)
            theta = float(self.specification.sampling.levels[level])
            law = tilted_law(ready.pair, theta)
            require_digits("this mechanism", theta, law.psi)
            ready.laws[level] = law
        return law
