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
FAR = 1e-3
"""The share of the scores that is clipped at either end."""


@dataclass
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

    def centre(self, scores_of_q: np.ndarray) -> None:
        """Set the shift by draws from Q."""
        g = self.order * self.g(scores_of_q)
        self.shift = float(np.logaddexp.reduce(g) - math.log(len(g))) / self.order

    def gains(self, scores: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The gain of each pair of draws, shape (n,)."""
        p, q = self.g(scores[self.favours]), self.g(scores[1 - self.favours])
        if self.order == 1.0:
            return np.asarray(p - self.bound - np.expm1(q))
        theta = 1.0 - 1.0 / self.order
        scale = math.exp(theta * self.bound)
        tangent = theta * np.exp(self.order * q) + 1.0 - theta
        return np.asarray(np.exp((self.order - 1.0) * p) - scale * tangent)

    @property
    def worst(self) -> float:
        """The largest loss on one pair of draws."""
        low, high = self.low - self.shift, self.high - self.shift
        if self.order == 1.0:
            return self.bound - low + math.expm1(high)
        theta = 1.0 - 1.0 / self.order
        return math.exp(theta * self.bound) * (theta * math.exp(self.order * high) + 1.0 - theta)

    def take(self, gains: np.ndarray) -> None:
        """Add the gains of new draws, shape (n,), to the sums."""
        self.draws += len(gains)
        self.total += float(gains.sum())
        self.squares += float(gains @ gains)

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


class RenyiBets:
    """Bets against a claimed curve of Renyi divergences.

    Parameters
    ----------
    renyi : the claimed divergence at an order above 1; infinite where nothing is claimed.
    stated : the orders at which it is claimed, where these are few.
    """

    def __init__(self, renyi: Callable[[float], float], stated: tuple[float, ...] = ()) -> None:
        orders = sorted({*ORDERS, *stated})
        bounds = [(order, renyi(max(order, NEARLY_ONE))) for order in orders]
        self.bounds = [(order, bound) for order, bound in bounds if math.isfinite(bound)]
        self.statistics: list[Statistic] = []
        self.chosen: Statistic | None = None
        self.log = 0.0

    def learn(self, candidates: Candidates, held_out: tuple[Answers, Answers]) -> None:
        """Make statistics of scores that approximate log ratios; test them on held-out draws."""
        n = min(map(len, held_out))
        batch = Batch((held_out[0][:n], held_out[1][:n]))
        self.statistics = []
        ratios = [i for i, score in enumerate(candidates.scores) if score.log_ratio]
        for which in ratios[:MOST_SCORES] + ratios[MOST_SCORES:][-1:]:
            scores = batch.scores(candidates, which)
            for favours in (0, 1):
                signed = np.concatenate(scores) * (1.0 if favours == 0 else -1.0)
                finite = signed[np.isfinite(signed)]
                if not len(finite):
                    continue
                low, high = np.quantile(finite, [FAR, 1.0 - FAR]).tolist()
                for order, bound in self.bounds:
                    one = Statistic(which, order, bound, favours, low=low, high=high)
                    one.centre(scores[1 - favours])
                    if not one.worst < MOST_LOST:
                        continue
                    one.take(one.gains(scores))
                    self.statistics.append(one)
        self._choose()

    def _choose(self) -> None:
        best = max(self.statistics, key=lambda one: one.growth(-SHRINKAGE), default=None)
        self.chosen = best if best is not None and best.share() > 0.0 else None

    def bet(self, candidates: Candidates, batch: Batch) -> None:
        """Add the bet on new draws to the evidence, and choose the next one."""
        if self.chosen is not None:
            gains = self.chosen.gains(batch.scores(candidates, self.chosen.score))
            self.log += float(np.log1p(self.chosen.share() * gains).sum())
        for one in self.statistics:
            one.take(one.gains(batch.scores(candidates, one.score)))
        self._choose()

    def growth_in(self, draws: int) -> float:
        """The growth in so many more draws if mean gains are three standard errors larger."""
        return max((one.growth(3.0) * draws for one in self.statistics), default=0.0)
