"""Certified ends of the largest delta(epsilon) of any adaptive adversary, and its policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.facts import ShownByFacts
from simulator.foundations.validation import finite, nonnegative, positive
from simulator.theory.bracket import Bracket
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import parse_filter
from simulator.theory.laws.base import Floats
from simulator.worst.game import Game
from simulator.worst.grid_pass import GridPass, first_level, policy_of, run_pass
from simulator.worst.menu_parsing import entries, parse_family
from simulator.worst.non_adaptive import (
    best_non_adaptive,
    composed_delta,
    dominant_entry,
    dominating_delta,
)
from simulator.worst.own_filter import OwnFilter, promise_of
from simulator.worst.policy import Policy
from simulator.worst.refining import allowed, close, refined, verdict_of
from simulator.worst.unreachable import nothing_won, reaches, without_idle_filter


@dataclass(frozen=True, kw_only=True, repr=False)
class WorstCase(ShownByFacts):
    """The worst adaptive adversary of a game: its bracket and its policy.

    Attributes
    ----------
    game : what was searched.
    epsilon : the epsilon of the bracket.
    delta : certified ends of the largest delta(epsilon).
    tolerance : the required relative width.
    seconds : the processor time taken.
    stopped : why no finer grid was tried: "tolerance", "time", or "rounding" where only rounding
        separates the ends.
    last : the pass with the largest lower end, which belongs to a policy.

    >>> from simulator.worst import worst_case
    >>> worst = worst_case("randomized-response:0.5", epsilon=1.0, rounds=3)
    >>> round(worst.delta.lower, 4), round(worst.delta.upper, 4)
    (0.0949, 0.0949)
    """

    game: Game
    epsilon: float
    delta: Bracket
    tolerance: float
    seconds: float
    stopped: str
    last: GridPass = field(repr=False)

    def facts(self) -> dict[str, str]:
        """What was searched, and what was found."""
        rounds, filter = self.game.rounds, self.game.filter
        return {
            "menu": ", ".join(entry.name for entry in self.game.menu),
            "rounds": "without a limit" if rounds is None else str(rounds),
            **({} if filter is None else {"filter": str(filter)}),
            "epsilon": f"{self.epsilon:.6g}",
            "delta": str(self.delta),
            "stopped by": self.stopped,
        }

    @property
    def reached(self) -> bool:
        """Whether the ends are within the tolerance."""
        return close(self.delta, self.tolerance)

    @cached_property
    def curve(self) -> tuple[Floats, Floats, Floats]:
        """(epsilons, lower, upper), ascending in epsilon >= 0: the whole curve of the last pass."""
        z = self.last.upper.grid.z
        epsilons = np.sort(-z[z <= 1e-12])
        epsilons[np.abs(epsilons) < 1e-12] = 0.0
        ends = [self.last.delta(float(e)) for e in epsilons]
        return epsilons, np.array([e.lower for e in ends]), np.array([e.upper for e in ends])

    @cached_property
    def _in_advance(self) -> tuple[Bracket | None, str]:
        last = self.last
        if self.delta.upper == 0.0:
            return self.delta, ""
        try:
            found = best_non_adaptive(
                self.game.menu,
                self.game.rounds,
                self.game.filter,
                self.epsilon,
                relation=self.game.relation,
                options=last.options,
                layouts=last.outward_layouts,
                near=last.nearest_layouts,
                grid=last.upper.grid,
            )
        except (InvalidInput, NotApplicable) as error:
            return None, str(error)
        # fixed choices are a special case of adaptive ones
        upper = min(found.upper, self.delta.upper)
        return Bracket(min(found.lower, upper), upper), ""

    @property
    def non_adaptive(self) -> Bracket | None:
        """Ends of the largest delta(epsilon) of choices fixed in advance; None if not computed."""
        return self._in_advance[0]

    @property
    def non_adaptive_reason(self) -> str:
        """Why :attr:`non_adaptive` is None, else the empty string."""
        return self._in_advance[1]

    @cached_property
    def _dominated(self) -> tuple[float | None, str]:
        game = self.game
        if game.filter is not None or game.rounds is None:
            return None, "the filter determines the number of rounds"
        try:
            return dominating_delta(
                game.menu, game.rounds, self.epsilon, self.last.step / 4, game.experiment
            ), ""
        except NotApplicable as error:
            return None, str(error)

    @property
    def dominating(self) -> float | None:
        """delta(epsilon) of the menu's dominating pair, composed; None where it is not computed."""
        return self._dominated[0]

    @property
    def dominating_reason(self) -> str:
        """Why :attr:`dominating` is None, else the empty string."""
        return self._dominated[1]

    @cached_property
    def policy(self) -> Policy:
        """The policy whose value is the lower end. Raises NotApplicable where it is too large."""
        return policy_of(self.last, self.epsilon, self.game)

    @property
    def adversary(self) -> Rule:
        """The policy as a rule over a menu."""
        return self.policy.adversary

    @property
    def promised(self) -> float | None:
        """The filter's delta where it promises one at this epsilon, else None."""
        promise = promise_of(self.game.filter)
        return promise[1] if promise is not None and self.epsilon >= promise[0] else None

    @property
    def verdict(self) -> str | None:
        """Whether the filter keeps its promise: sound, broken or undecided; None without one."""
        promised = self.promised
        return None if promised is None else verdict_of(self.delta, promised)

    @property
    def verdict_reason(self) -> str:
        """Why :attr:`verdict` is None, else the empty string."""
        if self.promised is not None:
            return ""
        if self.game.filter is None:
            return "there is no filter"
        promise = promise_of(self.game.filter)
        if promise is None:
            return "the filter states no promise; give it the attributes epsilon and delta"
        return f"the filter promises nothing below epsilon = {promise[0]:g}"

    @property
    def ratio(self) -> float | None:
        """The lower end over what is promised."""
        promised = self.promised
        return None if not promised else self.delta.lower / promised


def worst_case(
    menu: str | Iterable[Any],
    *,
    epsilon: float,
    rounds: int | None = None,
    filter: Filter | OwnFilter | str | None = None,
    experiment: int = 0,
    relation: Relation = ADD_REMOVE,
    tolerance: float = 1e-3,
    seconds: float = 60.0,
    patience: float | None = None,
) -> WorstCase:
    """Certified ends of the largest delta(epsilon) of any adaptive adversary, and its policy.

    Parameters
    ----------
    menu : ``"laplace:0.1,gaussian:5"`` as the command line takes it, or a sequence of names,
        mechanisms, challenges, finite laws or entries.
    epsilon : >= 0 and finite.
    rounds : how many mechanisms may run; None where a filter ends the game.
    filter : a filter of this package, its text such as ``"sum:0.3"``, or a user's
        (:class:`~simulator.worst.own_filter.OwnFilter`).
    experiment : 0 or 1: which experiment's hockey-stick divergence.
    tolerance : stop where the ends are within this of each other, relative to the upper end.
    seconds : of processor time, after which no finer grid is begun.
    patience : the longest time that one pass may be estimated to take, in seconds, > 0; by default
        ten times ``seconds``, and at least 30.

    Raises
    ------
    InvalidInput : a number out of its range, or nothing that ends the game.
    NotApplicable : a mechanism without a law, a filter that cannot account for one, or a game that
        does not fit into memory.

    >>> from simulator.worst import worst_case
    >>> worst = worst_case("randomized-response:0.5", epsilon=1.0, rounds=3)
    >>> round(worst.delta.upper, 4)
    0.0949
    """
    epsilon = nonnegative("epsilon", finite("epsilon", epsilon))
    tolerance, seconds = positive("tolerance", tolerance), positive("seconds", seconds)
    most = allowed(seconds, None if patience is None else positive("patience", patience))
    if isinstance(filter, str):
        filter = parse_filter(filter)
    if isinstance(filter, Filter):
        filter = filter.with_one_sum(epsilon)
    game = Game(entries(menu, relation), rounds, filter, experiment, relation)
    promise_of(filter)  # raises InvalidInput for an invalid promise before the search
    won, played = reaches(game, epsilon), without_idle_filter(game)
    found = refined(
        lambda level, last: (
            run_pass(played, epsilon, level, last, allowed=most)
            if won
            else nothing_won(game, epsilon)
        ),
        first_level(played) if won else 0,
        epsilon,
        tolerance=tolerance,
        seconds=seconds,
        most=_composed(played, epsilon) if won else 0.0,
    )
    return WorstCase(
        game=game,
        epsilon=epsilon,
        delta=found.delta,
        tolerance=tolerance,
        seconds=found.seconds,
        stopped=found.stopped,
        last=found.best,
    )


def worst_case_of_family(family: str, *, epsilon: float, **options: Any) -> WorstCase:
    """The worst case over a family, as ``pure:0.2``: :func:`worst_case` of its dominating pairs.

    Raises NotApplicable for a family that has none.

    >>> from simulator.worst import worst_case_of_family
    >>> round(worst_case_of_family("pure:0.5", epsilon=1.0, rounds=3).delta.upper, 4)
    0.0949
    """
    return worst_case(parse_family(family), epsilon=epsilon, **options)


def _composed(game: Game, epsilon: float) -> float:
    """An upper end without a grid: where one entry dominates all, its composition.

    It is 1 where no entry is known to dominate, where its law cannot be composed, and on a lattice,
    where the recursion is exact.
    """
    if game.filter is not None or game.exact_step is not None:
        return 1.0
    best = dominant_entry(game.menu)
    if best is None:
        return 1.0
    try:
        return composed_delta(game.menu[best], int(game.rounds or 0), epsilon, game.experiment)
    except NotApplicable:
        return 1.0
