"""Certified calibration: the largest or least parameter that meets a target over all rounds.

Candidates are decimal numbers of few digits. The result is a candidate whose certified upper end
meets the target, with the next candidate whose certified lower end does not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.stages import stage
from simulator.foundations.validation import open_probability, whole
from simulator.theory.bounds.menu_recursion import LEAST_POINTS, WORK, menu_epsilon
from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.parameters import SMALLEST_DELTA, positive
from simulator.theory.pld.distribution import compose_laws

Rounds = Sequence[tuple[PrivacyLossLaw, int]]

_COARSE, _SHOWN, _FINE = 1e-2, 1e-5, (1e-6, 1e-8)
"""Tolerances of the composition, tried in turn until a bracket lies on one side of the target; the
ends that are returned have the second, where no finer one is needed."""

_SHARES = (1 / 16, 1 / 4)
"""Shares of the recursion's work, tried in turn where the direction is chosen in every round."""

_CLEAR = 2.0
"""A bracket farther than this many of its widths from the target needs no finer tolerance."""

_NARROWED = 0.5
"""A finer tolerance narrows a bracket by this at least, or no finer one is tried."""

_DISTANCES = (0, 1, 2, 3, *(2**n for n in range(2, 40)))
"""How far beyond the last candidate one that certainly misses the target is looked for: the ends
may be wider than a candidate's step."""


@dataclass(frozen=True)
class ParameterScale:
    """The candidates for a parameter: decimal numbers of ``digits`` digits, or whole numbers.

    Attributes
    ----------
    name : of the parameter, for messages.
    least, most : the range, both ends included.
    start : where the search begins, in the range.
    grows : whether a larger parameter is safer, as more noise.
    digits : significant digits of a candidate, from 1 to 12; 0 for whole numbers.

    >>> from simulator.theory import ParameterScale
    >>> scale = ParameterScale("sigma", 0.1, 100.0, start=1.0, grows=True, digits=2)
    >>> scale.candidate(scale.index(1.2345)), scale.candidate(scale.index(1.2345) + 1)
    (1.2, 1.3)
    """

    name: str
    least: float
    most: float
    _: KW_ONLY
    start: float
    grows: bool
    digits: int = 5

    def __post_init__(self) -> None:
        if not 0 <= whole("digits", self.digits, 0) <= 12:
            raise InvalidInput(f"digits must be at most 12, not {self.digits}")

    def candidate(self, index: int) -> float:
        """The candidate of an index; increasing in the index."""
        if self.digits == 0:
            return float(index)
        decade, place = divmod(index, 9 * 10 ** (self.digits - 1))
        return float(f"{10 ** (self.digits - 1) + place}e{decade - self.digits + 1}")

    def index(self, value: float) -> int:
        """The index of the greatest candidate that is at most ``value`` > 0."""
        if self.digits == 0:
            return math.floor(value)
        decade, first = math.floor(math.log10(value)), int(10 ** (self.digits - 1))
        place = math.floor(value / 10.0 ** (decade - self.digits + 1)) - first
        found = 9 * first * decade + place
        while self.candidate(found) > value:
            found -= 1
        while self.candidate(found + 1) <= value:
            found += 1
        return found


@dataclass(frozen=True)
class Calibrated:
    """A parameter that meets a target over all rounds, and the next one that does not.

    Attributes
    ----------
    name : of the parameter.
    value : meets the target: ``epsilon.upper`` is at most the target's.
    epsilon : certified ends at the target delta, in the worse direction.
    any_direction : whether the adversary may exchange the databases in every round; otherwise
        they are a fixed pair, in either order.
    beyond, beyond_epsilon : a candidate on the other side whose certified lower end exceeds the
        target, the next one where the ends are narrow, and its ends; None where all of the range
        meets it.

    >>> from simulator.theory import GaussianLaw, ParameterScale, calibrate_certified
    >>> scale = ParameterScale("sigma", 0.1, 100.0, start=4.0, grows=True, digits=2)
    >>> found = calibrate_certified(lambda sigma: [(GaussianLaw(1 / sigma), 10)], 1.0, 1e-6, scale)
    >>> found.value, found.beyond
    (14.0, 13.0)
    """

    name: str
    value: float
    epsilon: Bracket
    beyond: float | None
    beyond_epsilon: Bracket | None
    _: KW_ONLY
    any_direction: bool = False


def calibrate_certified(
    rounds: Callable[[float], Rounds],
    target_epsilon: float,
    target_delta: float,
    scale: ParameterScale,
    *,
    any_direction: bool = False,
) -> Calibrated:
    """The least private parameter on a scale that certainly meets (epsilon, delta) over all rounds.

    ``rounds`` makes the laws of all rounds, from D0 to D1, from a parameter; the target is met in
    both directions. With ``any_direction`` it is met against an adversary who may exchange D0 and
    D1 in every round, where every round has one law. Privacy should not fall towards the safe end
    of the scale. This only guides the search: both candidates of the result are certified in any
    case.

    Raises
    ------
    InvalidInput : a target outside epsilon > 0, 0 < delta < 1.
    NotApplicable : nothing in the range meets it, or the loss cannot be composed numerically; or
        rounds that differ, with ``any_direction``.

    >>> from simulator.theory import LaplaceLaw, ParameterScale, calibrate_certified
    >>> scale = ParameterScale("epsilon", 0.01, 1.0, start=0.1, grows=False, digits=2)
    >>> found = calibrate_certified(lambda epsilon: [(LaplaceLaw(epsilon), 20)], 1.0, 1e-6, scale)
    >>> found.value, found.beyond
    (0.057, 0.058)
    """
    target_epsilon = positive("target epsilon", target_epsilon)
    target_delta = open_probability("target delta", target_delta)
    if target_delta < SMALLEST_DELTA:
        raise InvalidInput(f"target delta must be at least {SMALLEST_DELTA:g}")
    if any_direction and len(rounds(scale.start)) > 1:
        raise NotApplicable("rounds that differ have no known worst order of directions")
    if any_direction and any(law.least_tolerance for law, _ in rounds(scale.start)):
        raise NotApplicable(
            "the worst choice of directions is computed for laws with exact masses only, and this "
            "one is enclosed by two others"
        )
    return _Search(rounds, target_epsilon, target_delta, scale, any_direction=any_direction).found()


@dataclass(frozen=True)
class _Search:
    rounds: Callable[[float], Rounds]
    epsilon: float
    delta: float
    scale: ParameterScale
    _: KW_ONLY
    any_direction: bool = False
    seen: dict[int, Bracket] = field(default_factory=dict)
    idle: set[tuple[bool, float]] = field(default_factory=set)
    composed: dict[tuple[Rounds, float], Bracket] = field(default_factory=dict)
    both_ways: bool = True

    def found(self) -> Calibrated:
        """Find two candidates around the target, narrow them, and certify both.

        Where the first direction is the worse one at the start, it alone guides the search, and the
        result is certified in both.
        """
        with stage("narrowing the candidates"):
            if not self.any_direction and self._first_is_worse():
                guided = replace(self, both_ways=False)
                good, bad = guided._narrowed()
                if self._ends(good).upper <= self.epsilon:
                    return self._answer(good, bad)
            return self._answer(*replace(self, seen={})._narrowed())

    def _first_is_worse(self) -> bool:
        try:
            first, second = self._each_way(self.rounds(self.scale.candidate(self.start)))
        except NotApplicable:
            return False
        return second.upper <= first.lower

    @property
    def start(self) -> int:
        """The first candidate of the search."""
        return self.scale.index(self.scale.start)

    def _narrowed(self) -> tuple[int, int | None]:
        """Neighbouring candidates, of which one meets the target; None where all meet it."""
        good, bad = self._enclosed()
        if bad is None:
            return good, bad
        before = 2 * abs(good - bad) + 2
        for turn in itertools.count():
            apart = abs(good - bad)
            if apart <= 1:
                return good, bad
            slow = turn % 3 == 0 and 2 * apart > before
            before = apart if turn % 3 == 0 else before
            middle = (good + bad) // 2 if slow else self._between(good, bad)
            good, bad = (middle, bad) if self._meets(middle) else (good, middle)
        raise AssertionError

    def _enclosed(self) -> tuple[int, int | None]:
        """A candidate that meets the target and one that does not, or None where all meet it."""
        scale = self.scale
        ends = (scale.index(scale.least), scale.index(scale.most))
        if scale.candidate(ends[0]) < scale.least:
            ends = (ends[0] + 1, ends[1])
        safest, boldest = ends[::-1] if scale.grows else ends
        at, last = self.start, None
        meets = self._meets(at)
        goal, step = boldest if meets else safest, 9 * 10 ** max(scale.digits - 1, 0) // 4 + 1
        while at != goal:
            last, ahead = at, abs(goal - at)
            at += min(step, ahead) * (1 if goal > at else -1)
            if self._meets(at) != meets:
                return (last, at) if meets else (at, last)
            step *= 2
        if meets:
            return at, None
        raise NotApplicable(
            f"no {scale.name} from {scale.least:g} to {scale.most:g} meets the target"
        )

    def _between(self, good: int, bad: int) -> int:
        """The index at which log epsilon is that of the target, on a line in the log of candidates.

        The line is through the two candidates whose upper ends are the nearest to the target.
        """
        aim = math.log(self.epsilon)
        points = sorted(
            (abs(math.log(ends.upper) - aim), math.log(ends.upper), index)
            for index, ends in self.seen.items()
            if 0.0 < ends.upper < math.inf and self.scale.candidate(index) > 0.0
        )[:2]
        if len(points) < 2 or points[0][1] == points[1][1]:
            return (good + bad) // 2
        (_, low, at), (_, high, other) = points
        start, end = (math.log(self.scale.candidate(index)) for index in (at, other))
        place = start + (end - start) * (aim - low) / (high - low)
        first, last = sorted((good, bad))
        low, high = (math.log(self.scale.candidate(index)) for index in (first + 1, last))
        inside = self.scale.index(math.exp(min(max(place, low), high)))
        return min(max(inside, first + 1), last - 1)

    def _answer(self, good: int, bad: int | None) -> Calibrated:
        value = self.scale.candidate(good)
        if bad is None:
            return self._result(good, None, None)
        away = 1 if bad > good else -1
        step = self._ends(bad).lower - self._ends(good).lower
        wanted = (self.epsilon - self._ends(bad).lower) / step if step > 0.0 else 0.0
        for distance in _DISTANCES:
            if distance < wanted / 2.0:
                continue
            beyond = bad + away * distance
            if not self.scale.least <= self.scale.candidate(beyond) <= self.scale.most:
                break
            other = self._ends(beyond)
            if other.lower > self.epsilon:
                return self._result(good, self.scale.candidate(beyond), other)
        raise NotApplicable(
            f"{value!r} of {self.scale.name} meets the target, and no candidate beyond it is "
            "certified to miss it"
        )

    def _result(self, good: int, beyond: float | None, missed: Bracket | None) -> Calibrated:
        value, ends = self.scale.candidate(good), self._ends(good)
        return Calibrated(
            self.scale.name,
            value,
            ends,
            beyond=beyond,
            beyond_epsilon=missed,
            any_direction=self.any_direction,
        )

    def _meets(self, index: int) -> bool:
        """Whether the upper end meets the target; False for a loss that cannot be composed."""
        worst = Bracket(0.0, 0.0)
        try:
            laws = list(self.rounds(self.scale.candidate(index)))
            for found in self._each_way(laws):
                worst = found if found.upper > worst.upper else worst
                if found.upper > self.epsilon:
                    break
        except NotApplicable:
            return False
        self.seen[index] = worst
        return worst.upper <= self.epsilon

    def _ends(self, index: int) -> Bracket:
        """Ends of epsilon in the worse direction, or of the worst choice among both."""
        laws = list(self.rounds(self.scale.candidate(index)))
        return Bracket.largest(self._each_way(laws, final=True))

    def _each_way(self, laws: Rounds, final: bool = False) -> Iterator[Bracket]:
        """Yield the ends whose worst is wanted."""
        if self.any_direction and any(law.reversed() != law for law, _ in laws):
            yield self._any_way(laws, final)
            return
        fine = final and (True, _SHOWN) not in self.idle
        one = self._one_way(laws, True, (_SHOWN, *_FINE) if fine else (_COARSE, _SHOWN, *_FINE))
        yield one
        if final or self.both_ways:
            yield self._one_way(laws, False, (_COARSE, _SHOWN, *_FINE), seen=one.lower)

    def _any_way(self, laws: Rounds, final: bool) -> Bracket:
        """Ends of epsilon where the direction is chosen in every round."""
        ((law, count),) = laws
        for share in _SHARES[-1:] if final else _SHARES:
            work = min(max(share * WORK, LEAST_POINTS * count), WORK)
            found = menu_epsilon((((law, law.reversed()), count),), self.delta, work)
            if max(found.lower - self.epsilon, self.epsilon - found.upper) > _CLEAR * found.width:
                break
        return found

    def _one_way(
        self, laws: Rounds, exchanged: bool, tolerances: Sequence[float], *, seen: float = 0.0
    ) -> Bracket:
        """Ends of epsilon in one direction, narrow enough to show their side and distance.

        They stay wider where a finer tolerance does not narrow them, which ``idle`` remembers for
        other candidates, or where they are below a lower end ``seen`` in the other direction: then
        ``seen`` is the upper end where that is found sooner.
        """
        found = Bracket(0.0, math.inf)
        if exchanged:
            laws = [(law.reversed(), count) for law, count in laws]
        if seen > 0.0 and compose_laws(laws, _COARSE).is_enough(seen, self.delta):
            return Bracket(0.0, seen)
        for tolerance in tolerances:
            if (exchanged, tolerance) in self.idle:
                continue
            before = found.width
            key = (tuple(laws), tolerance)
            if key not in self.composed:
                self.composed[key] = compose_laws(laws, tolerance).epsilon(self.delta)
            found = found.meet(self.composed[key])
            away = max(found.lower - self.epsilon, self.epsilon - found.upper)
            if away > _CLEAR * found.width or (away >= 0.0 and tolerance <= _FINE[0]):
                break
            if found.upper <= seen:
                break
            if found.width > _NARROWED * before:
                # a coarse one may narrow nothing where a fine one does
                finer = tolerances if tolerance <= _FINE[0] else (tolerance,)
                self.idle.update((exchanged, each) for each in finer if each <= tolerance)
                if tolerance <= _FINE[0]:
                    break
        return found
