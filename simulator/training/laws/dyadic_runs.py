"""Masses on lattices whose spacings are powers of two, and their sums in convex order.

A :class:`LatticeRun` of exponent w has masses at the points (start + i) 2^w. A law has one run for
each of several exponents: fine where it has its mass, coarse in its tails. Every point is a double.

Where masses move, the law gets larger in convex order (the mean is kept and mass spread, Jensen's
inequality) or smaller (mass is gathered at its mean). A *larger* law has its masses at the points
themselves. A *smaller* one has cells: each with its mass and the first moment of its mass about
its point, in ``moments``. Sums of points with equal spacing are again points, so that a sum of
two larger laws moves no mass. In a sum of two smaller laws all pairs of cells with one sum of
points become one cell. Both need only ordinary convolutions, of non-negative masses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.theory.laws.base import Floats


@dataclass(frozen=True, eq=False)
class LatticeRun:
    """Masses (n,) at the points (start + i) 2^w, and moments about them (n,) of a smaller law."""

    start: int
    masses: Floats
    moments: Floats | None = None

    def at(self, exponent: int) -> Floats:
        """Where the mass of each point is: the point, or the mean of the cell. Shape (n,)."""
        points = np.asarray((self.start + np.arange(self.masses.size)) * 2.0**exponent, np.float64)
        if self.moments is None:
            return points
        here = self.masses > 0.0
        points[here] += self.moments[here] / self.masses[here]
        return points

    def part(self, chosen: Floats) -> LatticeRun:
        """The masses times ``chosen`` (n,), without the zeros on either side."""
        return LatticeRun(
            self.start,
            self.masses * chosen,
            None if self.moments is None else self.moments * chosen,
        ).trimmed()

    def trimmed(self) -> LatticeRun:
        """The same without the zeros on either side."""
        used = self.masses > 0.0
        first = int(used.argmax()) if used.size else 0
        last = used.size - int(used[::-1].argmax()) if used.size and used[first] else first
        if first == 0 and last == used.size:
            return self
        moments = None if self.moments is None else self.moments[first:last]
        return LatticeRun(self.start + first, self.masses[first:last], moments)

    def __add__(self, other: LatticeRun) -> LatticeRun:
        start = min(self.start, other.start)
        stop = max(self.start + self.masses.size, other.start + other.masses.size)

        def both(mine: Floats, others: Floats) -> Floats:
            total = np.zeros(stop - start)
            total[self.start - start :][: mine.size] += mine
            total[other.start - start :][: others.size] += others
            return total

        if self.moments is None or other.moments is None:
            return LatticeRun(start, both(self.masses, other.masses))
        return LatticeRun(start, both(self.masses, other.masses), both(self.moments, other.moments))

    def sum_with(self, other: LatticeRun, factor: float = 1.0) -> LatticeRun:
        """The masses of sums of independent terms on one lattice, times ``factor``."""
        start = self.start + other.start
        masses = factor * np.convolve(self.masses, other.masses)
        if self.moments is None or other.moments is None:
            return LatticeRun(start, masses)
        moments = np.convolve(self.masses, other.moments)
        moments += np.convolve(self.moments, other.masses)
        return LatticeRun(start, masses, factor * moments)

    def coarser(self, exponent: int) -> LatticeRun:
        """The run on the lattice of twice the spacing 2^exponent.

        Of a larger law each odd point's mass goes to both points beside it, half and half. Of a
        smaller law two cells become one: each odd cell joins the one below it or the one above,
        in turns, so that means stay close to their points.
        """
        if self.moments is None:
            return self._split()
        joins_above = exponent % 2
        front = (self.start + joins_above) % 2
        back = (front + self.masses.size) % 2
        padded = np.zeros((2, front + self.masses.size + back))
        padded[0, front : front + self.masses.size] = self.masses
        padded[1, front : front + self.masses.size] = self.moments
        masses, moments = padded[:, ::2] + padded[:, 1::2]
        width = 2.0**exponent
        moments += -width * padded[0, ::2] if joins_above else width * padded[0, 1::2]
        start = (self.start - front + joins_above) // 2
        return LatticeRun(start, masses, moments)

    def _split(self) -> LatticeRun:
        first, odd = self.start // 2, self.start % 2
        masses = np.zeros((odd + self.masses.size) // 2 + 2)
        even, halves = self.masses[odd::2], self.masses[1 - odd :: 2] / 2
        masses[odd : odd + even.size] += even
        masses[: halves.size] += halves
        masses[1 : 1 + halves.size] += halves
        return LatticeRun(first, masses).trimmed()


class Runs(dict[int, LatticeRun]):
    """A run for each exponent."""

    def put(self, exponent: int, run: LatticeRun) -> None:
        """Add masses to the run of that exponent."""
        if run.masses.size:
            known = self.get(exponent)
            self[exponent] = run if known is None else known + run

    def atoms(self) -> tuple[Floats, Floats]:
        """Where the masses are, ascending, and the masses; each of shape (n,)."""
        at = np.concatenate([run.at(w)[run.masses > 0.0] for w, run in self.items()])
        masses = np.concatenate([run.masses[run.masses > 0.0] for run in self.values()])
        order = np.argsort(at, kind="stable")
        return at[order], masses[order]


@dataclass
class Convolution:
    """Sums of independent terms of two laws (or of one with itself), and the rounding of them.

    Points of different spacing are added on the lattice of the wider one.

    Attributes
    ----------
    out : the masses of the sums.
    additions : most additions behind one mass, but for few.
    drift : how far the means of cells are from their points, over the means, at most.
    """

    out: Runs
    additions: int = 0
    drift: float = 0.0

    @classmethod
    def of(cls, one: Runs, other: Runs) -> Convolution:
        """The convolution; ``one`` and ``other`` may be the same."""
        found, same = cls(Runs()), one is other
        laws = (one,) if same else (one, other)
        finer = [Runs() for _ in laws]  # all runs of smaller exponents, on the lattice at hand
        exponents = sorted(set(one) | set(other))
        for w in range(exponents[0], exponents[-1] + 1):
            here = [law.get(w) for law in laws]
            below = [runs.get(w) for runs in finer]
            if same:
                found._add(w, here[0], here[0])
                found._add(w, here[0], below[0], 2.0)
            else:
                found._add(w, here[0], here[1])
                found._add(w, here[0], below[1])
                found._add(w, below[0], here[1])
            for runs, run in zip(finer, here):
                if run is not None:
                    runs.put(w, run)
                if w in runs:
                    runs.put(w + 1, runs.pop(w).coarser(w))
        return found

    def _add(
        self, w: int, one: LatticeRun | None, other: LatticeRun | None, factor: float = 1.0
    ) -> None:
        if one is None or other is None:
            return
        self.out.put(w, one.sum_with(other, factor).trimmed())
        size = min(one.masses.size, other.masses.size)
        self.additions = max(self.additions, 3 * size)  # at most three sums have one exponent
        for run in (one, other):
            if run.moments is not None:
                at = run.at(w)
                far = (run.masses > 0.0) & (at > 0.0)
                share = np.abs(run.moments[far]) / run.masses[far] / at[far]
                self.drift = max(self.drift, float(share.max(initial=0.0)))
