"""A mean of lognormal ratios whose scores are a moving average: its characteristic function.

U = (1/n) sum_i exp(X_i - g_0 / 2), with X a stationary Gaussian of covariances g_0, ..., g_(w-1)
and 0 beyond. X_i = sum_l a_l Z_(i-l) + Y_i with independent standard normal Z and Y_i of variance
``free``, where a has the covariances g but for ``free`` on the diagonal. Z is replaced by a normal
law on a lattice. The law of the X that is so made has a density between (1 - e) and (1 + e) times
the true one, everywhere, so every divergence is off by that factor at most:
``simulator/theory/lemmas/cyclic-bands.md``.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.foundations.errors import NotApplicable
from simulator.theory.laws.base import Floats

MOST_MOVES = 1_500_000
"""Pairs of neighbouring states; beyond, one value of the transform takes seconds."""

_LOOKUP, _PER_TABLE, _PER_TERM = 40, 100_000, 15_000
"""The work of a look-up in the table, of its matrix, and of a product, in moves of one step."""

_FREE = 0.97
"""The share of the least eigenvalue that is independent; less than all, so that it is certain."""
_FINE = 100
"""Nodes of the table in a standard deviation."""
_TILTS = np.arange(0.25, 6.01, 0.25)


@dataclass(frozen=True, eq=False)
class MovingAverage:
    """Scores of ``terms`` bins with the covariances ``covariances`` (w,) at lags 0 to w - 1.

    Attributes
    ----------
    shrinking : float64, shape (m,), at most 1: the last m scores keep this share of the moving
        average, and ``free`` beside it.
    ratio_error, outside : what the lattice may be off by, relatively; the probability under P and
        under Q that a window of values of Z is beyond it.
    most_free : ``free`` is not above it.
    """

    covariances: Floats
    terms: int
    shrinking: Floats
    _: KW_ONLY
    ratio_error: float = 1e-3
    outside: float = 1e-13
    most_free: float = math.inf

    @cached_property
    def free(self) -> float:
        """The variance of the independent part of a score."""
        g = self.covariances
        angles = np.linspace(0.0, math.pi, 20001)
        symbol = g[0] + 2.0 * sum(g[lag] * np.cos(lag * angles) for lag in range(1, g.size))
        return min(_FREE * max(float(symbol.min()), 0.0), self.most_free)

    @cached_property
    def weights(self) -> Floats:
        """The a_l of the moving average, shape (w,), by the cepstrum of its spectrum."""
        g, many = self.covariances, 1 << 16
        row = np.zeros(many)
        row[: g.size] = g
        row[many - g.size + 1 :] = g[:0:-1]
        row[0] -= self.free
        symbol = np.fft.fft(row).real
        near = NotApplicable("the spectrum of these coefficients is too close to 0")
        if not symbol.min() > 0.0:
            raise near
        logs = np.fft.ifft(np.log(symbol)).real
        logs[0] /= 2.0
        logs[many // 2 :] = 0.0
        a: Floats = np.fft.ifft(np.exp(np.fft.fft(logs))).real[: g.size]
        made = np.correlate(a, a, "full")[g.size - 1 :]
        made[0] += self.free
        if not np.abs(made - g).max() <= SLACK / 2 * g[-1]:
            raise near
        return a

    @cached_property
    def spacing(self) -> float:
        """That of the lattice: (1 + eta)^m - 1 is at most ``ratio_error``, for m values of Z."""
        kept = self.free / (self.free + float(self.weights @ self.weights))
        eta = self.ratio_error / (1.1 * (self.terms + self.weights.size - 1))
        return math.pi * math.sqrt(2.0 * kept / math.log(2.2 / eta))

    @cached_property
    def radius(self) -> float:
        """Windows of w values of Z of a larger norm have ``outside`` in all, under Q and P."""
        w = self.weights.size
        chance = self.outside / (self.terms + w)
        found = math.sqrt(2.0 * float(scipy.special.gammainccinv(w / 2, chance)))
        return found + math.sqrt(float(self.weights @ self.weights))

    @cached_property
    def moves(self) -> _Moves:
        """The lattice."""
        w = self.weights.size
        reach = self.radius / self.spacing
        volume = math.pi ** (w / 2) / math.gamma(w / 2 + 1) * reach**w
        if volume > MOST_MOVES:
            raise NotApplicable(
                f"{volume:.2g} pairs of neighbouring states are too many: at most {MOST_MOVES}"
            )
        return _Moves.within(reach, self.spacing, self.weights)

    @property
    def work(self) -> int:
        """Of one value of the transform: in moves of one step, of some 3 ns each."""
        moves, tables = self.moves.scores.size, 1 + self.shrinking.size
        looked_up = tables * (_LOOKUP * moves + _PER_TABLE)
        return looked_up + self.terms * (moves + _PER_TERM)

    @property
    def gram(self) -> Floats:
        """The covariances of all scores, shape (bins, bins)."""
        a = self.weights
        made = np.correlate(a, a, "full")[a.size - 1 :]
        shares = np.r_[np.ones(self.terms - self.shrinking.size), self.shrinking]
        row = np.r_[made, np.zeros(self.terms)][: self.terms]
        return np.asarray(
            np.outer(shares, shares) * scipy.linalg.toeplitz(row) + self.free * np.eye(self.terms)
        )

    def _steps(self) -> list[tuple[float, int]]:
        """The shares of the moving average, and how many scores in a row have them."""
        return [(1.0, self.terms - self.shrinking.size), *((float(r), 1) for r in self.shrinking)]

    def _offset(self, share: float) -> float:
        """Minus half of the variance of a score."""
        return -0.5 * (share**2 * float(self.weights @ self.weights) + self.free)

    @cached_property
    def mean(self) -> float:
        """E U on the lattice; terms before a window that is outside are left out, see transform."""
        state = np.zeros(self.moves.start.size)
        for share, many in self._steps():
            values = np.exp(share * self.moves.scores + self._offset(share) + self.free / 2)
            raised = self.moves.raised(values)
            state = self.moves.after(state, np.ones(values.size), many, raised)
        return float(state.sum()) / self.terms

    def transform(self, frequencies: Floats) -> NDArray[np.complex128]:
        """E exp(i f U) - 1 on the lattice, for f > 0.

        Terms before a window of values of Z that is outside are left out, so U is less there. The
        states hold the difference from 1: its error is relative to E min(1, f U).
        """
        shares = self._steps()
        scores = [share * self.moves.scores + self._offset(share) for share, _ in shares]
        logs = np.log(frequencies / self.terms)
        low = float(logs.min() + min(each.min() for each in scores))
        high = float(logs.max() + max(each.max() for each in scores))
        table = LognormalTable.between(low, high, self.free)
        found = np.empty(logs.size, dtype=np.complex128)
        for index, log in enumerate(logs):
            state = np.zeros(self.moves.start.size, dtype=np.complex128)
            for (_, many), each in zip(shares, scores):
                values = table(log + each)
                raised = self.moves.raised(values)
                state = self.moves.after(state, 1.0 + values, many, raised)
            found[index] = state.sum()
        return found

    def envelope(self, frequency: float) -> float:
        """A bound on the modulus of the transform, at this frequency and all above."""
        state = self.moves.start
        log = math.log(frequency / self.terms)
        for share, many in self._steps():
            values = log_modulus(log + share * self.moves.scores + self._offset(share), self.free)
            state = self.moves.after(state, np.exp(values), many)
        return float(state.sum())


SLACK = 1e-9
"""By which covariances are raised or lowered, relatively, to make up for rounding."""


@dataclass(frozen=True, eq=False)
class _Moves:
    """States are w - 1 values of Z, newest first; a move brings a new one and drops the oldest.

    Moves are in the order of the state that they lead to: those to one state begin at ``first``
    (states + 1,); they come from ``sources`` (moves,), and ``scores`` (moves,) are those of the
    moving average.
    """

    start: Floats
    fresh: Floats
    first: NDArray[np.int32]
    sources: NDArray[np.int32]
    scores: Floats

    @classmethod
    def within(cls, reach: float, spacing: float, weights: Floats) -> _Moves:
        top, w = int(reach), weights.size
        line = np.arange(-top, top + 1)
        masses = np.exp(-0.5 * (spacing * line) ** 2)
        masses /= masses.sum()
        square = np.add.outer(np.zeros(1), line**2).reshape(-1)
        for _ in range(w - 2):
            square = np.add.outer(square, line**2).reshape(-1)
        inside = square <= reach**2
        number = np.cumsum(inside) - 1
        side = line.size
        cube = np.indices((side,) * (w - 1)).reshape(w - 1, -1)[:, inside]
        start = np.prod(masses[cube], axis=0)
        # A move to (z_0, ..., z_(w-2)) from (z_1, ..., z_(w-1)): z_(w-1) runs over the line.
        squares = square[inside][:, None] + (line**2)[None, :]
        to, oldest = np.nonzero(squares <= reach**2)
        rest = cube[1:, to]
        source = np.ravel_multi_index((*rest, oldest), (side,) * (w - 1))
        values = spacing * line
        scores = sum(weights[lag] * values[cube[lag, to]] for lag in range(w - 1))
        scores = scores + weights[w - 1] * values[oldest]
        sources = number[source].astype(np.int32)
        first = np.searchsorted(to, np.arange(start.size + 1))
        return cls(start, masses[cube[0]], first.astype(np.int32), sources, np.asarray(scores))

    def raised(self, values: NDArray) -> NDArray:
        """The state after one move from that of independent Z, moves weighted by their values."""
        return self.after(self.start.astype(values.dtype), values)

    def after(
        self, state: NDArray, values: NDArray, times: int = 1, plus: NDArray | None = None
    ) -> NDArray:
        """The state after so many moves, weighted by values; ``plus`` is added each time."""
        moved = scipy.sparse.csr_array(
            (values, self.sources, self.first), shape=(self.start.size, self.start.size)
        )
        for _ in range(times):
            state = self.fresh * (moved @ state)
            if plus is not None:
                state += plus
        return state


@dataclass(frozen=True, eq=False)
class LognormalTable:
    """E exp(i e^(t + s N)) - 1 of a standard normal N as a function of t, by quintics.

    With N = u + i r / s the integrand is e^(-(u + i r / s)^2 / 2) exp(i e^(i r) e^(t + s u)); r is
    s, or 1 where that is less. It is analytic and bounded to r / s below the real axis: the
    trapezoidal rule of spacing h is off by e^(-2 pi r / (s h)). The sixth
    derivative in t is s^-6 E[He_6(N) (exp(i e^(t + s N)) - 1)], of modulus at most 27 s^-6 min(2,
    e^(t + s^2)), so between nodes of distance s / 100 quintics are off by that / 100^6 / 46080.
    """

    low: float
    step: float
    values: NDArray[np.complex128]

    @classmethod
    def between(cls, low: float, high: float, variance: float) -> LognormalTable:
        """The table for t from ``low`` to ``high``."""
        s = math.sqrt(variance)
        step = s / _FINE
        t = low + step * np.arange(math.ceil((high - low) / step) + 2)
        turn = min(s, 1.0)
        spacing = turn / (6.0 * s)
        many = math.ceil(8.6 / spacing)
        u = spacing * np.arange(-many, many + 1)
        weight = spacing / math.sqrt(2 * math.pi) * np.exp(-0.5 * (u + 1j * turn / s) ** 2)
        inner = 1j * complex(math.cos(turn), math.sin(turn))
        values = np.empty((t.size, 3), complex)
        for start in range(0, t.size, 4096):
            part = slice(start, start + 4096)
            power = inner * np.exp(np.minimum(t[part, None] + s * u, 300.0))
            values[part, 0] = np.expm1(power) @ weight
            terms = np.exp(power)
            terms *= power
            values[part, 1] = (terms @ weight) * step
            terms *= 1.0 + power
            values[part, 2] = (terms @ weight) * step**2
        return cls(low, step, values)

    def __call__(self, t: Floats) -> NDArray[np.complex128]:
        """The values at t."""
        places = (t - self.low) / self.step
        at = np.clip(places.astype(np.int64), 0, len(self.values) - 2)
        x = places - at
        y = 1.0 - x
        found = np.zeros(t.size, dtype=np.complex128)
        for side, near, far, sign in ((at, x, y, 1.0), (at + 1, y, x, -1.0)):
            cube = far * far * far
            found += self.values[side, 0] * (cube * (1.0 + 3.0 * near + 6.0 * near * near))
            found += self.values[side, 1] * (sign * cube * near * (1.0 + 3.0 * near))
            found += self.values[side, 2] * (0.5 * cube * near * near)
        return found


def log_modulus(t: Floats, variance: float) -> Floats:
    """Ln of a bound on |E exp(i e^(t + s N))| that falls in t.

    By the same turn: at most e^(r^2 / (2 s^2)) E exp(-sin(r) e^(t + s N)) for every r up to pi / 2.
    """
    s = math.sqrt(variance)
    grid = np.linspace(float(t.min()), float(t.max()) + 1e-9, 400)
    u = np.linspace(-9.0, 9.0, 289)
    weight = (u[1] - u[0]) / math.sqrt(2 * math.pi) * np.exp(-0.5 * u**2)
    powers = np.exp(np.minimum(grid[:, None] + s * u, 300.0))
    best = np.zeros(grid.size)
    for turn in s * _TILTS[s * _TILTS < math.pi / 2]:
        mean = np.exp(-math.sin(turn) * powers) @ weight
        bound = 0.5 * (turn / s) ** 2 + np.log(np.maximum(mean, 1e-300))
        best = np.minimum(best, bound)
    best = np.maximum.accumulate(best[::-1])[::-1]
    at = np.searchsorted(grid, t, side="right") - 1  # the value at the node before: not less
    return np.asarray(best[np.clip(at, 0, grid.size - 1)])
