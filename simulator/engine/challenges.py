"""The challenges of a block: each distinct one is checked and prepared once.

A challenge is found again by its mechanism and its databases, the same objects or equal ones.
Contract: a mechanism is a frozen dataclass, or another hashable value that compares by its content,
and equal mechanisms play alike. A challenge that holds a user's function or a mutable value is
checked and prepared in every round (see :func:`simulator.identity.keys.is_fixed`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge, check_databases, check_mechanism, no_triple
from simulator.engine.promises import allowed_losses, fault, fault_of_conversation, limit_of
from simulator.engine.sampling import require_digits
from simulator.engine.specification import Specification
from simulator.foundations.errors import Breach, NotApplicable, raised
from simulator.identity.keys import is_fixed, key_of
from simulator.mechanisms import Ask, Handle, InteractiveMechanism, Pair
from simulator.mechanisms.base import ScalarPair, all_finite
from simulator.mechanisms.conversations import Conversations
from simulator.mechanisms.interactive import OpenedObject
from simulator.mechanisms.interactive_mechanism import Exchange, Opening
from simulator.mechanisms.sensitivities import check_sensitivities
from simulator.mechanisms.tilted import TiltedLaw, tilted_law
from simulator.theory.filters.interface import Price
from simulator.theory.guarantees.pure import PureDP

MOST_KEPT = 1024
"""Most prepared challenges kept: the first ones, so that what is new in every round costs no
memory."""
MOST_MET = 1024
"""Most challenges recorded in a block for each type of mechanism."""


class LossUnknown(NotApplicable):
    """A play that needs losses uses a mechanism without likelihood."""


class CheckedPair:
    """A challenge that was checked: two databases, a mechanism, and its two output distributions.

    Attributes
    ----------
    family : the challenges that it is one of.
    price : of the round, under the filter.
    least, most : the range of its loss, see ``allowed_losses``; NaN where it is not checked.
    laws : its tilted laws that were met, by theta.
    """

    __slots__ = (
        "database_0", "database_1", "draw", "family", "laws", "least", "loss_of", "mechanism",
        "most", "pair", "price", "terms",
    )  # fmt: skip
    database_0: Any
    database_1: Any
    mechanism: Any

    def __init__(self, family: Challenges, pair: Pair, price: Price) -> None:
        self.family, self.pair, self.price = family, pair, price
        self.least = self.most = math.nan
        self.laws: dict[float, TiltedLaw] = {}
        self.terms: Any = pair
        self.draw: Callable[..., Any] = type(pair).sample
        self.loss_of: Callable[..., float] = type(pair).loss
        if type(pair) is ScalarPair:  # past its methods, which check what is checked here
            self.terms, self.draw = pair.params, pair.scalars.sample
            self.loss_of = pair.scalars.loss

    def sample(self, b: int, noise: np.random.Generator) -> Any:
        """The mechanism's answer on database ``b``, as the adversary receives it."""
        try:
            answer = self.draw(self.terms, b, noise)
        except TypeError as error:
            raise Breach(f"the mechanism raised {raised(error, self.draw)}") from error
        return answer if type(answer) is float else self.received(answer)

    def received(self, answer: Any) -> Any:
        """The answer, or a handle in place of an interactive mechanism that was opened."""
        if isinstance(answer, OpenedObject):
            return self.family.conversations.open(answer)
        if isinstance(self.pair, Opening):
            recorded = answer if isinstance(answer, Handle) else None
            return self.family.conversations.open(self.pair.begun(), recorded)
        return answer

    def tilted(self, theta: float) -> TiltedLaw:
        """The law e^{theta L - psi} P0."""
        law = self.laws.get(theta)
        if law is None:
            law = self.laws[theta] = tilted_law(self.pair, theta)
            require_digits("this mechanism", theta, law.psi)
        return law

    def loss(self, answer: Any) -> float:
        """The answer's privacy loss; raises Breach where :meth:`check` does."""
        try:
            loss = self.loss_of(self.terms, answer)
        except TypeError as error:
            raise Breach(f"the mechanism raised {raised(error, self.loss_of)}") from error
        try:
            if not (
                type(answer) is float
                and self.least <= loss <= self.most
                and -math.inf < answer < math.inf
            ):
                self.check(answer, loss)
        except (TypeError, ValueError):
            if isinstance(loss, float | int):
                raise
            found = f"{self.mechanism!r} has a loss of {loss!r} at {answer!r}, which is no number"
            raise Breach(found) from None
        return loss

    def check(self, answer: Any, loss: float) -> None:
        """Raise Breach for an answer that is not finite, or a loss beyond what was promised."""
        if math.isnan(self.least):
            return
        if type(self.pair) is ScalarPair and not isinstance(answer, Real):
            raise Breach(f"{self.mechanism!r} answered {answer!r:.80}, which is no number")
        if answer is None:
            raise Breach(f"{self.mechanism!r} answered None: its sample returns nothing")
        infinite = isinstance(answer, float) and not math.isfinite(answer)
        if infinite or not self.least <= loss <= self.most:
            challenge = Challenge(self.database_0, self.database_1, self.mechanism)
            relation = self.family.specification.relation
            raise fault(challenge, relation, answer, loss, self.family.impossible)


class Message(CheckedPair):
    """A message to an interactive mechanism of this trial; it costs nothing."""

    __slots__ = ("ask", "conversation")

    def __init__(self, family: Challenges, ask: Ask) -> None:
        filter_ = family.specification.filter
        self.ask, self.conversation = ask, family.conversations.of(ask)
        price = () if filter_ is None else filter_.price(PureDP(0.0))
        super().__init__(family, self.conversation.pair(ask.message), price)

    def check(self, answer: Any, loss: float) -> None:
        """Let the conversation take note; raise Breach where it has lost more than was promised."""
        message = self.ask.message
        self.conversation.heard(message, answer, loss)
        if isinstance(self.conversation, Exchange):
            total, opening = self.conversation.loss, self.conversation.opening
            limit = limit_of(opening.guarantee).constant
            impossible = loss == self.family.impossible
            if impossible or not abs(total) <= limit or not all_finite(answer):
                raise fault_of_conversation(opening, message, answer, total)


class Challenges:
    """The challenges of a block that belong to the family, checked and prepared.

    In tilted play of experiment 1 the two databases are exchanged, so that large losses of the pair
    are the rare ones. Where every view is kept no losses are needed, and mechanisms without a
    likelihood may be played.

    Attributes
    ----------
    played : the experiment, for messages.
    exchanged : whether the databases are exchanged.
    experiment : which of the two, perhaps exchanged, is answered on.
    impossible : the loss of an answer of probability 0 in the experiment.
    by_object, by_value, by_mechanism : the kept challenges, by the id of the mechanism, by value,
        and the last one with an equal mechanism.
    conversations : the interactive mechanisms that the trial has opened.
    met : the challenges, where these are recorded.
    """

    def __init__(self, specification: Specification, b: int, *, losses_needed: bool = True) -> None:
        self.specification = specification
        self.losses_needed = losses_needed
        self.played = b
        self.exchanged = bool(b) and specification.sampling is not None
        self.experiment = 0 if self.exchanged else b
        self.impossible = math.inf if self.experiment else -math.inf
        self.by_object: dict[int, CheckedPair] = {}
        self.by_value: dict[tuple[Any, ...], CheckedPair] = {}
        self.by_mechanism: dict[tuple[Any, ...], CheckedPair] = {}
        self.conversations = Conversations()
        self.met: dict[Any, Challenge] = {}
        self.kinds: Counter[type] = Counter()

    def begin_trial(self) -> None:
        """Drop the interactive mechanisms of the last trial."""
        if self.conversations.any:
            self.conversations = Conversations(self.conversations)

    def checked(self, challenge: Any) -> CheckedPair:
        """The checked challenge for this one or an equal one, or a message; raises Breach."""
        try:
            database_0, database_1, mechanism = challenge
        except (TypeError, ValueError):
            if isinstance(challenge, Ask):
                return Message(self, challenge)
            raise Breach(no_triple(challenge)) from None
        known = self.by_object.get(id(mechanism))
        if (
            known is not None
            and known.mechanism is mechanism
            and known.database_0 is database_0
            and known.database_1 is database_1
        ):
            return known
        try:
            known = self.by_mechanism.get((type(mechanism), mechanism))
        except TypeError:  # not hashable
            return self.prepared(database_0, database_1, mechanism)
        if known is not None and known.database_0 is database_0 and known.database_1 is database_1:
            return known
        # databases of a user's class may equal plain ones, and answer otherwise
        kinds = type(database_0), type(database_1), type(mechanism)
        value = kinds, database_0, database_1, mechanism
        try:
            known = self.by_value.get(value)
        except TypeError:
            return self.prepared(database_0, database_1, mechanism)
        if known is None:
            known = self.prepared(database_0, database_1, mechanism)
            if len(self.by_value) >= MOST_KEPT or not is_fixed(value[1:]):
                return known
            self.by_value[value] = self.by_mechanism[type(mechanism), mechanism] = known
        # an id that is in use again is of another object than this one
        known.database_0, known.database_1, known.mechanism = database_0, database_1, mechanism
        if len(self.by_object) >= MOST_KEPT:
            self.by_object.clear()
        self.by_object[id(mechanism)] = known
        return known

    def prepared(self, database_0: Any, database_1: Any, mechanism: Any) -> CheckedPair:
        """The challenge, checked and prepared; raises Breach."""
        s = self.specification
        check_databases(database_0, database_1, s.relation)
        guarantee = check_mechanism(mechanism, s.family, s.relation)
        check_sensitivities(mechanism, database_0, database_1, s.relation)
        # the loss of an interactive mechanism is that of all messages together
        whole = isinstance(mechanism, InteractiveMechanism)
        if self.losses_needed and not (mechanism.has_likelihood or whole):
            raise LossUnknown(
                f"{mechanism!r} has no likelihood, so no loss is known: play it by simulate "
                "without sampling, and audit the views"
            )
        price = () if s.filter is None else s.filter.price_of(mechanism, s.relation)
        if not s.trust and self.kinds[type(mechanism)] < MOST_MET:
            challenge = Challenge(database_0, database_1, mechanism)
            if self.met.setdefault(key_of(challenge), challenge) is challenge:
                self.kinds[type(mechanism)] += 1
        both = (database_1, database_0) if self.exchanged else (database_0, database_1)
        found = CheckedPair(self, mechanism.pair(*both, s.relation), price)
        found.database_0, found.database_1, found.mechanism = database_0, database_1, mechanism
        if isinstance(found.pair, Opening):
            found.pair.exchanged = self.exchanged
        if mechanism.has_likelihood and not whole:
            limit = limit_of(guarantee).constant
            found.least, found.most = allowed_losses(limit, self.impossible)
        return found
