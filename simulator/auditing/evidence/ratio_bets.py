"""Bets on estimated likelihood ratios against a claim, by the score with the largest growth.

A score and its bins are learned from some draws. The shares of the two inputs in each bin are
estimated from all draws since, and from what was held out; each bet is chosen before its draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.analysis.estimation.contrast import rough_growth
from simulator.analysis.estimation.likelihood_bets import RatioBet, best_bet, best_tilts
from simulator.auditing.evidence.bins import bin_counts
from simulator.auditing.evidence.events import LEVELS, Batch, Candidates
from simulator.auditing.evidence.fitted_shares import (
    FittedShares,
    estimates,
    logistic,
    masses,
    split,
)

__all__ = ["LEVELS", "Choice", "RatioBets", "ScoreCounts"]

COUNTED = 3
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
    centres : the score in each bin but the last, if it estimates the log ratio of likelihoods.
    cost : nats by which it must exceed a simpler score.
    counts : of both inputs in the bins, shape (2, edges + 2); the last bin is that of no score.
    counter : from a batch to the counts of its draws in the bins, if not by ``score``.
    columns : the columns of the reader that a score of the candidates uses.
    worth : the largest growth of its bets, per pair of draws.
    """

    score: Callable[[Batch], tuple[np.ndarray, np.ndarray]]
    edges: np.ndarray
    centres: np.ndarray | None
    cost: float
    counts: np.ndarray
    counter: Callable[[Batch], np.ndarray] | None = None
    columns: tuple[int, ...] = ()
    worth: float = 0.0

    @property
    def draws(self) -> float:
        """Pairs of draws that were counted."""
        return float(self.counts[0].sum())

    def bins(self, scores: np.ndarray) -> np.ndarray:
        """How many of the scores are in each bin."""
        return bin_counts(scores, self.edges)

    def counted(self, batch: Batch) -> np.ndarray:
        """How many draws of each input are in each bin."""
        if self.counter is not None:
            return self.counter(batch)
        return np.array([self.bins(each) for each in self.score(batch)])


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
        centres=candidates.centres[which] if score.log_ratio else None,
        cost=float(candidates.cost[below[0]]),
        counts=np.vstack([inside, candidates.draws[below[0]] - total]).T.astype(float),
        counter=lambda batch: batch.counts(candidates, which),
        columns=score.columns,
    )


class Tallies:
    """The counts of several scores side by side, and estimates of their shares.

    A row has as many bins as the longest of them; those that a score lacks are empty. The last bin
    is that of no score.
    """

    def __init__(self, tallies: Sequence[ScoreCounts]) -> None:
        self.tallies = tallies
        k = max(tally.counts.shape[1] for tally in tallies)
        self.counts = np.zeros((len(tallies), 2, k))
        self.centres = np.zeros((len(tallies), k - 1))
        for i, tally in enumerate(tallies):
            bins = len(tally.edges) + 1
            self.counts[i, :, :bins], self.counts[i, :, -1] = (
                tally.counts[:, :-1],
                tally.counts[:, -1],
            )
            if tally.centres is not None:
                self.centres[i, :bins] = tally.centres

    def events(self, point: Point) -> Iterator[tuple[int, FittedShares]]:
        """The number of each tally, and the shares of its best event against a point."""
        draws = self.counts[:, 0].sum(axis=1)[:, None]
        epsilon, delta = map(np.array, point)
        below = (np.cumsum(self.counts, axis=2)[..., :-2] + 0.5) / (draws[:, None] + 1.0)
        q = np.stack([below, 1.0 - below])
        worth = rough_growth(q, q[:, :, ::-1], epsilon, delta).max(axis=(0, 2))
        for i, place in enumerate(np.argmax(worth, axis=1).tolist()):
            yield i, split(self.counts[i], place + 1)

    def estimates(self) -> Iterator[tuple[int, FittedShares]]:
        """The number of each tally with its other estimates, which depend on no point."""
        lines = logistic(self.centres, self.counts)
        for i, tally in enumerate(self.tallies):
            for found in estimates(self.counts[i], None if tally.centres is None else lines[i]):
                yield i, found


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
        self.choice = None
        tallies = [*self.held_out, *self.regressions]
        if not tallies:
            return
        table = Tallies(tallies)
        fitted = list(table.estimates())
        found: list[Found] = [
            (i, each, point) for point in points for i, each in (*fitted, *table.events(point))
        ]
        found, rates = _growths(table, found)
        shown = rates * np.array([tallies[i].draws for i, _, _ in found])
        costs = np.array([tallies[i].cost + each.price for i, each, _ in found])
        trust = np.maximum(1.0 - costs / np.maximum(shown, 1e-300), 0.0)
        worth = np.where(shown > 0.0, rates * trust**2, 0.0)
        for i, tally in enumerate(tallies):
            tally.worth = max(
                (w for w, each in zip(worth.tolist(), found) if each[0] == i), default=0.0
            )
        best: Choice | None = None
        for which in np.argsort(-worth, kind="stable").tolist():
            # a delta only lowers the growth, and makes the bet slow to compute
            if worth[which] <= (0.0 if best is None else best.worth):
                break
            i, estimate, point = found[which]
            choice = _choice(tallies[i], table.counts[i], estimate, point)
            if best is None or choice.worth > best.worth:
                best = choice
            if point[1] == 0.0 and best is choice:
                break
        self.choice = best if best is not None and best.worth > 0.0 else None

    def bet(self, batch: Batch) -> None:
        """Add the bet on new draws to the evidence, and count them."""
        for tally in self._counted(len(batch)):
            new = tally.counted(batch)
            if self.choice is not None and tally is self.choice.tally:
                first, second = self.choice.bet.logs(self.choice.boldness)
                self.log += float(new[0] @ first + new[1] @ second)
            tally.counts += new

    def _counted(self, draws: int) -> list[ScoreCounts]:
        """The tallies that so many draws are counted for: the best ones, if these are many.

        Where no bet is worth anything, other columns than those of the first are not read.
        """
        tallies = [*self.held_out, *self.regressions]
        if draws <= SMALL:
            return tallies
        best = sorted(tallies, key=lambda tally: -tally.worth)[:COUNTED]
        return [each for each in best if each.worth > 0.0 or each.columns == best[0].columns]

    def rate(self) -> float:
        """The growth to expect per pair of draws."""
        return 0.0 if self.choice is None else self.choice.worth

    def growth_in(self, draws: int) -> float:
        """The growth to hope for in so many more draws."""
        return 0.0 if self.choice is None else self.choice.bet.rate * draws


Found = tuple[int, FittedShares, Point]
"""The number of a tally, an estimate of its shares, and the point that it is compared with."""


def _growths(table: Tallies, found: Sequence[Found]) -> tuple[list[Found], np.ndarray]:
    """The estimates that exceed their points, and the largest mean growth of each at delta = 0."""
    which = np.array([i for i, _, _ in found])
    shares = np.array([each.shares for _, each, _ in found])
    epsilon, delta = np.array([point for _, _, point in found]).T
    over = excess(masses(shares, table.counts[which]), epsilon, delta)
    some = np.flatnonzero(over > 0.0)
    kept = [found[i] for i in some.tolist()]
    if not kept:
        return [], np.zeros(0)
    draws = np.array([max(each.draws, 1.0) for each in table.tallies])[which[some]]
    costs = np.array([table.tallies[i].cost + each.price for i, each, _ in kept])
    rates, _ = best_tilts(
        shares[some],
        frequencies_of(table.counts[which[some]]),
        epsilon[some],
        np.zeros(1),
        caps=np.ones((1, 2)),
        least=costs / draws,
    )
    return kept, rates


def frequencies_of(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The frequencies of the bins on both inputs, from counts of shape (..., 2, k).

    A bet is judged by these, not by the laws that an estimate implies: where it does not fit, as a
    straight line does not fit what is bent, its own laws promise a growth that no draws have.
    """
    shares = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
    return shares[..., 0, :], shares[..., 1, :]


def excess(
    laws: tuple[np.ndarray, np.ndarray], epsilon: np.ndarray, delta: np.ndarray
) -> np.ndarray:
    """By how much the larger hockey-stick divergence of two laws exceeds a point, shape (e,)."""
    c = np.exp(epsilon)[:, None]
    first, second = (np.maximum(a - c * b, 0.0).sum(axis=1) for a, b in (laws, laws[::-1]))
    return np.asarray(np.maximum(first, second) - delta)


def _choice(tally: ScoreCounts, counts: np.ndarray, estimate: FittedShares, point: Point) -> Choice:
    """The bet on an estimate, on the bins of the tally alone."""
    bins = [*range(len(tally.edges) + 1), -1]
    shares = estimate.shares[bins]
    cost = estimate.price + tally.cost
    least = cost / max(tally.draws, 1.0)
    bet = best_bet(shares, frequencies_of(counts[:, bins]), *point, least)
    return Choice(tally, bet, cost, estimate.event)
