"""delta(epsilon) and epsilon(delta) of laws without a closed transform, on a line or a grid.

Sampled Gaussians are composed by :mod:`simulator.theory.pld.sampled_line` where their transform
decays. Everything else is on a grid.

The two laws of :mod:`simulator.theory.pld.grid_laws` are composed by
:mod:`simulator.theory.pld.windowed`; the step follows from the tolerance. Both laws are off by at
most about (rounds) step^2/4 times the density, in units of epsilon step^2 (1 + theta) rounds/4, so
one evaluation determines the step that is fine enough. The law's own ``log_mgf`` is used for
estimates only. The tolerance is limited by ``MAX_POINTS``, cells of a law's own range: sampled
Gaussians end near 4e-9.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.foundations.stages import in_stages
from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import Floats, PrivacyLossLaw
from simulator.theory.laws.quantile import loss_range
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.grid_laws import (
    GridLaw,
    Points,
    fitted_offset,
    fitted_step,
    grid_laws_of,
)
from simulator.theory.pld.saddle_points import Saddles
from simulator.theory.pld.sampled_line import sampled_tail
from simulator.theory.pld.smoothed_tail import SmoothedTail
from simulator.theory.pld.tail import TINY
from simulator.theory.pld.tail_inverse import invert, lower_end, upper_end
from simulator.theory.pld.windowed import (
    LossWindow,
    WindowedSum,
    WindowedTail,
    log_largest_weight,
)

MAX_POINTS = 1 << 22
_THETAS = np.logspace(-6, 5, 166)
_ATTEMPTS = 8
_FOLDED = 1e-4
"""Share of the answer's error that the mass outside of the window may have."""
_LEAST_TAIL = 1e-280
_SHIFTS = np.logspace(-3, 5, 121)
_SHARES = np.linspace(1.0, 0.1, 10)
_ROUNDING = 1e-13
"""About the rounding of a composition, per round."""
_LEEWAY, _LARGEST_LEEWAY = math.log(10.0), math.log(1e3)
"""Logarithms of how much larger it may be for a shorter window, and for one that has to fit."""
_RUNG = 2.5 * math.log(10.0)
"""Distance of anchors in ln delta, and the share of the tolerance for which each is composed."""
_CLOSER = 0.5
_FINEST = 4e-9
"""Relative width of a line's bracket below which a grid is no finer."""
_PER_OCTAVE, _DECADES = 2.0, 8.0
"""Steps and ranges are rounded so that anchors have grid laws in common."""
_FEW_LAWS, _MOST_KEPT = 2, 4
_SURELY = 0.75
"""How much finer the first step is where composing once more would take long."""
_KEPT = 1 << 23
"""Points of all kept anchors: 256 MB."""
_LOG_LEAST, _LOG_FAR, _LOG_HALF = math.log(1e-300), math.log(1e-270), math.log(0.5)


@dataclass(frozen=True)
class Plan:
    """The centre, tilt and window of one computation."""

    centre: float
    theta: float
    window: LossWindow


@dataclass(frozen=True)
class Anchor:
    """Tails below and above delta, at one tilt; brackets are narrow around its centre.

    They are those of both composed grid laws, or twice the one of a line.
    """

    below: WindowedTail | SmoothedTail
    above: WindowedTail | SmoothedTail

    @property
    def is_line(self) -> bool:
        """Whether both tails are that of one line."""
        return self.below is self.above

    def delta(self, epsilon: float) -> Bracket:
        """Return a certified bracket of delta at any epsilon."""
        low, high = self.below.at(epsilon).lower, self.above.at(epsilon).upper
        return Bracket(min(low, high), high)


@dataclass(frozen=True)
class Answers:
    """How an anchor gives the bracket of one kind of query.

    Attributes
    ----------
    of : an anchor's bracket.
    step : the grid step from which the search for a fine enough one starts, at a plan's saddles.
    """

    of: Callable[[Anchor], Bracket]
    step: Callable[[Saddles, float], float]


@dataclass(frozen=True)
class WindowedQuery:
    """One composition and its answers; brackets are certified at any tolerance.

    Composed laws are stored at anchors, a fixed ladder of deltas, so that a whole curve takes a few
    compositions. The choice of anchor depends on the query alone, not on earlier ones.
    """

    parts: CountedLaws
    tolerance: float

    def delta(self, epsilon: float) -> Bracket:
        """Bracket of delta at an epsilon >= 0 below the largest finite loss."""
        log_delta = self._saddles.log_value_at(epsilon)
        if log_delta < _LOG_FAR:
            saddles = self._refine(lambda table: epsilon)
            if self._finite_at_most(epsilon, saddles) <= TINY:  # no grid resolves it
                lost = self.parts.infinite_mass
                return Bracket(lost * (1 - 1e-14), lost * (1 + 1e-14) + TINY)
        anchor = self._anchor("delta", _within(log_delta))
        found = anchor.delta(epsilon)
        if self._is_narrow(found, anchor):
            return found
        saddles = self._refine(lambda table: epsilon)
        log_delta = _within(saddles.log_value_at(epsilon))
        answers = self._delta_answers(epsilon)
        return found.meet(self._narrowed(answers, epsilon, log_delta, saddles)[0])

    def at_most(self, epsilon: float) -> float:
        """An upper end of delta(epsilon) without a composition: Chernoff's bound."""
        lost, saddles = self.parts.infinite_mass, self._refine(lambda table: epsilon)
        return min(lost * (1 + 1e-14) + self._finite_at_most(epsilon, saddles), 1.0)

    def _finite_at_most(self, epsilon: float, saddles: Saddles) -> float:
        """At least E0[(1 - exp(epsilon - L))_+] over the finite losses.

        Any theta >= 0 bounds it by exp(psi(theta) - theta epsilon) times the largest weight. It is
        1 where psi is an estimate.
        """
        theta, psi = self.parts.proven_log_mgf(saddles.theta_at(epsilon))
        exponent = psi - theta * epsilon + log_largest_weight(theta)
        return math.exp(min(exponent + 1e-12 * (1.0 + theta * epsilon), 0.0))

    def epsilon(self, delta: float) -> Bracket:
        """Bracket of the least epsilon >= 0 at a ``delta`` of at least the infinite mass."""
        log_delta = math.log(max(delta - self.parts.infinite_mass, 1e-300))
        anchor = self._anchor("epsilon", min(log_delta, _LOG_HALF))
        found = self._epsilon_answers(delta, self._about(self._saddles, log_delta)).of(anchor)
        if self._is_narrow(found, anchor):
            return found
        saddles, centre = self._centre(log_delta)
        answers = self._epsilon_answers(delta, centre)
        return found.meet(self._narrowed(answers, centre, log_delta, saddles)[0])

    def _is_narrow(self, found: Bracket, anchor: Anchor) -> bool:
        tolerance = max(self.tolerance, _FINEST) if anchor.is_line else self.tolerance
        return found.width == 0.0 or found.width <= tolerance * found.upper < math.inf

    def _centre(self, log_delta: float) -> tuple[Saddles, float]:
        """About where delta(epsilon) is exp(log_delta), and a table that is fine there."""
        saddles = self._refine(lambda table: table.epsilon_at(log_delta))
        return saddles, self._about(saddles, log_delta)

    def _about(self, saddles: Saddles, log_delta: float) -> float:
        return min(max(saddles.epsilon_at(log_delta), 0.0), self.parts.support[1])

    def _delta_answers(self, epsilon: float) -> Answers:
        def step(saddles: Saddles, centre: float) -> float:
            return math.sqrt(self.tolerance / self.parts.rounds) / (1 + saddles.theta_at(centre))

        return Answers(lambda anchor: anchor.delta(epsilon), step)

    def _epsilon_answers(self, delta: float, centre: float) -> Answers:
        lost, top = self.parts.infinite_mass, self.parts.support[1]

        def of(anchor: Anchor) -> Bracket:
            if anchor.is_line:  # no loss is infinite
                return invert(anchor.above, delta, centre, 0.0, top)
            high = upper_end(anchor.above, delta, centre, 0.0, top)
            if high >= top and delta < lost * (1 + 1e-13):
                high = math.inf
            low = lower_end(anchor.below, delta, min(high, 2 * centre + 1), 0.0, top)
            return Bracket(min(low, high), high)

        def step(saddles: Saddles, centre: float) -> float:
            scale = max(centre, 0.1 * self.parts.representatives.spread)
            decay = 1 + saddles.theta_at(centre)
            return math.sqrt(1.5 * self.tolerance * scale / (self.parts.rounds * decay))

        return Answers(of, step)

    def _anchor(self, kind: Literal["delta", "epsilon"], log_delta: float) -> Anchor:
        """The anchor of the nearest rung; it is kept, with the last ones that memory holds."""
        kept, rung = self._anchors, round(log_delta / _RUNG)
        if (kind, rung) not in kept:
            log_delta = min(rung * _RUNG, _LOG_HALF)
            saddles, centre = self._centre(log_delta)
            delta = min(math.exp(log_delta) + self.parts.infinite_mass, 1.0)
            of_epsilon = kind == "epsilon"
            answers = (
                self._epsilon_answers(delta, centre) if of_epsilon else self._delta_answers(centre)
            )
            line = sampled_tail(self.parts, centre, saddles, _CLOSER * self.tolerance)
            if line is not None:
                kept[kind, rung] = Anchor(line, line)
            else:
                _, kept[kind, rung] = self._narrowed(
                    answers, centre, log_delta, saddles, share=_CLOSER
                )
            while len(kept) > 1 and sum(anchor.below.size for anchor in kept.values()) > _KEPT:
                del kept[next(iter(kept))]
        return kept[kind, rung]

    def _narrowed(
        self,
        answers: Answers,
        centre: float,
        log_delta: float,
        saddles: Saddles,
        share: float = 1.0,
    ) -> tuple[Bracket, Anchor]:
        """Intersection of brackets at finer steps, until ``share`` of the tolerance is reached.

        Stops also at the finest step allowed. The finest anchor is returned with it.
        """
        tolerance = share * self.tolerance
        step = math.sqrt(share) * answers.step(saddles, centre)
        step *= _SURELY if self._has_many_laws else 1.0
        plan = self._plan(centre, saddles, step)
        tail_mass = max(1e-2 * tolerance * math.exp(log_delta) / self.parts.rounds, _LEAST_TAIL)
        tail_mass = 10.0 ** (_DECADES * math.floor(math.log10(tail_mass) / _DECADES))
        reaches = {law: loss_range(law, tail_mass) for law, _ in self.parts.items}
        least = 1.01 * plan.window.length / MAX_POINTS
        least = max(least, *(law.least_step for law, _ in self.parts.items))
        found: Bracket | None = None
        for _ in range(_ATTEMPTS):
            if not self._has_many_laws:
                step = 2.0 ** (math.floor(_PER_OCTAVE * math.log2(step)) / _PER_OCTAVE)
            step = fitted_step([law for law, _ in self.parts.items], max(step, least))
            anchor = self._composed(plan, step, reaches, tail_mass)
            now = answers.of(anchor)
            before, found = math.inf if found is None else found.width, now.meet(found or now)
            # Of many laws, whose composition takes long, the first that is narrow enough is taken.
            wanted = (self.tolerance if self._has_many_laws else tolerance) * found.upper
            if found.width <= wanted or step <= least or found.width > 0.9 * before:
                break
            step *= min(max(0.9 * math.sqrt(wanted / found.width), 1 / 16), 0.8)
        assert found is not None
        return found, anchor

    def _composed(
        self,
        plan: Plan,
        step: float,
        reaches: dict[PrivacyLossLaw, tuple[float, float]],
        tail_mass: float,
    ) -> Anchor:
        """Both laws composed, one round's law at a time."""
        offset = math.fsum(n * fitted_offset(law, step) for law, n in self.parts.items)
        sums = [WindowedSum(plan.theta, plan.window, step, offset) for _ in range(2)]
        theta = 2.0 ** math.ceil(math.log2(max(plan.theta, 1.0)))  # anchors have it in common
        items = self.parts.items
        similar: dict[tuple[float, float], Points] = {}
        for law, count in in_stages(items, "composing") if self._has_many_laws else items:
            if not self._has_many_laws:
                grid_laws = self._grid_laws(law, step, reaches[law], theta, tail_mass)
            else:  # each starts from the cells of the first with such a reach
                start = similar.get(_rough(reaches[law]))
                grid_laws = grid_laws_of(law, step, reaches[law], theta, tail_mass, start=start)
                similar.setdefault(_rough(reaches[law]), grid_laws[1].points)
            for total, grid_law in zip(sums, grid_laws):
                total.add(grid_law, count)
        below, above = (total.tail(plan.centre) for total in sums)
        return Anchor(below, above)

    @property
    def _has_many_laws(self) -> bool:
        return len(self.parts.items) > _FEW_LAWS

    def _grid_laws(
        self,
        law: PrivacyLossLaw,
        step: float,
        reach: tuple[float, float],
        theta: float,
        tail_mass: float,
    ) -> tuple[GridLaw, GridLaw]:
        """The law's two grid laws, cached for the next anchor."""
        question = law, step, reach, theta, tail_mass
        kept = self._kept_grid_laws
        if question not in kept:
            if len(kept) >= _MOST_KEPT:
                kept.clear()
            kept[question] = grid_laws_of(*question)
        return kept[question]

    @cached_property
    def _kept_grid_laws(self) -> dict[object, tuple[GridLaw, GridLaw]]:
        return {}

    @cached_property
    def _anchors(self) -> dict[tuple[str, int], Anchor]:
        return {}

    def _plan(self, epsilon: float, saddles: Saddles, step: float) -> Plan:
        """A tilt and a window, the shortest whose outside is a small share of the tolerance.

        The saddle point's tilt has the least rounding. Where the tilted loss has a heavy tail, a
        smaller tilt has a shorter window and more rounding, which the tolerance limits.
        """
        if not (math.isfinite(epsilon) and 0.0 < step * self.parts.rounds < math.inf):
            raise NotApplicable(
                "the total privacy loss is spread over too wide a range to be composed numerically"
            )
        saddle, log_delta = saddles.theta_at(epsilon), saddles.log_value_at(epsilon)
        # On the grid a loss moves by up to a step, which larger exponents would amplify.
        shifts = _SHIFTS[: max(int(np.searchsorted(_SHIFTS, 1 / (step * self.parts.rounds))), 1)]
        best: Plan | None = None
        rounding = _ROUNDING * self.parts.rounds / math.sqrt(min(max(saddle, 1e-3) * step, 1.0))
        leeway = max(math.log(self.tolerance / rounding), _LEEWAY)
        for theta in saddle * _SHARES:
            here = float(self._psi(np.array(theta)))
            log_scale = max(here - theta * epsilon + log_largest_weight(theta) - log_delta, 0.0)
            if best is not None:
                fits = best.window.length < step * MAX_POINTS
                if log_scale > (leeway if fits else max(leeway, _LARGEST_LEEWAY)):
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
        return np.asarray(self.parts.representatives.log_mgf(theta).real)

    def _refine(self, wanted: Callable[[Saddles], float]) -> Saddles:
        """A table refined around the epsilon ``wanted``, as the transform may increase abruptly."""
        saddles = self._saddles
        for _ in range(2):
            at = int(np.searchsorted(saddles.theta, saddles.theta_at(wanted(saddles))))
            low, high = max(at - 2, 0), min(at + 1, saddles.theta.size - 1)
            finer = np.geomspace(saddles.theta[low], saddles.theta[high], 61)
            saddles = Saddles.of(self.parts.representatives, thetas=finer)
        return saddles

    @cached_property
    def _saddles(self) -> Saddles:
        return Saddles.of(self.parts.representatives, thetas=_THETAS)


def _within(log_delta: float) -> float:
    return min(max(log_delta, _LOG_LEAST), _LOG_HALF)


def _rough(reach: tuple[float, float]) -> tuple[float, float]:
    """The ends to a quarter of an octave."""
    low, high = (round(4 * math.log2(max(abs(end), 1e-300))) for end in reach)
    return low, high
