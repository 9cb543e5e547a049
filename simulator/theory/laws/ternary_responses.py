"""Randomized response over three values or more, shuffled: the exact curve of one pair.

Alice holds the first value or the second, all others the third. With e = e^epsilon_0 and k values
each value of another report but the true one has probability p = 1/(e + k - 1). The reports of the
third value and the rest are merged, which reveals no less where k = 3. Of n reports, the others'
law taken for Alice too, m ~ Bin(n, 2 p) show the first two values, by a fair coin each, and with
G_j = (R_0(y_j) - e^E R_1(y_j))/R_2(y_j) the curve is E[(G_1 + ... + G_n)_+]/n. G is e - e^E,
1 - e^(E + epsilon_0), or c (1 - e^E) at the merged values, c = (k - 2)/(e + k - 3). Hence

    delta(E) = (1 + e^E) (e - 1)/(2 n) E[(Y - tau m - nu (n - m))_+],
    tau = tanh(E/2)/tanh(epsilon_0/2),   nu = 2 c tanh(E/2)/(e - 1),

Y being the sum of m fair signs. Exchanging the first two values exchanges the databases, so both
directions have this curve. For e > 2 it is the largest in the limit of many reports, see
``simulator/theory/lemmas/shuffling-clones.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.foundations.validation import nonnegative
from simulator.theory.bracket import Bracket
from simulator.theory.laws.clone_sums import (
    LOG_CUT,
    UNDERFLOW,
    ShuffledCurve,
    block_length,
    clone_window,
    excess,
)
from simulator.theory.outward import UNIT
from simulator.theory.parameters import count, positive

MOST_REPORTS = 10**8
LARGEST_LOCAL = 300.0
"""Beyond it e^epsilon_0 is too large to be multiplied."""


@dataclass(frozen=True)
class TernaryResponses(ShuffledCurve):
    """``reports`` shuffled responses of ``epsilon`` over ``values`` >= 3 values.

    Raises InvalidInput for invalid parameters, NotApplicable for more than 10^8 reports or an
    epsilon above 300.
    """

    epsilon: float
    reports: int
    values: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon))
        object.__setattr__(self, "reports", count("reports", self.reports))
        object.__setattr__(self, "values", count("values", self.values))
        if self.values < 3:
            raise NotApplicable("responses over two values have no third one for the others")
        if self.epsilon > LARGEST_LOCAL or self.reports > MOST_REPORTS:
            raise NotApplicable(
                f"an epsilon above {LARGEST_LOCAL:g} or more than {MOST_REPORTS:g} reports "
                "are not counted"
            )

    def delta_bracket(self, epsilon: float) -> Bracket:
        """Bracket of the curve at epsilon >= 0."""
        epsilon = nonnegative("epsilon", epsilon)
        if epsilon >= self.epsilon:
            return Bracket(0.0, 0.0)
        n, shape = self.reports, math.tanh(epsilon / 2.0)
        growth = math.exp(self.epsilon)
        log_share = math.log(2.0) - math.log(growth + self.values - 1)
        first, weights, errors, whole = clone_window(n, log_share, math.log1p(-math.exp(log_share)))
        if first == 0:  # where no report shows the first two values, nothing is gained
            first, weights, errors = 1, weights[1:], errors[1:]
        tau = shape / math.tanh(self.epsilon / 2.0)
        nu = 2.0 * shape / math.expm1(self.epsilon) * (self.values - 2) / (growth + self.values - 3)
        stride = block_length(weights.size, first, tau)
        starts = np.arange(0, weights.size, stride)
        m = first + starts.astype(np.float64)
        last = first + np.minimum(starts + stride, weights.size) - 1.0
        # E[(Y - a)_+] rises with the number of signs and falls with a, which rises with m
        low = m * _gained(m, tau + (nu * (n - last) + tau * (last - m)) / m)[0]
        high = last * _gained(last, tau + (nu * (n - m) - tau * (last - m)) / last)[1]
        factor = (1.0 + math.exp(epsilon)) * math.expm1(self.epsilon) / (2.0 * n)
        slack = UNIT * (64.0 + weights.size)
        below = math.fsum(np.add.reduceat(weights * np.exp(-errors), starts) * low)
        above = math.fsum(np.add.reduceat(weights * np.exp(errors), starts) * high)
        above += 0.0 if whole else 2.0 * math.exp(-LOG_CUT) * n
        below, above = factor * below * (1.0 - slack), factor * above * (1.0 + slack)
        return Bracket(max(0.0, below - UNDERFLOW), min(1.0, max(below, above) + UNDERFLOW))


def _gained(m: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of E[(Y/m - tau)_+] for any tau: 0 from tau = 1 on, and -tau below -1."""
    low, high = excess(m, np.clip(tau, 0.0, 1.0))
    return low, high + np.maximum(-tau, 0.0)
