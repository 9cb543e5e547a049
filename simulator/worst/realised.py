"""The worst adversary of a filter that stops on the realised privacy loss.

Such a filter's state depends on the answers, so it is part of what the recursion goes over, beside
the loss: V(state, L) is the largest value from there, (1 - e^(epsilon - L))_+ or, if that is more,
the largest mean over the answers of an admitted round. Mechanisms have finitely many losses.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import experiment_number, nonnegative, whole
from simulator.theory.bracket import Bracket
from simulator.theory.filters.interface import Filter, State
from simulator.theory.laws.finite import FiniteLaw
from simulator.worst.game import Game
from simulator.worst.menu import Option
from simulator.worst.menu_parsing import entries

MOST_STATES = 2_000_000
MOST_ROUNDS = 400
Coarse = Callable[[State, bool], State]
"""``coarse(state, up)``: a state near it that admits less from here on (up), or not less."""


@dataclass(frozen=True, kw_only=True)
class WorstRealised:
    """The worst adversary of a filter of realised losses.

    Attributes
    ----------
    delta : ends of the largest delta(epsilon). They differ only where states are made coarse.
    promised : the filter's delta.
    states : how many (state, loss, round) were visited.
    adversary : a generator adversary that attains the lower end.

    >>> from simulator.theory import RealisedFilter
    >>> from simulator.worst import worst_realised
    >>> found = worst_realised("randomized-response:0.5", RealisedFilter(1.0, 0.01), 3, epsilon=1.0)
    >>> found.delta.upper <= found.promised
    True
    """

    delta: Bracket
    promised: float
    states: int
    adversary: Callable[[np.random.Generator], Any] = field(repr=False)

    @property
    def ratio(self) -> Bracket:
        """Ends of the largest delta over the promised one: above 1 the filter is broken."""
        return Bracket(self.delta.lower / self.promised, self.delta.upper / self.promised)


def worst_realised(
    menu: str | Iterable[Any],
    filter_: Filter,
    rounds: int,
    *,
    epsilon: float,
    relation: Relation = ADD_REMOVE,
    experiment: int = 0,
    coarse: Coarse | None = None,
) -> WorstRealised:
    """Ends of the worst delta(``epsilon``) of an adversary with at most ``rounds`` rounds.

    Parameters
    ----------
    menu : as for :func:`~simulator.worst.search.worst_case`, of mechanisms with finitely many
        losses.
    coarse : where given, the upper end is of a filter that admits more and the lower end of one
        that admits less, each with fewer states.

    Raises
    ------
    NotApplicable : a loss that is not finitely valued, or too many states.

    >>> from simulator.theory import RealisedFilter
    >>> from simulator.worst import worst_realised
    >>> found = worst_realised("randomized-response:0.5", RealisedFilter(1.0, 0.01), 3, epsilon=1.0)
    >>> found.promised, found.delta.upper <= found.promised
    (0.01, True)
    """
    rounds = whole("rounds", rounds)
    if rounds > MOST_ROUNDS:
        raise InvalidInput(f"rounds must be at most {MOST_ROUNDS}, not {rounds}")
    epsilon = nonnegative("epsilon", epsilon)
    game = Game(entries(menu, relation), rounds, filter_, experiment_number(experiment), relation)
    options = game.options(1.0)
    up = _Recursion(filter_, options, game, epsilon, coarse, up=True)
    low = up.start(rounds)
    down = up if coarse is None else _Recursion(filter_, options, game, epsilon, coarse, up=False)
    high = low if coarse is None else down.start(rounds)
    rounding = 1e-14 * (rounds + 10)
    return WorstRealised(
        delta=Bracket(low * (1.0 - rounding), min(high * (1.0 + rounding), 1.0)),
        promised=filter_.delta,
        states=len(up.best) + (0 if down is up else len(down.best)),
        adversary=up.adversary(rounds),
    )


class _Recursion:
    """The recursion over (rounds left, state, loss), remembered, with the best option of each."""

    def __init__(
        self,
        filter_: Filter,
        options: list[Option],
        game: Game,
        epsilon: float,
        coarse: Coarse | None,
        *,
        up: bool,
    ) -> None:
        self.filter, self.options, self.game, self.epsilon = filter_, options, game, epsilon
        self.coarse, self.up = coarse, up
        self.sign = -1.0 if game.experiment else 1.0
        self.prices = [filter_.price_of(o.challenge.mechanism, game.relation) for o in options]
        self.outcomes = [_outcomes(option) for option in options]
        self.best: dict[tuple[Any, ...], tuple[float, int]] = {}
        self.seen: dict[tuple[State, int, float], State] = {}

    def key(self, state: State) -> State:
        """The state as it is kept: made coarse, and without the rounding of its sums."""
        if self.coarse is not None:
            state = self.coarse(state, self.up)
        return tuple(float(f"{x:.11e}") if abs(x) > 1e-13 else 0.0 for x in state)

    def start(self, rounds: int) -> float:
        """The value of the whole game."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 20 * rounds + 1000))
        try:
            return self.value(rounds, self.key(self.filter.initial), 0.0)
        finally:
            sys.setrecursionlimit(limit)

    def value(self, left: int, state: State, loss: float) -> float:
        """The largest value from a state and a loss, with so many rounds left."""
        place = left, state, loss
        if place in self.best:
            return self.best[place][0]
        best, chosen = max(0.0, -math.expm1(self.epsilon - loss)), -1
        for option, price in enumerate(self.prices) if left else ():
            admitted, after = self.filter.stepped(state, price)
            if not admitted:
                continue
            found = 0.0
            for gained, mass in self.outcomes[option]:
                if gained == math.inf:
                    found += mass
                    continue
                if (move := (state, option, gained)) not in self.seen:
                    observed = type(self.filter).observe(after, self.sign * gained)
                    self.seen[move] = self.key(observed)
                seen = self.seen[move]
                found += mass * self.value(left - 1, seen, round(loss + gained, 10))
            if found > best:
                best, chosen = found, option
        if len(self.best) >= MOST_STATES:
            raise NotApplicable(
                f"the filter reaches more than {MOST_STATES} states; give fewer rounds or "
                "mechanisms, or make its states coarse"
            )
        self.best[place] = best, chosen
        return best

    def adversary(self, rounds: int) -> Callable[[np.random.Generator], Any]:
        """A generator adversary that plays the best options."""
        pairs = [o.challenge.mechanism.pair(*o.challenge[:2], self.game.relation)
                 for o in self.options]  # fmt: skip

        def worst_realised_adversary(coins: np.random.Generator) -> Any:
            state, loss, left = self.key(self.filter.initial), 0.0, rounds
            while True:
                option = self.best[left, state, loss][1] if left else -1
                if option < 0:
                    database, _, mechanism = self.options[0].challenge
                    while True:  # it has stopped: nothing more is lost
                        yield database, database, mechanism
                database_0, database_1, mechanism = self.options[option].challenge
                answer = yield database_0, database_1, mechanism
                gained = self.sign * pairs[option].loss(answer)
                if not math.isfinite(gained):
                    left = 0
                    continue
                known = min(self.outcomes[option], key=lambda each: abs(each[0] - gained))[0]
                state = self.seen[state, option, known]
                left, loss = left - 1, round(loss + known, 10)

        return worst_realised_adversary


def _outcomes(option: Option) -> list[tuple[float, float]]:
    """(loss, probability) of an option in the experiment that is searched."""
    law = option.law
    if not isinstance(law, FiniteLaw):
        raise NotApplicable(f"{option.label} has infinitely many losses")
    found = list(zip(law.losses.tolist(), np.exp(law.log_masses).tolist()))
    return [*found, (math.inf, law.infinite_mass)] if law.infinite_mass else found
