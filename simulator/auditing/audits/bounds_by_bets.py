"""Lower bounds on epsilon and delta by bets on events, against grids of weaker claims."""

from __future__ import annotations

import numpy as np

from simulator.auditing.evidence.events import Candidates, Event
from simulator.auditing.evidence.wagers import Nulls


class BoundsByBets:
    """The evidence against each epsilon at a fixed delta, and each delta at a fixed epsilon.

    The bets are fixed when they are chosen, and settled on all draws until the next choice: there
    are some thousand, too many to compute anew after every batch.

    Attributes
    ----------
    level : ln of the evidence that excludes a value.
    """

    def __init__(self, epsilon: float, delta: float, *, level: float, aim: float) -> None:
        epsilons, deltas = epsilon_grid(epsilon), delta_grid(delta)
        self.by_epsilon = Nulls(epsilons, np.full(len(epsilons), delta))
        self.by_delta = Nulls(np.full(len(deltas), epsilon), deltas)
        self.level, self.aim = level, aim
        self.waiting: np.ndarray | None = None
        self.draws = 0

    def choose(self, candidates: Candidates, within: np.ndarray | None) -> None:
        """Settle the last bets, and choose the next ones among events ``within``."""
        self.settle()
        for nulls in (self.by_epsilon, self.by_delta):
            anchors = nulls.anchors(self.level)
            some = Nulls(nulls.epsilon[anchors], nulls.delta[anchors])
            some.choose(candidates, within)
            nulls.choose(candidates, some.chosen(), settled=nulls.rejected(self.level))
            nulls.place(candidates, self.aim)
        self.waiting, self.draws = np.zeros_like(candidates.hits), 0

    def events(self) -> np.ndarray:
        """The numbers of the events bet on."""
        return np.union1d(self.by_epsilon.events_placed(), self.by_delta.events_placed())

    def count(self, hits: np.ndarray, draws: int) -> None:
        """Add the hits of each event, shape (m, 2), among new draws."""
        assert self.waiting is not None
        self.waiting += hits
        self.draws += draws

    def settle(self) -> None:
        """Settle the bets on all draws since they were chosen."""
        if self.waiting is not None:
            for nulls in (self.by_epsilon, self.by_delta):
                nulls.settle(self.waiting, self.draws)
        self.waiting, self.draws = None, 0

    def reached(self) -> tuple[float, float]:
        """The bounds on epsilon and delta; 0 where none is proved."""
        epsilons, deltas = (n.rejected(self.level) for n in (self.by_epsilon, self.by_delta))
        return (
            float(self.by_epsilon.epsilon[epsilons - 1]) if epsilons else 0.0,
            float(self.by_delta.delta[deltas - 1]) if deltas else 0.0,
        )

    def next_nulls(self) -> list[tuple[Nulls, slice]]:
        """The first values that are not excluded, and epsilon = 0."""
        first = [
            min(nulls.rejected(self.level), len(nulls.epsilon) - 1)
            for nulls in (self.by_epsilon, self.by_delta)
        ]
        return [
            (self.by_epsilon, slice(first[0], first[0] + 1)),
            (self.by_delta, slice(first[1], first[1] + 1)),
            (self.by_epsilon, slice(0, 1)),
        ]


def best_event(candidates: Candidates, places: list[tuple[Nulls, slice]]) -> Event | None:
    """The event of the largest growth against the first of these nulls that has one."""
    for nulls, some in places:
        event, favours = nulls.event[:, some], nulls.favours[:, some]
        worth = np.where(event >= 0, nulls.worth[:, some], -1.0)
        best = np.unravel_index(np.argmax(worth), worth.shape)
        if event[best] >= 0:
            return candidates.event(int(event[best]), int(favours[best]))
    return None


def epsilon_grid(claimed: float) -> np.ndarray:
    """Epsilons to exclude, ascending from 0, finest up to twice the claimed one."""
    low = max(claimed, 0.05)
    return np.unique(
        np.concatenate([np.linspace(0.0, 2.0 * low, 801), np.geomspace(2.0 * low, 40.0, 200)])
    )


def delta_grid(claimed: float) -> np.ndarray:
    """Deltas to exclude, ascending."""
    near = claimed * np.linspace(0.5, 2.0, 61) if claimed > 0 else np.zeros(1)
    grid = np.unique(np.concatenate([[0.0], np.geomspace(1e-7, 0.999, 240), near]))
    return grid[grid < 1.0]
