"""The graph of a game: a node for each state between two rounds, an edge for each option.

A state is the number of rounds played, or the state of a filter. Each option that is open in a node
leads to one node. No play reaches a node twice, so nodes are sorted with the start last: successors
have smaller indices.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simulator.foundations.errors import InvalidInput, NotApplicable

CLOSED = -1
"""In place of a node for an option that is not open."""
MOST_NODES = 200_000

Admit = Callable[[Any, int], Hashable | None]
"""``admit(state, option)`` returns the next state, or None where the option is refused."""


@dataclass(frozen=True)
class GameGraph:
    """The nodes of a game.

    Attributes
    ----------
    follow : int32, shape (nodes, options): the node after an option, always of a smaller index, or
        CLOSED. The last node is the start.
    states : the filter's state in each node, where it is known.
    """

    follow: np.ndarray
    states: tuple[Any, ...] = ()

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.follow)

    @property
    def start(self) -> int:
        """The node before the first round."""
        return self.nodes - 1

    @cached_property
    def depth(self) -> np.ndarray:
        """The largest number of rounds still open in each node, shape (nodes,)."""
        depth: list[int] = []
        for row in self.rows:
            depth.append(max([depth[after] for after in row if after >= 0], default=-1) + 1)
        return np.array(depth, dtype=np.int64)

    @cached_property
    def rows(self) -> list[list[int]]:
        """The rows of ``follow`` as lists, which are faster one by one."""
        return self.follow.tolist()

    @property
    def uses(self) -> np.ndarray:
        """The number of options that lead to each node, shape (nodes,)."""
        return np.bincount(self.follow[self.follow >= 0], minlength=self.nodes)


def chain_graph(rounds: int, options: int) -> GameGraph:
    """Return the graph in which every option is open in each of ``rounds`` rounds."""
    require_nodes(rounds + 1)
    follow = np.repeat(np.arange(-1, rounds, dtype=np.int32)[:, None], options, axis=1)
    return GameGraph(follow)


def budget_graph(costs: Sequence[int], capacity: int, rounds: int | None = None) -> GameGraph:
    """Return the graph of options that cost whole units of a budget, in at most ``rounds`` rounds.

    Raises InvalidInput where an option costs nothing and no number of rounds ends the game.
    """
    prices = np.array(costs, dtype=np.int64)
    if rounds is not None and rounds >= capacity // max(int(prices.min()), 1):
        rounds = None if prices.min() > 0 else rounds
    if rounds is None:
        require_an_end(prices.min() > 0)
    width = capacity + 1
    require_nodes(width * (1 if rounds is None else rounds + 1))
    left = np.arange(width)[:, None] - prices
    layer = np.where(left >= 0, left, CLOSED)
    if rounds is None:
        return GameGraph(layer.astype(np.int32))
    layers = [np.full_like(layer, CLOSED)]
    layers += [np.where(layer >= 0, layer + i * width, CLOSED) for i in range(rounds)]
    return GameGraph(np.concatenate(layers).astype(np.int32))


def graph_of_states(after: np.ndarray) -> GameGraph:
    """Return the graph of numbered states, of which the first one is the start.

    ``after``, shape (states, options), is the state after an option, with a larger number, or
    CLOSED.
    """
    require_nodes(len(after))
    return GameGraph(np.where(after >= 0, len(after) - 1 - after, CLOSED)[::-1].astype(np.int32))


def graph_of_layers(layers: Sequence[np.ndarray]) -> GameGraph:
    """Return the graph of the states after 0, 1, ... rounds; there is one after 0 rounds.

    Each layer, shape (states, options), has the number of the state in the next layer, or CLOSED.
    """
    sizes = [len(layer) for layer in layers]
    require_nodes(sum(sizes))
    firsts = np.cumsum([0, *reversed(sizes)])[: len(sizes)][::-1]
    rows = [
        np.where(layer >= 0, layer + after, CLOSED)
        for layer, after in zip(layers, [*firsts[1:], 0])
    ]
    return GameGraph(np.concatenate(rows[::-1]).astype(np.int32))


def require_an_end(ends: bool) -> None:
    """Raise InvalidInput unless the game ends."""
    if not ends:
        raise InvalidInput(
            "the filter admits some mechanism without end (a round costs nothing, or less than the "
            "search resolves), so no round is the last; give a number of rounds"
        )


def require_nodes(nodes: int, most: int = MOST_NODES) -> None:
    """Raise NotApplicable where there are too many nodes."""
    if nodes > most:
        raise NotApplicable(
            f"the game has more than {most} states; take fewer rounds, fewer mechanisms, or "
            "a smaller budget"
        )


def explored_graph(
    initial: Hashable,
    options: int,
    admit: Admit,
    rounds: int | None = None,
    most: int = MOST_NODES,
) -> GameGraph:
    """Return the graph of every state that a filter reaches, by trying all options in each.

    With ``rounds`` a state after different numbers of rounds is several nodes, unless the filter
    ends the game earlier. Raises InvalidInput where a state is reached again (the filter would
    admit without end), and NotApplicable where there are too many.
    """
    if rounds is not None:
        try:
            without = _explored_graph(initial, options, admit, most, farthest=rounds)
            if without.depth[without.start] <= rounds:
                return without
        except (InvalidInput, NotApplicable):
            pass
        found = _explored_graph((0, initial), options, _counted(admit, rounds), most)
        return GameGraph(found.follow, tuple(inner for _, inner in found.states))
    return _explored_graph(initial, options, admit, most)


def _counted(admit: Admit, rounds: int) -> Admit:
    def within(state: Any, option: int) -> Hashable | None:
        played, inner = state
        if played == rounds:
            return None
        after = admit(inner, option)
        return None if after is None else (played + 1, after)

    return within


def _explored_graph(
    initial: Hashable, options: int, admit: Admit, most: int, farthest: int | None = None
) -> GameGraph:
    """The graph; raises NotApplicable for a state that takes more than ``farthest`` rounds, too."""
    places: dict[Hashable, int] = {initial: 0}
    states: list[Hashable] = [initial]
    distance = [0]
    successors: list[list[int]] = []
    while len(successors) < len(states):
        row = []
        for option in range(options):
            after = admit(states[len(successors)], option)
            if after is None:
                row.append(CLOSED)
                continue
            if after not in places:
                places[after] = len(states)
                states.append(after)
                distance.append(distance[len(successors)] + 1)
                require_nodes(len(states), most)
                if farthest is not None and distance[-1] > farthest:
                    raise NotApplicable("the filter admits more rounds than the game has")
            row.append(places[after])
        successors.append(row)
    order = _sorted(successors)
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    rank[CLOSED] = CLOSED
    follow = rank[np.array([successors[node] for node in order], dtype=np.int64)]
    return GameGraph(follow, tuple(states[node] for node in order))


def _sorted(successors: list[list[int]]) -> list[int]:
    """The states sorted with successors first; the initial one is the last."""
    order: list[int] = []
    status = [0] * len(successors)  # 1 while on the path from the initial state, 2 when placed
    stack = [(0, iter(successors[0]))]
    status[0] = 1
    while stack:
        node, rest = stack[-1]
        for after in rest:
            if after == CLOSED or status[after] == 2:
                continue
            require_an_end(status[after] == 0)
            status[after] = 1
            stack.append((after, iter(successors[after])))
            break
        else:
            stack.pop()
            status[node] = 2
            order.append(node)
    return order
