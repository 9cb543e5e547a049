"""The states of a monotone filter on a ruler: a few states, to which every other one is moved.

The contract of ``monotone`` (:class:`~simulator.worst.own_filter.OwnFilter`) makes both ends
certain, whatever the marks: a play from a larger state is admitted no further, and from a smaller
one no less far. So moving each state up to a mark gives plays that are all admitted, and moving it
down gives every play that is admitted, and more.

The marks decide only how far the two are apart. They are placed where a round costs about the same
everywhere. A small round, repeated from the first state, gives this coordinate u: its i-th state
has u = i. Where the state is a function of a sum, as the root of the sum of squares, every option
then adds a constant to u, and the marks lie at whole units of a common measure of these constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.base import Floats
from simulator.worst.game_graph import CLOSED, GameGraph, layered_graph
from simulator.worst.own_filter import Transitions

_SMALL = 1.0 / 16.0
"""The epsilon of the small round, relative to the least one of the menu."""
_FEWEST, _MOST = 200, 20_000
"""Least and largest number of states of the small round."""
_BETWEEN = 16
"""States between two of the menu's own cheapest round, where the filter takes no smaller one."""
_CANDIDATES = 400
"""Units that are tried for a common measure."""
_TRIED = 64
"""States in which the cost of an option is measured."""
_MOST_STATES = 0.5
"""The share of these states in which the marks allow for the distance of a cost from its median."""


@dataclass(frozen=True, eq=False)
class Ruler:
    """The marks of a filter's states, ascending from the first state.

    Attributes
    ----------
    up, down : shape (marks,): the marks of plays that are certainly admitted, and of plays that
        are possibly admitted.
    """

    up: Floats
    down: Floats


def ruler_graph(
    transitions: Transitions,
    promises: Sequence[Guarantee],
    marks: Floats,
    rounds: int | None,
    *,
    up: bool,
) -> GameGraph:
    """The graph of the states at the marks, each state moved up or down to one.

    Raises InvalidInput where a round does not reach the next mark and no number of rounds ends the
    game.
    """
    kinds = list(dict.fromkeys(promises))
    after = np.full((len(marks), len(kinds)), CLOSED, dtype=np.int64)
    for column, promise in enumerate(kinds):
        for row, state in enumerate(marks.tolist()):
            reached = transitions.after(state, promise)
            if reached is None:
                break  # a larger state refuses it, too
            if up:
                place = int(np.searchsorted(marks, reached, side="left"))
                after[row, column] = place if place < len(marks) else CLOSED
            else:
                after[row, column] = int(np.searchsorted(marks, reached, side="right")) - 1
        stalled = np.flatnonzero(after[:, column] == np.arange(len(marks)))
        if stalled.size and rounds is None:
            state = float(marks[stalled[0]])
            raise InvalidInput(
                f"{promise} raises the filter's state {state!r} by less than the search resolves, "
                "or not at all, so no round is the last; give a number of rounds"
            )
    return layered_graph(after[:, [kinds.index(promise) for promise in promises]], rounds)


def ruler(
    transitions: Transitions, promises: Sequence[Guarantee], rounds: int | None, most: int
) -> Ruler:
    """The ruler of a filter, with about ``most`` marks in all rounds together."""
    kinds = list(dict.fromkeys(promises))
    states, places = _measured(transitions, kinds)
    states, places = _to_the_top(transitions, kinds, states, places)
    costs = _costs(transitions, kinds, states, places)
    length = float(places[-1])
    if not costs or length <= 0.0:
        marks = np.unique(states)
        return Ruler(marks, marks)
    parts, least = 8.0, min(float(np.median(each)) for each in costs)
    if rounds is not None and length / least > rounds:  # each count of rounds has its states
        most, parts = max(most // (rounds + 1), _FEWEST), 3.0
    wanted = min(length / most, least / parts)
    unit, mismatch = _common_measure(costs, wanted)
    counts = np.arange(math.floor(length / unit * (1.0 + 2.0 * mismatch)) + 2, dtype=np.float64)
    slack = counts * (mismatch * (1.0 + 1e-6) + 1e-11)
    ends = np.array([states[0], states[-1]])
    up = np.interp((counts + slack) * unit, places, states)
    down = np.interp((counts - slack) * unit, places, states)
    return Ruler(np.unique(np.append(up, ends)), np.unique(np.append(down, ends)))


def _measured(transitions: Transitions, kinds: Sequence[Guarantee]) -> tuple[Floats, Floats]:
    """States of a small round, and their coordinates u."""
    sizes = [kind.core.pure_epsilon for kind in kinds]
    sizes = [size for size in sizes if 0.0 < size < math.inf]
    small = _SMALL * min(sizes, default=1.0)
    for _ in range(5):
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
    """The states and coordinates with the largest state that a round leads to."""
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


def _costs(
    transitions: Transitions, kinds: Sequence[Guarantee], states: Floats, places: Floats
) -> list[Floats]:
    """What each option adds to the coordinate in some states."""
    chosen = np.unique(np.linspace(0, len(states) - 1, _TRIED).astype(int)).tolist()
    found = []
    for kind in kinds:
        spent = []
        for place in chosen:
            after = transitions.after(float(states[place]), kind)
            if after is None:
                break
            spent.append(float(np.interp(after, states, places)) - float(places[place]))
        if spent and np.median(spent) > 0.0:
            found.append(np.array(spent))
    return found


def _common_measure(costs: Sequence[Floats], wanted: float) -> tuple[float, float]:
    """A unit of at most ``wanted``, with the relative distance of most costs from whole units."""
    units = wanted * np.geomspace(0.6, 1.0, _CANDIDATES)
    middle = [float(np.median(each)) for each in costs]
    # the least cost is a whole number of units
    units = np.unique(np.append(units, min(middle) / np.ceil(min(middle) / units)))
    off = np.zeros(len(units))
    for each, cost in zip(costs, middle):
        counts = np.rint(cost / units)
        distances = np.abs(each / units[:, None] - counts[:, None]) / counts[:, None]
        off = np.maximum(off, np.quantile(distances, _MOST_STATES, axis=1))
    best = int(off.argmin())
    return float(units[best]), float(off[best])
