"""Running evidence against nulls, from bets on events before their draws are seen.

For each null, the pair (epsilon, delta), several wagers run side by side: on events of different
probabilities, and of different sizes. Their weighted mean is a wager as well, so the choice among
them costs the logarithm of a weight.
"""

from __future__ import annotations

import math

import numpy as np

from simulator.analysis.estimation.contrast import Bettor, Odds, rough_growth
from simulator.auditing.evidence.events import Candidates

LEAST = np.array([0.2, 0.02, 0.002, 0.0])
"""The least probability of an event on the input that it favours, by slot."""

SHARES = np.log(np.array([0.55, 0.2, 0.15, 0.1]))[:, None]
STYLES = 2
"""Sizes of bets: by the estimates so far, or such that the budget would just suffice."""

_DISTRUST = 2.0
"""Squared standard errors by which an estimated gap is lowered, as it was chosen among many."""
_ANCHORS = 12


class Nulls:
    """Evidence against each of many nulls, where the next contains the one before.

    Attributes
    ----------
    epsilon, delta : of each null, shape (g,).
    expected : the growth per pair of draws to expect of the best bet that is placed.
    """

    def __init__(self, epsilon: np.ndarray, delta: np.ndarray) -> None:
        self.epsilon, self.delta = epsilon, delta
        g = len(epsilon)
        self.log = np.zeros((STYLES, len(LEAST), g))
        self.best = np.full(g, -np.inf)
        self.event = np.full((len(LEAST), g), -1)
        self.favours = np.zeros((len(LEAST), g), dtype=int)
        self.worth = np.zeros((len(LEAST), g))
        self.placed: list[Odds] = []
        self.expected = 0.0
        self.at: tuple[np.ndarray, ...] = ()
        self.on: tuple[np.ndarray, np.ndarray] = (np.zeros(0, dtype=int), np.zeros(0, dtype=int))

    def choose(
        self, candidates: Candidates, within: np.ndarray | None = None, settled: int = 0
    ) -> None:
        """Choose the events to bet on next, of those ``within``; the first nulls are settled."""
        some = np.arange(len(candidates.score)) if within is None else within
        self.event[:] = -1
        self.worth[:] = 0.0
        if not len(some):
            return
        n = candidates.draws[some]
        q = estimate(candidates.hits[some], n)
        first = np.concatenate([q[:, 0], q[:, 1]])
        second = np.concatenate([q[:, 1], q[:, 0]])
        both = np.concatenate([some, some])
        favours = np.repeat([0, 1], len(some))
        rate = rough_growth(first[:, None], second[:, None], self.epsilon[None], self.delta[None])
        # the rate less the cost per draw: an event that is too costly now may be chosen later
        share = 1.0 - np.tile(candidates.handicap[some], 2)[:, None]
        worth = share * rate - np.tile(candidates.cost[some] / n, 2)[:, None]
        upper = np.concatenate([[1.1], LEAST[:-1]])
        for slot, (least, most) in enumerate(zip(LEAST, upper)):
            inside = np.flatnonzero((first >= least) & (first < most))
            if not len(inside):
                continue
            best = inside[np.argmax(worth[inside], axis=0)]
            value = worth[best, np.arange(len(self.epsilon))]
            self.event[slot] = np.where(value > 0.0, both[best], -1)
            self.worth[slot] = np.maximum(value, 0.0)
            self.favours[slot] = favours[best]
        self.event[:, :settled] = -1

    def chosen(self) -> np.ndarray:
        """The events bet on, each once."""
        return np.unique(self.event[self.event >= 0])

    def bet(self, candidates: Candidates, hits: np.ndarray, draws: int, aim: float) -> None:
        """Settle bets, fixed by the counts before, on new draws; see the two methods below."""
        self.place(candidates, aim)
        self.settle(hits, draws)

    def place(self, candidates: Candidates, aim: float) -> None:
        """Fix the bets on the next draws, by the counts so far.

        Parameters
        ----------
        candidates : with the counts that are known before these draws.
        aim : the growth per pair of draws that would just suffice within the budget.
        """
        self.placed, self.expected = [], 0.0
        some = self.event >= 0
        if not some.any():
            return
        self.at = np.nonzero(some)
        self.on = self.event[some], self.favours[some]
        event, favours = self.on
        rows = np.arange(len(event))
        seen = candidates.draws[event]
        q = estimate(candidates.hits[event], seen)
        q0, q1 = q[rows, favours], q[rows, 1 - favours]
        null = self.at[1]
        bettor = Bettor(q0, q1, self.epsilon[null], self.delta[null])
        trust = trusted(seen, bettor.rate)
        aimed = np.sqrt(aim / np.maximum(bettor.rate, 1e-300))
        self.placed = [bettor.odds(boldness) for boldness in (trust, np.minimum(aimed, 1.0))]
        self.expected = float(np.max(trust**2 * bettor.rate))

    def settle(self, hits: np.ndarray, draws: int) -> None:
        """Settle the bets that were placed, on all draws since.

        Parameters
        ----------
        hits : counts by event on both inputs, shape (m, 2), among ``draws`` draws.
        """
        if not self.placed or not draws:
            return
        event, favours = self.on
        rows = np.arange(len(event))
        new_0, new_1 = hits[event][rows, favours], hits[event][rows, 1 - favours]
        for i, odds in enumerate(self.placed):
            self.log[i][self.at] += odds.evidence(new_0, new_1, draws)
        self.best = np.maximum(self.best, self.evidence())

    def events_placed(self) -> np.ndarray:
        """The events of the bets that were placed, each once."""
        return np.unique(self.on[0]) if self.placed else np.zeros(0, dtype=int)

    def evidence(self) -> np.ndarray:
        """Ln of the evidence against each null, shape (g,)."""
        mixed = np.logaddexp.reduce(self.log, axis=0) - math.log(STYLES)
        return np.asarray(np.logaddexp.reduce(mixed + SHARES, axis=0))

    def rejected(self, level: float) -> int:
        """The number of nulls, from the first on without a gap, that the evidence has excluded."""
        excluded = self.best >= level
        return len(excluded) if excluded.all() else int(np.argmin(excluded))

    def anchors(self, level: float) -> np.ndarray:
        """Indices of some nulls not yet excluded; the others use the events chosen for these."""
        first, last = self.rejected(level), len(self.epsilon) - 1
        near = first + np.round(np.geomspace(1, 200, _ANCHORS)).astype(int) - 1
        far = np.linspace(first, last, _ANCHORS).astype(int)
        return np.unique(np.minimum(np.concatenate([near, far]), last))


def trusted(seen: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """The factor of a bet, in [0, 1], for an estimate from ``seen`` pairs of draws."""
    return np.maximum(0.0, 1.0 - _DISTRUST / np.maximum(2.0 * seen * rate, 1e-9))


def estimate(hits: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Probabilities, shape (m, 2), away from 0 and 1 by half a draw."""
    return (hits + 0.5) / (draws + 1.0)[:, None]
