"""Bets on estimated likelihood ratios against a claim, by the score with the largest growth.

A score and its bins are learned from some draws. The shares of the two inputs in each bin are
estimated from all draws since, and from what was held out; each bet is chosen before its draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.analysis.estimation.contrast import rough_growth
from simulator.analysis.estimation.likelihood_bets import RatioBet, best_bet
from simulator.analysis.evidence.calibration import Estimate, estimates, masses, split
from simulator.analysis.evidence.events import Batch, Candidates

AMONG_EVENTS = 3.5
"""The price of an event, in nats, for its choice among many; see :class:`Estimate`."""
COUNTED = 4
"""The largest number of scores, beside the quick ones, that new draws are counted for."""


@dataclass
class Tally:
    """The counts of one score.

    Attributes
    ----------
    score : its number among the candidates.
    edges : of its bins, ascending.
    events : the numbers of the events that the score is below each edge, shape (edges,).
    counts : of both inputs in the bins, shape (2, edges + 2); the last bin is that of no score.
    """

    score: int
    edges: np.ndarray
    events: np.ndarray
    counts: np.ndarray
    worth: float = 0.0

    @classmethod
    def of(cls, candidates: Candidates, score: int) -> Tally | None:
        """From the held-out draws, by the counts of the score's events; None without events."""
        mine = np.flatnonzero(candidates.score == score)
        below = mine[candidates.side[mine] == 0]
        above = mine[candidates.side[mine] == 1]
        if not len(below):
            return None
        under, total = candidates.hits[below], candidates.hits[below[0]] + candidates.hits[above[0]]
        draws = candidates.draws[below[0]]
        inside = np.diff(np.vstack([np.zeros((1, 2), dtype=np.int64), under, total]), axis=0)
        counts = np.vstack([inside, draws - total]).T.astype(float)
        return cls(score, candidates.threshold[below], below, counts)

    @property
    def draws(self) -> float:
        """Pairs of draws that were counted."""
        return float(self.counts[0].sum())

    @property
    def centres(self) -> np.ndarray:
        """The score in each bin but the last."""
        return np.concatenate([self.edges[:1], self.edges])

    def bins(self, scores: np.ndarray) -> np.ndarray:
        """How many of the scores are in each bin."""
        place = np.searchsorted(self.edges, scores, side="right")
        place[np.isnan(scores)] = len(self.edges) + 1
        return np.bincount(place, minlength=len(self.edges) + 2)

    def best_split(self, epsilon: float, delta: float) -> tuple[int, int, int]:
        """The bins of the event with the largest growth: so many first ones, or all but these.

        Returns
        -------
        The number of first bins; 0 if the event is these, 1 if the others; the input it favours.
        """
        total = self.counts.sum(axis=1, keepdims=True)
        below = (np.cumsum(self.counts, axis=1)[:, :-2] + 0.5) / (total + 1.0)
        e, d = np.array(epsilon), np.array(delta)
        worth = np.array(
            [
                rough_growth(q[favours], q[1 - favours], e, d)
                for q in (below, 1.0 - below)
                for favours in (0, 1)
            ]
        )
        kind, place = np.unravel_index(int(np.argmax(worth)), worth.shape)
        return int(place) + 1, int(kind) // 2, int(kind) % 2


@dataclass(frozen=True)
class Choice:
    """A bet on one score: ``cost`` nats are taken off the growth that its draws show."""

    tally: Tally
    bet: RatioBet
    cost: float

    @property
    def boldness(self) -> float:
        """The factor of the bet, as the growth on the draws it was fitted to is too large."""
        shown = self.bet.rate * self.tally.draws
        return max(0.0, 1.0 - self.cost / shown) if shown > 0.0 else 0.0

    @property
    def worth(self) -> float:
        """The growth to expect per pair of draws."""
        return self.bet.rate * self.boldness**2


class RatioBets:
    """Bets on likelihood ratios against the points of a claim.

    Attributes
    ----------
    log : ln of the evidence.
    choice : the bet on the next draws, or None.
    """

    def __init__(self) -> None:
        self.log = 0.0
        self.tallies: list[Tally] = []
        self.choice: Choice | None = None

    def learn(self, candidates: Candidates) -> None:
        """Count the held-out draws of new scores."""
        found = (Tally.of(candidates, i) for i in range(len(candidates.scores)))
        self.tallies = [tally for tally in found if tally is not None]

    def choose(self, candidates: Candidates, points: list[tuple[float, float]]) -> None:
        """Choose the bet on the next draws against one of the points (epsilon, delta)."""
        best: Choice | None = None
        for tally in self.tallies:
            tally.worth = 0.0
            score = candidates.scores[tally.score]
            extra = float(candidates.cost[tally.events[0]])
            for epsilon, delta in points:
                for estimate in self._estimates(tally, score.log_ratio, epsilon, delta):
                    found = self._bet(tally, estimate, extra, epsilon, delta, best)
                    if found is None:
                        continue
                    tally.worth = max(tally.worth, found.worth)
                    if best is None or found.worth > best.worth:
                        best = found
        self.choice = best if best is not None and best.worth > 0.0 else None

    @staticmethod
    def _estimates(tally: Tally, rises: bool, epsilon: float, delta: float) -> list[Estimate]:
        place, _, _ = tally.best_split(epsilon, delta)
        event = Estimate(split(tally.counts, place), AMONG_EVENTS)
        return [event, *estimates(tally.centres, tally.counts, rises)]

    @staticmethod
    def _bet(
        tally: Tally,
        estimate: Estimate,
        extra: float,
        epsilon: float,
        delta: float,
        best: Choice | None,
    ) -> Choice | None:
        """The bet on an estimate; None where it has less growth than the best so far."""
        laws = masses(estimate.shares, tally.counts)
        found = Choice(
            tally, best_bet(estimate.shares, laws, epsilon, 0.0), estimate.price + extra
        )
        if delta == 0.0:
            return found
        # a delta only lowers the growth, and makes the bet slow to compute
        if found.worth <= (0.0 if best is None else best.worth):
            return None
        return Choice(tally, best_bet(estimate.shares, laws, epsilon, delta), found.cost)

    def bet(self, candidates: Candidates, batch: Batch) -> None:
        """Add the bet on new draws to the evidence, and count them."""
        chosen = None if self.choice is None else self.choice.tally
        for tally in self._counted(candidates):
            scores = batch.scores(candidates, tally.score)
            new = np.array([tally.bins(each) for each in scores])
            if tally is chosen and self.choice is not None:
                first, second = self.choice.bet.logs(self.choice.boldness)
                self.log += float(new[0] @ first + new[1] @ second)
            tally.counts += new

    def _counted(self, candidates: Candidates) -> list[Tally]:
        """The tallies that are kept up to date: the quick ones, and the best of the others."""
        order = sorted(self.tallies, key=lambda tally: -tally.worth)
        chosen = [] if self.choice is None else [self.choice.tally]
        for tally in order:
            if any(tally is other for other in chosen):
                continue
            if candidates.scores[tally.score].quick or len(chosen) < COUNTED:
                chosen.append(tally)
        return chosen

    def growth_in(self, draws: int) -> float:
        """The growth to hope for in so many more draws."""
        return 0.0 if self.choice is None else self.choice.bet.rate * draws

    def event(self, candidates: Candidates, point: tuple[float, float]) -> tuple[int, int] | None:
        """The number of the event that is nearest to the bet, and the input that it favours."""
        if self.choice is None:
            return None
        tally = self.choice.tally
        below, side, favours = tally.best_split(*point)
        same = (candidates.score == tally.score) & (candidates.side == side)
        return int(np.flatnonzero(same)[below - 1]), favours
