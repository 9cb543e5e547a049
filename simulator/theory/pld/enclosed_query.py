"""delta(epsilon) and epsilon(delta) where a law is known by two others only, which enclose it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from simulator.theory.bracket import Bracket
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.lines_query import LinesQuery
from simulator.theory.pld.tail import OneRound
from simulator.theory.pld.tail_inverse import lower_end, upper_end

_FIRST = 23.0
"""The step of the first try, over the least."""
_ATTEMPTS = 5
_SMALL_TAIL = 1e-8
"""Share of delta that the gathered tails may have."""
_CLOSER = 0.25
"""Share of the tolerance for the composition of either end."""


@dataclass(frozen=True)
class EnclosedQuery:
    """A composition by its ends, nearer until a bracket is narrow enough.

    The distance of the ends is of second order in their step.
    """

    parts: CountedLaws
    tolerance: float

    def delta(self, epsilon: float) -> Bracket:
        """Bracket of delta at an epsilon >= 0 below the largest finite loss."""

        def of(lower: CountedLaws, upper: CountedLaws) -> Bracket:
            below, above = (self._delta(each, epsilon) for each in (lower, upper))
            return Bracket(min(below.lower, above.upper), above.upper)

        found = self._narrowed(of, 1.0)
        if 0.0 < found.upper < 1.0:
            found = found.meet(self._narrowed(of, found.upper))
        return found

    def epsilon(self, delta: float) -> Bracket:
        """Bracket of the least epsilon >= 0 at a ``delta`` of at least the infinite mass."""

        def of(lower: CountedLaws, upper: CountedLaws) -> Bracket:
            above = math.inf
            if delta >= upper.infinite_mass * (1 - 1e-13):
                above = self._epsilon(upper, delta, True)
            below = self._epsilon(lower, delta, False)
            return Bracket(min(below, above), above)

        return self._narrowed(of, delta)

    def _delta(self, end: CountedLaws, epsilon: float) -> Bracket:
        if end.rounds == 1:
            ((law, _),) = end.items
            return OneRound(law, slack=law.shift_error).at(epsilon)
        return LinesQuery(end, _CLOSER * self.tolerance).delta(epsilon)

    def _epsilon(self, end: CountedLaws, delta: float, upper: bool) -> float:
        """One end of the epsilon of one end."""
        if end.rounds > 1:
            found = LinesQuery(end, _CLOSER * self.tolerance).epsilon(delta)
            return found.upper if upper else found.lower
        ((law, _),) = end.items
        tail, top = OneRound(law, slack=law.shift_error), self.parts.support[1]
        start = 5 * _FIRST * self._laws[0].least_step
        reach = min(top, law.support[1] + 1.0)
        if not upper:
            return lower_end(tail, delta, 2 * start, 0.0, reach)
        above = upper_end(tail, delta, start, 0.0, reach)
        return above if tail.at(above).upper <= delta else math.inf

    @property
    def _laws(self) -> list:  # type: ignore[type-arg]
        return [law for law, _ in self.parts.items if law.least_tolerance]

    def _narrowed(self, of: Callable[[CountedLaws, CountedLaws], Bracket], delta: float) -> Bracket:
        """Intersection of the brackets at finer steps."""
        tail_mass = 10.0 ** (8 * math.floor(math.log10(max(_SMALL_TAIL * delta, 1e-280)) / 8))
        times, found = _FIRST, Bracket(0.0, math.inf)
        for _ in range(_ATTEMPTS):
            now, before = of(*self._ends(times, tail_mass)), found.width
            found = found.meet(now)
            narrow = found.width <= self.tolerance * found.upper < math.inf
            if narrow or times <= 1.0 or found.width > 0.9 * before:
                break
            share = (
                math.sqrt(self.tolerance * found.upper / found.width)
                if found.upper < math.inf
                else 0.25
            )
            times *= min(max(0.8 * share, 1 / 8), 0.5)
        return found

    def _ends(self, times: float, tail_mass: float) -> tuple[CountedLaws, CountedLaws]:
        """The composition of the lower ends, and that of the upper ones."""
        pairs = []
        for law, count in self.parts.items:
            ends = law.enclosed(times * law.least_step, tail_mass) if law.least_tolerance else None
            pairs.append((*(ends or (law, law)), count))
        low = CountedLaws(tuple((below, count) for below, _, count in pairs))
        return low, CountedLaws(tuple((above, count) for _, above, count in pairs))
