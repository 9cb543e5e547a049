"""Counters under continual observation: a noisy count after every element of a stream."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import Breach, InvalidInput
from simulator.foundations.validation import positive
from simulator.mechanisms.base import Pair, ScalarPair
from simulator.mechanisms.conversations import Update
from simulator.mechanisms.gaussian import GAUSSIAN
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism
from simulator.mechanisms.laplace import LAPLACE
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP

Floats = NDArray[np.float64]
Rows = tuple[tuple[float, ...], ...]
MOST_STEPS = 1024
MOST_ROUNDING = 1e-6
"""Of an answer, in widths of its noise: a loss is exact to about this."""


class CounterState(NamedTuple):
    """What arrived in either experiment, and the noisy values that the answers revealed.

    Attributes
    ----------
    on_0, on_1 : the elements.
    noisy : y_1, ..., y_t; see :class:`ContinualCounter`.
    differing : at how many steps the streams differed.
    """

    on_0: tuple[float, ...] = ()
    on_1: tuple[float, ...] = ()
    noisy: tuple[float, ...] = ()
    differing: int = 0


@dataclass(frozen=True)
class ContinualCounter(InteractiveMechanism):
    """Answer each element of a stream with a noisy count of all so far.

    Parameters
    ----------
    factor : the rows of C, lower triangular with a diagonal that is not 0, shape (T, T).
    scale : of the noise: the standard deviation of a Gaussian, or the scale of a Laplace.
    noise : ``"gaussian"`` or ``"laplace"``.
    times : at how many steps the two streams may differ: 1 is event level.
    claimed : the guarantee of the whole stream; None: :meth:`kept`.

    With A the matrix of prefix sums and B = A C^-1, the answers are B(Cx + z) with independent
    noise z (Li and others 2010; Denisov and others 2022 for streams that adapt). B is invertible,
    so the answers reveal just y = Cx + z, one number more in each step: the loss of a step is that
    of one noisy number, whatever arrived before. :func:`tree_factor` and
    :func:`square_root_factor` make factors. A factor or scale is refused where answers are so much
    larger than their fresh noise that floats do not resolve it.

    A message is an element from 0 to 1, or an :class:`~simulator.mechanisms.Update` with one for
    each experiment; the answer is a float. The databases of the opening are not used. A message
    takes time in proportion to those before it.
    """

    factor: Rows
    scale: float
    noise: Literal["gaussian", "laplace"] = "gaussian"
    times: int = 1
    claimed: Guarantee | None = None

    def __post_init__(self) -> None:
        rows = np.asarray(self.factor, dtype=float)
        if rows.ndim != 2 or rows.shape[0] != rows.shape[1] or not 1 <= len(rows) <= MOST_STEPS:
            raise InvalidInput(
                f"a factor has as many rows as columns, from 1 to {MOST_STEPS}, not {rows.shape}"
            )
        if not np.isfinite(rows).all() or np.triu(rows, 1).any() or not np.diag(rows).all():
            raise InvalidInput(
                "a factor is finite and lower triangular, and its diagonal is nowhere 0"
            )
        object.__setattr__(self, "factor", tuple(tuple(row) for row in rows.tolist()))
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "_decoder", decoder_of(rows))
        positive("scale", self.scale)
        if self.noise not in ("gaussian", "laplace"):
            raise InvalidInput(f"the noise is gaussian or laplace, not {self.noise!r}")
        if not (isinstance(self.times, int) and self.times >= 1):
            raise InvalidInput(f"times is a whole number from 1, not {self.times!r}")
        if not (found := self._rounding()) <= MOST_ROUNDING:
            raise InvalidInput(
                f"this factor and scale are too ill-conditioned: the rounding of an answer may be "
                f"{found:.2g} widths of its fresh noise, and at most {MOST_ROUNDING:g} is accepted"
            )

    @property
    def steps(self) -> int:
        """T, the length of the stream."""
        return len(self.factor)

    @property
    def sensitivities(self) -> Floats:
        """How far one element at each step moves y: the norms of C's columns, shape (T,).

        In L2 norm for Gaussian noise, in L1 for Laplace.
        """
        rows = np.array(self.factor)
        found: Floats = np.linalg.norm(rows, 2 if self.noise == "gaussian" else 1, axis=0)
        return found

    def kept(self) -> Guarantee:
        """The guarantee by the triangle inequality: that of the ``times`` largest sensitivities.

        Exact at event level.
        """
        shift = math.fsum(np.sort(self.sensitivities)[-self.times :]) / self.scale
        return GaussianDP(shift) if self.noise == "gaussian" else PureDP(shift)

    @property
    def decoder(self) -> Floats:
        """B = A C^-1, which makes counts of y, shape (T, T)."""
        found: Floats = vars(self)["_decoder"]
        return found

    def _rounding(self) -> float:
        """Largest rounding of an answer, in widths |B_tt| scale of the noise that is new in it."""
        with np.errstate(all="ignore"):  # what overflows is refused
            decoder = np.abs(self.decoder)
            noisy = np.abs(vars(self)["_rows"]).sum(axis=1) + 10.0 * self.scale  # |y|, at most
            terms = np.arange(1, self.steps + 1) * (decoder @ noisy)
            widths = np.diag(decoder) * self.scale
            found = np.finfo(float).eps * terms / widths
        return float(np.nan_to_num(found, nan=np.inf, posinf=np.inf).max())

    @property
    def mean_squared_errors(self) -> Floats:
        """The variance of each answer, shape (T,)."""
        of_one = self.scale**2 * (1.0 if self.noise == "gaussian" else 2.0)
        found: Floats = of_one * (self.decoder**2).sum(axis=1)
        return found

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The claimed guarantee."""
        return self.kept() if self.claimed is None else self.claimed

    def opened(self, database_0: Database, database_1: Database, relation: Relation) -> Any:
        """Nothing arrived."""
        return CounterState()

    def answers_to(self, state: CounterState, message: Any) -> Pair:
        """The laws of the next count, given all before; raises Breach for no such element."""
        on_0, on_1 = self._elements(state, message)
        t = len(state.noisy)
        decoder, row = self.decoder[t], vars(self)["_rows"][t][: t + 1]
        known = float(decoder[:t] @ state.noisy)
        unit = float(decoder[t])
        values = (
            known + unit * float(row @ (*before, new))
            for before, new in ((state.on_0, on_0), (state.on_1, on_1))
        )
        width = abs(unit) * self.scale
        if self.noise == "gaussian":
            return ScalarPair(GAUSSIAN, tuple(values), width)
        return ScalarPair(LAPLACE, (*values, width), 1.0)

    def after(self, state: CounterState, message: Any, answer: Any) -> CounterState:
        """With the elements, and the noisy value that the answer reveals."""
        on_0, on_1 = self._elements(state, message)
        t = len(state.noisy)
        decoder = self.decoder[t]
        new = (float(answer) - float(decoder[:t] @ state.noisy)) / float(decoder[t])
        differing = state.differing + (on_0 != on_1)
        return CounterState(
            (*state.on_0, on_0), (*state.on_1, on_1), (*state.noisy, new), differing
        )

    def _elements(self, state: CounterState, message: Any) -> tuple[float, float]:
        t = len(state.noisy)
        if t >= self.steps:
            raise Breach(f"the counter takes {self.steps} elements, and this is one more")
        both = (message.on_0, message.on_1) if isinstance(message, Update) else (message, message)
        try:
            on_0, on_1 = map(float, both)
            inside = 0.0 <= on_0 <= 1.0 and 0.0 <= on_1 <= 1.0
        except (TypeError, ValueError):
            inside = False
        if not inside:
            raise Breach(f"an element of the stream is a number from 0 to 1, not {message!r:.80}")
        differing = (on_0 != on_1) + state.differing
        if differing > self.times:
            raise Breach(
                f"the streams are no neighbours: they differ at {differing} steps, and "
                f"{self.times} may"
            )
        return on_0, on_1


def decoder_of(factor: Floats) -> Floats:
    """A C^-1, with A the matrix of prefix sums."""
    solved: Floats = scipy.linalg.solve_triangular(factor.T, np.tri(len(factor)).T, lower=False).T
    return solved


def tree_factor(steps: int) -> Rows:
    """C of the binary tree (Dwork and others 2010; Chan, Shi and Song 2011), shape (T, T).

    Step t reveals the sum of the largest block of the tree that ends there, which has as many
    elements as the largest power of 2 that divides t. A count is a sum of at most log2 T + 1 such
    blocks, and an element is in as many.
    """
    rows = np.zeros((steps, steps))
    for t in range(1, steps + 1):
        rows[t - 1, t - (t & -t) : t] = 1.0
    return tuple(map(tuple, rows.tolist()))


def square_root_factor(steps: int) -> Rows:
    """The square root of the matrix of prefix sums, shape (T, T).

    Toeplitz, with binomial(2k, k)/4^k below the diagonal (Fichtenberger, Henzinger and Upadhyay
    2023).
    """
    ratios = (2.0 * np.arange(1, steps) - 1.0) / (2.0 * np.arange(1, steps))
    column = np.concatenate([[1.0], np.cumprod(ratios)])
    return tuple(map(tuple, np.tril(scipy.linalg.toeplitz(column)).tolist()))


def prefix_factor(steps: int) -> Rows:
    """The matrix of prefix sums itself: every count gets noise of its own."""
    return tuple(map(tuple, np.tri(steps).tolist()))


def changes(factor: Rows, steps: Sequence[int]) -> Floats:
    """How elements at these steps (from 0), all of 1, move y: the sum of C's columns."""
    found: Floats = np.array(factor)[:, list(steps)].sum(axis=1)
    return found
