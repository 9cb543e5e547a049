"""The policy that a search has found: a table that compiles, plays, and can be read.

It remembers a node of the game and the grid point nearest to its loss, and asks what the table
says. Where the table says nothing the game is over for it, and it asks both databases to be equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge, Rule
from simulator.adversaries.people import ALICE, EVERYONE
from simulator.data.databases import Relation
from simulator.errors import NotApplicable
from simulator.mechanisms import RandomizedResponse, ScalarMechanism
from simulator.mechanisms.base import ScalarPair
from simulator.theory.guarantees import ApproxDP, Guarantee
from simulator.worst.arena import CLOSED
from simulator.worst.grid import Grid, NearestLayout, nearest_place

IDLE = Challenge(EVERYONE, EVERYONE, RandomizedResponse(ALICE, 1e-3))
"""What is asked when the game is over: two equal databases, whose answers tell nothing."""


@dataclass(frozen=True)
class Reader:
    """How one option's answers move the policy on its grid.

    Attributes
    ----------
    shifts : steps for the answers 0, 1, ...; empty for a mechanism with infinitely many.
    low, high : between these answers the loss is a line, beyond them it is flat.
    at_low, slope : that line, in steps.
    """

    shifts: tuple[int, ...]
    low: float = 0.0
    high: float = 0.0
    at_low: float = 0.0
    slope: float = 0.0


FAR = 1 << 40
"""Steps of an infinite loss."""


def reader(challenge: Challenge, relation: Relation, step: float, sign: float) -> Reader:
    """Read the losses of a challenge's answers; ``sign`` is -1 in experiment 1.

    Raises NotApplicable for a mechanism whose loss is neither a table nor a clipped line.
    """
    mechanism = challenge.mechanism
    assert isinstance(mechanism, ScalarMechanism)
    pair = mechanism.pair(challenge.database_0, challenge.database_1, relation)
    assert isinstance(pair, ScalarPair)

    def place(loss: float) -> int:
        signed = sign * loss
        return (
            nearest_place(signed, step)
            if math.isfinite(signed)
            else int(math.copysign(FAR, signed))
        )

    if mechanism.scalars.outcomes is not None:
        return Reader(tuple(place(pair.loss(a)) for a in mechanism.scalars.outcomes(pair.params)))
    ends = (float(mechanism.query(d)) for d in (challenge.database_0, challenge.database_1))
    low, high = sorted(ends)
    if low == high:
        return Reader((), low, high, 0.0, 0.0)
    at_low, at_high = sign * pair.loss(low), sign * pair.loss(high)
    slope = (at_high - at_low) / (high - low)
    flat = sign * pair.loss(low - (high - low)) == at_low
    middle = sign * pair.loss(0.5 * (low + high)) if not mechanism.scalars.whole else None
    if middle is not None and abs(middle - 0.5 * (at_low + at_high)) > 1e-9 * abs(at_high):
        raise NotApplicable(f"the loss of {mechanism!r} is not a line, so no policy can read it")
    if flat:
        return Reader((), low, high, at_low / step, slope / step)
    far = 1e6 * (high - low)
    return Reader((), low - far, high + far, (at_low - slope * far) / step, slope / step)


@dataclass(frozen=True, eq=False)
class Policy:
    """A policy over a menu.

    Attributes
    ----------
    menu : the challenges that it may ask, and their ``labels``.
    relation, experiment : what it was searched for.
    grid : of the losses past ``epsilon``.
    follow : int32, shape (nodes, options): the node after an option.
    table : int16, shape (nodes, points): the option to ask, CLOSED where the game is over.
    states : what the nodes stand for, where they have a name.
    layouts : the options' laws on the grid.
    thresholds : float64, shape (nodes,): what the loss past epsilon is held against where the game
        ends in a node; zero but for odometers, whose readings these are.
    """

    menu: tuple[Challenge, ...]
    labels: tuple[str, ...]
    relation: Relation
    experiment: int
    epsilon: float
    grid: Grid
    follow: np.ndarray
    table: np.ndarray
    states: tuple[Any, ...]
    layouts: tuple[NearestLayout, ...]
    thresholds: np.ndarray

    @property
    def start(self) -> tuple[int, int]:
        """The node and the grid point before the first round."""
        z = (-self.epsilon - self.grid.offset) / self.grid.step - self.grid.first
        return len(self.follow) - 1, round(z)

    @cached_property
    def family(self) -> Guarantee:
        """A family that holds every mechanism of the menu."""
        promises = [c.mechanism.guarantee(self.relation) for c in (*self.menu, IDLE)]
        bounded = [p.core.pure_epsilon for p in promises if math.isfinite(p.core.pure_epsilon)]
        epsilon = max(bounded)
        delta = max(p.hockey_stick(epsilon) for p in promises)
        return (
            ApproxDP(epsilon, min(delta * (1.0 + 1e-9), 0.5)) if delta else ApproxDP(epsilon, 0.0)
        )

    @cached_property
    def rounds(self) -> int:
        """The largest number of rounds that it plays."""
        depth = np.zeros(len(self.follow), dtype=np.int64)
        for node, row in enumerate(self.follow):
            used = np.unique(self.table[node])
            after = row[used[used >= 0]]
            depth[node] = depth[after].max() + 1 if after.size else 0
        return max(int(depth[-1]), 1)

    @cached_property
    def adversary(self) -> Rule:
        """The rule, which compiles and plays like any other."""
        sign = -1.0 if self.experiment else 1.0
        readers = [reader(c, self.relation, self.grid.step, sign) for c in self.menu]
        return Rule(
            step_of(self, readers), (*self.menu, IDLE), (*self.start, -1), name="worst-case"
        )

    def forward(self) -> tuple[np.ndarray, np.ndarray]:
        """Play it through by probability: (reached, ended).

        ``reached``, shape (2, nodes, points), holds the probability in either experiment of being
        there (experiment 0 is the one searched); ``ended``, shape (2, 2), that of losing and of
        winning in the end, in experiment 1 times e^threshold.
        """
        nodes, points = self.table.shape
        reached = np.zeros((2, nodes, points))
        ended = np.zeros((2, 2))
        reached[:, self.start[0], self.start[1]] = 1.0
        z = self.grid.z
        masses = [
            (lay.law.weights, lay.tilted * np.exp(-_shifts(lay) * self.grid.step))
            for lay in self.layouts
        ]
        for node in range(nodes - 1, -1, -1):
            here = reached[:, node]
            places = np.flatnonzero(here.any(axis=0))
            scale = math.exp(self.thresholds[node])
            for place in places.tolist():
                option = int(self.table[node, place])
                if option == CLOSED:
                    wins = int(z[place] > self.thresholds[node])
                    ended[:, wins] += here[:, place] * (1.0, scale)
                    continue
                layout = self.layouts[option]
                after = int(self.follow[node, option])
                first = place + layout.law.first
                for b in range(2):
                    flow = here[b, place] * np.asarray(masses[option][b], dtype=float)
                    low, high = max(first, 0), min(first + len(flow), points)
                    inside = slice(low - first, max(high - first, low - first))
                    reached[b, after, low : max(high, low)] += flow[inside]
                    ended[b, 0] += flow[: max(low - first, 0)].sum()
                    ended[b, 1] += flow[max(high - first, 0) :].sum()
                ended[0, 1] += here[0, place] * layout.law.infinite
                ended[1, 0] += here[1, place] * max(0.0, 1.0 - float(masses[option][1].sum()))
        return reached, ended

    @property
    def value(self) -> float:
        """Its delta(epsilon), by :meth:`forward`: a witness of the search."""
        ended = self.forward()[1]
        return float(ended[0, 1] - math.exp(self.epsilon) * ended[1, 1])


def _shifts(layout: NearestLayout) -> np.ndarray:
    return layout.law.first + np.arange(len(layout.law.weights))


def step_of(policy: Policy, readers: list[Reader]) -> Callable[..., Any]:
    """Write the policy as a rule's step, over arrays that numba takes as constants."""
    table, follow = policy.table, policy.follow.astype(np.int64)
    points, idle = table.shape[1], len(policy.menu)
    changes = np.diff(table, axis=1, prepend=np.int16(-2)) != 0
    changes[:, 0] = True
    node_of, places = np.nonzero(changes)
    moves = table[node_of, places].astype(np.int64)
    places = places.astype(np.int64)
    begins = np.searchsorted(node_of, np.arange(len(table) + 1)).astype(np.int64)
    width = max([len(r.shifts) for r in readers] + [1])
    shifts = np.zeros((len(readers), width), dtype=np.int64)
    for row, r in zip(shifts, readers):
        row[: len(r.shifts)] = r.shifts
    listed = np.array([bool(r.shifts) for r in readers])
    lines = np.array([(r.low, r.high, r.at_low, r.slope) for r in readers])

    def worst_case(state, i, answer, coins):  # type: ignore[no-untyped-def]
        node, place, last = state
        if last >= 0:
            if listed[last]:
                place += shifts[last, int(answer)]
            else:
                inside = min(max(answer, lines[last, 0]), lines[last, 1])
                steps = lines[last, 2] + (inside - lines[last, 0]) * lines[last, 3]
                place += math.floor(steps + 0.5)
            node = follow[node, last]
            last = -1
        if 0 <= place < points:
            low, high = begins[node], begins[node + 1]
            while high - low > 1:
                middle = (low + high) // 2
                if places[middle] <= place:
                    low = middle
                else:
                    high = middle
            last = moves[low]
            if last >= 0:
                return (node, place, last), last
        return (node, points if place > 0 else -1, -1), idle

    return worst_case
