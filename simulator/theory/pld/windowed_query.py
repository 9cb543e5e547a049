"""Answering delta(epsilon) and epsilon(delta) of laws without a closed transform, on a grid.

The two laws of :mod:`simulator.theory.pld.grid_laws` are composed by
:mod:`simulator.theory.pld.windowed`; the step follows from the tolerance. Both laws are off by at
most about (rounds) step^2/4 times the density, in units of epsilon step^2 (1 + theta) rounds/4, so
after one look it is known which step is fine enough. The law's own ``log_mgf`` only steers. What
limits the tolerance is ``MAX_POINTS``, cells of a law's own range: sampled Gaussians end near 4e-9.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import Floats
from simulator.theory.laws.quantile import loss_range
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.grid_laws import enclosing_grid_laws, fitted_step
from simulator.theory.pld.saddle_points import Saddles
from simulator.theory.pld.tail_inverse import lower_end, upper_end
from simulator.theory.pld.windowed import LossWindow, WindowedTail, log_largest_weight

MAX_POINTS = 1 << 22
_THETAS = np.logspace(-6, 5, 166)
_ATTEMPTS = 8
#: Share of the answer's error that the mass outside of the window may have.
_FOLDED = 1e-4
_LEAST_TAIL = 1e-280
_SHIFTS = np.logspace(-3, 5, 121)
_SHARES = np.linspace(1.0, 0.1, 10)
_LEEWAY = math.log(1e3)


@dataclass(frozen=True)
class Plan:
    """Where a composition is asked, and how it is computed there."""

    centre: float
    theta: float
    window: LossWindow


@dataclass(frozen=True)
class WindowedQuery:
    """One composition, asked many times; brackets are certified at any tolerance."""

    parts: CountedLaws
    tolerance: float

    def delta(self, epsilon: float) -> Bracket:
        """Bracket of delta at an epsilon >= 0 below the largest finite loss."""
        saddles = self._refine(lambda table: epsilon)
        estimate = min(max(math.exp(saddles.log_value_at(epsilon)), 1e-300), 0.5)

        def ask(below: WindowedTail, above: WindowedTail) -> Bracket:
            low, high = below.at(epsilon).lower, above.at(epsilon).upper
            return Bracket(min(low, high), high)

        step = math.sqrt(self.tolerance / self.parts.rounds)
        step /= 1 + saddles.theta_at(epsilon)
        plan = self._plan(epsilon, saddles, step)
        return self._narrowed(ask, Bracket(0.0, 1.0), plan=plan, delta=estimate, step=step)

    def epsilon(self, delta: float) -> Bracket:
        """Bracket of the least epsilon >= 0 at a ``delta`` of at least the infinite mass."""
        lost, top = self.parts.infinite_mass, self.parts.support[1]
        finite_part = max(delta - lost, 1e-300)
        saddles = self._refine(lambda table: table.epsilon_at(math.log(finite_part)))
        centre = min(max(saddles.epsilon_at(math.log(finite_part)), 0.0), top)

        def ask(below: WindowedTail, above: WindowedTail) -> Bracket:
            high = upper_end(above, delta, centre, 0.0, top)
            if high >= top and delta < lost * (1 + 1e-13):
                high = math.inf
            low = lower_end(below, delta, min(high, 2 * centre + 1), 0.0, top)
            return Bracket(min(low, high), high)

        scale = max(centre, 0.1 * self.parts.spread)
        decay = 1 + saddles.theta_at(centre)
        step = math.sqrt(1.5 * self.tolerance * scale / (self.parts.rounds * decay))
        plan = self._plan(centre, saddles, step)
        return self._narrowed(ask, Bracket(0.0, math.inf), plan=plan, delta=finite_part, step=step)

    def _narrowed(
        self,
        ask: Callable[[WindowedTail, WindowedTail], Bracket],
        found: Bracket,
        *,
        plan: Plan,
        delta: float,
        step: float,
    ) -> Bracket:
        """Meet of brackets at finer and finer steps, until narrow enough or out of points."""
        tail_mass = max(1e-2 * self.tolerance * delta / self.parts.rounds, _LEAST_TAIL)
        reaches = {law: loss_range(law, tail_mass) for law, _ in self.parts.items}
        ranges = [*reaches.values(), (plan.window.bottom, plan.window.top)]
        longest = max(high - low for low, high in ranges)
        least = 1.01 * longest / MAX_POINTS
        for _ in range(_ATTEMPTS):
            step = fitted_step([law for law, _ in self.parts.items], max(step, least))
            pairs = [
                (enclosing_grid_laws(law, step, reaches[law]), count)
                for law, count in self.parts.items
            ]
            below, above = (
                WindowedTail.make(
                    [(pair[side], count) for pair, count in pairs],
                    plan.theta,
                    plan.window,
                    plan.centre,
                )
                for side in (0, 1)
            )
            before, found = found.width, found.meet(ask(below, above))
            wanted = self.tolerance * found.upper
            if found.width <= wanted or step <= least or found.width > 0.9 * before:
                break
            step *= min(max(0.9 * math.sqrt(wanted / found.width), 1 / 16), 0.8)
        return found

    def _plan(self, epsilon: float, saddles: Saddles, step: float) -> Plan:
        """A tilt and a window, the shortest whose outside is a small share of the tolerance.

        The saddle point's tilt has the least rounding; where the tilted loss has a heavy tail, a
        smaller one has a shorter window, at the price of rounding that is larger by ``_LEEWAY``.
        """
        if not (math.isfinite(epsilon) and 0.0 < step * self.parts.rounds < math.inf):
            raise NotApplicable(
                "the total privacy loss is spread over too wide a range to be composed numerically"
            )
        saddle, log_delta = saddles.theta_at(epsilon), saddles.log_value_at(epsilon)
        # On the grid a loss is moved by a step at most, which a larger exponent would feel.
        shifts = _SHIFTS[: max(int(np.searchsorted(_SHIFTS, 1 / (step * self.parts.rounds))), 1)]
        best: Plan | None = None
        for theta in saddle * _SHARES:
            here = float(self._psi(np.array(theta)))
            log_scale = max(here - theta * epsilon + log_largest_weight(theta) - log_delta, 0.0)
            if best is not None and log_scale > _LEEWAY:
                break
            log_mass = math.log(_FOLDED * self.tolerance) - log_scale
            window = self._window(theta, here, log_mass, shifts)
            if best is None or window.length < best.window.length:
                best = Plan(epsilon, float(theta), window)
        assert best is not None
        return best

    def _window(self, theta: float, here: float, log_mass: float, shifts: Floats) -> LossWindow:
        """The shortest window outside of which is exp(log_mass) of the law tilted by theta."""
        tops = (self._psi(theta + shifts) - here - log_mass) / shifts
        bottoms = -(self._psi(theta - shifts) - here - log_mass) / shifts
        up, down = int(np.argmin(tops)), int(np.argmax(bottoms))
        return LossWindow(
            float(bottoms[down]),
            float(tops[up]),
            float(theta + shifts[up]),
            float(theta - shifts[down]),
        )

    def _psi(self, theta: Floats) -> Floats:
        return np.asarray(self.parts.log_mgf(theta).real)

    def _refine(self, wanted: Callable[[Saddles], float]) -> Saddles:
        """A table that is fine around the epsilon wanted of it: the transform may rise abruptly."""
        saddles = self._saddles
        for _ in range(2):
            at = int(np.searchsorted(saddles.theta, saddles.theta_at(wanted(saddles))))
            low, high = max(at - 2, 0), min(at + 1, saddles.theta.size - 1)
            finer = np.geomspace(saddles.theta[low], saddles.theta[high], 61)
            saddles = Saddles.of(self.parts, thetas=finer)
        return saddles

    @cached_property
    def _saddles(self) -> Saddles:
        return Saddles.of(self.parts, thetas=_THETAS)
