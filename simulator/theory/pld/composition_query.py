"""delta(epsilon) and epsilon(delta) of one composition: the choice of engine and of tilt.

These choices affect only the time and the width of a bracket: every engine's brackets are certified
at every epsilon, and brackets of one number are intersected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.theory.bracket import Bracket
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.enumerated_sums import ROUNDING, enumerate_sums
from simulator.theory.pld.laplace_lattice import LaplaceLatticeTail
from simulator.theory.pld.lattice_line_tail import LatticeLineTail, snapped
from simulator.theory.pld.loss_lattice import LossLattice, LossLatticeTail
from simulator.theory.pld.saddle_points import Saddles
from simulator.theory.pld.smoothed_tail import (
    Extent,
    SmoothedTail,
    choose_line,
    choose_window,
    coarsest_fit,
    most_points,
    points_needed,
)
from simulator.theory.pld.tail import OneRound, Tail
from simulator.theory.pld.tail_inverse import invert

_LARGE = float(np.log(0.3))
"""Above this estimate of delta, 1 - delta is the smaller number and is integrated instead."""
_ATTEMPTS = 10
_LEAST_SPREAD, _MOST_SPREAD = 1e-14, 1e5 * (1 + 1e-9)
"""Below, the saddle points are outside their table; above, the least smoothing that fits memory is
too wide."""
_REFINE = 4.0
_COARSE = 30.0
"""How much coarser the first trial at epsilon = 0 is, made where the result may be 0."""
_NEAR_NOTHING = 0.05
_SHARE = 0.01
"""Share of the gap that each other source of error may have."""
_OFF_MIDDLE = 1e-6
_MUCH_WORK = 1 << 20
"""Points of a lattice times laws on it, above which a line is faster; and the tolerance of a
line."""
_FINEST_LINE = 3e-10


@dataclass(frozen=True)
class CompositionQuery:
    """One composition; its tables are shared by all queries."""

    parts: CountedLaws
    tolerance: float

    def delta(self, epsilon: float) -> Bracket:
        """Bracket of delta at an epsilon >= 0 below the largest finite loss.

        Raises NotApplicable where the total loss is too widely or too narrowly spread.
        """
        found, finer = Bracket(0.0, 1.0), 1.0
        for _ in range(_ATTEMPTS):
            tail, last = self._tail(epsilon, finer, for_delta=True)
            value, before = tail.at(epsilon), found.width
            found = found.meet(value)
            if last or self._settled(found, before):
                break
            finer *= self._finer(found)
        return found

    def epsilon(self, delta: float) -> Bracket:
        """Bracket of the least epsilon >= 0 at a ``delta`` of at least the infinite mass."""
        lost, top = self.parts.infinite_mass, self.parts.support[1]
        # Whether the infinite mass alone exceeds delta is not settled within its rounding.
        ceiling = top if delta >= lost * (1 + 1e-13) else np.inf
        if top <= 0:
            return Bracket(0.0, max(ceiling, 0.0))
        found, finer = Bracket(0.0, ceiling), 1.0
        centre = min(max(self._guess(delta - lost), 0.0), top)
        if centre <= _NEAR_NOTHING * self.parts.spread:
            coarse, _ = self._tail(0.0, 1 / _COARSE, for_delta=True)
            if coarse.at(0.0).upper <= delta:
                return Bracket(0.0, 0.0)
        before = np.inf
        for _ in range(_ATTEMPTS):
            tail, last = self._tail(centre, finer, for_delta=False)
            root = invert(tail, delta, centre, 0.0, top)
            upper = root.upper if root.upper < top else ceiling
            found = found.meet(Bracket(root.lower, upper))
            inside = _inside(root, top)
            drifted = abs(inside - centre) > 2 * tail.reach
            if self._settled(found, np.inf if drifted else before) or (last and not drifted):
                break
            # At another centre the same smoothing may be enough.
            before = np.inf if abs(inside - centre) > 0.1 * tail.reach else found.width
            centre = inside
            finer *= 1.0 if drifted else self._finer(found)
        return found

    def _settled(self, found: Bracket, before: float) -> bool:
        """Whether the bracket is narrow enough, or no longer narrows because of rounding."""
        return found.width <= self.tolerance * found.upper or 0.7 * before < found.width

    def _finer(self, found: Bracket) -> float:
        """The factor by which to smooth less; widths decrease with the square of the smoothing."""
        excess = found.width / (self.tolerance * found.upper) if math.isfinite(found.upper) else 1e9
        return min(max(1.1 * math.sqrt(excess), 1.5), _REFINE)

    @cached_property
    def _direct(self) -> Tail | None:
        """The engine of a single round, or of few enough rounds for a closed form; else None."""
        if self.parts.rounds == 1:
            return OneRound(self.parts.items[0][0], slack=self.parts.loss_error)
        law = enumerate_sums(self.parts)
        if law is None:
            return LaplaceLatticeTail.of(self.parts)
        reach = max(map(abs, self.parts.support))
        slack = 2 * ROUNDING * self.parts.rounds * reach + self.parts.loss_error
        return OneRound(law, slack=slack)

    @cached_property
    def _lattice(self) -> LossLattice | None:
        return LossLattice.of(self.parts)

    @cached_property
    def _small(self) -> Saddles:
        return Saddles.of(self.parts.approximation)

    @cached_property
    def _large(self) -> Saddles:
        return Saddles.of(self.parts.approximation, overlap=True)

    def _guess(self, delta: float) -> float:
        log_delta = float(np.log(max(delta, 1e-300)))
        if log_delta < _LARGE:
            return self._small.epsilon_at(log_delta)
        return self._large.epsilon_at(float(np.log1p(-delta)))

    def _tail(self, epsilon: float, finer: float, for_delta: bool) -> tuple[Tail, bool]:
        """An engine centred at epsilon, and whether it is the finest."""
        if self._direct is not None:
            return self._direct, True
        small = self._small.log_value_at(epsilon) < _LARGE
        saddles = self._small if small else self._large
        theta = saddles.theta_at(epsilon)
        if self._lattice is not None:
            if small and finer <= 1.0 and self._many(self._lattice):
                return self._lattice_line(self._lattice, epsilon, theta), False
            return LossLatticeTail.make(self.parts, self._lattice, max(theta, 0.0)), True
        self._check_spread()
        smoothing = self._smoothing(epsilon, theta, saddles.spread_at(epsilon), for_delta) / finer
        return self._smoothed(epsilon, theta, saddles, smoothing)

    def _many(self, lattice: LossLattice) -> bool:
        """Whether an FFT of every law would be slow, and a line is accurate enough."""
        work = lattice.points * len(self.parts.items)
        return work > _MUCH_WORK and self.tolerance >= _FINEST_LINE

    def _lattice_line(self, lattice: LossLattice, epsilon: float, theta: float) -> Tail:
        """A line whose estimated errors are a small share of the tolerance."""
        parts = snapped(self.parts, lattice)
        log_value = self._small.log_value_at(epsilon)
        # In the tail a relative error of epsilon is theta * epsilon times as large in delta.
        share = _SHARE * self.tolerance * max(theta * epsilon, 1.0)
        window = choose_window(parts, epsilon, theta, 0.0, log_value, folded=max(share, 1e-15))
        log_scale = float(parts.log_mgf(np.array(theta)).real) - theta * epsilon
        return LatticeLineTail.make(
            parts,
            lattice,
            epsilon,
            theta=theta,
            window=window,
            negligible=max(share * float(np.exp(max(log_value - log_scale, -40.0))), 1e-18),
        )

    def _smoothed(
        self, epsilon: float, theta: float, saddles: Saddles, smoothing: float
    ) -> tuple[Tail, bool]:
        """A line with that smoothing, or without where faster; and whether it is the finest."""
        if abs(theta + 0.5) < _OFF_MIDDLE:
            theta = _OFF_MIDDLE - 0.5
        log_value = saddles.log_value_at(epsilon)
        log_scale = float(self.parts.approximation.log_mgf(np.array(theta)).real) - theta * epsilon
        # The width that the smoothing adds, in units of M(theta) exp(-theta E), estimated.
        gap = smoothing**2 / (np.sqrt(2 * np.pi) * saddles.spread_at(epsilon))
        window = choose_window(
            self.parts,
            epsilon,
            theta,
            smoothing,
            log_value,
            folded=max(_SHARE * gap * float(np.exp(min(log_scale - log_value, 30.0))), 1e-15),
        )
        line = choose_line(self.parts, theta, smoothing, _SHARE * gap)
        most = most_points(self.parts.work)
        last = points_needed(window.period, line.cutoff) > most
        if last:
            times = 1.01 * points_needed(window.period, line.cutoff) / most
            line = Extent(line.smoothing * times, line.cutoff / times)
            if line.smoothing == 0.0:
                line = Extent(coarsest_fit(window.period, most), 0.0)
        tail = SmoothedTail.make(
            self.parts,
            epsilon,
            theta,
            line.smoothing,
            window,
            cutoff=line.cutoff,
            negligible=max(_SHARE * gap, 1e-18),
            rough=line.rough,
        )
        return tail, last

    def _check_spread(self) -> None:
        """Raise NotApplicable where the transform cannot be inverted accurately."""
        spread = self.parts.spread
        if not _LEAST_SPREAD <= spread <= _MOST_SPREAD:
            raise NotApplicable(
                "the total privacy loss is spread over too wide or too narrow a range to be "
                f"composed numerically: {spread:.3g}, outside [{_LEAST_SPREAD:g}, "
                f"{_MOST_SPREAD:g}] (root of the sum of the squared parameters of the rounds)"
            )

    def _smoothing(self, epsilon: float, theta: float, spread: float, for_delta: bool) -> float:
        """The s whose gap s^2 p meets the tolerance for a law that is smooth around epsilon.

        p/|slope| is about 1 + theta in the tail, and p about 1/spread in the bulk. In the tail
        a relative error of epsilon is theta * epsilon times as large in delta.
        """
        scale = max(epsilon, 1e-3 * min(spread, 1.0))
        if theta > 0:
            scale = 1 / theta if for_delta else scale
            gap, ceiling = scale / (1 + theta), 0.5 / (1 + theta)
        else:
            gap, ceiling = spread * (1.0 if for_delta else scale), 0.5 * min(spread, 1.0)
        return float(min(np.sqrt(0.8 * self.tolerance * gap), ceiling))


def _inside(root: Bracket, top: float) -> float:
    """The next centre: the one end that was found, else the middle."""
    if (root.lower > 0) == (root.upper < top):
        return root.midpoint if np.isfinite(root.upper) else root.lower
    return root.lower if root.lower > 0 else root.upper
