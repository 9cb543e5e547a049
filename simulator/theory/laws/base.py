"""Exact laws of the privacy loss of one round.

For an ordered pair (P0, P1) the privacy loss of an answer v is L = ln P0(v)/P1(v), drawn with v
from P0. Convention of the whole project: D0 does not hold Alice, D1 does; P0 and P1 are the
laws of the answer on them. The exchanged pair, which is experiment 1, is :meth:`reversed`.
Everything about (epsilon, delta) of one round and of any composition follows from this law
(Sommer, Meiser, Mohammadi, "Privacy Loss Classes", PoPETs 2019, Lemma 1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.foundations.errors import InvalidInput
from simulator.foundations.ties import beyond
from simulator.theory.outward import UNIT

Floats = NDArray[np.float64]
# A real or a complex array.
RealOrComplex = NDArray[Any]

_EMPTY: Floats = np.empty(0)
_ROUNDING = 16 * float(np.finfo(float).eps)
LEAST_MASS = 1e-290
"""A mass below it has lost digits."""
_BLOCK = 1 << 15
"""Most exponentials in memory at once."""
_COMPLEX_STEP = 1e-12  # of a smaller imaginary part, a derivative


class PrivacyLossLaw(ABC):
    """The law of L = ln dP0/dP1 under P0: atoms, a continuous part, and mass at infinity.

    A law is a value: equal laws compare and hash equal. Losses and epsilons are in nats.
    A subclass without a continuous part does not override ``continuous_masses``.

    >>> from simulator.theory import LaplaceLaw
    >>> law = LaplaceLaw(0.5)
    >>> round(float(law.sf(0.25)), 6), round(float(law.reversed().delta(0.25)), 6)
    (0.558752, 0.117503)
    """

    infinite_mass: float = 0.0
    """P0-mass of the answers that P1 cannot give (L = +infinity)."""
    dual_infinite_mass: float = 0.0
    """P1-mass of the answers that P0 cannot give (L = +infinity for the exchanged pair)."""
    has_exact_transform: bool = True
    """Whether ``log_mgf`` is exact to rounding also for complex arguments."""
    has_accurate_cells: bool = False
    """Whether every mass of ``continuous_masses``, however small, is exact to rounding."""
    loss_error: float = 0.0
    """Bound in nats on the error of a loss or of the logarithm of a mass, beyond a few
    roundings."""

    shift_error: float = 0.0
    """Bound in nats on the error of a loss whose mass under P0 is exact."""
    least_tolerance: float = 0.0
    """Relative width below which brackets of epsilon and delta take minutes: above 0 for a law that
    is known by two others only, see :meth:`enclosed`. Its transform is then an estimate."""
    least_step: float = 0.0
    """The spacing of grids of losses that is fine enough for that."""

    def enclosed(
        self, step: float, tail_mass: float
    ) -> tuple[PrivacyLossLaw, PrivacyLossLaw] | None:
        """Two laws whose deltas enclose this one's at every epsilon, also composed.

        They are about as near as those on a grid of losses of that ``step``, and up to that mass
        of the tails. None where this law's own masses are exact.
        """
        return None

    @property
    def simplest(self) -> PrivacyLossLaw:
        """An equal law of a simpler kind where there is one, otherwise the law itself."""
        return self

    @property
    def atom_losses(self) -> Floats:
        """Finite losses of positive probability, ascending, shape (m,)."""
        return _EMPTY

    @property
    def atom_log_masses(self) -> Floats:
        """Logarithms of their P0-probabilities, shape (m,)."""
        return _EMPTY

    @property
    def points(self) -> tuple[Floats, Floats]:
        """Losses, and logarithms of the P0-masses that they represent, each of shape (n,).

        Means under P0 of smooth functions of the loss are sums over them: exact for a discrete law,
        by quadrature, which a subclass defines, for one with a continuous part.
        """
        return self.atom_losses, self.atom_log_masses

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """Least and greatest finite loss (infinite when unbounded)."""

    @property
    @abstractmethod
    def is_discrete(self) -> bool:
        """Whether the law has no continuous part."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """E0[L], the Kullback-Leibler divergence of P0 from P1; infinite with infinite_mass."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Var0[L]; infinite with infinite_mass."""

    @abstractmethod
    def log_mgf(self, theta: ArrayLike) -> RealOrComplex:
        """psi(theta) = ln E0[exp(theta L); L finite], elementwise, for real or complex theta."""

    def log_mgf_error(self, z: RealOrComplex, psi: RealOrComplex, theta: float) -> Floats:
        """Bound on the rounding error of psi = log_mgf(z), where Re z = theta; shape of z.

        M(z) is a sum of terms of total size M(theta), each off by a few ulp of 1 + |z L|; the error
        of its logarithm is that divided by |M(z)|/M(theta).
        """
        reach = max(abs(self.support[0]), abs(self.support[1]))
        shrink = np.exp(np.clip(psi.real - float(self.log_mgf(theta).real), -600, 0))
        exponents = _ROUNDING * (1 + np.abs(z) * reach) + (1 + np.abs(z)) * self.loss_error
        return np.asarray(exponents / shrink)

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """Hockey-stick divergence E0[(1 - exp(epsilon - L))_+] of one round, exact to rounding."""

    @abstractmethod
    def reversed(self) -> PrivacyLossLaw:
        """The law of the exchanged pair (P1, P0)."""

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """P0- and P1-masses of the continuous part on the cells between ascending edges.

        Shapes: edges (n+1,), each result (n,). Edges may be infinite.
        """
        zeros = np.zeros(len(edges) - 1)
        return zeros, zeros

    def gathered_cells(self, edges: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The masses of :meth:`continuous_masses`, ln(P0/P1) of each cell, and bounds on errors.

        The errors are those of ln(P0/P1) and of the edges, beyond ``loss_error`` and
        ``shift_error``. Where a mass underflows, the third value means nothing.
        """
        under0, under1 = self.continuous_masses(edges)
        logs0, logs1 = (np.log(np.maximum(each, LEAST_MASS)) for each in (under0, under1))
        error = mass_errors(logs0) + mass_errors(logs1) + 2 * self.loss_error
        return under0, under1, logs0 - logs1, error

    def cdf(self, loss: float, under: int = 0) -> float:
        """Pr[L <= loss] under P0 (``under=0``) or P1 (``under=1``); see ``sf`` for atoms at it."""
        outside = self.dual_infinite_mass if under == 1 else 0.0
        return outside + self._mass(-np.inf, loss, under)

    def sf(self, loss: float, under: int = 0) -> float:
        """Pr[L > loss] under P0 or P1, accurate in the far tail.

        An atom that equals ``loss`` but for rounding is not above it, see ``ties``.
        """
        outside = self.infinite_mass if under == 0 else 0.0
        return outside + self._mass(loss, np.inf, under)

    def _mass(self, low: float, high: float, under: int) -> float:
        if under not in (0, 1):
            raise InvalidInput(f"under must be 0 or 1, not {under!r:.80}")
        inside = (self.atom_losses > beyond(low, 1)) & (self.atom_losses <= beyond(high, 1))
        logs = (self.atom_log_masses - under * self.atom_losses)[inside]
        smooth = self.continuous_masses(np.array([low, high]))[under]
        return float(np.exp(logs).sum() + smooth[0])


def mass_errors(log_masses: Floats) -> Floats:
    """Bounds on the relative errors of a cell's mass, by the rounding of the exponent."""
    return np.asarray(8 * UNIT * (16 + np.abs(log_masses)))


def log_mean_exp(theta: ArrayLike, losses: Floats, log_masses: Floats) -> RealOrComplex:
    """The logarithm of the mean of exp(theta L) over points of a law; shape of theta."""
    points = np.asarray(theta)
    if losses.size == 0 or points.size == 0:
        return np.full(points.shape, -np.inf)
    step = np.iscomplexobj(points) and abs(points.imag).max() * abs(losses).max() < _COMPLEX_STEP
    flat, block, parts = points.ravel(), max(_BLOCK // losses.size, 1), []
    for start in range(0, flat.size, block):
        here = flat[start : start + block]
        exponents = (here.real if step else here)[:, None] * losses + log_masses
        top = exponents.real.max(axis=-1)  # scipy's complex logsumexp is much slower
        terms = np.exp(exponents - top[:, None])
        total = terms.sum(axis=-1)
        with np.errstate(divide="ignore"):
            logs = np.log(total) + top
        parts.append(logs + 1j * here.imag * (terms @ losses / total) if step else logs)
    return np.asarray(np.concatenate(parts).reshape(points.shape))
