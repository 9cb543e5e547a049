"""Strata of the plays of an automaton, by how rare the branches are that a play takes.

One exponential tilt of a loss that is large on a rare branch draws that branch nearly always,
and says little of the others. Strata have a tilt each, and refining them never raises the sum of
their bounds: the least of a sum over theta is at least the sum of the least.

The *rarity* of a play is counted in decades. A node's significance is the probability, before
the same round, of all nodes that are at most as probable. A play is as rare as the rarest node on
its way. A step that falls by JUMP decades or more at once adds them, so that gates that open again
and again are counted, and so does a loss that is as far in the upper tail of its node's losses.
Any whole numbers would be valid here: they decide the width alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from simulator.engine.enumerated.automaton import Automaton, Leaves
from simulator.engine.enumerated.moments import Moments, runs_of
from simulator.foundations.errors import NotApplicable

RAREST = 16
"""Plays at least so many decades rare are one stratum."""
OFFSET = 0.37
"""Added to decades before rounding down, so that powers of ten, which are common, are not edges."""
LOOKED_AT = 64
"""Rounds of a long run of equal rounds in which significance is computed."""
JUMP = 3
"""Decades of one step that are added; those of smaller steps add up in ordinary play."""
LIFT = 1.0
"""By how much a rare loss exceeds its node's mean loss, at least."""
MOST_LEAVES = 400_000
"""Most leaves of the automaton of a stratum."""


@dataclass(frozen=True)
class RarerLeaves:
    """Rounds of one kind: their leaves, the decades that each adds, and the least afterwards."""

    leaves: Leaves
    rarer: np.ndarray
    least: np.ndarray

    def rarity(self, before: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        """The rarity after each leaf, from that before it."""
        return np.maximum(before + self.rarer[leaf], self.least[leaf])


class Strata:
    """The rarities of the plays of an automaton, and the automaton of every stratum.

    Attributes
    ----------
    law : float64, shape (RAREST + 1,): the probability of each rarity, with finite losses; 1 at 0
        where no play is rare.
    """

    def __init__(self, moments: Moments) -> None:
        self.automaton = a = moments.automaton
        logs, _ = moments.log_masses(0.0)
        self._masses = [np.exp(part) for part in logs]
        runs = runs_of(a.segment_of)
        nodes = self._node_decades(moments, runs)
        self._begin = nodes[0][a.start[0]]
        self._steps: list[RarerLeaves] = []
        self._step_of: list[tuple[int, int]] = []  # for each run its inner and its last step
        for number, (segment, rounds) in enumerate(runs):
            leaves, of_leaf = a.segments[segment], moments.of_leaf[segment]
            tails = self._loss_decades(segment, of_leaf)
            ahead = nodes[number + 1] if number + 1 < len(runs) else None
            self._step_of.append((len(self._steps), len(self._steps) + 1))
            # a single round leads to the nodes of the next run alone
            for after in (nodes[number] if rounds > 1 else ahead, ahead):
                least = np.zeros(len(leaves), np.int64) if after is None else after[leaves.follow]
                rise = np.maximum(tails, least - nodes[number][of_leaf])
                rise[rise < JUMP] = 0
                self._steps.append(RarerLeaves(leaves, rise, least))
        self._runs = runs
        self._known: dict[tuple[int, int | None], Moments | None] = {}
        self.law = self._law()

    def _node_decades(self, moments: Moments, runs: list[tuple[int, int]]) -> list[np.ndarray]:
        """The decades of each node in the rounds of each run, at its most usual round."""
        a = self.automaton
        reached: np.ndarray = np.zeros(a.segments[runs[0][0]].nodes)
        np.add.at(reached, *a.start)
        found = []
        for number, (segment, rounds) in enumerate(runs):
            leaves, of_leaf = a.segments[segment], moments.of_leaf[segment]
            largest = np.zeros(leaves.nodes)
            every = -(-rounds // LOOKED_AT)
            for i in range(rounds):
                if i % every == 0 or i == rounds - 1:
                    np.maximum(largest, significance(reached), out=largest)
                if i < rounds - 1:
                    size = leaves.nodes
                elif number + 1 < len(runs):
                    size = a.segments[runs[number + 1][0]].nodes
                else:
                    break
                flow = reached[of_leaf] * self._masses[segment]
                reached = np.bincount(leaves.follow, flow, minlength=size)
            found.append(decades(largest))
        return found

    def _loss_decades(self, segment: int, of_leaf: np.ndarray) -> np.ndarray:
        """The decades of each leaf's loss in the upper tail of its node's losses."""
        leaves, mass = self.automaton.segments[segment], self._masses[segment]
        loss = np.where(np.isfinite(leaves.loss), leaves.loss, 0.0)
        order = np.lexsort((-loss, of_leaf))
        running = np.cumsum(mass[order])
        first = np.concatenate(([0.0], running))[leaves.starts[:-1]]
        tail = np.empty(len(leaves))
        tail[order] = running - first[of_leaf[order]]
        total = np.bincount(of_leaf, mass, minlength=leaves.nodes)
        mean = np.bincount(of_leaf, mass * loss, minlength=leaves.nodes)
        with np.errstate(invalid="ignore", divide="ignore"):
            share, centre = tail / total[of_leaf], (mean / total)[of_leaf]
        far = np.isfinite(leaves.loss) & (loss > centre + LIFT)
        return np.where(far, decades(np.where(far, share, 1.0)), 0)

    def _law(self) -> np.ndarray:
        """The probability of each rarity, by a forward recursion."""
        width = RAREST + 1
        a = self.automaton
        reached: np.ndarray = np.zeros(a.segments[self._runs[0][0]].nodes * width)
        label = np.minimum(self._begin, RAREST)
        if not label.any() and not any(x.rarer.any() or x.least.any() for x in self._steps):
            return np.eye(1, width)[0]
        np.add.at(reached, a.start[0] * width + label, a.start[1])
        for number, (segment, rounds) in enumerate(self._runs):
            for i in range(rounds):
                step = self._steps[self._step_of[number][i == rounds - 1]]
                live = np.flatnonzero(reached)
                source, leaf = _leaves_from(step.leaves, live // width)
                after = np.minimum(step.rarity(live[source] % width, leaf), RAREST)
                flow = reached[live[source]] * self._masses[segment][leaf]
                last = number + 1 == len(self._runs) and i == rounds - 1
                if last:
                    return np.bincount(after, flow, minlength=width)
                size = step.leaves.nodes
                if i == rounds - 1:
                    size = a.segments[self._runs[number + 1][0]].nodes
                place = step.leaves.follow[leaf] * width + after
                reached = np.bincount(place, flow, minlength=size * width)
        raise AssertionError("a play has at least one round")

    def of(self, least: int, below: int | None) -> Moments | None:
        """The moments over the plays of rarity ``least`` to ``below`` - 1; None without a play.

        Raises NotApplicable where its automaton has more than MOST_LEAVES leaves.
        """
        key = least, below
        if key not in self._known:
            automaton = self._product(least, below)
            self._known[key] = None if automaton is None else Moments(automaton)
        return self._known[key]

    def _product(self, least: int, below: int | None) -> Automaton | None:
        """The automaton whose nodes also have the rarity so far, and end in the stratum only."""
        a = self.automaton
        kept = RarityRange(least + 1, True) if below is None else RarityRange(below, False)
        width = kept.width
        label = np.minimum(self._begin, least) if kept.open_ else self._begin
        fits = label < width
        start, chances = (a.start[0] * width + label)[fits], a.start[1][fits]
        here = self._all_in_run(0, np.unique(start), kept)
        begin = np.searchsorted(here, start)
        segments: list[Leaves] = []
        segment_of: list[int] = []
        leaves_made = 0
        for number, (_, rounds) in enumerate(self._runs):
            inner, last = (self._steps[place] for place in self._step_of[number])
            ends = number + 1 == len(self._runs)
            if rounds > 1:
                segments.append(_multiplied(inner, here, here, kept))
                segment_of += [len(segments) - 1] * (rounds - 1)
            ahead = np.zeros(1, dtype=np.int64)
            if not ends:
                ahead = self._all_in_run(number + 1, _followed(last, here, kept), kept)
            segments.append(_multiplied(last, here, ahead, kept, floor=least if ends else None))
            segment_of.append(len(segments) - 1)
            here = ahead
            leaves_made += sum(map(len, segments[-2:]))
            if leaves_made > MOST_LEAVES:
                raise NotApplicable(f"a stratum has more than {MOST_LEAVES} transitions")
            if not here.size or not len(segments[-1]):
                return None
        return replace(
            a, start=(begin, chances), segment_of=np.array(segment_of), segments=tuple(segments)
        )

    def _all_in_run(self, number: int, pairs: np.ndarray, kept: RarityRange) -> np.ndarray:
        """The pairs of a run that begins with these, in ascending order."""
        inner, rounds = self._steps[self._step_of[number][0]], self._runs[number][1]
        return _closure(inner, pairs, kept, rounds - 1) if rounds > 1 else pairs


class RarityRange(NamedTuple):
    """Rarities below ``width``; ``open_`` if the last stands for all larger ones too."""

    width: int
    open_: bool


def significance(masses: np.ndarray) -> np.ndarray:
    """For each mass the sum of those that are at most as large; 0 for a mass of 0."""
    ordered = np.sort(masses)
    found = np.cumsum(ordered)[np.searchsorted(ordered, masses, side="right") - 1]
    return np.where(masses > 0.0, found, 0.0)


def decades(significances: np.ndarray) -> np.ndarray:
    """Whole decades, at least 0, of numbers in [0, 1]; RAREST for 0."""
    with np.errstate(divide="ignore"):
        found = np.floor(OFFSET - np.log10(significances))
    return np.clip(found, 0, RAREST).astype(np.int64)


def _leaves_from(leaves: Leaves, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The leaves of each of the nodes: the place of the node in ``nodes``, and the leaf."""
    counts = leaves.starts[nodes + 1] - leaves.starts[nodes]
    source = np.repeat(np.arange(len(nodes)), counts)
    before = np.cumsum(counts) - counts
    return source, np.arange(len(source)) - np.repeat(before - leaves.starts[nodes], counts)


def _places(step: RarerLeaves, pairs: np.ndarray, kept: RarityRange) -> tuple[np.ndarray, ...]:
    """(Source, leaf, rarity afterwards) of all leaves from pairs of node and rarity."""
    source, leaf = _leaves_from(step.leaves, pairs // kept.width)
    after = step.rarity(pairs[source] % kept.width, leaf)
    if kept.open_:
        after = np.minimum(after, kept.width - 1)
    fits = after < kept.width
    return source[fits], leaf[fits], after[fits]


def _followed(step: RarerLeaves, pairs: np.ndarray, kept: RarityRange) -> np.ndarray:
    """The pairs that follow, in ascending order."""
    _, leaf, after = _places(step, pairs, kept)
    return np.unique(step.leaves.follow[leaf] * kept.width + after)


def _closure(step: RarerLeaves, pairs: np.ndarray, kept: RarityRange, rounds: int) -> np.ndarray:
    """The pairs that are reached within ``rounds`` equal rounds, in ascending order."""
    found = fresh = pairs
    for _ in range(rounds):
        fresh = np.setdiff1d(_followed(step, fresh, kept), found)
        if not fresh.size:
            break
        found = np.union1d(found, fresh)
    return found


def _multiplied(
    step: RarerLeaves,
    pairs: np.ndarray,
    ahead: np.ndarray,
    kept: RarityRange,
    floor: int | None = None,
) -> Leaves:
    """The leaves between pairs; with a ``floor`` those that end a play, of at least that rarity."""
    source, leaf, after = _places(step, pairs, kept)
    if floor is not None:
        fits, follow = after >= floor, np.zeros(len(leaf), dtype=np.int64)
    else:
        wanted = step.leaves.follow[leaf] * kept.width + after
        follow = np.minimum(np.searchsorted(ahead, wanted), len(ahead) - 1)
        fits = ahead[follow] == wanted  # the others leave a run of rounds that is over by then
    source, leaf, follow = source[fits], leaf[fits], follow[fits]
    old = step.leaves
    starts = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=len(pairs)))))
    return Leaves(
        starts=starts.astype(np.int64), follow=follow.astype(np.int64), entry=old.entry[leaf],
        loss=old.loss[leaf], mass=old.mass[leaf], low=old.low[leaf], high=old.high[leaf],
    )  # fmt: skip


def thresholds(law: np.ndarray, most: int) -> list[int]:
    """The least rarities of at most ``most`` >= 2 strata, the first 0; each has plays.

    All plays that are not JUMP decades rarer than the usual ones are in the first.
    """
    present = np.flatnonzero(law > 0.0)
    usual = int(np.searchsorted(np.cumsum(law), 0.5 * law.sum()))
    present = np.unique(np.where(present < usual + JUMP, 0, present))
    for unit in range(1, RAREST + 1):
        found = sorted({int(rarity) // unit for rarity in present})
        if len(found) <= most:
            break
    firsts = [int(present[present // unit == group].min()) for group in found]
    return [0, *firsts[1:]]
