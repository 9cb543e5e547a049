"""The graphs of a game under a filter: of plays certainly admitted, and possibly admitted."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.data.databases import Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.filters.interface import Filter, OverMenu, Price
from simulator.theory.filters.residue import OneNumber, ResidueFilter
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.lattice import common_step
from simulator.worst.filters.sum_budgets import Budget, budget_of
from simulator.worst.game_graph import (
    GameGraph,
    budget_graph,
    chain_graph,
    explored_graph,
    require_an_end,
)
from simulator.worst.menu import Option
from simulator.worst.merged_states import merged_graph
from simulator.worst.own_filter import OwnFilter, Transitions
from simulator.worst.whole_units import Units, units_of

FEW_NODES = 50_000
FEW_SUMS = 2_000
"""Most states of a monotone filter that are kept exactly, each after every number of rounds."""
IN_LAYERS = 3
"""Of merged states there are at least ``resolution / IN_LAYERS`` after each number of rounds."""
_MARGIN = 1e-11
"""Relative rounding of a filter's own arithmetic, which depends on the order of the rounds."""


@dataclass(frozen=True)
class FilterGraphs:
    """The two graphs of a filter: of plays certainly admitted, and of plays possibly admitted."""

    certain: GameGraph
    possible: GameGraph

    @classmethod
    def of(cls, certain: GameGraph, possible: GameGraph) -> FilterGraphs:
        """The two graphs, as one object where they are equal, so that the two ends may meet."""
        if np.array_equal(certain.follow, possible.follow):
            return cls(certain, certain)
        return cls(certain, possible)


def filter_graphs(
    filter_: Filter | OwnFilter | None,
    options: Sequence[Option],
    rounds: int | None,
    resolution: int,
    relation: Relation,
    *,
    unit: float | None = None,
) -> FilterGraphs:
    """The graphs of a game.

    Parameters
    ----------
    resolution : least number of units of a budget, where costs are not on a grid of their own.
    unit : of a budget, instead of ``resolution``; then only the graph of possible plays is made.

    Raises
    ------
    InvalidInput : nothing ends the game.
    NotApplicable : the filter cannot account for an option, or reaches too many states.
    """
    if filter_ is None:
        require_rounds(rounds)
        graph = chain_graph(int(rounds or 0), len(options))
        return FilterGraphs(graph, graph)
    if not isinstance(filter_, Filter):
        return _own(filter_, options, rounds, resolution, unit)
    if filter_.observes:
        raise NotApplicable(
            f"the {filter_.name} filter depends on the realised losses, which this search does not "
            "keep; see simulator.worst.worst_realised"
        )
    if not filter_.prices_vary:
        graph = _stepped(filter_, options, rounds, relation)
        return FilterGraphs(graph, graph)
    if isinstance(filter_, ResidueFilter) and not filter_.basic:
        return _own_sum(Transitions(OneNumber(filter_)), options, rounds, resolution, unit)
    fixed = all(option.guarantee == option.least for option in options)
    if fixed and len({option.guarantee for option in options}) <= 8:
        try:
            certain = _stepped(filter_, options, rounds, relation, 1.0 + _MARGIN)
            possible = _stepped(filter_, options, rounds, relation, 1.0 - _MARGIN)
            return FilterGraphs.of(certain, possible)
        except NotApplicable:
            pass
    return _by_budget(filter_, options, rounds, resolution, unit)


def require_rounds(rounds: int | None) -> None:
    """Raise InvalidInput where ``rounds`` is None, so that the game has no end."""
    if rounds is None:
        raise InvalidInput("nothing ends the game: give a number of rounds, or a filter")


def price_of(filter_: Filter, option: Option, relation: Relation) -> Price:
    """The filter's price of an option.

    Raises NotApplicable where it cannot account for it, or for a parameter that is left free.
    """
    if option.guarantee != option.least and not filter_.prices_vary:
        raise NotApplicable(
            f"the {filter_.name} filter cannot account for a free parameter; write fixed values "
            "into the menu"
        )
    mechanism = option.challenge.mechanism
    if mechanism.guarantee(relation) == option.guarantee:
        return filter_.price_of(mechanism, relation)
    return filter_.price(option.guarantee)


def over_menu(filter_: Filter, prices: Sequence[Price], rounds: int | None) -> OverMenu:
    """The filter's step for rounds at listed prices.

    Where it would be a table that is too large, and a number of rounds ends the game, the step for
    any prices.
    """
    try:
        return filter_.over_menu(prices)
    except NotApplicable:
        if rounds is None or filter_.prices_vary:
            raise
    return OverMenu(
        lambda state, number, _: filter_.step(state, *prices[int(number)]),
        filter_.initial,
        [(float(i), 0.0) for i in range(len(prices))],
    )


def _stepped(
    filter_: Filter,
    options: Sequence[Option],
    rounds: int | None,
    relation: Relation,
    scale: float = 1.0,
) -> GameGraph:
    """The graph of the states that the filter's own step reaches.

    Where its sums round, costs are ``scale`` times the true ones.
    """
    of_options = [price_of(filter_, option, relation) for option in options]
    prices = list(dict.fromkeys(of_options))
    columns = [prices.index(price) for price in of_options]
    if filter_.rounds_up:
        prices = [(epsilon * scale, delta) for epsilon, delta in prices]
    step, initial, numbers = over_menu(filter_, prices, rounds)
    largest = [max(abs(x), 1e-300) for x in initial]
    # the step receives its own states, which are found by rounded sums
    known: dict[Hashable, tuple[float, ...]] = {}

    def rounded(state: tuple[float, ...]) -> Hashable:
        if not filter_.sums:
            known[state] = state
            return state
        top = max(*(abs(x) for x in state), *largest)
        key = tuple(float(f"{x:.11e}") if abs(x) > 1e-13 * top else 0.0 for x in state)
        known.setdefault(key, state)
        return key

    def admit(key: Any, option: int) -> Hashable | None:
        admitted, after = step(known[key], *numbers[option])
        return rounded(after) if admitted else None

    found = explored_graph(rounded(initial), len(prices), admit, rounds, FEW_NODES)
    return GameGraph(found.follow[:, columns], found.states)


def _own(
    filter_: OwnFilter,
    options: Sequence[Option],
    rounds: int | None,
    resolution: int,
    unit: float | None = None,
) -> FilterGraphs:
    transitions = Transitions(filter_)
    priced_alike = all(option.guarantee == option.least for option in options)
    try:
        if transitions.monotone:
            return _own_sum(transitions, options, rounds, resolution, unit)
        if unit is not None or not priced_alike:
            raise NotApplicable(FREE_NEEDS_A_SUM)
        found = _own_states(transitions, options, rounds, FEW_NODES)
        return FilterGraphs(found, found)
    finally:  # raises first, as a broken contract explains any other error
        transitions.check()


def _own_states(
    transitions: Transitions, options: Sequence[Option], rounds: int | None, most: int
) -> GameGraph:
    """The graph of the filter's own states, not rounded."""

    def admit(state: Any, option: int) -> Any:
        return transitions.after(state, options[option].guarantee)

    return explored_graph(transitions.initial, len(options), admit, rounds, most)


def _are_few(transitions: Transitions, options: Sequence[Option], rounds: int | None) -> bool:
    """Whether at most ``FEW_SUMS`` states are reached, whatever the number of rounds."""
    promises = dict.fromkeys(option.guarantee for option in options)
    found = last = {transitions.initial}
    for _ in range(FEW_SUMS if rounds is None else rounds):
        after = {transitions.after(state, promise) for state in last for promise in promises}
        last = after - found - {None}
        found = found | last
        if not last or len(found) > FEW_SUMS:
            break
    return len(found) <= FEW_SUMS


def _own_sum(
    transitions: Transitions,
    options: Sequence[Option],
    rounds: int | None,
    resolution: int,
    unit: float | None,
) -> FilterGraphs:
    """The graphs of a monotone filter: of its own states if these are few, else of units.

    Where its state is no sum with a unit, of merged states.
    """
    if unit is not None:
        possible = _inunits_of(transitions, options, rounds, Units(transitions.initial, unit))
        return FilterGraphs(possible, possible)
    fixed = all(option.guarantee == option.least for option in options)
    if fixed:
        few = _are_few(transitions, options, rounds)
        try:
            own = _own_states(transitions, options, rounds, FEW_NODES if few else FEW_SUMS)
            return FilterGraphs(own, own)
        except NotApplicable:
            pass
    units = units_of(transitions, options, rounds, resolution)
    if fixed and not (units.common and _adds_up(transitions, options)):
        promises = [option.guarantee for option in options]
        most = min(max(8 * resolution, resolution * (rounds or 0) // IN_LAYERS), FEW_NODES)
        return FilterGraphs.of(
            *(merged_graph(transitions, promises, rounds, most, up=up) for up in (True, False))
        )
    certain = _inunits_of(transitions, options, rounds, units, up=True)
    return FilterGraphs.of(certain, _inunits_of(transitions, options, rounds, units))


def _adds_up(transitions: Transitions, options: Sequence[Option]) -> bool:
    """Whether the options add the same to each of some states, as in a sum."""
    first = float(transitions.initial)
    promises = list(dict.fromkeys(option.guarantee for option in options))
    costs: dict[Guarantee, float] = {}
    for promise in promises:
        after = transitions.after(first, promise)
        if after is not None:
            costs[promise] = float(after) - first
    for repeated in costs:
        state = first
        for _ in range(32):
            for promise, cost in costs.items():
                after = transitions.after(state, promise)
                if after is not None and abs(after - state - cost) > 1e-9 * max(cost, 1e-300):
                    return False
            after = transitions.after(state, repeated)
            if after is None:
                break
            state = float(after)
    return True


def _inunits_of(
    transitions: Transitions,
    options: Sequence[Option],
    rounds: int | None,
    units: Units,
    *,
    up: bool = False,
) -> GameGraph:
    """The graph of states in whole units from the first one, each rounded up or down."""

    def admit(count: Any, option: int) -> int | None:
        guarantee = options[option].guarantee if up else options[option].least
        after = transitions.after(units.state(count, up), guarantee)
        return None if after is None else units.count(after, up)

    return explored_graph(0, len(options), admit, rounds, FEW_NODES)


def cost_of(filter_: Filter | OwnFilter, guarantee: Guarantee, largest: Guarantee) -> float:
    """The cost of a round in the filter's running sum; ``largest`` is the largest promise.

    Infinite where the filter refuses the round even as the first. Raises NotApplicable for a filter
    without such a sum.
    """
    if isinstance(filter_, Filter):
        return budget_of(filter_, filter_.price(largest)[0]).cost(filter_.price(guarantee)[0])
    if not getattr(filter_, "monotone", False):
        raise NotApplicable(FREE_NEEDS_A_SUM)
    after = Transitions(filter_).after(filter_.initial, guarantee)
    return math.inf if after is None else float(after) - float(filter_.initial)


FREE_NEEDS_A_SUM = (
    "a user's filter can charge for a free parameter only where its state is a number that grows; "
    "set monotone = True, or write fixed parameters into the menu"
)


def _by_budget(
    filter_: Filter,
    options: Sequence[Option],
    rounds: int | None,
    resolution: int,
    unit: float | None = None,
) -> FilterGraphs:
    """The graphs of a filter that keeps one sum: costs in whole units, rounded up and down."""
    prices = [(filter_.price(option.guarantee), filter_.price(option.least)) for option in options]
    if any(leak > 0.0 for pair in prices for _, leak in pair):
        raise NotApplicable(
            f"the {filter_.name} filter keeps a second sum for the rounds' deltas, and the menu "
            "leads to more states than can be enumerated; leave out mechanisms with a delta"
        )
    budget: Budget = budget_of(filter_, max(pair[0][0] for pair in prices))
    played = [budget.cost(pair[0][0]) for pair in prices]
    least = [budget.cost(pair[1][0]) for pair in prices]
    if rounds is None:
        require_an_end(min(least) > 0.0)
    common = common_step(np.array(played + least))
    only_possible = unit is not None
    if unit is None and common is not None and budget.possible / common <= 8 * resolution:
        unit = common
    elif unit is None:
        # a divisor of the least cost, which rounding up could otherwise double; where a number of
        # rounds ends the game, costs far below a unit need not be distinguished
        finest = budget.possible / (8 * resolution) if rounds is not None else 0.0
        cheapest = min((cost for cost in least if cost > finest), default=budget.possible)
        unit = cheapest / math.ceil(cheapest * resolution / budget.possible)
    up = [math.ceil(cost / unit * (1.0 - 1e-12) - 1e-9) for cost in played]
    down = [math.floor(cost / unit * (1.0 + 1e-12) + 1e-9) for cost in least]
    # room for costs that are whole numbers up to rounding
    possible = budget_graph(down, math.floor(budget.possible / unit + 1e-3), rounds)
    if only_possible:
        return FilterGraphs(possible, possible)
    certain = budget_graph(up, math.floor(budget.certain / unit + 1e-9), rounds)
    return FilterGraphs.of(certain, possible)
