"""The worst non-adaptive adversary, and the composition of the dominating pairs.

The first is never above the worst adaptive adversary. The second is never below it, where there is
no filter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from simulator.data.databases import Relation
from simulator.foundations.errors import NotApplicable
from simulator.theory.bounds.bounded_range import non_adaptive_ends
from simulator.theory.bracket import Bracket
from simulator.theory.filters.interface import Filter
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT
from simulator.theory.pld.distribution import compose_laws
from simulator.worst.filter_graphs import over_menu, price_of
from simulator.worst.game_graph import CLOSED, GameGraph, chain_graph, explored_graph
from simulator.worst.grid import Grid, Layout, NearestLayout
from simulator.worst.grid_pass import loss_error_of
from simulator.worst.menu import BoundedRangeEntry, Entry, FixedEntry, FreeEntry, Option
from simulator.worst.own_filter import OwnFilter, Transitions
from simulator.worst.recursion import (
    Values,
    is_exact,
    lower_rounding,
    lower_sweep,
    lower_values,
    upper_rounding,
    upper_sweep,
    upper_values,
)

MOST_VECTORS = 20_000
MOST_NUMBERS = 1e8
MOST_PRODUCTS = 2e9
MOST_PLACES = 5_000
"""Limits of the dominating pair's composition: products on its grid, and points of the pair."""
SMALLEST, LARGEST = 1e-6, 700.0
"""Range of its largest loss: the former is rounded up to this, the latter counts as infinite."""


def best_non_adaptive(
    menu: Sequence[Entry],
    rounds: int | None,
    filter_: Filter | OwnFilter | None,
    epsilon: float,
    *,
    relation: Relation,
    options: Sequence[Option],
    layouts: Sequence[Layout],
    near: Sequence[NearestLayout],
    grid: Grid,
) -> Bracket:
    """Bracket of the largest delta(epsilon) over all choices fixed in advance.

    The order does not matter, so a choice is a number of rounds for each option. Raises
    NotApplicable where the choices are too many, or not finitely many.
    """
    if len(menu) == 1 and isinstance(menu[0], BoundedRangeEntry) and filter_ is None:
        return non_adaptive_ends(menu[0].width, int(rounds or 0), epsilon)
    if filter_ is None:
        best = dominant_entry(menu)
        if best is not None:
            place = [i for i, option in enumerate(options) if option.entry == best][-1]
            graph = chain_graph(int(rounds or 0), 1)
            return _ends(graph, grid, [layouts[place]], [near[place]], epsilon)
    if not all(isinstance(entry, FixedEntry) for entry in menu):
        raise NotApplicable("the best non-adaptive choice is not searched for free parameters")
    graph = _counted(options, rounds, filter_, relation)
    if graph.nodes * float(grid.points) > MOST_NUMBERS:
        raise NotApplicable(
            f"there are {graph.nodes} ways to fix the choices in advance, too many to try"
        )
    ordered = _composed_once(graph, len(options))
    error = loss_error_of(graph, layouts)
    rounding = upper_rounding(ordered, layouts)
    upper = lower = 0.0
    exact = is_exact(graph, layouts, grid)
    for value in upper_sweep(ordered, grid, layouts):
        found = Values(grid, value, None, rounding)
        upper = max(upper, found.upper(epsilon, error))
        if exact:
            lower = max(lower, found.lower(epsilon, error))
    if not exact:
        rounding = lower_rounding(ordered, near)
        for value, won in lower_sweep(ordered, grid, near):
            lower = max(lower, Values(grid, value, won, rounding).lower(epsilon))
    return Bracket(min(lower, upper), upper)


def dominant_entry(menu: Sequence[Entry]) -> int | None:
    """The index of the entry that dominates every other one; None where none is known to.

    It is a single entry, or the largest of several mechanisms of one kind.
    """
    if any(isinstance(entry, BoundedRangeEntry) for entry in menu):
        return None
    if len(menu) == 1:
        return 0
    kinds = {entry.name.partition(":")[0] for entry in menu}
    named = all(entry.name.count(":") == 1 and "," not in entry.name for entry in menu)
    if len(kinds) > 1 or not named:
        return None
    promises = [entry.guarantee for entry in menu]
    if all(isinstance(promise, PureDP) for promise in promises):
        return int(np.argmax([promise.pure_epsilon for promise in promises]))
    if all(isinstance(promise, GaussianDP) for promise in promises):
        return int(np.argmax([promise.gdp_mu for promise in promises]))
    return None


def _counted(
    options: Sequence[Option],
    rounds: int | None,
    filter_: Filter | OwnFilter | None,
    relation: Relation,
) -> GameGraph:
    """The graph of the counts of options chosen, in any admitted order."""
    step: Callable[[Any, int], tuple[bool, Any]]
    initial: Any = ()
    if filter_ is None:
        step = lambda state, option: (True, state)  # noqa: E731
    elif isinstance(filter_, Filter):
        prices = [price_of(filter_, option, relation) for option in options]
        rule, initial, numbers = over_menu(filter_, prices, rounds)
        step = lambda state, option: rule(state, *numbers[option])  # noqa: E731
    else:
        transitions = Transitions(filter_)
        if not transitions.monotone:
            return _in_every_order(transitions, options, rounds)
        initial = transitions.initial

        def step(state: Any, option: int) -> tuple[bool, Any]:
            after = transitions.after(state, options[option].guarantee)
            return after is not None, after

    origin = (0,) * len(options)
    spent: dict[Hashable, Any] = {origin: initial}

    def admit(counts: Any, option: int) -> Hashable | None:
        admitted, state = step(spent[counts], option)
        if not admitted:
            return None
        after = (*counts[:option], counts[option] + 1, *counts[option + 1 :])
        if after not in spent or state < spent[after]:  # the order that spends least
            spent[after] = state
        return after

    return explored_graph(origin, len(options), admit, rounds, MOST_VECTORS)


def _in_every_order(
    transitions: Transitions, options: Sequence[Option], rounds: int | None
) -> GameGraph:
    """The graph of the counts of options chosen, where the filter's state depends on the order."""

    def admit(place: Any, option: int) -> Hashable | None:
        counts, state = place
        after = transitions.after(state, options[option].guarantee)
        if after is None:
            return None
        return (*counts[:option], counts[option] + 1, *counts[option + 1 :]), after

    origin = (0,) * len(options)
    found = explored_graph((origin, transitions.initial), len(options), admit, rounds, MOST_VECTORS)
    return GameGraph(found.follow, tuple(counts for counts, _ in found.states))


def _ends(
    graph: GameGraph,
    grid: Grid,
    layouts: Sequence[Layout],
    near: Sequence[NearestLayout],
    epsilon: float,
) -> Bracket:
    upper = upper_values(graph, grid, layouts)
    error = loss_error_of(graph, layouts)
    exact = is_exact(graph, layouts, grid)
    lower = upper if exact else lower_values(graph, grid, near, keep_table=False)
    ends = lower.lower(epsilon, error if exact else 0.0), upper.upper(epsilon, error)
    return Bracket(min(ends), ends[1])


def _composed_once(graph: GameGraph, options: int) -> GameGraph:
    """Return the graph of the count vectors of a graph's nodes, each composed in one order."""
    vectors: list[tuple[int, ...]] = sorted(set(graph.states), key=sum)
    place = {vector: node for node, vector in enumerate(vectors)}
    follow = np.full((len(vectors), options), CLOSED, dtype=np.int32)
    for vector, node in place.items():
        for option in np.flatnonzero(vector).tolist():
            before = (*vector[:option], vector[option] - 1, *vector[option + 1 :])
            if before in place:  # some order admits it
                follow[node, option] = place[before]
                break
    return GameGraph(follow)


def dominating_delta(
    menu: Sequence[Entry], rounds: int, epsilon: float, step: float, experiment: int
) -> float:
    """An upper bound: delta(epsilon) of the composed pair that dominates every entry.

    The largest hockey-stick curve of one round is convex in e^epsilon, so it is that of a pair.
    Connecting its points on a grid only raises it.
    """
    best = dominant_entry(menu)
    if best is not None:
        return composed_delta(menu[best], rounds, epsilon, experiment)
    curves = [_curve(entry, experiment) for entry in menu]
    top = max(max(entry.lengths, default=0.0) for entry in menu)
    unbounded = any(isinstance(e, FixedEntry) and not math.isfinite(e.law.support[1]) for e in menu)
    if unbounded:
        while max(curve(top) for curve in curves) > 1e-20 + max(curve(1e9) for curve in curves):
            top = 1.25 * top + step
    # a coarser grid only raises it
    top = min(max(top, SMALLEST), LARGEST)
    far = min(rounds, 40.0) + (min(epsilon, rounds * top) + 40.0) / top
    step = max(step, top / MOST_PLACES, top * math.sqrt(2 * rounds * far / MOST_PRODUCTS))
    most = min(math.ceil(top / step) + 1, math.floor(LARGEST / step))
    places = np.arange(-most, most + 1)
    x = np.exp(places * step)
    heights = np.array([max(curve(place * step) for curve in curves) for place in places])
    layout = connected_law(int(places[0]), x, heights)
    reach = rounds * int(places[-1])
    left = min(reach, round(epsilon / step) + math.ceil(40 * top / step))
    right = min(reach, math.ceil(40.0 / step))
    shift = -epsilon + round(epsilon / step) * step
    grid = Grid(step, -left - 2, left + right + 5, shift)
    return upper_values(chain_graph(rounds, 1), grid, [layout]).upper(epsilon)


def composed_delta(entry: Entry, rounds: int, epsilon: float, experiment: int) -> float:
    """Return an upper end of delta(epsilon) of ``rounds`` rounds of an entry's worst option."""
    law = entry.law if isinstance(entry, FixedEntry) else entry.options(0, 1e9)[-1].law
    law = law.reversed() if experiment else law
    return compose_laws([(law, rounds)]).delta(epsilon).upper


def _curve(entry: Entry, experiment: int):  # type: ignore[no-untyped-def]
    if isinstance(entry, FixedEntry):
        return (entry.law.reversed() if experiment else entry.law).delta
    if isinstance(entry, FreeEntry):
        law = entry.options(0, 1e9)[-1].law
        return (law.reversed() if experiment else law).delta
    return entry.guarantee.hockey_stick


def connected_law(first: int, x: Floats, heights: Floats) -> Layout:
    """The law on the grid whose hockey-stick curve connects the points (x, height), x = e^loss.

    Minus the slope from a point on is the mass in experiment 1 of the losses beyond it.
    """
    slopes = np.diff(heights) / np.diff(x)
    under1 = np.clip(np.diff(np.concatenate(([-1.0], slopes, [0.0]))), 0.0, None)
    weights = under1 * x
    infinite = float(heights[-1])
    scale = (1.0 - infinite) / weights.sum()
    # to the left of the points the slope is -1, so the sum may be above 1 and is not lowered
    weights = weights * min(max(scale, 1.0), 1.0 + 1e-9)
    return Layout(first, weights, infinite, weight_error=(64 + len(x)) * UNIT)
