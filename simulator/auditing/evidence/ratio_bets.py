"""Bets on estimated likelihood ratios against a claim, by the score with the largest growth.

A score and its bins are learned from some draws. The shares of the two inputs in each bin are
estimated from all draws since, and from what was held out; each bet is chosen before its draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator.analysis.estimation.contrast import rough_growth
from simulator.analysis.estimation.likelihood_bets import RatioBet, best_bet
from simulator.auditing.evidence.events import LEVELS, Batch, Candidates
from simulator.auditing.evidence.fitted_shares import FittedShares, estimates, masses, split

__all__ = ["LEVELS", "Choice", "RatioBets", "ScoreCounts"]

COUNTED = 5
"""The largest number of scores that large batches are counted for."""
SMALL = 64
"""Draws per input of a batch that is counted for every score."""

Point = tuple[float, float]
"""An epsilon and a delta that are claimed."""


@dataclass(kw_only=True)
class ScoreCounts:
    """A score with its counts.

    Attributes
    ----------
    score : from a batch to the scores on both inputs.
    edges : of its bins, ascending.
    rises : whether the score is an estimate of the log ratio of likelihoods.
    cost : nats by which it must exceed a simpler score.
    counts : of both inputs in the bins, shape (2, edges + 2); the last bin is that of no score.
    worth : the largest growth of its bets, per pair of draws.
    """

    score: Callable[[Batch], tuple[np.ndarray, np.ndarray]]
    edges: np.ndarray
    rises: bool
    cost: float
    counts: np.ndarray
    worth: float = 0.0

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

    def estimates(self, point: Point) -> list[FittedShares]:
        """Estimates of the share of input 0 by bin."""
        below = (np.cumsum(self.counts, axis=1)[:, :-2] + 0.5) / (self.draws + 1.0)
        epsilon, delta = map(np.array, point)
        sides = [(q[b], q[1 - b]) for q in (below, 1.0 - below) for b in (0, 1)]
        worth = np.max([rough_growth(*each, epsilon, delta) for each in sides], axis=0)
        event = split(self.counts, int(np.argmax(worth)) + 1)
        return [event, *estimates(self.centres, self.counts, self.rises)]


def held_out_tally(candidates: Candidates, which: int) -> ScoreCounts | None:
    """A score of the candidates with its counts on held-out draws; None without events."""
    mine = np.flatnonzero(candidates.score == which)
    below, above = (mine[candidates.side[mine] == side] for side in (0, 1))
    if not len(below):
        return None
    under, total = candidates.hits[below], candidates.hits[[below[0], above[0]]].sum(axis=0)
    inside = np.diff(np.vstack([np.zeros((1, 2), dtype=np.int64), under, total]), axis=0)
    score = candidates.scores[which]
    return ScoreCounts(
        score=lambda batch: batch.scores(candidates, which),
        edges=candidates.threshold[below],
        rises=score.log_ratio,
        cost=float(candidates.cost[below[0]]),
        counts=np.vstack([inside, candidates.draws[below[0]] - total]).T.astype(float),
    )


@dataclass(frozen=True)
class Choice:
    """A bet by one score; ``cost`` nats are taken off the growth that its draws show."""

    tally: ScoreCounts
    bet: RatioBet
    cost: float
    event: bool

    @property
    def trust(self) -> float:
        """The part of the growth shown that is not due to the choice, in [0, 1]."""
        shown = self.bet.rate * self.tally.draws
        return max(0.0, 1.0 - self.cost / shown) if shown > 0.0 else 0.0

    @property
    def boldness(self) -> float:
        """The factor of the bet.

        The growth shown is half of the square of a signal in standard errors. That of an event is
        too large in size alone; that of a ratio with several parameters in its direction.
        """
        return math.sqrt(self.trust) if self.event else self.trust

    @property
    def worth(self) -> float:
        """The growth to expect per pair of draws."""
        return self.bet.rate * self.trust**2


class RatioBets:
    """Bets on likelihood ratios against the points of a claim.

    Attributes
    ----------
    log : ln of the evidence.
    choice : the bet on the next draws, or None.
    """

    def __init__(self) -> None:
        self.log = 0.0
        self.held_out: list[ScoreCounts] = []
        self.regressions: list[ScoreCounts] = []
        self.choice: Choice | None = None

    def learn(self, candidates: Candidates) -> None:
        """Bet by the scores of these candidates from now on."""
        found = (held_out_tally(candidates, i) for i in range(len(candidates.scores)))
        self.held_out = [tally for tally in found if tally is not None]

    def stop(self) -> None:
        """Bet on nothing, and count no more draws."""
        self.held_out, self.regressions, self.choice = [], [], None

    def choose(self, points: Sequence[Point]) -> None:
        """Choose the bet on the next draws, against one of the points."""
        best: Choice | None = None
        for tally in (*self.held_out, *self.regressions):
            tally.worth = 0.0
            for point in points:
                for estimate in tally.estimates(point):
                    found = _choice(tally, estimate, point, best)
                    if found is None:
                        continue
                    tally.worth = max(tally.worth, found.worth)
                    if best is None or found.worth > best.worth:
                        best = found
        self.choice = best if best is not None and best.worth > 0.0 else None

    def bet(self, batch: Batch) -> None:
        """Add the bet on new draws to the evidence, and count them."""
        for tally in self._counted(len(batch)):
            new = np.array([tally.bins(each) for each in tally.score(batch)])
            if self.choice is not None and tally is self.choice.tally:
                first, second = self.choice.bet.logs(self.choice.boldness)
                self.log += float(new[0] @ first + new[1] @ second)
            tally.counts += new

    def _counted(self, draws: int) -> list[ScoreCounts]:
        """The tallies that so many draws are counted for: the best ones, if these are many."""
        tallies = [*self.held_out, *self.regressions]
        if draws <= SMALL:
            return tallies
        return sorted(tallies, key=lambda tally: -tally.worth)[:COUNTED]

    def growth_in(self, draws: int) -> float:
        """The growth to hope for in so many more draws."""
        return 0.0 if self.choice is None else self.choice.bet.rate * draws


def _choice(
    tally: ScoreCounts, estimate: FittedShares, point: Point, best: Choice | None
) -> Choice | None:
    """The bet on an estimate; None where it has less growth than the best so far."""
    epsilon, delta = point
    laws = masses(estimate.shares, tally.counts)
    cost = estimate.price + tally.cost
    least = max(cost / max(tally.draws, 1.0), 0.0 if best is None else best.worth)
    pure = best_bet(estimate.shares, laws, epsilon, 0.0, least)
    found = Choice(tally, pure, cost, estimate.event)
    if delta == 0.0:
        return found
    # a delta only lowers the growth, and makes the bet slow to compute
    if found.worth <= (0.0 if best is None else best.worth):
        return None
    return replace(found, bet=best_bet(estimate.shares, laws, epsilon, delta, least))
