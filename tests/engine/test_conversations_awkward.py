"""Conversations as honest users get them wrong, and ones that are long, many, or stored."""

import copy
import math
import pickle
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest

from simulator import Database, PureDP, counting_query, estimate_rare, simulate
from simulator.analysis import Result
from simulator.auditing import audit_composition
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.mechanisms import (
    Gaussian,
    Handle,
    InteractiveMechanism,
    Node,
    ResponseTree,
    Update,
    finite_answers,
    randomized_response_tree,
)
from simulator.theory import GaussianDP
from simulator.worst import worst_conversation

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
FAMILY = PureDP(0.5)
NOISY, PURE_NOISE = ((0.6, 0.4), (0.4, 0.6)), ((0.5, 0.5), (0.5, 0.5))


@dataclass(frozen=True)
class OneNoisyAnswer(InteractiveMechanism):
    """The first answer depends on the data; ``kind`` is how the state is kept."""

    kind: str = "tuple"

    def guarantee(self, relation=None):
        return FAMILY

    def opened(self, database_0, database_1, relation):
        return {"list": [], "late list": ()}.get(self.kind, ())

    def messages(self, state):
        return ("go",) if len(state) < 2 else ()

    def answers_to(self, state, message):
        if self.kind == "no pair":
            return NOISY
        return finite_answers(*(PURE_NOISE if state else NOISY))

    def after(self, state, message, answer):
        if self.kind == "list":
            state.append(answer)
            return state
        return [answer] if self.kind == "late list" else (*state, answer)


def asking(mechanism, message="go"):
    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, mechanism
        while True:
            yield handle.ask(message)

    return adversary


def played(adversary, **others):
    return simulate(
        adversary, **({"family": FAMILY, "rounds": 4, "trials": 60, "seed": 3} | others)
    )


@pytest.mark.parametrize(
    "message",
    [
        np.zeros((3, 4)), np.array([]), np.array(["ask"]), np.array(["ask", "ask"]),
        (0, np.zeros(2)), [1, 2], np.arange(5000),
    ],
    ids=lambda message: type(message).__name__,
)  # fmt: skip
@pytest.mark.parametrize("known", ["ask", (0, 1)])
def test_a_message_that_a_tree_cannot_compare_is_refused_in_one_line(message, known):
    tree = ResponseTree(counting_query("alice"), Node.of({known: NOISY}), FAMILY)
    with pytest.raises(Breach, match=r"the tree takes no message .* here; it takes: ") as caught:
        played(asking(tree, message))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("kind", ["list", "late list"])
def test_a_state_that_is_altered_stays_in_its_trial_and_is_refused_by_the_search(kind):
    mutable = played(asking(OneNoisyAnswer(kind)), keep_views=60)
    assert mutable.views == played(asking(OneNoisyAnswer()), keep_views=60).views
    with pytest.raises(InvalidInput, match=r"the search needs .*hashable"):
        worst_conversation(OneNoisyAnswer(kind), WITHOUT, EVERYONE, epsilon=0.1)


def test_an_answer_that_is_no_pair_is_one_line():
    with pytest.raises(Breach, match=r"answers_to returned .*, and not a pair such as"):
        played(asking(OneNoisyAnswer("no pair")))
    with pytest.raises(Breach, match="and not a pair such as"):
        worst_conversation(OneNoisyAnswer("no pair"), WITHOUT, EVERYONE, epsilon=0.1)


@pytest.mark.parametrize(
    "message",
    [["go", [1]], np.zeros(3), {"a": 1}, Update(np.zeros(2), np.ones(2)), np.float64(1.0)],
    ids=["list", "array", "dict", "update of arrays", "numpy number"],
)
def test_messages_need_not_be_hashable(message):
    result = played(asking(OneNoisyAnswer(), message), keep_views=60)
    assert result.views == played(asking(OneNoisyAnswer()), keep_views=60).views
    assert estimate_rare(
        asking(OneNoisyAnswer(), message), family=FAMILY, rounds=4, epsilon=0.1, trials=100, seed=2,
        method="tilted", experiment=1,
    )  # fmt: skip


def test_a_message_that_is_altered_and_sent_again_is_another_message():
    received = []

    @dataclass(frozen=True)
    class Listening(OneNoisyAnswer):
        def after(self, state, message, answer):
            received.append(message)
            message.append("altered")
            return (*state, answer)

    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, Listening()
        message = ["first"]
        yield handle.ask(message)
        assert message == ["first"]
        message[0] = "second"
        yield handle.ask(message)

    played(adversary, rounds=3, trials=1, experiments=(0,))
    assert received[:2] == [["first", "altered"], ["second", "altered"]]


def test_a_long_conversation_and_many_openings_take_little_time_and_memory():
    def opening(coins):
        handles = []
        for _ in range(1500):
            handles.append((yield WITHOUT, EVERYONE, OneNoisyAnswer("late list")))
        for handle in handles:
            yield handle.ask("go")

    tree = ResponseTree(counting_query("alice"), randomized_response_tree([0.2]), FAMILY)

    def endless(coins):
        while True:
            handle = yield WITHOUT, EVERYONE, tree
            yield handle.ask("ask")

    tracemalloc.start()
    try:
        for adversary in (opening, endless):
            result = played(adversary, rounds=3000, trials=1, experiments=(0,))
            assert math.isfinite(result.losses(0)[0])
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


@dataclass(frozen=True)
class Remembering(InteractiveMechanism):
    """Gaussian noise for each message, and a state as long as the conversation."""

    def guarantee(self, relation=None):
        return GaussianDP(1.0)

    def opened(self, database_0, database_1, relation):
        return (database_0, database_1)

    def answers_to(self, state, message):
        return Gaussian(counting_query("alice"), 100.0).pair(state[0], state[1])

    def after(self, state, message, answer):
        return (*state, answer)


def test_states_after_real_answers_are_not_kept():
    tracemalloc.start()
    try:
        played(asking(Remembering()), family=GaussianDP(1.0), rounds=1500, trials=2)
        assert (
            tracemalloc.get_traced_memory()[1] < 20e6
        )  # 1,500 states of up to 1,500 would be 10e6
    finally:
        tracemalloc.stop()


def test_a_search_that_does_not_end_is_refused_in_one_line():
    tree = ResponseTree(counting_query("alice"), randomized_response_tree([1e-4] * 3000), FAMILY)
    with pytest.raises(NotApplicable, match="goes on for too long"):
        worst_conversation(tree, WITHOUT, EVERYONE, epsilon=0.1)


def test_a_tree_whose_branches_meet_again_is_hashed_and_copied_in_no_time():
    tree = ResponseTree(counting_query("alice"), randomized_response_tree([0.01] * 50), FAMILY)
    assert tree == ResponseTree(
        counting_query("alice"), randomized_response_tree([0.01] * 50), FAMILY
    )
    assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree) == tree
    result = played(asking(tree, "ask"), rounds=51, trials=20)
    assert 0.0 < result.delta(0.0).value < 0.5
    with pytest.raises(InvalidInput, match="messages of a node must be hashable"):
        Node((([], (1.0,), (1.0,), (None,)),))


def interleaving(coins):
    first = yield WITHOUT, EVERYONE, OneNoisyAnswer()
    second = yield WITHOUT, EVERYONE, OneNoisyAnswer()
    while True:
        answer = yield first.ask(["x"])
        yield (second if answer else first).ask(np.zeros(2))


def test_a_stored_run_is_resumed_loaded_and_replayed(tmp_path):
    whole = played(interleaving, trials=400, keep_views=6)
    played(interleaving, trials=200, keep_views=6, out=tmp_path / "run")
    resumed = played(interleaving, trials=400, keep_views=6, out=tmp_path / "run")
    loaded = Result.load(tmp_path / "run", adversary=interleaving, family=FAMILY)
    for result in (resumed, loaded):
        assert result.views == whole.views
        assert result.delta(0.1).value == whole.delta(0.1).value
    view = loaded.views[0]
    assert view.answers[:2] == (Handle(0), Handle(1))
    assert loaded.replay(view).loss == whole.replay(whole.views[0]).loss


@pytest.mark.nightly
def test_two_jobs_play_what_one_plays():
    first, second = (played(interleaving, trials=1200, block_size=300, jobs=j) for j in (1, 2))
    assert first.delta(0.1).value == second.delta(0.1).value


def test_an_opening_that_a_filter_refuses():
    with pytest.raises(Breach, match="no handle: a filter that refuses an opening answers NaN"):
        played(interleaving, filter="sum:0.6")

    def careful(coins):
        yield WITHOUT, EVERYONE, OneNoisyAnswer()
        handle = yield WITHOUT, EVERYONE, OneNoisyAnswer()
        assert not isinstance(handle, Handle)
        handle = yield WITHOUT, WITHOUT, OneNoisyAnswer()
        yield WITHOUT, EVERYONE, OneNoisyAnswer()

    assert played(careful, filter="sum:0.6").delta(0.0).value == 0.0


def test_views_of_conversations_are_audited():
    """A claim of a third of the loss is caught; false alarms have probability 1e-6."""
    found = audit_composition(
        asking(OneNoisyAnswer()), family=FAMILY, rounds=2, claimed="pure:0.1", samples=8000
    )
    assert found.violated
    honest = audit_composition(
        asking(OneNoisyAnswer()), family=FAMILY, rounds=2, claimed="pure:0.5", samples=2000
    )
    assert not honest.violated
