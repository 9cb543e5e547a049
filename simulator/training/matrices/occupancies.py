"""Multisets of bins with probability proportional to a product over pairs, by dynamic programming.

E_Q U^theta = b^{-theta} sum over (j_1 ... j_theta) of exp(sum_{a<c} G_{j_a j_c}): this normalises
U^theta Q, a mixture of the N(G n, G) over the occupancies n of the bins. In occupancies a term is

    theta!/prod n_j! * exp(sum_j G_jj n_j (n_j - 1)/2 + sum_{j<l} G_jl n_j n_l).

Where bins interact within a distance d alone, the sum is over the bins in turn. The state before a
bin is the occupancies of the d bins before it and how many of the theta are left, and also the
occupancies of the first d bins if the last ones interact with them. Independent bins have the
number left alone.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from simulator.foundations.errors import NotApplicable

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]

MOST_CELLS = 26 * 10**6
"""The largest table: states times bins, 8 bytes each."""
_MOST_EXPONENT = 700.0


def reach(kernel: Floats) -> tuple[int, bool]:
    """How far bins interact, and whether the last ones interact with the first ones."""
    bins = len(kernel)
    places = np.argwhere(np.triu(kernel, 1))
    apart = np.unique(places[:, 1] - places[:, 0])
    if not apart.size:
        return 0, False
    straight, round_about = int(apart.max()), int(np.minimum(apart, bins - apart).max())
    cells = states(straight, False, 1), states(round_about, True, 1)
    if 2 * round_about + 1 <= bins and cells[1] < cells[0]:
        return round_about, True
    return straight, False


def states(distance: int, closed: bool, total: int) -> int:
    """How many states there are with up to ``total``."""
    kept = distance * (2 if closed else 1)
    return math.comb(total + kept + 1, kept + 1)


class Occupancies:
    """The multisets of up to ``total`` of the bins that a kernel weighs.

    Parameters
    ----------
    kernel : symmetric, shape (bins, bins); G in the module's text. Any signs.
    total : the largest theta.
    field : float64, shape (bins,): every occupancy n_j adds n_j field_j to the exponent.

    Raises NotApplicable where the table would be too large, or a weight leave the range of floats.
    """

    def __init__(self, kernel: Floats, total: int, field: Floats | None = None) -> None:
        self.kernel, self.total, self.bins = kernel, total, len(kernel)
        self.field = np.zeros(self.bins) if field is None else field
        self.distance, self.closed = reach(kernel)
        self.head = self.distance * (2 if self.closed else 1)
        size = states(self.distance, self.closed, total) * self.bins
        if size > MOST_CELLS:
            raise NotApplicable(
                f"the dynamic programme for theta = {total} over {self.bins} bins that interact "
                f"within a distance of {self.distance} has {size:.2g} states, more than "
                f"{MOST_CELLS:.2g}"
            )
        self._log_scale = math.log(max(1.0, total / self.bins))
        with np.errstate(over="ignore", invalid="ignore"):
            reached = max(float(self._values[self.head].max()), float(self._starts(total)[1].sum()))
        if not 0.0 < reached < math.inf:
            raise NotApplicable(f"theta = {total} makes weights leave the range of floats")

    def log_moment(self, theta: int) -> float:
        """Ln of E_Q U^theta."""
        total = math.log(self._starts(theta)[1].sum())
        scale = math.log(self.bins) + self._log_scale
        return float(total + gammaln(theta + 1) - theta * scale)

    def draw(self, theta: int, draws: int, generator: np.random.Generator) -> Wholes:
        """Occupancies of U^theta Q, shape (bins, draws)."""
        found = np.zeros((self.bins, draws), dtype=np.int64)
        firsts, weights = self._starts(theta)
        heights = np.cumsum(weights)
        chosen = np.searchsorted(heights, generator.random(draws) * heights[-1], side="right")
        chosen = np.minimum(chosen, len(weights) - 1)
        found[: self.head] = firsts[chosen].T
        state = self._after_head(firsts[chosen], theta)
        for bin_ in range(self.head, self.bins):
            found[bin_] = self._step(bin_, state, generator.random(draws))
            state = self._follow(state, found[bin_])
        return found

    def _step(self, bin_: int, state: Wholes, uniform: Floats) -> Wholes:
        """Draw the occupancy of a bin for each state."""
        here, after = self._values[bin_], self._values[bin_ + 1]
        chosen = np.zeros(len(state), dtype=np.int64)
        rest = uniform * here[state]
        open_ = np.arange(len(state))
        factor = self._factors(bin_)
        power = np.ones(len(state))
        left = self._tuples[state, -1]
        for n in range(self.total + 1):
            weight = self._own(bin_, n) * power
            rest = rest - weight * after[self._next[n][state[open_]]]
            more = (rest >= 0.0) & (left[open_] > n)
            chosen[open_] = np.where(more, n + 1, n)
            open_, rest = open_[more], rest[more]
            if not open_.size:
                break
            power = power[more] * factor[state[open_]]
        return chosen

    def _own(self, bin_: int, n: int) -> float:
        pairs = 0.5 * n * (n - 1) * self.kernel[bin_, bin_]
        exponent = pairs + n * (self._log_scale + self.field[bin_]) - gammaln(n + 1)
        return math.exp(exponent) if exponent < _MOST_EXPONENT else math.inf

    def _factors(self, bin_: int) -> Floats:
        """What one more in the bin multiplies the weight by, for each state."""
        d = self.distance
        strengths = np.zeros(self._tuples.shape[1])
        for lag in range(1, d + 1):
            strengths[lag - 1] = self.kernel[bin_, bin_ - lag]
        if self.closed:
            strengths[d : 2 * d] = self.kernel[bin_, :d]
        return np.asarray(np.exp(self._tuples @ strengths))

    @cached_property
    def _tuples(self) -> Wholes:
        """The states, shape (states, entries), the number left last; by falling number left."""
        found = _bounded(self.head, self.total)
        sums = found.sum(axis=1)
        rows = []
        for left in range(self.total, -1, -1):
            some = found[sums <= self.total - left]
            rows.append(np.column_stack([some, np.full(len(some), left)]))
        return np.concatenate(rows)

    @cached_property
    def _codes(self) -> tuple[Wholes, Wholes]:
        codes = self._code(self._tuples)
        order = np.argsort(codes)
        return codes[order], order

    def _code(self, tuples: Wholes) -> Wholes:
        base = (self.total + 1) ** np.arange(tuples.shape[1], dtype=np.int64)
        return np.asarray(tuples @ base)

    def _index(self, tuples: Wholes) -> Wholes:
        codes, order = self._codes
        return np.asarray(order[np.searchsorted(codes, self._code(tuples))])

    @cached_property
    def _next(self) -> list[Wholes]:
        """For each occupancy of a bin the state after it, of the states with as many left."""
        found = []
        for n in range(self.total + 1):
            before = self._tuples[: self._having(n)]
            after = before.copy()
            after[:, -1] -= n
            if self.distance:
                after[:, 1 : self.distance] = before[:, : self.distance - 1]
                after[:, 0] = n
            found.append(self._index(after))
        return found

    def _having(self, n: int) -> int:
        """How many states have at least ``n`` left: these are the first ones."""
        return int(np.searchsorted(-self._tuples[:, -1], -n, side="right"))

    def _follow(self, state: Wholes, occupancy: Wholes) -> Wholes:
        after = np.empty_like(state)
        for n in range(int(occupancy.max(initial=0)) + 1):
            those = occupancy == n
            after[those] = self._next[n][state[those]]
        return after

    @cached_property
    def _values(self) -> list[Floats]:
        """For each bin, and past the last, the sum of the weights of all ways on, by state."""
        values = [np.zeros(0)] * (self.bins + 1)
        values[self.bins] = (self._tuples[:, -1] == 0).astype(np.float64)
        for bin_ in range(self.bins - 1, self.head - 1, -1):
            after, total = values[bin_ + 1], np.zeros(len(self._tuples))
            factor = self._factors(bin_)
            power = np.ones_like(factor)
            for n in range(self.total + 1):
                many = self._having(n)
                power = power[:many]
                total[:many] += self._own(bin_, n) * power * after[self._next[n]]
                power = power * factor[:many]
            values[bin_] = total
        return values

    def _starts(self, theta: int) -> tuple[Wholes, Floats]:
        """All occupancies of the first bins, and the sum of the weights of what begins so."""
        first, block = _bounded(self.head, theta), self.kernel[: self.head, : self.head]
        exponent = 0.5 * np.einsum("nj,jl,nl->n", first, block, first)
        exponent -= 0.5 * first @ np.diagonal(block) + gammaln(first + 1).sum(axis=1)
        exponent += first @ (self._log_scale + self.field[: self.head])
        state = self._after_head(first, theta)
        return first, np.exp(exponent) * self._values[self.head][state]

    def _after_head(self, first: Wholes, theta: int) -> Wholes:
        """The states after the first bins."""
        last = first[:, ::-1][:, : self.distance]
        kept = [last, first[:, : self.distance]] if self.closed else [last]
        left = theta - first.sum(axis=1)
        return self._index(np.concatenate([*kept, left[:, None]], axis=1))


def _bounded(entries: int, total: int) -> Wholes:
    """All rows of so many whole numbers from 0 whose sum is at most ``total``."""
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(entries):
        room = total - rows.sum(axis=1) + 1
        last = np.arange(int(room.sum())) - np.repeat(np.cumsum(room) - room, room)
        rows = np.column_stack([np.repeat(rows, room, axis=0), last])
    return rows
