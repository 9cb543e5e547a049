"""A conversation with an interactive mechanism, sent and heard by hand."""

import threading
from dataclasses import dataclass, field

import pytest

from simulator import Database, PureDP
from simulator.foundations.errors import Breach
from simulator.mechanisms import InteractiveMechanism, finite_answers
from simulator.mechanisms.conversations import message_copy

WITHOUT, EVERYONE = Database(["bob"]), Database(["bob", "alice"])


@dataclass(frozen=True)
class Noted(InteractiveMechanism):
    """Notes what it is given; its answer is a coin that depends on the first part of a message."""

    given: list = field(default_factory=list, compare=False)

    def guarantee(self, relation):
        return PureDP(2.0)

    def opened(self, database_0, database_1, relation):
        return 0

    def answers_to(self, state, message):
        self.given.append(("answers", state, list(message)))
        share = 0.5 + 0.1 * message[0]
        return (
            "no pair" if message[0] > 4 else finite_answers([share, 1 - share], [1 - share, share])
        )

    def after(self, state, message, answer):
        self.given.append(("after", state, list(message)))
        return state + 1


def test_a_message_is_what_it_was_when_it_was_sent():
    mechanism = Noted()
    exchange = mechanism.pair(WITHOUT, EVERYONE).begun()
    message = [1]
    exchange.pair(message)
    message[0] = 2
    exchange.heard(message, 0.0, 0.25)
    assert (exchange.state, exchange.loss) == (1, 0.25)
    exchange.pair(message)
    assert mechanism.given == [("answers", 0, [1]), ("after", 0, [1]), ("answers", 1, [2])]


def test_a_pair_is_kept_for_its_state_and_message():
    mechanism = Noted()
    opening = mechanism.pair(WITHOUT, EVERYONE)
    first = opening.pair(0, (1,))
    assert opening.pair(0, (1,)) is first
    assert opening.pair(1, (1,)) is not first
    assert opening.pair(0, (2,)).loss(0.0) > first.loss(0.0) > 0.0
    assert mechanism.given == [("answers", *each) for each in ((0, [1]), (1, [1]), (0, [2]))]
    with pytest.raises(Breach, match="answers_to returned 'no pair'"):
        opening.pair(0, (5,))


def test_a_message_is_copied_where_it_can_change_and_be_copied():
    for whole in (None, 1, (1, ("a", 0.5)), threading.Lock()):
        assert message_copy(whole) is whole
    for loose in ([1, 2], {"a": [1]}):
        assert message_copy(loose) == loose
        assert message_copy(loose) is not loose
