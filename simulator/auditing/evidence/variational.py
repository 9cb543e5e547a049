r"""Evidence against a Renyi divergence of at most epsilon(alpha), by a variational bound.

For every bounded g and every order alpha > 1, with theta = (alpha - 1)/alpha,

    D_alpha(P || Q) >= 1/theta ln E_P[e^{(alpha - 1) g}] - ln E_Q[e^{alpha g}]

by Hoelder's inequality, with equality at g = ln dP/dQ; as alpha -> 1 it becomes Donsker and
Varadhan's D(P || Q) >= E_P[g] - ln E_Q[e^g]. Both are made linear in the expectations by the
tangents x^theta <= theta x + 1 - theta and ln x <= x - 1, which are tight where g is shifted so
that the mean over Q is 1. If D_alpha <= epsilon(alpha), then with C = e^{theta epsilon(alpha)}

    E_P[e^{(alpha - 1) g}] - C (theta E_Q[e^{alpha g}] + 1 - theta) <= 0,

and E_P[g] - epsilon(1) - E_Q[e^g] + 1 <= 0 for alpha = 1. So what a draw of P gains has a mean of
at most that of what a draw of Q loses, and for any share s and level m

    (1 + s (gained(x) - m)) (1 + s (m - lost(y))),

with both factors nonnegative, has a mean of at most 1: the means of the factors add up to at most
2. The products over pairs of draws are nonnegative supermartingales (Ville 1939), and depend on
the counts of both inputs alone. The function g is a score learned from earlier draws; so are the
order, the direction, the level and the share.

Sources: Donsker and Varadhan 1983; Birrell, Dupuis, Katsoulakis, Rey-Bellet and Wang 2021,
"Variational representations and neural network estimation of Renyi divergences", Theorem 2.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np

from simulator.auditing.evidence.bins import Ordered
from simulator.auditing.evidence.events import Batch, Candidates
from simulator.auditing.evidence.ratio_bets import ScoreCounts, held_out_tally

ORDERS = (1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0)
NEARLY_ONE = 1.0 + 1e-9
"""A claim at this order bounds the Kullback-Leibler divergence: divergences grow with the order."""
MOST_SCORES = 3
LARGEST_BET = 0.5
MOST_LOST = 1e6
"""Statistics that can lose more on one pair of draws are not used."""
SHRINKAGE = 1.0
"""Standard errors subtracted from a mean gain, as it is the largest of several."""
FEW_DRAWS = 4096
"""Draws per input of a batch that is counted for every score."""
FAR = 1e-3
"""The share of the scores that is clipped at either end."""


@dataclass(eq=False)
class Statistic:
    """One score as the function g for one order and direction.

    Attributes
    ----------
    order, bound : alpha, and the claimed divergence there.
    favours : the input, 0 or 1, that is P.
    low, high : to which the score, as ln dP/dQ, is clipped.
    shift : taken off, so that the mean over Q is about 1.
    """

    order: float
    bound: float
    favours: int
    _: KW_ONLY
    low: float
    high: float
    shift: float = 0.0

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

    def words(self, gain: float) -> str:
        """The divergence, where a pair of draws gains so much on average, and the claim."""
        found = gain
        if self.order > 1.0:  # the gain as a divergence, to first order
            theta = 1.0 - 1.0 / self.order
            found = math.log1p(max(gain * math.exp(-theta * self.bound), -0.5)) / theta
        return (
            f"the Renyi divergence of order {self.order:g} of input {self.favours} from input "
            f"{1 - self.favours} is about {self.bound + found:.4g} or more, and {self.bound:.4g} "
            "is claimed"
        )


class ScoreGains:
    """The statistics of one score side by side, with the gains and the counts of its bins.

    Parameters
    ----------
    values : the score in each bin, shape (k,); NaN in the last, which has none.
    statistics : made of this score, shape (s,).
    tally : the counts of both inputs in the bins.

    Attributes
    ----------
    mean, error : the mean gain of each statistic per pair of draws, and its standard error.
    rates : the largest growth of each per pair of draws, by the mean less ``SHRINKAGE`` errors.
    """

    def __init__(self, values: np.ndarray, statistics: list[Statistic], tally: ScoreCounts) -> None:
        self.statistics, self.tally = statistics, tally
        self.gained = np.array([one.gained(values) for one in statistics])
        self.lost = np.array([one.lost(values) for one in statistics])
        self.favours = np.array([one.favours for one in statistics])
        self.low, self.high = self.gained.min(axis=1), self.lost.max(axis=1)
        self.measure()

    def measure(self) -> None:
        """Compute the mean gains by the counts so far."""
        counts, n = self.tally.counts, max(self.tally.draws, 1.0)
        p, q = counts[self.favours] / n, counts[1 - self.favours] / n
        gained, lost = (self.gained * p).sum(axis=1), (self.lost * q).sum(axis=1)
        self.mean = gained - lost
        self.level = np.clip(0.5 * (gained + lost), self.low, self.high)
        apart = (self.gained - self.level[:, None]) ** 2 * p
        apart += (self.lost - self.level[:, None]) ** 2 * q
        self.variance = np.maximum(apart.sum(axis=1), 1e-300)
        self.error = np.sqrt(self.variance / n)
        self.rates = self.growths(-SHRINKAGE)

    def growths(self, errors: float) -> np.ndarray:
        """The approximate growth of each bet per pair, the means so many errors larger."""
        return np.asarray(
            0.5 * np.maximum(self.mean + errors * self.error, 0.0) ** 2 / self.variance
        )

    def growth(self, i: int, counts: np.ndarray) -> float:
        """The growth of the bet on a statistic by draws with these counts, shape (2, k)."""
        mean = max(float(self.mean[i] - SHRINKAGE * self.error[i]), 0.0)
        share = min(mean / self.variance[i], LARGEST_BET / (self.high[i] - self.low[i]))
        first = np.log1p(share * (self.gained[i] - self.level[i]))
        second = np.log1p(share * (self.level[i] - self.lost[i]))
        return float(counts[self.favours[i]] @ first + counts[1 - self.favours[i]] @ second)


class RenyiBets:
    """Bets against a claimed curve of Renyi divergences.

    The function g is a score rounded to the bins between the thresholds of its events.

    Parameters
    ----------
    renyi : the claimed divergence at an order above 1; infinite where nothing is claimed.
    stated : the orders at which it is claimed, where these are few.

    Attributes
    ----------
    chosen : the score that is bet on next, and the number of its statistic; or None.
    log : ln of the evidence.
    """

    def __init__(self, renyi: Callable[[float], float], stated: tuple[float, ...] = ()) -> None:
        orders = sorted({*ORDERS, *stated})
        bounds = [(order, renyi(max(order, NEARLY_ONE))) for order in orders]
        self.bounds = [(order, bound) for order, bound in bounds if math.isfinite(bound)]
        self.scores: list[ScoreGains] = []
        self.chosen: tuple[ScoreGains, int] | None = None
        self.log = 0.0

    def learn(self, candidates: Candidates) -> None:
        """Make statistics of scores that approximate log ratios, with their held-out counts."""
        self.scores = []
        ratios = [i for i, score in enumerate(candidates.scores) if score.log_ratio]
        for which in ratios[:MOST_SCORES] + ratios[MOST_SCORES:][-1:]:
            tally = held_out_tally(candidates, which)
            if tally is None or tally.centres is None:
                continue
            values = np.append(tally.centres, math.nan)
            found = []
            for favours, sign in ((0, 1.0), (1, -1.0)):
                signed = Ordered.weighed(sign * tally.centres, tally.counts.sum(axis=0)[:-1])
                if not len(signed):
                    continue
                low, high = signed.quantiles(np.array([FAR, 1.0 - FAR])).tolist()
                for order, bound in self.bounds:
                    one = Statistic(order, bound, favours, low=low, high=high)
                    one.centre(values, tally.counts[1 - favours])
                    if np.ptp(one.lost(values)) < MOST_LOST:
                        found.append(one)
            if found:
                self.scores.append(ScoreGains(values, found, tally))
        self._choose()

    def _choose(self) -> None:
        self.chosen, best = None, 0.0
        for each in self.scores:
            i = int(np.argmax(each.rates))
            if each.rates[i] > best:
                self.chosen, best = (each, i), float(each.rates[i])

    def bet(self, batch: Batch) -> None:
        """Add the bet on new draws to the evidence, and choose the next one."""
        for each in self._counted(len(batch)):
            counts = each.tally.counted(batch)
            if self.chosen is not None and self.chosen[0] is each:
                self.log += each.growth(self.chosen[1], counts)
            each.tally.counts += counts
            each.measure()
        self._choose()

    def _counted(self, draws: int) -> list[ScoreGains]:
        """The scores that so many draws are counted for: the best one, if these are many."""
        if draws <= FEW_DRAWS or not self.scores:
            return self.scores
        if self.chosen is not None:
            return [self.chosen[0]]
        return [max(self.scores, key=lambda each: float(each.growths(1.0).max()))]

    def growth_in(self, draws: int) -> float:
        """The growth in so many more draws if mean gains are three standard errors larger."""
        return draws * max((float(each.growths(3.0).max()) for each in self.scores), default=0.0)

    def rate(self) -> float:
        """The growth to expect per pair of draws."""
        return 0.0 if self.chosen is None else float(self.chosen[0].rates[self.chosen[1]])

    def words(self) -> str:
        """The divergence that is bet on, and the claim, as text; or ""."""
        if self.chosen is None:
            return ""
        scored, i = self.chosen
        return scored.statistics[i].words(float(scored.mean[i]))
