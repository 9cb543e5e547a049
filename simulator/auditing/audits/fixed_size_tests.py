"""Tests at the end: of events chosen in advance, on a number of draws fixed in advance.

Evidence that is valid after every batch costs about one standard error of power. A part of the
error level is for two tests at the end only, which do not have this cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from simulator.analysis.estimation.intervals import proportion_lower, proportion_upper
from simulator.analysis.estimation.paired_ratio import log_ratio_lower
from simulator.auditing.evidence.events import Batch, Candidates, Event
from simulator.foundations.seeds import Stream, generator

LEAST_HITS = 10.0
"""The least expected number of hits of a tested event."""
NEARLY_ALWAYS = 0.8
"""The probability of an event above which pairs are not compared."""
PLAYS = 200
"""The number of simulated tests for the power."""
NINE_OF_TEN = 0.93
"""The least share of rejections in them: 0.9 with three standard errors of so few plays."""
DISTRUST = (2.0, 4.0)
"""Standard errors that are subtracted for the choice of the event of the first and second test."""


def promising(
    candidates: Candidates, delta: float, draws: int, error: float, distrust: float
) -> tuple[int, int, float]:
    """The event with the largest expected bound on epsilon.

    Each estimate is lowered by ``distrust`` standard errors, and more for a learned score, because
    the largest of many estimates is biased.

    Returns
    -------
    Its number, the input that it favours, and the bound on epsilon at ``delta`` that ``draws`` more
    pairs of draws will give; -inf without an event.
    """
    best = (-1, 0, -math.inf)
    if not len(candidates.score) or draws < 1:
        return best
    z = -float(scipy.special.ndtri(min(error, 0.5)))
    n = candidates.draws
    q = (candidates.hits + 0.5) / (n + 1.0)[:, None]
    for favours in (0, 1):
        first, second = q[:, favours], q[:, 1 - favours]
        above = first - delta
        usable = (above > 0.0) & (first * draws >= LEAST_HITS)
        with np.errstate(divide="ignore", invalid="ignore"):
            shape = first * (1.0 - first) / above**2 + (1.0 - second) / second
            value = np.log(above / second) - z * np.sqrt(shape / draws)
            value -= (distrust + candidates.cost / 6.0) * np.sqrt(shape / n)
        value = np.where(usable, value, -np.inf)
        place = int(np.argmax(value))
        if value[place] > best[2]:
            best = (place, favours, float(value[place]))
    return best


@dataclass(kw_only=True)
class FinalTest:
    """The test of an event, with its counts since it was chosen.

    Attributes
    ----------
    candidates, which, favours : the event, and the input that it favours.
    delta : at which epsilon is bounded.
    error : the probability that the bound fails, at most.
    planned : pairs of draws to count, fixed with the event.
    paired : see :func:`bound_of`.
    """

    candidates: Candidates
    which: int
    favours: int
    delta: float
    error: float
    planned: int
    paired: bool
    pairs: int = 0
    hits: list[int] = field(default_factory=lambda: [0, 0])
    only: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, batch: Batch) -> None:
        """Count new pairs of draws."""
        score = int(self.candidates.score[self.which])
        inside = batch.inside(self.candidates, score, self.event())
        for b in (0, 1):
            self.hits[b] += int(np.count_nonzero(inside[b]))
            self.only[b] += int(np.count_nonzero(inside[b] & ~inside[1 - b]))
        self.pairs += len(batch)

    def bound(self) -> float:
        """A lower bound on epsilon at delta; 0 until all planned pairs are counted."""
        if self.pairs != self.planned or not self.pairs:
            return 0.0
        a, b = self.favours, 1 - self.favours
        return bound_of(
            (self.hits[a], self.hits[b]),
            (self.only[a], self.only[b]),
            self.pairs,
            delta=self.delta,
            error=self.error,
            paired=self.paired,
        )

    def event(self) -> Event:
        """The event with the counts of the test."""
        event = self.candidates.event(self.which, self.favours)
        return replace(event, hits_0=self.hits[0], hits_1=self.hits[1], draws=self.pairs)


def bound_of(
    hits: tuple[int, int],
    only: tuple[int, int],
    pairs: int,
    *,
    delta: float,
    error: float,
    paired: bool,
) -> float:
    """The lower bound on epsilon at delta from the counts of an event.

    Parameters
    ----------
    hits : on the input that the event favours, and on the other.
    only : the pairs of draws in which the first, or the second, alone hits.
    pairs : the number of pairs.
    error : the probability that the bound fails, at most.
    paired : whether to compare pairs of draws, which is sharper unless the event is nearly certain;
        it must not depend on the counts. Only for delta = 0.
    """
    if paired and delta == 0.0:
        return log_ratio_lower(only[0], only[1], hits[0], pairs, 1.0 - error)
    above = proportion_lower(hits[0], pairs, error / 2.0) - delta
    below = proportion_upper(hits[1], pairs, error / 2.0)
    return max(0.0, math.log(above / below)) if above > 0.0 else 0.0


@dataclass(frozen=True, kw_only=True)
class Power:
    """The power of an audit's budget; computed when it is read, because it is slow.

    Attributes
    ----------
    second : probability of the event on the input that it does not favour.
    epsilon, delta : the claim.
    draws : pairs that the test at the end counts.
    error : its probability of a false alarm.
    level : ln of the evidence that the bets need.
    """

    second: float
    epsilon: float
    delta: float
    draws: int
    error: float
    level: float

    @cached_property
    def detectable(self) -> float:
        """The least epsilon at delta that the test rejects with probability 0.9."""
        return detectable(self.second, self.epsilon, self.delta, draws=self.draws, error=self.error)

    @cached_property
    def detectable_delta(self) -> float:
        """The least delta at epsilon that the bets reject with probability 0.9."""
        return detectable_delta(
            self.second, self.epsilon, self.delta, draws=self.draws, level=self.level
        )


def detectable(second: float, epsilon: float, delta: float, *, draws: int, error: float) -> float:
    """The least epsilon at delta that the test rejects with probability 0.9.

    It is found by simulating the counts of the test, 200 times for each epsilon; infinite if the
    event is too rare.

    Parameters
    ----------
    second : probability of the event on the input that it does not favour.
    epsilon, delta : the claim.
    draws : pairs that the test counts.
    error : its probability of a false alarm.
    """
    highest = math.log((1.0 - delta) / second)
    if draws < 1 or not epsilon < highest:
        return math.inf

    def shown(true: float) -> bool:
        rng = generator(0, 0, Stream.PILOT, draws % (1 << 31))
        first = min(math.exp(true) * second + delta, 1.0)
        both = first * second
        cells = [both, first - both, second - both, max(1.0 - first - second + both, 0.0)]
        counts = rng.multinomial(draws, np.array(cells) / sum(cells), size=PLAYS)
        how: Any = {"delta": delta, "error": error, "paired": first < NEARLY_ALWAYS}
        seen = sum(
            bound_of((c[0] + c[1], c[0] + c[2]), (c[1], c[2]), draws, **how) > epsilon
            for c in counts.tolist()
        )
        return seen >= NINE_OF_TEN * PLAYS

    if not shown(highest):
        return math.inf
    low, high = epsilon, highest
    for _ in range(14):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def detectable_delta(
    second: float, epsilon: float, delta: float, *, draws: int, level: float
) -> float:
    """The least delta at epsilon that the bets reject with probability 0.9.

    Parameters are those of :func:`detectable`, but for ``level``, the ln of the evidence needed.
    """
    c = math.exp(min(epsilon, 500.0))
    first = min(c * second + delta, 1.0)
    error = math.sqrt((first * (1.0 - first) + c * c * second * (1.0 - second)) / draws)
    return min(1.0, delta + (math.sqrt(2.0 * level) - float(scipy.special.ndtri(0.1))) * error)
