"""Moments and draws of k of t steps: how often each step is in theta random subsets.

With U = e_k(V_1 ... V_t)/binom(t, k), E_Q U^theta is a sum over theta subsets of size k of
exp(g sum_j n_j (n_j - 1)/2), where n_j subsets hold step j. The steps are taken in turn; the state
is how many of the theta subsets have 0, 1, ... k elements so far, as the subsets are alike. A step
takes m_i of the c_i subsets with i elements, in binom(c_i, m_i) ways each. Every step is alike too,
so one matrix has all transitions.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import gammaln

from simulator.foundations.errors import NotApplicable

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]

MOST_TRANSITIONS = 4 * 10**6
_MOST_VALUES = 3 * 10**7


def transitions(selected: int, theta: int) -> int:
    """How many transitions the matrix has."""
    return math.comb(theta + 2 * selected, 2 * selected)


class SubsetTable:
    """The occupancies of ``steps`` steps by ``theta`` subsets of ``selected`` steps.

    Raises NotApplicable where the table would be too large, or a weight leave the range of floats.
    """

    def __init__(self, strength: float, steps: int, selected: int, theta: int) -> None:
        self.strength, self.steps, self.selected, self.theta = strength, steps, selected, theta
        size = transitions(selected, theta)
        values = math.comb(theta + selected, selected) * steps
        if size > MOST_TRANSITIONS or values > _MOST_VALUES:
            raise NotApplicable(
                f"the dynamic programme for theta = {theta} and {selected} of {steps} steps has "
                f"{values:.2g} states and {size:.2g} transitions a step, too many"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            if not 0.0 < self._values[0][0] < math.inf:
                raise NotApplicable(f"theta = {theta} makes weights leave the range of floats")

    @property
    def kernel(self) -> Floats:
        """G, as of :class:`Occupancies`."""
        return np.diag(np.full(self.steps, self.strength))

    def log_moment(self, theta: int) -> float:
        """Ln of E_Q U^theta."""
        assert theta == self.theta
        k, t, rate = self.selected, self.steps, self.selected / self.steps
        one = gammaln(t + 1) - gammaln(k + 1) - gammaln(t - k + 1)
        one += k * math.log(rate) + (t - k) * math.log1p(-rate) if k < t else 0.0
        return float(math.log(self._values[0][0]) - theta * one)

    def draw(self, theta: int, draws: int, generator: np.random.Generator) -> Wholes:
        """Occupancies of U^theta Q, shape (steps, draws)."""
        assert theta == self.theta
        matrix, counts = self._matrix
        found = np.zeros((self.steps, draws), dtype=np.int64)
        state = np.zeros(draws, dtype=np.int64)
        rows = np.repeat(np.arange(len(self._states)), np.diff(matrix.indptr))
        for step in range(self.steps):
            here, after = self._values[step], self._values[step + 1]
            scale = np.divide(1.0, here, out=np.zeros_like(here), where=here > 0.0)
            # each row's probabilities add up to 1: a state's heights begin at its number
            heights = np.cumsum(matrix.data * after[matrix.indices] * scale[rows])
            starts = np.concatenate(([0.0], heights))[matrix.indptr]
            target = starts[state] + generator.random(draws) * (starts[state + 1] - starts[state])
            place = np.searchsorted(heights, target, side="right")
            place = np.clip(place, matrix.indptr[state], matrix.indptr[state + 1] - 1)
            found[step], state = counts[place], matrix.indices[place]
        return found

    @cached_property
    def _states(self) -> Wholes:
        """The numbers of subsets with 0 ... k elements, shape (states, k + 1); all empty first."""
        rows = np.zeros((1, 0), dtype=np.int64)
        for _ in range(self.selected):
            room = self.theta - rows.sum(axis=1) + 1
            last = np.arange(int(room.sum())) - np.repeat(np.cumsum(room) - room, room)
            rows = np.column_stack([np.repeat(rows, room, axis=0), last])
        return np.column_stack([self.theta - rows.sum(axis=1), rows])

    @cached_property
    def _matrix(self) -> tuple[scipy.sparse.csr_array, Wholes]:
        """Weights of the transitions by state and next state, and how many subsets each takes."""
        states, k = self._states, self.selected
        source = np.arange(len(states))
        taken = np.zeros((len(states), 0), dtype=np.int64)
        logs = np.zeros(len(states))
        for i in range(k):
            room = states[source, i] + 1
            last = np.arange(int(room.sum())) - np.repeat(np.cumsum(room) - room, room)
            source, taken = np.repeat(source, room), np.repeat(taken, room, axis=0)
            there = states[source, i]
            logs = np.repeat(logs, room)
            logs += gammaln(there + 1) - gammaln(last + 1) - gammaln(there - last + 1)
            taken = np.column_stack([taken, last])
        after = states[source].copy()
        after[:, :k] -= taken
        after[:, 1:] += taken
        many = taken.sum(axis=1)
        rate = self.selected / self.steps
        logs += 0.5 * self.strength * many * (many - 1) + many * math.log(rate)
        if rate < 1.0:
            logs += (self.theta - many) * math.log1p(-rate)
        base = (self.theta + 1) ** np.arange(k + 1, dtype=np.float64)
        codes = states @ base
        order = np.argsort(codes)
        target = order[np.searchsorted(codes[order], after @ base)]
        starts = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=len(states)))))
        with np.errstate(over="ignore"):
            weights = np.exp(logs)
        size = (len(states), len(states))
        return scipy.sparse.csr_array((weights, target, starts), shape=size), many

    @cached_property
    def _values(self) -> list[Floats]:
        """Before each step, and after the last, the sum of the weights of all ways on, by state."""
        matrix, _ = self._matrix
        values = [(self._states[:, -1] == self.theta).astype(np.float64)]
        for _ in range(self.steps):
            values.append(np.asarray(matrix @ values[-1]))
        return values[::-1]
