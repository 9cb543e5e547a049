"""Interactive mechanisms with likelihoods: their losses, their promises, tilted and split play."""

import itertools
import math
from dataclasses import dataclass

import pytest

from simulator import Database, PureDP, counting_query, estimate_rare, simulate
from simulator.engine.views.views import replay
from simulator.foundations.errors import Breach, BrokenPromise
from simulator.mechanisms import (
    Concurrent,
    InteractiveMechanism,
    ResponseTree,
    Update,
    finite_answers,
    randomized_response_tree,
)
from simulator.worst import worst_conversation

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")


def tree(*epsilons, claimed=None):
    claim = PureDP(sum(epsilons) if claimed is None else claimed)
    return ResponseTree(ALICE, randomized_response_tree(epsilons), claim)


FIRST, SECOND = tree(0.3, 0.2), tree(0.5, 0.1)
FAMILY = PureDP(0.6)


def interleaving(coins):
    first = yield WITHOUT, EVERYONE, FIRST
    second = yield WITHOUT, EVERYONE, SECOND
    yield first.ask("ask")
    yield second.ask("ask")
    yield second.ask("ask")
    yield first.ask("ask")


def exact_delta(epsilons, epsilon):
    """Delta of independent randomized responses, by listing every view."""
    views = []
    for signs in itertools.product((1, -1), repeat=len(epsilons)):
        loss = sum(s * e for s, e in zip(signs, epsilons))
        chance = math.prod(1 / (1 + math.exp(-s * e)) for s, e in zip(signs, epsilons))
        views.append((chance, loss))
    return sum(p * max(0.0, -math.expm1(epsilon - loss)) for p, loss in views)


def played(adversary, **others):
    return simulate(
        adversary, **({"family": FAMILY, "rounds": 6, "trials": 4000, "seed": 3} | others)
    )


def test_the_loss_of_an_interleaved_view_is_that_of_all_answers():
    result = played(interleaving, keep_views=20)
    for view in result.views[:20]:
        losses = replay(view, interleaving, FAMILY).round_losses
        assert losses[:2] == (0.0, 0.0)
        assert sorted(map(abs, losses[2:])) == pytest.approx([0.1, 0.2, 0.3, 0.5])
    truth = exact_delta([0.3, 0.2, 0.5, 0.1], 0.4)
    for b in (0, 1):  # fails by chance with probability 1e-3
        assert result.delta(0.4, experiment=b, confidence=0.9995).lower <= truth
        assert truth <= result.delta(0.4, experiment=b, confidence=0.9995).upper


@pytest.mark.sampled
@pytest.mark.parametrize("method", ["tilted", "splitting"])
@pytest.mark.parametrize("experiment", [0, 1])
def test_rare_losses_of_conversations_are_reached(method, experiment):
    found = estimate_rare(
        interleaving, family=FAMILY, rounds=6, epsilon=1.0, trials=2000, seed=5, method=method,
        experiment=experiment, confidence=0.999,
    )  # fmt: skip
    assert found.delta.lower <= exact_delta([0.3, 0.2, 0.5, 0.1], 1.0) <= found.delta.upper


def test_a_conversation_that_loses_more_than_it_claims_is_a_broken_promise():
    lying = tree(0.3, 0.3, claimed=0.5)

    def adversary(coins):
        opened = yield WITHOUT, EVERYONE, lying
        yield opened.ask("ask")
        yield opened.ask("ask")

    with pytest.raises(
        BrokenPromise, match=r"round 3, trial \d+ of experiment 0: .*the conversation has lost 0.6"
    ):
        played(adversary, rounds=3)


@pytest.mark.parametrize("message", ["hello", None, ("ask",)])
def test_a_message_that_is_not_taken_is_a_breach_in_one_line(message):
    def adversary(coins):
        opened = yield WITHOUT, EVERYONE, FIRST
        yield opened.ask(message)

    with pytest.raises(Breach, match=r"takes no message .* here; it takes: 'ask'") as caught:
        played(adversary, rounds=2)
    assert "\n" not in str(caught.value)


def strategies(mechanism, state):
    """The laws of the loss under every strategy, as lists of (probability, loss)."""
    if not mechanism.messages(state):
        return [[(1.0, 0.0)]]
    found = []
    for message in mechanism.messages(state):
        pair = mechanism.answers_to(state, message)
        answers, on_0, _ = pair.outcomes()
        below = [strategies(mechanism, mechanism.after(state, message, a)) for a in answers]
        for chosen in itertools.product(*below):
            found.append([
                (p * q, pair.loss(a) + loss)
                for a, p, law in zip(answers, on_0, chosen)
                for q, loss in law
            ])  # fmt: skip
    return found


@pytest.mark.parametrize("in_turn", [False, True])
def test_the_worst_conversation_is_the_best_of_all_strategies(in_turn):
    both = Concurrent((tree(0.3), tree(0.5, 0.1)), PureDP(0.9), in_turn=in_turn)
    start = both.opened(WITHOUT, EVERYONE, None)
    laws = strategies(both, start)
    assert len(laws) == (2 if in_turn else 5)
    for epsilon in (0.0, 0.25, 0.7):
        best = max(sum(p * max(0.0, -math.expm1(epsilon - x)) for p, x in law) for law in laws)
        found = worst_conversation(both, WITHOUT, EVERYONE, epsilon=epsilon).delta
        assert found.lower <= best <= found.upper
        assert found.upper - found.lower < 1e-9


@dataclass(frozen=True)
class Stream(InteractiveMechanism):
    """Randomized response on each arriving bit, of which one may differ."""

    epsilon: float

    def guarantee(self, relation=None):
        return PureDP(self.epsilon)

    def opened(self, database_0, database_1, relation):
        return 0

    def answers_to(self, state, message):
        if message.differs and state:
            raise Breach("the streams differ twice")
        kept = 1 / (1 + math.exp(-self.epsilon))
        laws = {0: (kept, 1 - kept), 1: (1 - kept, kept)}
        return finite_answers(laws[message.on_0], laws[message.on_1])

    def after(self, state, message, answer):
        return state + message.differs


def streaming(coins):
    opened = yield WITHOUT, WITHOUT, Stream(0.7)
    answer = yield opened.ask(Update(1, 1))
    yield opened.ask(Update(0, 1) if answer else Update(1, 0))
    yield opened.ask(Update(0, 0))


@pytest.mark.sampled
@pytest.mark.parametrize("method", ["plain", "tilted"])
@pytest.mark.parametrize("experiment", [0, 1])
def test_updates_are_exchanged_with_the_databases(method, experiment):
    found = estimate_rare(
        streaming, family=PureDP(0.7), rounds=4, epsilon=0.5, trials=4000, seed=2, method=method,
        experiment=experiment, confidence=0.999,
    )  # fmt: skip
    assert found.delta.lower <= exact_delta([0.7], 0.5) <= found.delta.upper
