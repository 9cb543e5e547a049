"""What a filter lets an adversary ask, as the nodes of a game."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from simulator.data.databases import Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.filters.families import Filter
from simulator.theory.filters.running_sums import Budget, budget_of
from simulator.theory.guarantees.families import Guarantee
from simulator.theory.outward import UNIT
from simulator.theory.pld.loss_lattice import common_step
from simulator.worst.menu import Option
from simulator.worst.nodes import Arena, budgeted, chain, explored, require_an_end

FEW_NODES = 50_000
FEW_SUMS = 2_000
"""Sums in one order or another that are told apart to the last bit, where no more are reached."""
_MARGIN = 1e-11
"""Relative: rounding of a filter's own arithmetic, which depends on the order of the rounds."""


@runtime_checkable
class OwnFilter(Protocol):
    """A filter of a user's: a state that starts at ``initial``, and a rule.

    ``admit(state, guarantee)`` returns whether a round with that guarantee may run, and the state
    after it. States are hashable, and finitely many are ever reached; or a state is one number that
    grows as budget is spent, which the attribute ``monotone = True`` states: a larger state never
    admits what a smaller one refuses.
    """

    @property
    def initial(self) -> Any:
        """The state before the first round."""

    def admit(self, state: Any, guarantee: Guarantee) -> tuple[bool, Any]:
        """Whether the round may run, and the state after it."""


@dataclass(frozen=True)
class Gate:
    """The two arenas of a filter: what it certainly admits, and what it may admit."""

    certain: Arena
    possible: Arena

    @classmethod
    def of(cls, certain: Arena, possible: Arena) -> Gate:
        """The two arenas, which are one where they are equal: then the two ends may meet."""
        if np.array_equal(certain.follow, possible.follow):
            return cls(certain, certain)
        return cls(certain, possible)


def gate(
    filter_: Filter | OwnFilter | None,
    options: Sequence[Option],
    rounds: int | None,
    resolution: int,
    relation: Relation,
    *,
    unit: float | None = None,
) -> Gate:
    """Lay out a game's nodes.

    Parameters
    ----------
    resolution : into how many units a budget is cut at least, where costs do not add up on a grid
        of their own.
    unit : of a budget, in place of that; then only what the filter may admit is laid out.

    Raises
    ------
    InvalidInput : nothing ends the game.
    NotApplicable : the filter cannot account for an option, or reaches too many states.
    """
    if filter_ is None:
        require_rounds(rounds)
        arena = chain(int(rounds or 0), len(options))
        return Gate(arena, arena)
    if not isinstance(filter_, Filter):
        return _own(filter_, options, rounds, resolution, unit)
    if not filter_.prices_vary:
        arena = _stepped(filter_, options, rounds, relation)
        return Gate(arena, arena)
    fixed = all(option.guarantee == option.least for option in options)
    if fixed and len(options) <= 8:
        try:
            certain = _stepped(filter_, options, rounds, relation, 1.0 + _MARGIN)
            possible = _stepped(filter_, options, rounds, relation, 1.0 - _MARGIN)
            return Gate.of(certain, possible)
        except NotApplicable:
            pass
    return _by_budget(filter_, options, rounds, resolution, unit)


def require_rounds(rounds: int | None) -> None:
    """Raise InvalidInput where neither a filter nor a number of rounds ends the game."""
    if rounds is None:
        raise InvalidInput("nothing ends the game: give a number of rounds, or a filter")


def price_of(filter_: Filter, option: Option, relation: Relation) -> tuple[float, float]:
    """What the filter charges for an option, as it would in play.

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


def _stepped(
    filter_: Filter,
    options: Sequence[Option],
    rounds: int | None,
    relation: Relation,
    scale: float = 1.0,
) -> Arena:
    """Every state that the filter's own step reaches.

    Where its sums round, with costs ``scale`` times true; a rule that is no sum is taken as it is.
    """
    prices = [price_of(filter_, option, relation) for option in options]
    if filter_.rounds_up:
        prices = [(epsilon * scale, delta) for epsilon, delta in prices]
    step, initial = filter_.over_menu(prices)
    largest = [max(abs(x), 1e-300) for x in initial]
    # the step is asked for its own states; sums are kept under rounded ones
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
        admitted, after = step(known[key], *prices[option])
        return rounded(after) if admitted else None

    return explored(rounded(initial), len(options), admit, rounds, FEW_NODES)


def _own(
    filter_: OwnFilter,
    options: Sequence[Option],
    rounds: int | None,
    resolution: int,
    unit: float | None = None,
) -> Gate:
    if not isinstance(filter_, OwnFilter):
        raise InvalidInput(
            f"a filter has a state `initial` and a method admit(state, guarantee), {filter_!r} "
            "has not"
        )

    monotone = bool(getattr(filter_, "monotone", False))

    def asked(state: Any, guarantee: Guarantee) -> Any:
        return _asked(filter_, state, guarantee, monotone)

    only_possible = unit is not None
    if unit is None and monotone:
        unit = _unit(filter_, options, resolution)

    def arena(up: bool) -> Arena:
        def admit(state: Any, option: int) -> Hashable | None:
            guarantee = options[option].guarantee if up else options[option].least
            after = asked(state, guarantee)
            if after is None or unit is None:
                return after
            exact = after / unit
            count = round(exact)
            if abs(exact - count) > 1e-9:
                count = math.ceil(exact) if up else math.floor(exact)
            # the filter's own sum has rounded once per round, one way or the other
            error = 2 * UNIT * (abs(count) + 1)
            return count * unit * (1.0 + error if up else 1.0 - error)

        return explored(filter_.initial, len(options), admit, rounds, FEW_NODES)

    def as_summed() -> Arena:
        """The filter's own states, which are exact, where these are few."""
        return explored(
            filter_.initial,
            len(options),
            lambda state, option: asked(state, options[option].guarantee),
            rounds,
            FEW_SUMS,
        )

    if unit is None and any(option.guarantee != option.least for option in options):
        raise NotApplicable(FREE_NEEDS_A_SUM)
    if only_possible:
        possible = arena(up=False)
        return Gate(possible, possible)
    if unit is not None and all(option.guarantee == option.least for option in options):
        try:
            own = as_summed()
            return Gate(own, own)
        except NotApplicable:
            pass
    certain = arena(up=True)
    return Gate.of(certain, certain if unit is None else arena(up=False))


def cost_of(filter_: Filter | OwnFilter, guarantee: Guarantee, largest: Guarantee) -> float:
    """What a round costs of the one sum that the filter keeps; ``largest`` is the dearest promise.

    Infinite where the filter would not admit it even as the first. Raises NotApplicable for a
    filter that keeps no such sum.
    """
    if isinstance(filter_, Filter):
        return budget_of(filter_, filter_.price(largest)[0]).cost(filter_.price(guarantee)[0])
    if not getattr(filter_, "monotone", False):
        raise NotApplicable(FREE_NEEDS_A_SUM)
    after = _asked(filter_, filter_.initial, guarantee, True)
    return math.inf if after is None else float(after) - float(filter_.initial)


FREE_NEEDS_A_SUM = (
    "a filter of one's own prices a free parameter only where its state is a number that grows: "
    "say so by monotone = True, or write fixed parameters into the menu"
)


def _asked(filter_: OwnFilter, state: Any, guarantee: Guarantee, monotone: bool) -> Any:
    """The state after a round, None where it is refused; raises InvalidInput for a broken rule."""
    answer = filter_.admit(state, guarantee)
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise InvalidInput(
            f"a filter's admit returns (whether the round may run, the state), not {answer!r}"
        )
    admitted, after = answer
    if not admitted:
        return None
    if after is None or not isinstance(after, Hashable):
        raise InvalidInput(f"a filter's states are hashable and not None, {after!r} is not")
    if monotone:
        real = isinstance(after, int | float | np.number)
        if not (real and math.isfinite(after) and after >= state):  # type: ignore[arg-type]
            raise InvalidInput(
                f"a monotone filter's state is a finite number that grows, not {state!r} and "
                f"then {after!r}"
            )
    return after


def _unit(filter_: OwnFilter, options: Sequence[Option], resolution: int) -> float:
    """The unit on which a state that is a number is kept: a common one of all costs, or a fine one.

    Raises InvalidInput where a round costs nothing.
    """
    costs = []
    for option in options:
        for guarantee in (option.guarantee, option.least):
            after = _asked(filter_, filter_.initial, guarantee, monotone=True)
            if after is not None:
                costs.append(float(after) - float(filter_.initial))
    require_an_end(min(costs, default=1.0) > 0.0)
    common = common_step(np.array(costs)) if costs else 1.0
    if common is not None and common >= min(costs, default=1.0) / 64:
        return common
    return min(costs) * 64 / max(resolution, 64)


def _by_budget(
    filter_: Filter,
    options: Sequence[Option],
    rounds: int | None,
    resolution: int,
    unit: float | None = None,
) -> Gate:
    """A filter that keeps one sum, its costs in whole units: rounded up, and rounded down."""
    prices = [(filter_.price(option.guarantee), filter_.price(option.least)) for option in options]
    if any(leak > 0.0 for pair in prices for _, leak in pair):
        raise NotApplicable(
            f"the {filter_.name} filter keeps a second sum for the rounds' deltas, and the menu "
            "brings it to more states than can be tried; leave out what has a delta"
        )
    budget: Budget = budget_of(filter_, max(pair[0][0] for pair in prices))
    played = [budget.cost(pair[0][0]) for pair in prices]
    least = [budget.cost(pair[1][0]) for pair in prices]
    require_an_end(min(least) > 0.0)
    common = common_step(np.array(played + least))
    only_possible = unit is not None
    if unit is None and common is not None and budget.possible / common <= 8 * resolution:
        unit = common
    elif unit is None:
        unit = min(budget.possible / resolution, min(least))
    up = [math.ceil(cost / unit * (1.0 - 1e-12) - 1e-9) for cost in played]
    down = [math.floor(cost / unit * (1.0 + 1e-12) + 1e-9) for cost in least]
    # a cost that is a whole number but for rounding is not rounded down: room for all of them
    possible = budgeted(down, math.floor(budget.possible / unit + 1e-3), rounds)
    if only_possible:
        return Gate(possible, possible)
    certain = budgeted(up, math.floor(budget.certain / unit + 1e-9), rounds)
    return Gate.of(certain, possible)
