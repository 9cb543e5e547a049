"""Sparse vectors that print values: the one compared (Roth's), or a fresh one (the numerical)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from experiments.suite.mechanisms.entry import AnswerLaw, StandardMechanism
from experiments.suite.mechanisms.noise import laplace_density, on_grid, rule_on
from experiments.suite.mechanisms.thresholds import (
    ABOVE,
    BELOW,
    STOPPED,
    Marks,
    all_marks,
    stopped,
)
from simulator.auditing.audits.patterns import Input
from simulator.theory import PureDP

BELOW_CODE, STOPPED_CODE = -1000.0, -2000.0
"""The codes of an answer below and of no answer, far outside the noise."""
STEP = 2.0**-3
REACH = 400.0
"""How far the table of thresholds extends above the inputs; the mass beyond is e^-20."""


def value_losses(input_0: Input, input_1: Input, values: np.ndarray, scale: float) -> np.ndarray:
    """Ln of the ratio of Laplace densities of each value; shape of ``values``, (n, length)."""
    farther = np.abs(values - np.asarray(input_1)) - np.abs(values - np.asarray(input_0))
    return farther / scale


@cache
def log_mass_up_to(marks: Marks, input: Input, borders: tuple[float, float]) -> np.ndarray:
    """Ln Pr[rows of BELOW, threshold <= u] of each row of marks at each u; (u, rows).

    The grid of u goes from the first to the second border in steps of STEP. Below the first, which
    must be a lower bound of all kinks, everything is an exponential and has a closed form.
    """
    noise = np.arange(borders[0], borders[1] + STEP, STEP) - marks.threshold
    rows = np.where(all_marks(len(input), marks.most) == BELOW, BELOW, STOPPED)
    nodes, weights = rule_on(noise, order=4)
    density = np.exp(marks.log_given(nodes, input, rows))
    density *= (weights * laplace_density(nodes, marks.threshold_scale))[:, None]
    pieces = density.reshape(len(noise) - 1, 4, -1).sum(axis=1)
    first = np.exp(marks.log_given(noise[:1], input, rows))
    first *= laplace_density(noise[:1], marks.threshold_scale)[:, None]
    first /= 1.0 / marks.threshold_scale + (rows == BELOW).sum(axis=1) / marks.query_scale
    return np.log(np.cumsum(np.concatenate([first, pieces]), axis=0))


@dataclass(frozen=True)
class ValuesLaw(AnswerLaw):
    """The third variant: an answer above is the value that was compared.

    So the least value m is an upper bound of the threshold. A row has the density of its values
    times Pr[the others are below, threshold <= m].
    """

    marks: Marks

    def sample(self, input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
        """Values, BELOW_CODE and STOPPED_CODE, shape (n, length)."""
        assert self.marks.most is not None
        above, values = self.marks.above(input, n, rng)
        answers = on_grid(values)
        answers[~above] = BELOW_CODE
        answers[stopped(above, self.marks.most)] = STOPPED_CODE
        return answers

    def borders(self, input_0: Input, input_1: Input) -> tuple[float, float]:
        """Of the table of thresholds: the lowest kink, and far above the highest."""
        lowest = min(*input_0, *input_1, self.marks.threshold)
        return lowest, max(*input_0, *input_1, self.marks.threshold) + REACH

    def tables(self, input_0: Input, input_1: Input) -> tuple[np.ndarray, np.ndarray]:
        """The thresholds u, shape (u,), and ln of the ratio of masses up to them; (u, rows)."""
        borders = self.borders(input_0, input_1)
        ratio = log_mass_up_to(self.marks, input_0, borders)
        ratio = ratio - log_mass_up_to(self.marks, input_1, borders)
        return np.arange(len(ratio)) * STEP + borders[0], ratio

    def loss(self, input_0: Input, input_1: Input, answers: np.ndarray) -> np.ndarray:
        """See :meth:`AnswerLaw.loss`; within 1e-4, by linear interpolation in the least value."""
        grid, ratio = self.tables(input_0, input_1)
        coded = (answers == BELOW_CODE) | (answers == STOPPED_CODE)
        rows = np.where(coded, np.where(answers == BELOW_CODE, BELOW, STOPPED), ABOVE)
        place = self.marks.place(rows)
        least = np.where(coded, np.inf, answers).min(axis=1)
        at = (np.clip(least, grid[0], grid[-1]) - grid[0]) / STEP
        left = np.minimum(at.astype(int), len(grid) - 2)
        share = at - left
        shared = (1.0 - share) * ratio[left, place] + share * ratio[left + 1, place]
        printed = value_losses(input_0, input_1, answers, self.marks.query_scale)
        return shared + np.where(coded, 0.0, printed).sum(axis=1)

    def supremum(self, input_0: Input, input_1: Input) -> float:
        """The largest loss over rows and values.

        The least value is scanned in steps of 1/8, kinks included; below them the loss is constant.
        Each other value has its own largest loss, at the least value or at infinity.
        """
        grid, ratio = self.tables(input_0, input_1)
        above = all_marks(len(input_0), self.marks.most) == ABOVE
        here = value_losses(input_0, input_1, grid[:, None], self.marks.query_scale)
        free = np.maximum(here, here[-1])
        best = ratio + free @ above.T
        # the least value is the one whose choice lowers the loss least
        given_up = np.where(above[None], (free - here)[:, None, :], np.inf).min(axis=2)
        best -= np.where(above.any(axis=1), given_up, 0.0)
        silent = ~above.any(axis=1)
        return float(max(best[:, ~silent].max(), ratio[-1, silent].max()))


NUMERICAL_STOPPED = -1000.0


@dataclass(frozen=True)
class NumericalLaw(AnswerLaw):
    """An answer above is a value with noise of its own, an answer below is 0."""

    marks: Marks
    value_scale: float

    def sample(self, input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
        """Values, 0 and NUMERICAL_STOPPED, shape (n, length)."""
        assert self.marks.most is not None
        above, values = self.marks.above(input, n, rng)
        values[:] = 0.0
        after = stopped(above, self.marks.most)
        printed = above & ~after
        # noise is drawn only for the few values that are printed
        row, column = np.nonzero(printed)
        values[row, column] = on_grid(rng.laplace(np.asarray(input)[column], self.value_scale))
        values[after] = NUMERICAL_STOPPED
        return values

    def losses(self, input_0: Input, input_1: Input) -> np.ndarray:
        """Ln of the ratio of probabilities of each row of marks."""
        table_0, table_1 = self.marks.probabilities(input_0), self.marks.probabilities(input_1)
        found: np.ndarray = np.log(table_0) - np.log(table_1)
        return found

    def supremum(self, input_0: Input, input_1: Input) -> float:
        """The largest loss of a row of marks with, for every value, its own largest."""
        above = all_marks(len(input_0), self.marks.most) == ABOVE
        moved = np.abs(np.asarray(input_0) - np.asarray(input_1)) / self.value_scale
        return float((self.losses(input_0, input_1) + above @ moved).max())

    def loss(self, input_0: Input, input_1: Input, answers: np.ndarray) -> np.ndarray:
        """See :meth:`AnswerLaw.loss`."""
        rows = np.full(answers.shape, ABOVE, dtype=np.int8)
        rows[answers == 0.0] = BELOW
        rows[answers == NUMERICAL_STOPPED] = STOPPED
        printed = value_losses(input_0, input_1, answers, self.value_scale)
        printed[rows != ABOVE] = 0.0
        return self.losses(input_0, input_1)[self.marks.place(rows)] + printed.sum(axis=1)


NUMERICAL = NumericalLaw(Marks(1.0, 30.0, 120.0, 2), 60.0)

MECHANISMS = (
    StandardMechanism(
        name="numerical-sparse-vector",
        sample=NUMERICAL.sample,
        claimed=PureDP(0.1),
        epsilon=0.1,
        reason="1/30 + 2 x 2/120 + 2/60, the limit as queries below rise and those above fall "
        "without end",
        length=10,
        relation="all coordinates",
        answer="vector",
        law=NUMERICAL,
        source="Wang, Ding, Wang, Kifer and Zhang 2019",
    ),
)
