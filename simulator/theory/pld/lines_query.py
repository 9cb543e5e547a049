"""delta(epsilon) and epsilon(delta) of laws without a closed transform, on lines.

Sampled Gaussians are composed by :mod:`simulator.theory.pld.sampled_line` where their transform
decays; everything else by :mod:`simulator.theory.pld.enclosing_lines`, whose smoothing and cells
follow from the tolerance. A law's own ``log_mgf`` is used for estimates only. Work is limited, so
that no answer takes more than some seconds; a bracket is then wider than the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.theory.bracket import Bracket
from simulator.theory.laws.sampled_transform import SampledTransform
from simulator.theory.pld.anchors import Aim, Anchor, Goal
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.enclosing_lines import bounded_tails, enclosing_tails
from simulator.theory.pld.few_points import few_points
from simulator.theory.pld.jump_terms import Plan
from simulator.theory.pld.largest_loss import LargestLoss
from simulator.theory.pld.saddle_points import Saddles
from simulator.theory.pld.sampled_line import sampled_tail
from simulator.theory.pld.smoothed_tail import log_chernoff_constant
from simulator.theory.pld.tail import TINY
from simulator.theory.pld.tail_inverse import invert, lower_end, upper_end

_THETAS = np.logspace(-6, 12, 109)
_ATTEMPTS = 10
_RUNG = 2.5 * math.log(10.0)
"""Distance of anchors in ln delta, and the share of the tolerance for which each is composed."""
_CLOSER = 0.5
_FINEST = 4e-9
"""Relative width of a sampled line's bracket below which no other line is finer."""
_NARROW = 1e-4
"""Relative width that is enough where an anchor could be no finer."""
_SHARE_OF_SEARCH = 0.02
"""Share of the tolerance that each end's search may leave."""
_UNRESOLVED = 3e-5
"""An epsilon below this share of the largest loss takes too long a line, if others are small."""
_LARGEST = 0.1
"""Largest relative width of delta that is aimed at."""
_TWO_HEAPS, _MOST_JUMPING = 14.0, 8
"""A tilted loss spread over more than so many decay lengths has jumps; they are looked at in so
many distinct laws."""
_MORE_THAN_NORMAL = 1.3
"""It has jumps, too, where it is wider by so much than that of a Gaussian at this delta, and 2."""
_COARSER = 4.0
_KEPT = 1 << 22
"""Points of all kept anchors: 256 MB."""
_LOG_LEAST, _LOG_FAR, _LOG_HALF = math.log(1e-300), math.log(1e-270), math.log(0.5)
_TAILS_DROPPED, _TURNS = 12.0, 12
"""Below ln delta by so much, tails that are left out are no longer missed."""


@dataclass(frozen=True)
class LinesQuery:
    """One composition and its answers; brackets are certified at any tolerance.

    Composed laws are stored at anchors, a fixed ladder of deltas, so that a whole curve takes a few
    compositions. The choice of anchor depends on the query alone, not on earlier ones.
    """

    parts: CountedLaws
    tolerance: float

    def delta(self, epsilon: float) -> Bracket:
        """Bracket of delta at an epsilon >= 0 below the largest finite loss."""
        far = self._saddles.log_value_at(epsilon) < _LOG_FAR
        if far and self._finite_at_most(epsilon) <= TINY:  # nothing resolves it
            lost = self.parts.infinite_mass
            return Bracket(lost * (1 - 1e-14), lost * (1 + 1e-14) + TINY)
        found = self._delta_on_a_line(epsilon)
        if found is None:
            try:
                log_delta = self._log_delta_at(epsilon)
                anchor = self._anchor("delta", min(log_delta, _LOG_HALF))
            except NotApplicable:
                return self._largest_loss.delta(epsilon).meet(Bracket(0.0, self.at_most(epsilon)))
            found = anchor.delta(epsilon)
            if self._is_narrow(found, anchor):
                return self._limited(found)
            goal = Goal(lambda one: one.delta(epsilon), lambda *_: self.tolerance, False)
            found = found.meet(self._narrowed(goal, log_delta, epsilon)[0])
        return self._limited(found)

    def _delta_on_a_line(self, epsilon: float) -> Bracket | None:
        """The bracket by the line of sampled Gaussians, if it is narrow: an estimate picks it."""
        if not self._is_sampled:
            return None
        log_delta = self._saddles.log_value_at(epsilon)
        try:
            anchor = self._anchor("delta", min(max(log_delta, _LOG_LEAST), _LOG_HALF))
        except NotApplicable:
            return None
        found = anchor.delta(epsilon)
        return found if anchor.is_line and self._is_narrow(found, anchor) else None

    def _limited(self, found: Bracket) -> Bracket:
        """A bracket of delta, at most the sum of the rounds' total variations."""
        most = self.parts.total_variation
        return found if found.upper <= most else Bracket(min(found.lower, most), most)

    def at_most(self, epsilon: float) -> float:
        """An upper end of delta(epsilon) without a composition: Chernoff's bound."""
        finite = self._finite_at_most(epsilon)
        if finite < 1.0:
            return min(self.parts.infinite_mass * (1 + 1e-14) + finite, 1.0)
        return self._bound(
            Plan.of(self.parts, self._saddles.log_value_at(epsilon), _LARGEST), epsilon
        )

    def is_enough(self, epsilon: float, delta: float) -> bool:
        """Whether delta(epsilon) is certainly at most ``delta``: by a bound, or one coarse line.

        Where it is not, or hardly, the result is False.
        """
        log_delta = math.log(max(delta - self.parts.infinite_mass, 1e-300))
        if self._is_sampled:
            saddles = self._refined(lambda table: epsilon)
            if saddles.log_bound_at(epsilon) < log_delta and self.at_most(epsilon) <= delta:
                return True
            anchor = self._sampled(log_delta, epsilon, _LARGEST / self.tolerance)
            if anchor is not None:
                return anchor.delta(epsilon).upper <= delta
        plan = Plan.of(self.parts, log_delta, _LARGEST)
        saddles = plan.terms[0].saddles(epsilon)
        if saddles.log_value_at(epsilon) >= log_delta:
            return False
        if saddles.log_bound_at(epsilon) < log_delta and self._bound(plan, epsilon) <= delta:
            return True
        tails = enclosing_tails(plan, epsilon, log_delta, _LARGEST, only_above=True)
        return tails is not None and tails[1].at(epsilon).upper <= delta

    def _bound(self, plan: Plan, epsilon: float) -> float:
        return bounded_tails(plan, epsilon).at(epsilon).upper

    def _finite_at_most(self, epsilon: float) -> float:
        """At least E0[(1 - exp(epsilon - L))_+] over the finite losses.

        Any theta >= 0 bounds it by exp(psi(theta) - theta epsilon) times the largest weight. It is
        1 where psi is an estimate.
        """
        saddles = self._refined(lambda table: epsilon)
        theta, psi = self.parts.proven_log_mgf(saddles.theta_at(epsilon))
        exponent = psi - theta * epsilon + log_chernoff_constant(theta)
        return math.exp(min(exponent + 1e-12 * (1.0 + theta * epsilon), 0.0))

    def epsilon(self, delta: float) -> Bracket:
        """Bracket of the least epsilon >= 0 at a ``delta`` of at least the infinite mass."""
        certain = self._largest_loss.epsilon(delta)
        if certain.width <= self.tolerance * certain.upper < math.inf:
            return certain
        log_delta = math.log(max(delta - self.parts.infinite_mass, 1e-300))
        try:
            anchor = self._anchor("epsilon", min(log_delta, _LOG_HALF))
        except NotApplicable:
            if math.isinf(certain.upper):
                raise
            return certain
        goal = self._epsilon_goal(delta)
        found = goal.of(anchor)
        if self._is_narrow(found, anchor):
            return found
        return found.meet(self._narrowed(goal, log_delta, None)[0])

    def _is_narrow(self, found: Bracket, anchor: Anchor) -> bool:
        tolerance = max(self.tolerance, _FINEST) if anchor.is_line else self.tolerance
        tolerance = max(tolerance, _NARROW) if anchor.is_finest else tolerance
        return found.width == 0.0 or found.width <= tolerance * found.upper < math.inf

    def _epsilon_goal(self, delta: float) -> Goal:
        lost, top = self.parts.infinite_mass, self.parts.support[1]

        def of(anchor: Anchor) -> Bracket:
            if anchor.is_line:  # no loss is infinite
                return invert(anchor.above, delta, anchor.centre, 0.0, top)
            room = _SHARE_OF_SEARCH * self.tolerance * anchor.centre
            high = upper_end(anchor.above, delta, anchor.centre, 0.0, top, room=room)
            if high >= top and delta < lost * (1 + 1e-13):
                high = math.inf
            start = min(high, 2 * anchor.centre + 1)
            low = lower_end(anchor.below, delta, start, 0.0, top, room=room)
            return Bracket(min(low, high), high)

        def width(epsilon: float, theta: float, spread: float) -> float:
            return self.tolerance * max(epsilon, 0.1 * spread) * theta

        return Goal(of, width, True)

    def _anchor(self, kind: Literal["delta", "epsilon"], log_delta: float) -> Anchor:
        """The anchor of the nearest rung; it is kept, with the last ones that memory holds.

        At a rung above every delta, epsilon would be 0.
        """
        kept, rung = self._anchors, round(log_delta / _RUNG)
        rung = min(rung, math.floor(self._log_most / _RUNG))
        if (kind, rung) not in kept:
            log_delta = min(rung * _RUNG, _LOG_HALF)
            delta = min(math.exp(log_delta) + self.parts.infinite_mass, 1.0)
            goal = self._epsilon_goal(delta)
            if kind == "delta":
                goal = replace(goal, width=lambda *_: self.tolerance)
            _, kept[kind, rung] = self._narrowed(goal, log_delta, None, share=_CLOSER)
            while len(kept) > 1 and sum(anchor.below.size for anchor in kept.values()) > _KEPT:
                del kept[next(iter(kept))]
        return kept[kind, rung]

    def _log_delta_at(self, epsilon: float) -> float:
        """About ln delta at this epsilon.

        Without losses that are rarer than delta, it is underestimated; with much rarer ones, it is
        overestimated where these have jumps.
        """
        low, high = _LOG_LEAST, 0.0
        guess = low
        for _ in range(_TURNS):
            estimate = self._plan(guess, self.tolerance, epsilon).log_value_at(epsilon)
            if estimate < guess - _TAILS_DROPPED:
                high = guess
            else:
                low = max(low, min(guess, estimate))
                if abs(estimate - guess) < _TAILS_DROPPED / 2 or estimate <= _LOG_LEAST:
                    break
            guess = estimate if low < estimate < high else (low + high) / 2
            if high - low < _TAILS_DROPPED:
                break
        return min(max(min(estimate, self._log_most), _LOG_LEAST), _LOG_HALF)

    def _plan(
        self, log_delta: float, width: float, epsilon: float | None, known: Plan | None = None
    ) -> Plan:
        """The terms for answers near that delta, with jumps where one tilt does not serve all.

        It is the ``known`` one, with its tables, where that is the same, as of bounded losses.
        """
        plan = Plan.of(self.parts, log_delta, width)
        plan = known if known is not None and plan == known else plan
        if len(self.parts.items) > _MOST_JUMPING:
            return plan
        (whole,) = plan.terms
        if epsilon is None:
            epsilon = plan.epsilon_at(log_delta, self.parts.support[1])
        saddles = whole.saddles(epsilon)
        heap = 2.0 + _MORE_THAN_NORMAL * math.sqrt(2 * max(-log_delta, 0.0))
        if saddles.theta_at(epsilon) * saddles.spread_at(epsilon) < min(heap, _TWO_HEAPS):
            return plan
        return Plan.of(self.parts, log_delta, width, jumps=True)

    def _narrowed(
        self, goal: Goal, log_delta: float, epsilon: float | None, share: float = 1.0
    ) -> tuple[Bracket, Anchor]:
        """Intersection of brackets of finer lines, until ``share`` of the tolerance is reached.

        Stops also where that would be too much work. The last anchor is returned with it. Without
        ``epsilon`` it is sought.
        """
        anchor = self._sampled(log_delta, epsilon, share)
        if anchor is not None:
            return goal.of(anchor), anchor
        sought, centre, top = epsilon is None, epsilon or 0.0, self.parts.support[1]
        rough = Plan.of(self.parts, log_delta, self.tolerance)
        if sought:
            centre = rough.epsilon_at(log_delta, top)
        theta, spread = rough.decay_at(centre)
        width = min(share * goal.width(centre, theta, spread), _LARGEST)
        plan = self._plan(log_delta - (1 - share) * _RUNG, width, epsilon, rough)
        if sought and plan is not rough:
            centre = plan.epsilon_at(log_delta, top)
        found, last = Bracket(0.0, math.inf), None
        unresolved = 0.0 < centre < _UNRESOLVED * rough.largest
        for among_small in (unresolved, not unresolved):
            if among_small:
                begin = self._among_small(log_delta, width, max(centre, 1e-300))
                if len(begin.terms) == 1:
                    continue
            else:
                begin = plan
            aim = Aim(centre, log_delta, width, share * self.tolerance, sought)
            replanned = self._among_small if among_small else self._plan
            more, finer = self._approached(goal, begin, aim, replanned)
            last = finer if finer is not None and more.width < found.width else last
            found = found.meet(more)
            if last is not None and not (last.is_finest and found.width > _NARROW * found.upper):
                break
            log_delta = min(log_delta, math.log(max(found.upper, 1e-300)))
        if last is None:
            raise NotApplicable(
                "the total privacy loss is spread over too wide a range to be composed numerically"
            )
        return found, last

    def _among_small(self, log_delta: float, width: float, epsilon: float | None) -> Plan:
        return Plan.of(self.parts, log_delta, width, among_small=epsilon)

    def _approached(
        self, goal: Goal, plan: Plan, aim: Aim, replanned: Callable[[float, float, float], Plan]
    ) -> tuple[Bracket, Anchor | None]:
        """The same for a plan, made anew where delta is smaller; None if all is too much work."""
        centre, log_delta, width = aim.centre, aim.log_delta, aim.width
        found, last, finest, moved = Bracket(0.0, math.inf), None, 0.0, False
        reached = math.inf
        for _ in range(_ATTEMPTS):
            tails = enclosing_tails(plan, centre, log_delta, max(width, finest))
            if tails is None:  # too much work
                finest = _COARSER * max(width, finest)
                if last is not None and finest >= reached:  # it is no finer
                    last = replace(last, is_finest=True)
                    break
                continue
            reached = max(width, finest)
            last = Anchor(*tails, centre)
            now, before = goal.of(last), found.width
            found = now.meet(found)
            wanted = aim.tolerance * found.upper
            if found.width <= wanted or finest:
                last = replace(last, is_finest=finest > 0.0)
                break
            inside = now.midpoint if math.isfinite(now.upper) else 2 * now.lower + 1.0
            if aim.sought and abs(inside - centre) > min(tails[0].reach, 0.1 * centre):
                centre, moved = inside, True
                continue
            if not aim.sought and found.upper < math.exp(log_delta - 2.0):
                log_delta = math.log(max(found.upper, 1e-300))
                plan = replanned(log_delta, width, centre)
                continue
            if found.width > 0.8 * before and not moved:
                last = replace(last, is_finest=True)
                break
            width *= min(max(0.7 * wanted / found.width, 1 / 16), 0.5)
            moved = False
        return found, last

    def _sampled(self, log_delta: float, epsilon: float | None, share: float) -> Anchor | None:
        """The line of sampled Gaussians without smoothing, whose transform their own laws have."""
        if not self._is_sampled:
            return None

        def sought(table: Saddles) -> float:
            return table.epsilon_at(log_delta) if epsilon is None else epsilon

        saddles = self._refined(sought)
        centre = min(max(sought(saddles), 0.0), self.parts.support[1])
        line = sampled_tail(self.parts, centre, saddles, share * self.tolerance)
        return None if line is None else Anchor(line, line, centre)

    @cached_property
    def _is_sampled(self) -> bool:
        return all(SampledTransform.of(law) is not None for law, _ in self.parts.items)

    def _refined(self, sought: Callable[[Saddles], float]) -> Saddles:
        """The table of the laws' own ``log_mgf``, fine around an epsilon."""
        return self._saddles.finer(self._few, sought(self._saddles))

    @cached_property
    def _log_most(self) -> float:
        return math.log(max(self.parts.total_variation, 1e-300))

    @cached_property
    def _largest_loss(self) -> LargestLoss:
        return LargestLoss.of(self.parts)

    @cached_property
    def _anchors(self) -> dict[tuple[str, int], Anchor]:
        return {}

    @cached_property
    def _saddles(self) -> Saddles:
        return Saddles.of(self._few, thetas=_THETAS)

    @cached_property
    def _few(self) -> CountedLaws:
        """Few laws of few points, for estimates."""
        return CountedLaws(
            tuple((few_points(law), count) for law, count in self.parts.representatives.items)
        )
