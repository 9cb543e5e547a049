"""Random interactive mechanisms with small trees, which keep a pure epsilon exactly."""

from __future__ import annotations

import math

import numpy as np

from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.mechanisms import Concurrent, Node, ResponseTree, randomized_response_tree
from simulator.theory.guarantees.pure import ApproxDP, PureDP

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")


def random_tree(
    coins: np.random.Generator,
    epsilon: float,
    *,
    depth: int = 2,
    delta: float = 0.0,
    sparing: bool | None = None,
) -> ResponseTree:
    """A tree of one to three messages a node, two answers each; every path loses at most epsilon.

    A ``sparing`` tree keeps some of it for later messages, so that there is something to choose
    there; two random trees of three are sparing, and the others tend to spend all at once. With
    ``delta`` the first answer gives the bit away with that probability.
    """
    if sparing is None:
        sparing = bool(coins.random() < 2 / 3)
    return _tree(_node(coins, -epsilon, epsilon, depth, sparing), epsilon, delta)


def response_tree(epsilon: float, delta: float = 0.0) -> ResponseTree:
    """One randomized response that gives the bit away with probability delta."""
    return _tree(randomized_response_tree([epsilon]), epsilon, delta)


def _tree(root: Node, epsilon: float, delta: float) -> ResponseTree:
    if delta == 0.0:
        return ResponseTree(ALICE, root, PureDP(epsilon))
    replies = {
        message: (
            (*((1.0 - delta) * p for p in on_0), delta, 0.0),
            (*((1.0 - delta) * p for p in on_1), 0.0, delta),
            (*after, None, None),
        )
        for message, on_0, on_1, after in root.replies
    }
    return ResponseTree(ALICE, Node.of(replies), ApproxDP(epsilon, delta))


def together(parts: tuple[ResponseTree, ...], *, in_turn: bool = False) -> Concurrent:
    """The parts, open at once, for a search: the guarantee is a placeholder."""
    return Concurrent(parts, ApproxDP(100.0, 0.5), in_turn=in_turn)


def _node(coins: np.random.Generator, low: float, high: float, depth: int, sparing: bool) -> Node:
    replies = {}
    for message in range(int(coins.integers(1, 4))):
        gain, loss = _share(coins, sparing) * high, _share(coins, sparing) * -low
        on_0 = math.expm1(-loss) / math.expm1(-gain - loss)
        on_1 = on_0 * math.exp(-gain)
        after: list[Node | None] = [None, None]
        if depth > 1:
            for answer, lost in enumerate((gain, -loss)):
                if low - lost < -1e-3 and high - lost > 1e-3:
                    after[answer] = _node(coins, low - lost, high - lost, depth - 1, sparing)
        replies[message] = ((on_0, 1.0 - on_0), (on_1, 1.0 - on_1), after)
    return Node.of(replies)


def _share(coins: np.random.Generator, sparing: bool) -> float:
    """How much of what is left is spent."""
    if sparing:
        return float(coins.uniform(0.1, 0.5))
    return 1.0 if coins.random() < 1 / 3 else float(coins.uniform(0.05, 1.0))
