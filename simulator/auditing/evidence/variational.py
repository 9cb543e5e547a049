r"""Evidence against a Renyi divergence of at most epsilon(alpha), by a variational bound.

For every bounded g and every order alpha > 1, with theta = (alpha - 1)/alpha,

    D_alpha(P || Q) >= 1/theta ln E_P[e^{(alpha - 1) g}] - ln E_Q[e^{alpha g}]

by Hoelder's inequality, with equality at g = ln dP/dQ; as alpha -> 1 it becomes Donsker and
Varadhan's D(P || Q) >= E_P[g] - ln E_Q[e^g]. Both are made linear in the expectations by the
tangents x^theta <= theta x + 1 - theta and ln x <= x - 1, which are tight where g is shifted so
that the mean over Q is 1. If D_alpha <= epsilon(alpha), then with C = e^{theta epsilon(alpha)}

    E_P[e^{(alpha - 1) g}] - C (theta E_Q[e^{alpha g}] + 1 - theta) <= 0,

and E_P[g] - epsilon(1) - E_Q[e^g] + 1 <= 0 for alpha = 1. A draw from each has a bounded gain of
mean at most 0, and the wealth of bets of a share of it on that gain is a nonnegative
supermartingale (Ville 1939). The function g is a score learned from earlier draws; so are the
order, the direction and the share.

Sources: Donsker and Varadhan 1983; Birrell, Dupuis, Katsoulakis, Rey-Bellet and Wang 2021,
"Variational representations and neural network estimation of Renyi divergences", Theorem 2.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np

from simulator.auditing.evidence.answers import Answers
from simulator.auditing.evidence.events import Batch, Candidates

ORDERS = (1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0)
NEARLY_ONE = 1.0 + 1e-9
"""A claim at this order bounds the Kullback-Leibler divergence: divergences grow with the order."""
MOST_SCORES = 3
LARGEST_BET = 0.5
MOST_LOST = 1e6
"""Statistics that can lose more on one pair of draws are not used."""
SHRINKAGE = 1.0
"""Standard errors subtracted from a mean gain, as it is the largest of several."""
MOST_HELD_OUT = 65_536
"""The largest number of pairs of held-out draws that new statistics are tested on."""
FEW_DRAWS = 4096
"""Draws per input of a batch that is counted for every score."""
FAR = 1e-3
"""The share of the scores that is clipped at either end."""


@dataclass(eq=False)
class Statistic:
    """One score as the function g for one order and direction, with the sums of its gains.

    Attributes
    ----------
    score : its number among the candidates.
    order, bound : alpha, and the claimed divergence there.
    favours : the input, 0 or 1, that is P.
    low, high : to which the score, as ln dP/dQ, is clipped.
    shift : taken off, so that the mean over Q is about 1.
    draws, total, squares : pairs of draws, and sums of their gains.
    """

    score: int
    order: float
    bound: float
    favours: int
    _: KW_ONLY
    low: float
    high: float
    shift: float = 0.0
    draws: int = 0
    total: float = 0.0
    squares: float = 0.0

    def g(self, scores: np.ndarray) -> np.ndarray:
        """The function of an answer with these scores; 0 before the shift where there is none."""
        signed = np.nan_to_num(scores if self.favours == 0 else -scores, nan=0.0)
        return np.asarray(np.clip(signed, self.low, self.high) - self.shift)

    def centre(self, scores: np.ndarray, law: np.ndarray) -> None:
        """Set the shift by the scores of Q's draws and how often each occurred."""
        g, some = self.order * self.g(scores), law > 0
        mean = np.logaddexp.reduce(g[some] + np.log(law[some])) - math.log(law.sum())
        self.shift = float(mean) / self.order

    def gained(self, scores: np.ndarray) -> np.ndarray:
        """What a draw of P with each of these scores adds to a gain."""
        p = self.g(scores)
        return p - self.bound if self.order == 1.0 else np.exp((self.order - 1.0) * p)

    def lost(self, scores: np.ndarray) -> np.ndarray:
        """What a draw of Q with each of these scores takes off a gain."""
        q = self.g(scores)
        if self.order == 1.0:
            return np.expm1(q)
        theta = 1.0 - 1.0 / self.order
        scale = math.exp(theta * self.bound)
        return np.asarray(scale * (theta * np.exp(self.order * q) + 1.0 - theta))

    def gains(self, scores: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The gain of each pair of draws, shape (n,)."""
        return self.gained(scores[self.favours]) - self.lost(scores[1 - self.favours])

    @property
    def worst(self) -> float:
        """The largest loss on one pair of draws."""
        low, high = self.low - self.shift, self.high - self.shift
        if self.order == 1.0:
            return self.bound - low + math.expm1(high)
        theta = 1.0 - 1.0 / self.order
        return math.exp(theta * self.bound) * (theta * math.exp(self.order * high) + 1.0 - theta)

    def mean(self, errors: float) -> float:
        """The mean gain, so many standard errors larger."""
        if not self.draws:
            return 0.0
        return (self.total + errors * math.sqrt(self.squares)) / self.draws

    def growth(self, errors: float) -> float:
        """The approximate growth of a bet per pair of draws, in nats."""
        mean = max(self.mean(errors), 0.0)
        return 0.5 * mean**2 * self.draws / max(self.squares, 1e-300)

    def share(self) -> float:
        """The share of the wealth to bet."""
        mean = max(self.mean(-SHRINKAGE), 0.0)
        return min(mean * self.draws / max(self.squares, 1e-300), LARGEST_BET / self.worst)

    def __str__(self) -> str:
        found = self.total / max(self.draws, 1)
        if self.order > 1.0:  # the gain as a divergence, to first order
            theta = 1.0 - 1.0 / self.order
            found = math.log1p(max(found * math.exp(-theta * self.bound), -0.5)) / theta
        return (
            f"the Renyi divergence of order {self.order:g} of input {self.favours} from input "
            f"{1 - self.favours} is about {self.bound + found:.4g} or more, and {self.bound:.4g} "
            "is claimed"
        )


class ScoreGains:
    """The statistics of one score, with the gains of its bins.

    Parameters
    ----------
    score : its number among the candidates.
    values : the score in each bin, shape (k,); NaN in the last, which has none.
    statistics : made of this score, shape (s,).
    """

    def __init__(self, score: int, values: np.ndarray, statistics: list[Statistic]) -> None:
        self.score, self.values, self.statistics = score, values, statistics
        self.gained = np.array([one.gained(values) for one in statistics])
        self.lost = np.array([one.lost(values) for one in statistics])
        self.favours = np.array([one.favours for one in statistics])

    def take(self, pairs: np.ndarray) -> None:
        """Add pairs of draws, counted by the bins of both, shape (k, k), to the sums."""
        draws = int(pairs.sum())
        for b in (0, 1):
            some = np.flatnonzero(self.favours == b)
            joint = pairs if b == 0 else pairs.T
            gained, lost = self.gained[some], self.lost[some]
            p, q = joint.sum(axis=1), joint.sum(axis=0)
            totals = gained @ p - lost @ q
            apart = gained**2 @ p + lost**2 @ q
            squares = apart - 2.0 * np.einsum("si,ij,sj->s", gained, joint, lost, optimize=True)
            squares = np.maximum(squares, 1e-9 * apart)
            for i, total, square in zip(some, totals.tolist(), squares.tolist()):
                one = self.statistics[i]
                one.draws, one.total, one.squares = (
                    one.draws + draws, one.total + total, one.squares + square
                )  # fmt: skip

    def growth(self, one: Statistic, pairs: np.ndarray) -> float:
        """The growth of the bet on one of the statistics by these pairs of draws."""
        i = self.statistics.index(one)
        gains = self.gained[i][:, None] - self.lost[i][None, :]
        joint = pairs if one.favours == 0 else pairs.T
        return float(np.sum(np.log1p(one.share() * gains) * joint))


class RenyiBets:
    """Bets against a claimed curve of Renyi divergences.

    The function g is a score rounded to the bins between the thresholds of its events: pairs of
    draws are counted once for all orders.

    Parameters
    ----------
    renyi : the claimed divergence at an order above 1; infinite where nothing is claimed.
    stated : the orders at which it is claimed, where these are few.
    """

    def __init__(self, renyi: Callable[[float], float], stated: tuple[float, ...] = ()) -> None:
        orders = sorted({*ORDERS, *stated})
        bounds = [(order, renyi(max(order, NEARLY_ONE))) for order in orders]
        self.bounds = [(order, bound) for order, bound in bounds if math.isfinite(bound)]
        self.scores: list[ScoreGains] = []
        self.chosen: Statistic | None = None
        self.log = 0.0

    @property
    def statistics(self) -> list[Statistic]:
        """Those of all scores."""
        return [one for each in self.scores for one in each.statistics]

    def learn(self, candidates: Candidates, held_out: tuple[Answers, Answers]) -> None:
        """Make statistics of scores that approximate log ratios; test them on held-out draws."""
        n = min(min(map(len, held_out)), MOST_HELD_OUT)
        batch = Batch((held_out[0][:n], held_out[1][:n]))
        self.scores = []
        ratios = [i for i, score in enumerate(candidates.scores) if score.log_ratio]
        for which in ratios[:MOST_SCORES] + ratios[MOST_SCORES:][-1:]:
            values = _values(candidates, which, batch)
            counts = batch.counts(candidates, which)
            found = []
            for favours in (0, 1):
                signed = np.concatenate(batch.scores(candidates, which))
                signed = signed[np.isfinite(signed)] * (1.0 if favours == 0 else -1.0)
                if not len(signed):
                    continue
                low, high = np.quantile(signed, [FAR, 1.0 - FAR]).tolist()
                for order, bound in self.bounds:
                    one = Statistic(which, order, bound, favours, low=low, high=high)
                    one.centre(values, counts[1 - favours])
                    if one.worst < MOST_LOST:
                        found.append(one)
            if found:
                gains = ScoreGains(which, values, found)
                gains.take(_pairs(candidates, which, batch))
                self.scores.append(gains)
        self._choose()

    def _choose(self) -> None:
        best = max(self.statistics, key=lambda one: one.growth(-SHRINKAGE), default=None)
        self.chosen = best if best is not None and best.share() > 0.0 else None

    def bet(self, candidates: Candidates, batch: Batch) -> None:
        """Add the bet on new draws to the evidence, and choose the next one."""
        for each in self._counted(len(batch)):
            pairs = _pairs(candidates, each.score, batch)
            if self.chosen is not None and self.chosen.score == each.score:
                self.log += each.growth(self.chosen, pairs)
            each.take(pairs)
        self._choose()

    def _counted(self, draws: int) -> list[ScoreGains]:
        """The scores that so many draws are counted for: the best ones, if these are many."""
        if draws <= FEW_DRAWS:
            return self.scores
        by_hope = sorted(
            self.scores, key=lambda each: -max(one.growth(1.0) for one in each.statistics)
        )
        bet_on = [each for each in self.scores if self.chosen in each.statistics]
        return bet_on or by_hope[:1]

    def growth_in(self, draws: int) -> float:
        """The growth in so many more draws if mean gains are three standard errors larger."""
        return max((one.growth(3.0) * draws for one in self.statistics), default=0.0)


def _pairs(candidates: Candidates, which: int, batch: Batch) -> np.ndarray:
    """Pairs of draws by the bins of both inputs' scores, shape (k, k)."""
    k = len(candidates.edges[which]) + 2
    first, second = batch.places(candidates, which)
    return np.bincount(first * k + second, minlength=k * k).reshape(k, k).astype(float)


def _values(candidates: Candidates, which: int, batch: Batch) -> np.ndarray:
    """The mean score in each bin, or its lower end if it is empty; NaN in the last, shape (k,)."""
    edges = candidates.edges[which]
    scores = np.concatenate(batch.scores(candidates, which))
    places = np.concatenate(batch.places(candidates, which))
    k = len(edges) + 2
    finite = np.isfinite(scores)
    counts = np.bincount(places[finite], minlength=k)
    totals = np.bincount(places[finite], weights=scores[finite], minlength=k)
    ends = np.concatenate([edges[:1], edges, [math.nan]]) if len(edges) else np.full(k, math.nan)
    return np.where(counts > 0, totals / np.maximum(counts, 1), ends)
