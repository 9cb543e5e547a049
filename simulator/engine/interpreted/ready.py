"""A challenge or a message, checked and prepared: what the interpreter needs to play a round."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.engine.promises import fault_of_conversation, limit_of
from simulator.mechanisms import Pair
from simulator.mechanisms.base import ScalarPair, all_finite
from simulator.mechanisms.conversations import Conversation
from simulator.mechanisms.interactive_mechanism import Exchange
from simulator.mechanisms.tilted import TiltedLaw
from simulator.theory.filters.interface import Price


class Ready:
    """A challenge checked and prepared.

    Attributes
    ----------
    database_0, database_1, mechanism : the challenge; None of a message.
    pair : its two output distributions.
    price : its price under the filter.
    least, most : the range of the round's loss, see ``allowed_losses``; NaN where the mechanism has
        no likelihood.
    terms, sample, loss : ``sample(terms, b, noise)`` draws an answer and ``loss(terms, answer)`` is
        its loss: the scalar functions and params of a scalar pair, else the pair's own methods.
    draws : the draws of ``sample``, see ``Scalars.draws``.
    laws : the pair's tilted laws that were met, by the level of the sampling.
    """

    __slots__ = (
        "database_0", "database_1", "draws", "laws", "least", "loss", "mechanism", "most", "pair",
        "price", "sample", "terms",
    )  # fmt: skip

    def __init__(
        self, challenge: tuple[Any, Any, Any], pair: Pair, price: Price, range_: tuple[float, float]
    ) -> None:
        self.database_0, self.database_1, self.mechanism = challenge
        self.pair, self.price = pair, price
        self.least, self.most = range_
        self.laws: dict[int, TiltedLaw] = {}
        self.terms: Any
        self.sample: Callable[[Any, int, np.random.Generator], Any]
        self.loss: Callable[[Any, Any], float]
        if type(pair) is ScalarPair:
            scalars = pair.scalars
            self.terms, self.sample, self.loss = pair.params, scalars.sample, scalars.loss
            self.draws = scalars.draws
        else:
            self.terms, self.sample, self.loss = pair, type(pair).sample, type(pair).loss
            self.draws = ""

    @property
    def challenge(self) -> Challenge:
        """The challenge that was sent."""
        return Challenge(self.database_0, self.database_1, self.mechanism)


class Message(Ready):
    """A message to an open interactive mechanism, at no price.

    Attributes
    ----------
    conversation, message : to whom, and what.
    """

    __slots__ = ("conversation", "message")

    def __init__(self, conversation: Conversation, message: Any, price: Price) -> None:
        pair = conversation.pair(message)
        super().__init__((None, None, None), pair, price, (math.nan, math.nan))
        self.conversation, self.message = conversation, message

    def accepted(self, answer: Any, loss: float, impossible: float) -> Any:
        """The answer, of which the conversation has taken note; raises Breach.

        ``impossible`` is the loss of an answer of probability 0 in the experiment.
        """
        self.conversation.heard(self.message, answer, loss)
        if isinstance(self.conversation, Exchange):
            total, opening = self.conversation.loss, self.conversation.opening
            limit = limit_of(opening.guarantee).constant
            if loss == impossible or not abs(total) <= limit or not all_finite(answer):
                raise fault_of_conversation(opening, self.message, answer, total)
        return answer
