"""The rough part of the law of repeated Laplace noise, in closed form: few rounds between atoms.

The transform of one round is A + C, A that of its atoms at -epsilon and epsilon and C that of the
part between them. Of k rounds, binom(k, j) A^(k-j) C^j belongs to j of them between the atoms: with
few such rounds the law has atoms, jumps and kinks, which is why the transform decays slowly. With
x = (l + k epsilon)/(2 epsilon) and B_j the cardinal B-spline on [0, j], that part is

    exp(-k epsilon + epsilon x) binom(k, j) (epsilon/2)^j
        sum_m 2^-(k-j) binom(k-j, m) B_j(x - m) dx,

atoms at x = m for j = 0: on cells between whole x a polynomial times an exponential. All terms are
positive, so that each is exact to rounding relative to itself. Between 0 and 1, with p a polynomial
of degree d <= 4 and epsilon <= 1, Gauss's rule with ten nodes is off by at most
(10!)^4/(21 (20!)^3) 25 exp(2) sum_i binom(20, i) 32^i < 1e-17 of the mass there, by Markov's
inequality.

The rest, of j >= J rounds, is inverted on a line. As abs(C) <= A(theta)/(2 abs(omega)), with
x = 1/(2 abs(omega)) its transform is at most A(theta)^k binom(k, J) x^J (1 + x)^(k-J) there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.theory.laws.base import Floats, RealOrComplex
from simulator.theory.laws.binomial import log_binomial, log_binomial_error
from simulator.theory.outward import UNIT
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.laplace_batch import laplace_drop
from simulator.theory.pld.pairwise_sums import dot
from simulator.theory.pld.splines import next_splines
from simulator.theory.pld.tail import SlopedBracket

_TERMS = 6
"""J: parts with fewer rounds between the atoms are taken in closed form."""
_MOST_ROUNDS = 1 << 12
_LARGEST = 1.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
_LN_HALF = math.log(0.5)
_QUADRATURE = 1e-15
"""Error of the quadrature, relative to the mass."""


@dataclass(frozen=True)
class NearAtoms:
    """``rounds`` of Laplace noise, fewer than ``terms`` of which fall between the atoms."""

    epsilon: float
    rounds: int
    terms: int

    @classmethod
    def of(cls, parts: CountedLaws) -> NearAtoms | None:
        """The rough part of rounds with one parameter; None for any other rounds."""
        if len(parts.items) != 1 or parts.others:
            return None
        [(law, rounds)] = parts.items
        epsilon = law.support[1]
        if rounds > _MOST_ROUNDS or epsilon > _LARGEST:
            return None
        return cls(epsilon, rounds, min(_TERMS, rounds))

    def log_rest(self, theta: float, omega: Floats) -> Floats:
        """Bound on the logarithm of the rest's transform over M(theta), from each omega on."""
        t, x = theta + 0.5, 0.5 / np.asarray(omega)
        share = -math.log1p(math.tanh(t * self.epsilon) / (2 * t)) * self.rounds
        ways = math.log(math.comb(self.rounds, self.terms))
        bound = share + ways + self.terms * np.log(x) + (self.rounds - self.terms) * np.log1p(x)
        return np.asarray(bound + 64 * UNIT * (1 + self.rounds + ways + np.abs(np.log(x))))

    def ratios(self, theta: float, omega: Floats) -> tuple[RealOrComplex, Floats]:
        """Its transform over M(theta) and exp(i omega k epsilon), and bounds on the errors."""
        drop, norm = laplace_drop(self.epsilon, theta, omega)
        kappa = 1 + 2 * (theta + 1j * omega)
        atoms, between = (2 - drop) / (2 * norm), drop / (2 * norm * kappa)
        sizes = np.abs(atoms), np.abs(between)
        with np.errstate(divide="ignore"):
            log = np.log(atoms)
        least = self.rounds - self.terms + 1
        total = np.zeros(omega.size, dtype=np.complex128)
        for j in range(self.terms):
            ways = float(math.comb(self.rounds, j))
            total += ways * atoms ** (self.terms - 1 - j) * between**j
        total *= np.exp(least * np.maximum(log.real, -1e5) + 1j * least * log.imag)
        # Terms of transforms are off by a few units of 1 + |z| epsilon, as in LaplaceBatch.
        off = 32 * UNIT * (1 + (np.abs(theta) + omega) * self.epsilon)
        whole = sizes[0] + sizes[1] + 2 * off
        error = 2 * self.rounds * off * whole ** (self.rounds - 1)
        error += 8 * UNIT * (16 + self.rounds * (4 + np.abs(log.imag))) * whole**self.rounds
        # k abs(ln a) abs(a)^k is at most 1/e.
        return total, error + 8 * UNIT

    @cached_property
    def _logs(self) -> list[tuple[Floats, Floats]]:
        """Ln of binom(k, j) (epsilon/2)^j 2^-(k-j) binom(k-j, m), and their errors, for each j."""
        logs = []
        for j in range(self.terms):
            wins = np.arange(self.rounds - j + 1, dtype=np.float64)
            law = (self.rounds - j, wins, _LN_HALF, _LN_HALF)
            ways = math.log(math.comb(self.rounds, j)) + j * math.log(self.epsilon / 2)
            log = log_binomial(*law) + ways
            logs.append((log, log_binomial_error(*law) + 8 * UNIT * (4 + np.abs(log) + abs(ways))))
        return logs

    def _cells(self, first: int, last: int, nodes: Floats) -> tuple[Floats, Floats]:
        """Density in x at n + nodes for cells first <= n < last, and its relative error by cell."""
        cells = np.arange(first, last)
        total, error = np.zeros((cells.size, nodes.size)), np.zeros(cells.size)
        splines = np.ones((1, nodes.size))
        for j in range(1, self.terms):
            log, off = self._logs[j]
            for i, spline in enumerate(splines):
                wins = cells - i
                inside = (wins >= 0) & (wins < log.size)
                where = np.where(inside, wins, 0)
                exponents = log[where] + self.epsilon * (cells - self.rounds)
                mass = np.where(inside, np.exp(exponents), 0.0)
                total += mass[:, None] * spline
                size = off[where] + 8 * UNIT * (16 + np.abs(exponents) + self.epsilon * self.rounds)
                error = np.maximum(error, np.where(inside, size, 0.0))
            splines = next_splines(splines, nodes)
        return total * np.exp(self.epsilon * nodes), error

    @cached_property
    def _points(self) -> tuple[Floats, Floats, Floats]:
        """x, masses and the masses' errors: of each atom and of the nodes of the cell above it."""
        atoms = np.arange(self.rounds + 1, dtype=np.float64)
        x = np.full((self.rounds + 1, 1 + _NODES.size), float(self.rounds))
        mass, wrong = np.zeros(x.shape), np.zeros(x.shape)
        log, off = self._logs[0]
        exponents = log + self.epsilon * (atoms - self.rounds)
        x[:, 0], mass[:, 0] = atoms, np.exp(exponents)
        wrong[:, 0] = mass[:, 0] * (off + 8 * UNIT * (16 + np.abs(exponents)))
        density, error = self._cells(0, self.rounds, _NODES)
        x[:-1, 1:] = atoms[:-1, None] + _NODES
        mass[:-1, 1:] = density * _WEIGHTS
        wrong[:-1, 1:] = mass[:-1, 1:] * error[:, None]
        return x.ravel(), mass.ravel(), wrong.ravel()

    def at(self, epsilon: float) -> SlopedBracket:
        """Certified bracket of its share of delta(epsilon), and of its slope."""
        place = (epsilon + self.rounds * self.epsilon) / (2 * self.epsilon)
        cell = math.floor(min(max(place, -1.0), float(self.rounds)))
        x, mass, wrong = (each[(cell + 1) * (1 + _NODES.size) :] for each in self._points)
        if 0 <= cell < self.rounds:
            left = 1.0 - (place - cell)
            density, error = self._cells(cell, cell + 1, place - cell + left * _NODES)
            inner = density[0] * _WEIGHTS * left
            x = np.r_[place + left * _NODES, x]
            mass, wrong = np.r_[inner, mass], np.r_[inner * error[0], wrong]
        gain = -np.expm1(-2 * self.epsilon * np.maximum(x - place, 0.0))
        value, total = dot(mass, gain), float(mass.sum())
        # An error of a loss, or of epsilon, moves delta by at most the mass above.
        moved = 16 * UNIT * (self.rounds * self.epsilon + abs(epsilon))
        noise = dot(wrong, gain) + value * UNIT * x.size + total * (moved + _QUADRATURE)
        noise = noise * (1 + 1e-9) + 1e-307
        return SlopedBracket(max(value - noise, 0.0), value + noise, slope=value - total)
