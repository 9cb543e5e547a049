"""Mechanisms that keep state: asked by handle, and never confused."""

import math

import numpy as np
import pytest

from simulator import PureDP
from simulator.engine.views.views import own_copy
from simulator.foundations.errors import Breach
from simulator.mechanisms import BlackBox, Handle, Interactive, Raised
from simulator.mechanisms.interactive import OpenedObject
from simulator.theory.filters.named import FILTERS, parse_filter
from tests.helpers.black_boxes import EVERYONE, FAMILY, WITHOUT, noisy, play


def counter(database, rng):
    """An object with state: how often it was asked, and on which database."""
    asked = []

    def ask(message):
        asked.append(message)
        return len(asked), database.count_of("alice"), message

    return ask


def stream(database, rng):
    """Above-threshold, asked query by query; it stops after the first that passes."""
    bar = 2.0 + rng.laplace(scale=2.0)
    message = yield
    while True:
        passes = database.count(message) + rng.laplace(scale=4.0) >= bar
        message = yield passes
        if passes:
            return


def opened_and_asked(mechanism):
    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, mechanism
        for i in range(10**6):
            yield handle.ask(i)

    return adversary


def test_state_lives_for_one_trial_on_one_database():
    for view in play(opened_and_asked(Interactive(counter, FAMILY))).views:
        b = view.experiment
        assert view.answers == (Handle(0), (1, b, 0), (2, b, 1), (3, b, 2))


def test_two_conversations_of_a_trial_are_apart():
    def adversary(coins):
        first = yield WITHOUT, EVERYONE, Interactive(counter, FAMILY)
        second = yield WITHOUT, EVERYONE, Interactive(counter, FAMILY)
        while True:
            yield first.ask("to the first")
            yield second.ask("to the second")
            yield first.ask("again")

    for view in play(adversary, rounds=5).views:
        b = view.experiment
        assert view.answers == (
            Handle(0), Handle(1), (1, b, "to the first"), (1, b, "to the second"), (2, b, "again")
        )  # fmt: skip


def test_a_generator_is_sent_the_messages_and_its_end_is_an_answer():
    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, Interactive(stream, FAMILY)
        while True:
            yield handle.ask("alice")

    views = play(adversary, rounds=60).views
    ended = [view.answers for view in views if Raised("StopIteration") in view.answers]
    assert ended
    for answers in ended:
        end = answers.index(Raised("StopIteration"))
        assert answers[end - 1] is True or answers[end - 1] == np.True_
        assert not any(answers[1 : end - 1])


def test_a_handle_of_another_trial_is_a_breach_in_one_line():
    kept = []

    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, Interactive(counter, FAMILY)
        kept.append(handle)
        while True:
            yield kept[0].ask("whose are you?")

    with pytest.raises(
        Breach, match=r"round 2, trial 1 of experiment 0: .* was not opened in this trial"
    ) as caught:
        play(adversary)
    assert "\n" not in str(caught.value)


def test_a_handle_that_was_made_up_is_a_breach():
    def adversary(coins):
        yield WITHOUT, EVERYONE, Interactive(counter, FAMILY)
        yield Handle(0).ask("let me in")

    with pytest.raises(
        Breach, match=r"round 2, trial 0 of experiment 0: .* was not opened in this trial"
    ):
        play(adversary)


def test_an_object_that_outlives_its_trial_is_a_breach():
    asked = []

    class Shared:
        def ask(self, message):
            asked.append(message)
            return len(asked)

    shared = Shared()
    with pytest.raises(
        Breach, match=r"round 1, trial 1 of experiment 0: .*twice: make a new object"
    ):
        play(opened_and_asked(Interactive(lambda database: shared.ask, FAMILY)))


def test_nothing_reaches_the_adversary_but_the_handle():
    handles = []

    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, Interactive(counter, FAMILY)
        handles.append(handle)
        while True:
            yield handle.ask(0)

    play(adversary, trials=1)
    (handle, *_) = handles
    assert vars(handle) == {"number": 0}
    assert own_copy(handle) is handle
    with pytest.raises(Breach):
        own_copy(OpenedObject(None, print))


def test_a_message_and_an_answer_are_copies():
    class Hoarder:
        """Writes on the message, and gives out one list that it goes on writing on."""

        def __init__(self, database):
            self.answers = []

        def __call__(self, message):
            message.append("seen")
            self.answers.append(len(message))
            return self.answers

    message = []

    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, Interactive(Hoarder, FAMILY)
        while True:
            yield handle.ask(message)

    for view in play(adversary).views:
        assert view.answers[1:] == ([1], [1, 1], [1, 1, 1])
    assert message == []


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_a_filter_charges_the_claim_once_at_the_opening(name):
    chosen = parse_filter(f"{name}:4,1e-5")
    claim = PureDP(0.25)

    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, Interactive(counter, claim)
        while True:
            for _ in range(3):
                yield handle.ask("free")
            yield WITHOUT, EVERYONE, BlackBox(noisy, claim)

    view = play(adversary, rounds=161, trials=1, filter=chosen).views[0]
    asked = [answer for answer in view.answers if isinstance(answer, tuple)]
    assert len(asked) == 120  # none is refused, though the budget is long spent
    spent = [answer for answer in view.answers if isinstance(answer, float)]
    admitted = sum(not math.isnan(answer) for answer in spent)
    assert 0 < admitted < len(spent)
    if name == "sum":
        assert admitted == 16 - 1


def test_two_workers_give_the_same_views():
    adversary = opened_and_asked(Interactive(counter, FAMILY))
    assert play(adversary, jobs=2).views == play(adversary).views


def test_a_replay_has_the_challenges_and_no_losses():
    result = play(opened_and_asked(Interactive(counter, FAMILY)))
    for view in result.views[::7]:
        replayed = result.replay(view)
        assert math.isnan(replayed.loss)
        assert replayed.challenges[0].mechanism == Interactive(counter, FAMILY)
        assert [ask.message for ask in replayed.challenges[1:]] == [0, 1, 2]
