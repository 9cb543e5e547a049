"""The graph of a monotone filter's states, merged where they are many.

The contract of ``monotone`` (:class:`~simulator.worst.own_filter.OwnFilter`) makes both ends
certain, whichever states are merged: a play from a larger state is admitted no further, and from a
smaller one no less far. So where several states are merged into the largest of them all plays are
admitted, and merged into the smallest they contain every play that is admitted, and more.

Which states are merged decides only how far the ends are apart. States that are equal but for
rounding, as those after the same rounds in another order, are merged for nothing. Beyond these, the
distance of two states is counted in small equal rounds: the state after i small rounds has the
place i. In the state after a number of rounds, the states that move least are merged (Ward 1963,
with distances in place of squares). Where the filter ends the game, and not a number of rounds,
states are taken in ascending order, with all that lie within a window beyond the least one.

Merging by distance moves a play in every round. Merging what the same rounds lead to in any order
moves it no further than the order matters, however many rounds there are. It takes more states: so
where a number of rounds ends the game, the graph is of counts at the one resolution at which that
is about to become the larger one.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.base import Floats
from simulator.worst.game_graph import (
    CLOSED,
    MOST_NODES,
    GameGraph,
    graph_of_layers,
    graph_of_states,
    require_nodes,
)
from simulator.worst.own_filter import Transitions

_SMALL = 1.0 / 16.0
"""The epsilon of the small round, relative to the least one of the menu."""
_FEWEST, _MOST = 200, 2_000
"""Least and largest number of states of the small round."""
_BETWEEN = 16
"""States between two of the menu's own cheapest round, where the filter takes no smaller one."""
_TRIED = 64
"""Most rounds by which the places are continued at their upper end."""
_SAME = 1e-10
"""States this near each other, relative to all places, are merged in any case."""
_FEWEST_IN_LAYER = 16
_MORE_COUNTS = 4
"""How many times as many states a graph of counts may have."""
_NARROWER = 3
"""How often a narrower window is tried, where few states are left."""


@dataclass(frozen=True, eq=False)
class Places:
    """The places of states: at each of ``states``, ascending, and linear between them."""

    states: Floats
    places: Floats

    @property
    def length(self) -> float:
        """From the first place to the last one."""
        return float(self.places[-1] - self.places[0])

    def of(self, states: Floats) -> Floats:
        """The places of some states."""
        return np.interp(states, self.states, self.places)


def merged_graph(
    transitions: Transitions,
    promises: Sequence[Guarantee],
    rounds: int | None,
    most: int,
    *,
    up: bool,
) -> GameGraph:
    """The graph of about ``most`` states, merged into the largest ones (``up``) or the smallest.

    Raises
    ------
    InvalidInput : a round does not raise the state, and no number of rounds ends the game.
    NotApplicable : there are too many states.
    """
    kinds = list(dict.fromkeys(promises))
    places = _places(transitions, kinds)
    columns = [kinds.index(promise) for promise in promises]
    if rounds is None:
        return graph_of_states(_by_windows(transitions, kinds, places, most, up)[:, columns])
    if _longest(transitions, kinds, rounds + 1) <= rounds:
        with suppress(InvalidInput):  # a round may stall where a number of rounds ends the game
            found = _by_windows(transitions, kinds, places, most, up)
            graph = graph_of_states(found[:, columns])
            if graph.depth[graph.start] <= rounds:
                return graph
    counts, layers = _how_many_counts(transitions, kinds, places, rounds), None
    if counts / _MORE_COUNTS <= most < 2.0 * counts / _MORE_COUNTS:
        with suppress(NotApplicable):
            layers = layers_by_counts(transitions, kinds, rounds, _MORE_COUNTS * most, up=up)
    if layers is None:
        layers = _in_layers(transitions, kinds, places, most, rounds, up=up)
    return graph_of_layers([layer[:, columns] for layer in layers])


def _longest(transitions: Transitions, kinds: Sequence[Guarantee], most: int) -> int:
    """The largest number of rounds of one kind that are admitted, up to ``most``."""
    longest = 0
    for kind in kinds:
        state, count = transitions.initial, 0
        while count < most and (state := transitions.after(state, kind)) is not None:
            count += 1
        longest = max(longest, count)
    return longest


def _how_many_counts(
    transitions: Transitions, kinds: Sequence[Guarantee], places: Places, rounds: int
) -> float:
    """About in how many ways each kind may be played how often: costs as in the first round."""
    first = float(transitions.initial)
    after = [transitions.after(first, kind) for kind in kinds]
    reached = places.of(np.array([a for a in after if a is not None])) - places.places[0]
    steps = np.rint(reached / max(places.length, 1e-300) * _MOST).astype(np.int64)
    if not steps.size or steps.min() < 1:
        return math.inf
    most = min(_MOST // int(steps.min()), rounds)
    ways = np.zeros((most + 1, _MOST + 1))  # after a number of rounds, at a number of steps
    ways[0, 0] = 1.0
    for step in steps.tolist():
        for played in range(most):
            ways[played + 1, step:] += ways[played, : _MOST + 1 - step]
    return float(ways.sum())


def layers_by_counts(
    transitions: Transitions,
    kinds: Sequence[Guarantee],
    rounds: int,
    most: int,
    *,
    up: bool,
) -> list[np.ndarray]:
    """As :func:`_in_layers`, a state for each number of rounds of each kind.

    It is the largest state (``up``), or the smallest, that these rounds lead to in any order.
    """
    base = 1 << (62 // len(kinds))
    states, counts = np.array([float(transitions.initial)]), np.zeros(1, dtype=np.int64)
    one_more = np.array([base**i for i in range(len(kinds))], dtype=np.int64)
    layers: list[np.ndarray] = []
    used, extreme = 1, np.maximum if up else np.minimum
    if rounds >= base:
        raise NotApplicable("there are too many rounds to count")
    for _ in range(rounds):
        rows = [[transitions.after(state, kind) for kind in kinds] for state in states.tolist()]
        after = np.array(rows, dtype=np.float64)  # a refusal is nan
        admitted = ~np.isnan(after)
        if not admitted.any():
            break
        counts, where = np.unique((counts[:, None] + one_more)[admitted], return_inverse=True)
        states = np.full(len(counts), -math.inf if up else math.inf)
        extreme.at(states, where, after[admitted])
        layer = np.full(after.shape, CLOSED)
        layer[admitted] = where
        layers.append(layer)
        used += len(states)
        require_nodes(used, most)
    return [*layers, np.full((len(states), len(kinds)), CLOSED)]


def _by_windows(
    transitions: Transitions, kinds: Sequence[Guarantee], places: Places, most: int, up: bool
) -> np.ndarray:
    """The state after each kind of round, shape (states, kinds), in ascending order of states."""
    width = places.length / most
    found = _windowed(transitions, kinds, places, width, MOST_NODES, up=up)
    for _ in range(_NARROWER):
        if 2 * len(found) > most:
            break
        width *= len(found) / most
        try:
            found = _windowed(transitions, kinds, places, width, most, up=up)
        except NotApplicable:
            break
    return found


def _windowed(
    transitions: Transitions,
    kinds: Sequence[Guarantee],
    places: Places,
    width: float,
    most: int,
    *,
    up: bool,
) -> np.ndarray:
    """As :func:`_by_windows`, by windows of a width; raises NotApplicable for too many."""
    first = float(transitions.initial)
    # a state's window; CLOSED while it waits
    waiting, window = [(float(places.of(np.array(first))), first)], {first: CLOSED}
    rows: list[list[float | None]] = []
    end = width + _SAME * places.length
    while waiting:
        begin, state = heapq.heappop(waiting)
        window[state] = len(rows)
        row = [] if up else _raised(transitions, kinds, state)
        # merged down, a state leads to no state of its own window
        limit = min((after for after in row if after is not None), default=math.inf)
        while waiting and waiting[0][0] <= begin + end and waiting[0][1] < limit:
            _, other = heapq.heappop(waiting)
            window[other] = len(rows)
            state = other if up else state
        row = row or _raised(transitions, kinds, state)
        fresh = [after for after in dict.fromkeys(row) if after is not None and after not in window]
        for place, after in zip(places.of(np.array(fresh, dtype=np.float64)).tolist(), fresh):
            window[after] = CLOSED
            heapq.heappush(waiting, (place, after))
        rows.append(row)
        require_nodes(len(rows), most)
    return np.array([[CLOSED if a is None else window[a] for a in row] for row in rows])


def _raised(
    transitions: Transitions, kinds: Sequence[Guarantee], state: float
) -> list[float | None]:
    """The state after each kind of round; raises InvalidInput where it is not a larger one."""
    row = [transitions.after(state, kind) for kind in kinds]
    for kind, after in zip(kinds, row):
        if after is not None and not after > state:
            raise InvalidInput(
                f"{kind} raises the filter's state {state!r} by less than the search resolves, "
                "or not at all, so no round is the last; give a number of rounds"
            )
    return row


def _in_layers(
    transitions: Transitions,
    kinds: Sequence[Guarantee],
    places: Places,
    most: int,
    rounds: int,
    *,
    up: bool,
) -> list[np.ndarray]:
    """The state after each kind of round, shape (states, kinds), after 0, 1, ... rounds."""
    layer, layers, used = np.array([float(transitions.initial)]), [], 1
    for played in range(rounds):
        rows = [[transitions.after(state, kind) for kind in kinds] for state in layer.tolist()]
        after = np.array(rows, dtype=np.float64)  # a refusal is nan
        admitted = ~np.isnan(after)
        reached = np.unique(after[admitted])
        if not reached.size:
            break
        fair = max((most - used) // (rounds - played), _FEWEST_IN_LAYER)
        begins = _merged(places.of(reached), fair, _SAME * places.length, up)
        group = np.cumsum(begins) - 1
        where = np.searchsorted(reached, np.where(admitted, after, reached[0]))
        layers.append(np.where(admitted, group[where], CLOSED))
        ends = np.append(np.flatnonzero(begins)[1:], len(reached)) - 1
        layer = reached[ends if up else begins]
        used += len(layer)
        require_nodes(used)
    return [*layers, np.full((len(layer), len(kinds)), CLOSED)]


def _merged(places: Floats, most: int, same: float, up: bool) -> np.ndarray:
    """Which of some ascending places begin a group, of ``most`` groups.

    Two neighbours are merged, again and again, whose places move least in total; those nearer than
    ``same`` at once.
    """
    begins = np.append(True, np.diff(places) > same)
    first = np.flatnonzero(begins)
    groups = len(first)
    if groups <= most:
        return begins
    ends = np.append(first[1:], len(places))
    size = (ends - first).tolist()
    # where a group moves to: its largest place (up), or its smallest
    target = places[ends - 1 if up else first].tolist()
    after, before = list(range(1, groups + 1)), list(range(-1, groups - 1))
    version = [0] * groups

    def offer(left: int) -> tuple[float, int, int, int]:
        right = after[left]
        moved = (size[left] if up else size[right]) * (target[right] - target[left])
        return moved, left, version[left], version[right]

    offers = [offer(left) for left in range(groups - 1)]
    heapq.heapify(offers)
    while groups > most:
        _, left, *versions = heapq.heappop(offers)
        right = after[left] if version[left] >= 0 else CLOSED
        if not 0 <= right < len(size) or versions != [version[left], version[right]]:
            continue
        begins[first[right]] = False
        size[left] += size[right]
        target[left] = target[right] if up else target[left]
        after[left], version[left], version[right] = after[right], version[left] + 1, -1
        if after[left] < len(size):
            before[after[left]] = left
            heapq.heappush(offers, offer(left))
        if before[left] >= 0:
            heapq.heappush(offers, offer(before[left]))
        groups -= 1
    return begins


def _places(transitions: Transitions, kinds: Sequence[Guarantee]) -> Places:
    """The places of a filter's states, up to the largest one that is known to be reached."""
    states, places = _to_the_top(transitions, kinds, *_measured(transitions, kinds))
    return Places(states, places)


def _measured(transitions: Transitions, kinds: Sequence[Guarantee]) -> tuple[Floats, Floats]:
    """States of a small round, and their places."""
    sizes = [kind.core.pure_epsilon for kind in kinds]
    sizes = [size for size in sizes if 0.0 < size < math.inf]
    small = _SMALL * min(sizes, default=1.0)
    for _ in range(8):
        try:
            found = _repeated(transitions, PureDP(small), [float(transitions.initial)])
        except Exception:
            break
        if found is not None:
            if len(found) >= _FEWEST:
                return np.array(found), np.arange(float(len(found)))
            break
        small *= 2.0
    first = float(transitions.initial)
    costs = {kind: transitions.after(first, kind) for kind in kinds}
    rising = {kind: after for kind, after in costs.items() if after is not None and after > first}
    if not rising:
        return np.array([first]), np.zeros(1)
    cheapest = min(rising, key=lambda kind: rising[kind])
    between = np.linspace(first, rising[cheapest], _BETWEEN, endpoint=False).tolist()
    found = _repeated(transitions, cheapest, between) or between
    states, unique = np.unique(np.maximum.accumulate(found), return_index=True)
    return states, unique / float(_BETWEEN)


def _repeated(
    transitions: Transitions, promise: Guarantee, first: list[float]
) -> list[float] | None:
    """The states of a repeated round from each of the first ones; None for too many."""
    found = list(first)
    for place in range(_MOST):
        after = transitions.after(found[place], promise)
        if after is None or not after > found[place]:
            return found
        found.append(float(after))
    return None


def _to_the_top(
    transitions: Transitions, kinds: Sequence[Guarantee], states: Floats, places: Floats
) -> tuple[Floats, Floats]:
    """The states and places with the largest state that a round leads to."""
    slope = (
        float(places[-1] - places[0]) / float(states[-1] - states[0]) if len(states) > 1 else 1.0
    )
    if len(states) > 16:
        slope = float(places[-1] - places[-9]) / float(states[-1] - states[-9])
    last = states.tolist()[-_FEWEST:]
    for _ in range(_TRIED):
        beyond = [
            float(after)
            for state in last
            for kind in kinds
            if (after := transitions.after(state, kind)) is not None and after > states[-1]
        ]
        if not beyond:
            break
        last = sorted({min(beyond), max(beyond)})
        places = np.append(places, places[-1] + slope * (np.array(last) - states[-1]))
        states = np.append(states, last)
    return states, places
