"""Challenges checked and prepared, each of those that repeat once.

A challenge is found again by its objects, or as equal to an earlier one. What is kept rests on a
contract: a mechanism is a frozen dataclass, or another hashable value that compares by what it
holds, and two that are equal play alike. A challenge that holds a user's function, or a value that
can be altered, is checked and prepared in every round (see
:func:`simulator.identity.keys.is_fixed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from simulator.adversaries.contract import (
    Challenge,
    check_databases,
    check_mechanism,
    no_triple,
)
from simulator.engine.promises import allowed_losses, fault
from simulator.engine.sampling import RoundByRound, require_digits
from simulator.engine.specification import Specification
from simulator.foundations.errors import Breach, NotApplicable
from simulator.identity.keys import frozen_fields, is_fixed, key_of
from simulator.mechanisms import Ask, Pair
from simulator.mechanisms.base import ScalarMechanism, ScalarPair
from simulator.mechanisms.interactive import Conversation, Conversations
from simulator.mechanisms.sensitivities import check_sensitivities
from simulator.mechanisms.tilted import TiltedLaw, tilted_law

MAX_PREPARED = 4096
"""Prepared challenges kept at once; beyond it all are dropped, which bounds the memory."""
MOST_MET = 1024
"""Challenges recorded in a block, where they are."""


class LossUnknown(NotApplicable):
    """A play that needs losses has met a mechanism that has no likelihood."""


@dataclass(slots=True, eq=False)
class Ready:
    """A challenge checked and prepared.

    Attributes
    ----------
    database_0, database_1, mechanism : the challenge; None of a message.
    pair : its two output distributions.
    price : what a filter charges for it.
    least, most : the losses that a round may have, see ``allowed_losses``; NaN where the mechanism
        has no likelihood.
    terms, sample, loss : ``sample(terms, b, noise)`` draws an answer and ``loss(terms, answer)`` is
        its loss: the scalar functions and params of a scalar pair, else the pair's own methods.
    """

    database_0: Any
    database_1: Any
    mechanism: Any
    pair: Pair
    price: tuple[float, float]
    least: float
    most: float
    terms: Any = field(init=False)
    sample: Callable[[Any, int, np.random.Generator], Any] = field(init=False)
    loss: Callable[[Any, Any], float] = field(init=False)

    def __post_init__(self) -> None:
        pair = self.pair
        if type(pair) is ScalarPair:
            self.terms, self.sample, self.loss = pair.params, pair.scalars.sample, pair.scalars.loss
        else:
            self.terms, self.sample, self.loss = pair, type(pair).sample, type(pair).loss

    @property
    def challenge(self) -> Challenge:
        """The challenge that was sent."""
        return Challenge(self.database_0, self.database_1, self.mechanism)


@dataclass(slots=True, eq=False)
class Admitted:
    """Two databases and a query that were checked, and what was prepared for its mechanisms.

    Attributes
    ----------
    key : the ids under which it is found.
    held : the objects that have these ids.
    by_parameter : the mechanisms of one class that differ in their privacy parameter alone.
    """

    key: tuple[Any, ...] = ()
    held: tuple[Any, ...] = ()
    by_parameter: dict[Any, Ready] = field(default_factory=dict)


@cache
def reader(kind: Any) -> Callable[[Any], tuple[Any, Any]]:
    """What reads the query and the privacy parameter of mechanisms of a class.

    A mechanism that holds anything else stands for its query itself, and has the parameter None.
    """
    names = frozen_fields(kind)
    parameter = getattr(kind, "parameter_name", "")
    if issubclass(kind, ScalarMechanism) and names is not None and {*names} == {"query", parameter}:
        return attrgetter("query", parameter)
    return lambda mechanism: (mechanism, None)


class Prepared:
    """The challenges of a block that were prepared so far.

    Where the sampling is tilted for experiment 1 the two databases change places, so that large
    losses of the pair are always the rare ones. Where no losses are needed, because every view is
    kept, mechanisms without a likelihood may be played.

    Attributes
    ----------
    by_mechanism : what was prepared for a mechanism that was kept, under its id.
    by_objects, by_value : what was admitted, under the ids and under the values of the databases
        and the query.
    """

    def __init__(self, specification: Specification, b: int, *, losses_needed: bool = True) -> None:
        self.specification = specification
        self.losses_needed = losses_needed
        self.exchanged = bool(b) and specification.sampling is not None
        # an answer with this loss has probability 0 where it was drawn
        self.impossible = math.inf if b and not self.exchanged else -math.inf
        self.by_mechanism: dict[int, Ready] = {}
        self.by_objects: dict[tuple[Any, ...], Admitted] = {}
        self.by_value: dict[tuple[Any, ...], Admitted] = {}
        self.kept = 0
        self.laws: dict[tuple[int, int], tuple[Pair, TiltedLaw]] = {}
        self.conversations: Conversations | None = None
        self.met: dict[Any, Challenge] = {}

    def ready(self, challenge: Any) -> Ready:
        """What was prepared for this challenge or an equal one, or prepare it; raises Breach."""
        try:
            database_0, database_1, mechanism = challenge
        except (TypeError, ValueError):
            if isinstance(challenge, Ask):
                return self.message(challenge)
            raise Breach(no_triple(challenge)) from None
        ready = self.by_mechanism.get(id(mechanism))
        if (
            ready is not None
            and ready.database_0 is database_0
            and ready.database_1 is database_1
        ):  # fmt: skip
            return ready
        kind: Any = type(mechanism)
        query, parameter = reader(kind)(mechanism)
        admitted = self.by_objects.get((kind, id(query), id(database_0), id(database_1)))
        if admitted is None:
            admitted = self.admitted(kind, query, database_0, database_1)
            if admitted is None or not is_fixed(parameter):
                return self.prepare(database_0, database_1, mechanism)
        ready = admitted.by_parameter.get(parameter)
        if ready is None:
            ready = self.prepare(database_0, database_1, mechanism, admitted)
            self.make_room()
            admitted.by_parameter[parameter] = ready
        elif ready.mechanism is mechanism:  # it was kept from an earlier round
            ready.database_0, ready.database_1 = database_0, database_1
            self.by_mechanism[id(mechanism)] = ready
        else:
            self.by_mechanism.pop(id(ready.mechanism), None)
            ready.mechanism = mechanism
        return ready

    def admitted(self, kind: type, query: Any, database_0: Any, database_1: Any) -> Admitted | None:
        """What is kept of equal databases and an equal query; None where nothing may be kept."""
        value = kind, query, database_0, database_1
        try:
            admitted = self.by_value.get(value)
        except TypeError:  # not hashable
            return None
        if admitted is not None:
            del self.by_objects[admitted.key]
        elif is_fixed(value[1:]):
            self.make_room()
            admitted = self.by_value[value] = Admitted()
        else:
            return None
        admitted.held = value
        admitted.key = kind, id(query), id(database_0), id(database_1)
        self.by_objects[admitted.key] = admitted
        return admitted

    def make_room(self) -> None:
        """Count one more that is kept; drop everything once it is too much."""
        self.kept += 1
        if self.kept > MAX_PREPARED:
            self.kept = 0
            for kept in (self.by_mechanism, self.by_objects, self.by_value):
                kept.clear()

    def prepare(
        self, database_0: Any, database_1: Any, mechanism: Any, admitted: Admitted | None = None
    ) -> Ready:
        """Check and prepare a challenge, of an admitted one the parameter; raises Breach."""
        s = self.specification
        known = admitted is not None and admitted.by_parameter
        if not known:
            check_databases(database_0, database_1, s.relation)
        guarantee = check_mechanism(mechanism, s.family, s.relation)
        if not known:
            check_sensitivities(mechanism, database_0, database_1, s.relation)
        if mechanism.has_likelihood:
            least, most = allowed_losses(guarantee, self.impossible)
        elif self.losses_needed:
            raise LossUnknown(
                f"{mechanism!r} has no likelihood, so no loss is known: play it by simulate "
                "without sampling, and audit the views"
            )
        else:
            least, most = math.nan, math.nan
        price = (0.0, 0.0) if s.filter is None else s.filter.price_of(mechanism, s.relation)
        if not s.trust and len(self.met) < MOST_MET:
            challenge = Challenge(database_0, database_1, mechanism)
            self.met.setdefault(key_of(challenge), challenge)
        both = (database_1, database_0) if self.exchanged else (database_0, database_1)
        pair = mechanism.pair(*both, s.relation)
        return Ready(database_0, database_1, mechanism, pair, price, least, most)

    def message(self, ask: Ask) -> Ready:
        """A message to what this trial has opened; it costs nothing more. Raises Breach."""
        pair = (self.conversations or Conversations()).pair(ask)
        return Ready(None, None, None, pair, (0.0, 0.0), math.nan, math.nan)

    def begin_trial(self) -> None:
        """Forget the interactive mechanisms that the last trial has opened."""
        if not self.losses_needed:
            self.conversations = Conversations(self.conversations)

    def checked(self, ready: Ready, answer: Any, loss: float) -> Any:
        """Return an answer that is no plain float, or whose loss is unknown.

        What an interactive mechanism has opened becomes a handle. Raises Breach for an answer that
        is not finite, and for a loss beyond what the mechanism promises.
        """
        if math.isnan(ready.least):
            if not isinstance(answer, Conversation):
                return answer
            assert self.conversations is not None
            return self.conversations.open(answer)
        infinite = isinstance(answer, float) and not math.isfinite(answer)
        if infinite or not ready.least <= loss <= ready.most:
            s = self.specification
            raise fault(ready.challenge, s.relation, answer, loss, self.impossible)
        return answer

    def law(self, pair: Pair, level: int) -> TiltedLaw:
        """The pair's tilted law at a level of the sampling."""
        key = id(pair), level
        if key not in self.laws:
            if len(self.laws) >= MAX_PREPARED:
                self.laws.clear()
            assert isinstance(self.specification.sampling, RoundByRound)
            theta = float(self.specification.sampling.levels[level])
            law = tilted_law(pair, theta)
            require_digits("this mechanism", theta, law.psi)
            self.laws[key] = pair, law  # the pair is kept: its id stays its own
        return self.laws[key][1]
