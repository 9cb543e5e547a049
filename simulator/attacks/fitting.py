"""Short plans from the values of a game.

Plays that end well are drawn by the teacher's own values (Doob's transform): an answer counts in
proportion to the value of what it leads to, so that plays with a probability of 1e-12 are as
frequent as others. In such plays the share of delta that a move loses is, to first order, the sum
of 1 - (value of the move)/(value of the place) over the places that are met. A list of rules
grows by the one that saves most of it.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from simulator.attacks.plans import STOP, Feature, PlanRule, Seen, When, move_of, moves_of
from simulator.attacks.teachers import Place, Teacher

PLAYS = 200
MOST_ROWS = 60_000
_BATCH = 128
_KEPT = 64
"""Most answers of a question whose chances are remembered for each place."""
_STEPS = 20_000
"""About so many rounds of plays for a value, or for the first lessons."""
_CUTS = 200
"""Most thresholds that are tried of one feature."""


@dataclass(frozen=True)
class Lessons:
    """Places that were met, and what each move loses there.

    Attributes
    ----------
    seen : what a plan sees.
    regret : the share of the value that is lost by each option and, in the last column, by
        stopping; shape (n, options + 1).
    """

    seen: Seen
    regret: np.ndarray

    def with_more(self, other: Lessons) -> Lessons:
        """Both."""
        one, two = self.seen, other.seen
        seen = Seen(
            np.concatenate((one.loss, two.loss)),
            np.concatenate((one.played, two.played)),
            np.concatenate((one.counts, two.counts)),
        )
        return Lessons(seen, np.concatenate((self.regret, other.regret)))


class _Following(NamedTuple):
    """What follows a question in plays that end well: cumulated chances, losses, places."""

    edges: Sequence[float] | np.ndarray
    gained: Sequence[float] | np.ndarray
    places: Sequence[Place]


class Pupil:
    """Draws plays from a teacher's values; remembers what it has looked at."""

    def __init__(self, teacher: Teacher, rounds: int, draws: np.random.Generator) -> None:
        self.teacher, self.rounds, self.draws = teacher, rounds, draws
        self.known: dict[Place, tuple[list[float], int]] = {}
        self.steps: dict[tuple[Place, int], _Following | None] = {}

    @property
    def plays(self) -> int:
        """How many plays are drawn at once."""
        return min(max(_STEPS // max(self.rounds, 1), 20), PLAYS)

    def regrets(self, place: Place) -> tuple[list[float], int]:
        """(The regret of each move, the best move) at a place; a refused move is what follows it.

        All zero where nothing can be won.
        """
        if place not in self.known:
            options = len(self.teacher.options)
            worth = np.empty(options + 1)
            worth[-1] = before = self.teacher.stopped(place)
            for option in range(options):
                ahead = self.teacher.ahead(place, option)
                worth[option] = before if ahead is None else ahead.mean
                before = worth[option]  # the next larger option falls back on this one
            best = int(worth.argmax())
            top = float(worth[best])
            regret = 1.0 - worth / top if top > 0.0 else np.zeros(options + 1)
            self.known[place] = regret.tolist(), STOP if best == options else best
        return self.known[place]

    def value(self, rules: tuple[PlanRule, ...]) -> float:
        """About the value of a list of rules: that of the start, times what its plays keep."""
        draws, self.draws = self.draws, np.random.default_rng(7)  # the same plays for all rules
        plays = self.plays
        kept = 0.0
        for _ in range(plays):
            kept += math.prod(1.0 - regret[move] for _, _, regret, move in self._play(rules))
        self.draws = draws
        return self.worth(self.teacher.start) * kept / plays

    def worth(self, place: Place) -> float:
        """The largest value from a place."""
        ahead = [self.teacher.ahead(place, option) for option in range(len(self.teacher.options))]
        return max(self.teacher.stopped(place), *(0.0 if a is None else a.mean for a in ahead))

    def lessons(self, rules: tuple[PlanRule, ...] | None = None) -> Lessons:
        """The places of plays, by the best moves or by those of a list of rules."""
        loss, counts, regrets = [], [], []
        for _ in range(self.plays):
            for each, seen, regret, _ in self._play(rules):
                loss.append(each)
                counts.append(seen)
                regrets.append(regret)
            if len(loss) > MOST_ROWS:
                break
        numbers = np.array(counts, dtype=float)
        return Lessons(Seen(np.array(loss), numbers.sum(axis=1), numbers), np.array(regrets))

    def _play(
        self, rules: tuple[PlanRule, ...] | None
    ) -> Iterator[tuple[float, tuple[int, ...], list[float], int]]:
        """Yield (loss, counts, regrets, move) of each place of one play."""
        place, loss = self.teacher.start, 0.0
        counts = [0] * len(self.teacher.options)
        uniform = iter(self.draws.random(_BATCH).tolist())
        while place is not None:
            regret, move = self.regrets(place)
            limit = len(counts) - 1
            if rules is not None:
                move = min(move_of(rules, loss, counts), limit)
            step = None
            while move >= 0 and (step := self._step(place, move)) is None:
                move = limit = move - 1
            yield loss, tuple(counts), regret, move
            if step is None or not len(step.edges):
                return
            drawn = next(uniform, None)
            if drawn is None:
                uniform = iter(self.draws.random(_BATCH).tolist())
                drawn = next(uniform)
            number = min(bisect_right(step.edges, drawn), len(step.edges) - 1)
            place = step.places[number]
            loss += float(step.gained[number])
            counts[move] += 1

    def _step(self, place: Place, move: int) -> _Following | None:
        """What follows a move, each answer by the value of what it leads to; None if refused."""
        if (place, move) not in self.steps:
            ahead = self.teacher.ahead(place, move)
            found = None
            if ahead is not None:
                edges = np.cumsum(ahead.chance * ahead.value)
                total = float(edges[-1]) if len(edges) else 0.0
                edges = edges / total if total > 0.0 else edges[:0]
                if len(edges) <= _KEPT:
                    found = _Following(edges.tolist(), ahead.gained.tolist(), ahead.places)
                else:
                    found = _Following(edges, ahead.gained, ahead.places)
            if found is not None and len(found.edges) > _KEPT:
                return found  # too large to be remembered for every place
            self.steps[place, move] = found
        return self.steps[place, move]


def constant_rules(pupil: Pupil) -> tuple[PlanRule, ...]:
    """The best single move."""
    options = len(pupil.teacher.options)
    return max(((PlanRule(move),) for move in range(options)), key=pupil.value)


def with_one_more(
    rules: tuple[PlanRule, ...],
    pupil: Pupil,
    met: Lessons,
    features: tuple[Feature, ...],
) -> tuple[float, tuple[PlanRule, ...]]:
    """(Its value, the rules with the one more that helps most); the same rules where none does.

    ``met`` are the places of the best plays. Those of the rules' own plays count too, as moves that
    are equally good one by one need not be so together.
    """
    own = pupil.lessons(rules)
    best = 0.0, rules
    for lessons in (met, own, met.with_more(own)):
        current = moves_of(rules, lessons.seen)
        now = lessons.regret[np.arange(len(current)), current]
        saved, rule = _best_rule(lessons, now, features)
        if saved > 1e-9:
            longer = (rule, *rules)
            best = max(best, (pupil.value(longer), longer), key=itemgetter(0))
    return best


_SIMPLER = 0.9
"""What a further condition of a rule must leave, as a factor of what it saves."""


def _best_rule(
    lessons: Lessons, now: np.ndarray, features: tuple[Feature, ...]
) -> tuple[float, PlanRule]:
    """(What it saves, the rule): an interval of one feature, then of the others, within it."""
    columns = {feature: _Column(lessons.seen.column(feature)) for feature in features}
    best, found = 0.0, PlanRule(STOP)
    for number in range(lessons.regret.shape[1]):
        move = STOP if number == lessons.regret.shape[1] - 1 else number
        gain = now - lessons.regret[:, number]
        if not gain.max() > 0.0:
            continue
        starts: list[dict[Feature, When]] = [{}]
        for one, two in itertools.permutations(features, 2):
            starts.append(_best_cell(one, columns[one], two, columns[two], gain))
        for start, first in itertools.product(starts, features):
            chosen, saved = dict(start), 0.0
            for feature in (first, *(each for each in features if each != first)):
                others = tuple(when for each, when in chosen.items() if each != feature)
                inside = lessons.seen.meeting(others)
                more, when = columns[feature].best_interval(feature, np.where(inside, gain, 0.0))
                without = float(gain[inside].sum())
                if more * _SIMPLER > max(without, 0.0) + 1e-9:
                    chosen[feature], saved = when, more
                elif without > 0.0:
                    chosen.pop(feature, None)
                    saved = without
            score = saved * _SIMPLER ** max(len(chosen) - 1, 0)
            if score > best:
                best, found = score, PlanRule(move, tuple(chosen.values()))
    return best, found


def _best_cell(
    one: Feature, column: _Column, two: Feature, other: _Column, gain: np.ndarray
) -> dict[Feature, When]:
    """One bin of the first feature with the interval of the second that saves most within it."""
    shape = len(column.low), len(other.low)
    sums = np.bincount(column.bin * shape[1] + other.bin, gain, shape[0] * shape[1])
    run = np.cumsum(np.pad(sums.reshape(shape), ((0, 0), (1, 0))), axis=1)
    best = int((run[:, 1:] - np.minimum.accumulate(run[:, :-1], axis=1)).max(axis=1).argmax())
    _, when = other.best_interval(two, np.where(column.bin == best, gain, 0.0))
    return {one: column.when(one, best, best), two: when}


class _Column:
    """The values of a feature, in bins of equal or nearly equal ones."""

    def __init__(self, values: np.ndarray) -> None:
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        changes = np.flatnonzero(np.diff(ordered) > 1e-9) + 1
        if len(changes) > _CUTS:
            changes = np.unique(changes[np.linspace(0, len(changes) - 1, _CUTS).astype(int)])
        starts = np.concatenate(([0], changes))
        self.low = ordered[starts]
        self.whole = bool((np.rint(values) == values).all())
        self.high = ordered[np.concatenate((changes, [len(ordered)])) - 1]
        self.bin = np.empty(len(values), dtype=np.int64)
        self.bin[order] = np.repeat(
            np.arange(len(starts)), np.diff(np.concatenate((starts, [len(ordered)])))
        )

    def best_interval(self, feature: Feature, gain: np.ndarray) -> tuple[float, When]:
        """(The largest sum of gains over an interval, the interval)."""
        sums = np.concatenate(([0.0], np.cumsum(np.bincount(self.bin, gain, len(self.low)))))
        least = np.minimum.accumulate(sums[:-1])
        ends = sums[1:] - least
        end = int(ends.argmax())
        begin = int(np.flatnonzero(sums[: end + 1] == least[end])[-1])
        return float(ends[end]), self.when(feature, begin, end)

    def when(self, feature: Feature, begin: int, end: int) -> When:
        """The condition of the bins from ``begin`` to ``end``."""
        low = -np.inf if begin == 0 else self._between(begin)
        high = np.inf if end == len(self.low) - 1 else self._between(end + 1)
        return When(feature, low, high)

    def _between(self, place: int) -> float:
        """A threshold between two bins."""
        return (
            float(self.low[place])
            if self.whole
            else roundest(self.high[place - 1], self.low[place])
        )


def roundest(low: float, high: float) -> float:
    """The number with the fewest digits well between two numbers."""
    gap = high - low
    for digits in range(12):
        scale = 10.0**digits
        found = np.ceil((low + 0.2 * gap) * scale) / scale
        if found <= high - 0.2 * gap:
            return float(found)
    return 0.5 * (low + high)


def tidied(
    rules: tuple[PlanRule, ...],
    value: Callable[[tuple[PlanRule, ...]], float],
    *,
    least: float,
    in_time: Callable[[], bool] = lambda: True,
) -> tuple[PlanRule, ...]:
    """The rules without what they do not need: each step keeps a value of at least ``least``."""
    number = 0
    while in_time() and number < len(tried := list(_simpler(rules))):
        if value(tried[number]) >= least:
            rules = tried[number]  # those before it were not good enough, and are not tried again
        else:
            number += 1
    return rules


def _simpler(rules: tuple[PlanRule, ...]) -> Iterator[tuple[PlanRule, ...]]:
    """Yield the rules with one of them, one condition or one end of a condition left out."""
    for place in range(len(rules) - 1):
        yield rules[:place] + rules[place + 1 :]
    for place, rule in enumerate(rules):
        for number, when in enumerate(rule.conditions):
            others = rule.conditions[:number], rule.conditions[number + 1 :]
            if len(rule.conditions) > 1:
                yield _with(rules, place, PlanRule(rule.move, others[0] + others[1]))
            ends = []
            if np.isfinite(when.low) and np.isfinite(when.high):
                ends = [
                    When(when.feature, -np.inf, when.high),
                    When(when.feature, when.low, np.inf),
                ]
                if when.feature != "loss" and when.high - when.low > 1.0:
                    ends += [
                        When(when.feature, float(at), float(at) + 1.0)
                        for at in range(int(np.ceil(when.low)), int(np.ceil(when.high)))[:4]
                    ]
            for end in ends:
                yield _with(rules, place, PlanRule(rule.move, (*others[0], end, *others[1])))


def _with(rules: tuple[PlanRule, ...], place: int, rule: PlanRule) -> tuple[PlanRule, ...]:
    return (*rules[:place], rule, *rules[place + 1 :])
