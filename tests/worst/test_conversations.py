"""The worst conversation, in either experiment."""

import math
from dataclasses import dataclass

from simulator import Database, PureDP, counting_query
from simulator.mechanisms import (
    InteractiveMechanism,
    Node,
    ResponseTree,
    Update,
    finite_answers,
    randomized_response_tree,
)
from simulator.theory import ApproxDP
from simulator.worst import worst_conversation

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")


@dataclass(frozen=True)
class Lopsided(InteractiveMechanism):
    """One answer to one update: a fair coin where 1 arrives, else a biased one."""

    def guarantee(self, relation=None):
        return PureDP(3.0)

    def opened(self, database_0, database_1, relation):
        return 0

    def answers_to(self, state, message):
        laws = {1: (0.5, 0.5), 0: (0.1, 0.9)}
        return finite_answers(laws[message.on_0], laws[message.on_1])

    def after(self, state, message, answer):
        return 1

    def messages(self, state):
        return () if state else (Update(1, 0),)


def test_updates_are_those_of_the_experiments_in_both_of_them():
    laws = (0.5, 0.5), (0.1, 0.9)
    for experiment in (0, 1):
        p, q = laws[experiment], laws[1 - experiment]
        exact = sum(max(0.0, a - math.exp(0.2) * b) for a, b in zip(p, q))
        found = worst_conversation(Lopsided(), WITHOUT, WITHOUT, epsilon=0.2, experiment=experiment)
        assert found.delta.lower <= exact <= found.delta.upper


def test_the_longest_play_is_one_of_the_worst_adversary():
    end = Node.of({"leak": ((1.0, 0.0), (0.0, 1.0))})
    long = randomized_response_tree([0.1] * 6)
    both = Node(end.replies + long.replies)
    tree = ResponseTree(ALICE, both, ApproxDP(0.0, 0.999))
    assert worst_conversation(tree, WITHOUT, EVERYONE, epsilon=0.5).longest == 1
