"""Upper values of a free randomized response between whole costs, of second order.

A filter keeps a sum of costs; c(e) is the cost of the parameter e in units, P_e the mean over the
loss of a round, and e_n the parameter of cost n. Let G_i(z) be at least the payoff, and V(b, z) the
largest value with the real budget b left. For e in the cell from e_n to e_(n+1), of cost n + t:

- the law of e lies below that of e_n with probability 1 - w and of e_(n+1) with probability w,
  where tanh(e/2) is the same mean of its values at the ends. Its atoms are spread outward;
- c is convex in tanh(e/2), so w >= t. The ``bulge`` of the cell is at least w - t, and 4 bulge is
  at least (w - t)/t and (w - t)/(1 - t).

Write p_i = P_n G_(i-n), q_i = P_(n+1) G_(i-n), d_i = q_i - p_i. If, for every cell and i >= n,

    G_i >= max(p_i, q_(i-1)) + (1/4 + bulge) (d_i - d_(i-1))_+ + bulge max(d_i, d_(i-1), 0)

(at i = n without i - 1), then V(i + s, z) <= (1 - s) G_i + s G_(i+1) for 0 <= s <= 1: by induction
over the rounds, with the budget i - n + s - t left. For w = t and v = s - t >= 0 the mean is

    (1-t-v) p_i + v p_(i+1) + t q_i + t v (d_(i+1) - d_i),

where p_i is at most G_i, p_(i+1) and q_i at most G_(i+1), and t v <= s/4. For v = t - s > 0 it is

    (1-t) p_i + v q_(i-1) + s q_i + (1-t) v (d_i - d_(i-1)),

where p_i and q_(i-1) are at most G_i and (1-t) v <= (1-s)/4. The rest, w - t times the mean gain d,
is at most the terms with the bulge. Costs are thus rounded with an error of second order in a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from simulator.theory.laws.base import PrivacyLossLaw
from simulator.worst.grid import GridArray

_KNOTS = 8
"""Equal parts of a cell on which its bulge is bounded."""
_BESIDE = 1.0 / 16.0
"""Share of a cell at which the slope of the cost beside it is taken."""
_ROUNDING = 1e-9
"""Bound on the error of a cost, in units."""


def is_response(law: PrivacyLossLaw, epsilon: float) -> bool:
    """Whether a law is that of randomized response, of losses ``epsilon`` and ``-epsilon``."""
    if not law.is_discrete or law.infinite_mass or law.dual_infinite_mass:
        return False
    losses = np.sort(law.atom_losses)
    return len(losses) == 2 and bool(np.allclose(losses, [-epsilon, epsilon], rtol=1e-12, atol=0))


def bulge_of(cost: Callable[[float], float], low: float, high: float) -> float:
    """The bulge of the cell from ``low`` to ``high``, whose costs are one unit apart.

    See the module. Infinite where the cost is not convex in tanh(e/2) on the points tried, or where
    tanh(e/2) rounds to 1.
    """
    ends = math.tanh(low / 2.0), math.tanh(high / 2.0)
    first = cost(low)
    if ends[1] + (ends[1] - ends[0]) * _BESIDE > 1.0 - 1e-6:
        return math.inf

    def past(share: float) -> float:
        return cost(2.0 * math.atanh(ends[0] + (ends[1] - ends[0]) * share)) - first

    shares = [-_BESIDE, *(j / _KNOTS for j in range(_KNOTS + 1)), 1.0 + _BESIDE]
    spent = np.array([past(share) for share in shares])
    slopes = np.diff(spent) / np.diff(shares)
    if not (np.diff(slopes) >= -_ROUNDING * _KNOTS).all() or not slopes[0] > 0.0:
        return math.inf
    # concave in the share, so above a chord by less than the slopes' change times a quarter part
    inside = float((shares - spent).max()) + (slopes[-1] - slopes[0]) / (4 * _KNOTS)
    return max(inside, (1.0 / slopes[0] - 1.0) / 4, (1.0 - 1.0 / slopes[-1]) / 4) + _ROUNDING


class BetweenCosts:
    """The upper values of cells in one node after another, from those of their upper ends.

    Parameters
    ----------
    bulges : of each option; None for one that is no cell. A cell follows the cell below it, or an
        option of its lower end.
    payoff : shape (points,): the values where the game ends.
    share : the part of the last unit that the budget holds.
    """

    def __init__(
        self, bulges: Sequence[float | None], payoff: GridArray, share: float = 1.0
    ) -> None:
        self._bulges = bulges
        self._payoff = payoff
        self.share = share
        self._before: dict[int, GridArray] = {}
        self._lower = payoff

    def __call__(self, option: int, here: slice, upper: GridArray) -> GridArray:
        """The values of an option at the points ``here`` of the next node.

        ``upper`` is the mean over the law of its upper end at the cost of its lower end: q_i.
        Options are passed in order, for the budgets 0, 1, 2, ...
        """
        bulge = self._bulges[option]
        if bulge is None:
            self._lower = upper
            return upper
        lower, gain = self._lower, upper - self._lower
        if option not in self._before:
            self._before[option] = np.stack((self._payoff, self._payoff))
            self._before[option][:, here] = lower, upper
            return lower + bulge * np.maximum(gain, 0.0)
        before = self._before[option]
        lower_before, upper_before = before[:, here].copy()
        before[:, here] = lower, upper
        self._lower = upper_before
        gained = upper_before - lower_before
        found = np.maximum(lower, upper_before)
        found += (0.25 + bulge) * np.maximum(gain - gained, 0.0)
        found += bulge * np.maximum(np.maximum(gain, gained), 0.0)
        return found
