"""The probability of each state of a policy, and of winning from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.worst.game_graph import CLOSED
from simulator.worst.grid import FEW, NearestLayout
from simulator.worst.policy_table import PolicyTable

MEMORY = 8e8
"""Most bytes of the probabilities of one policy."""


def finite_masses(layout: NearestLayout, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Finite losses by grid point in both experiments, two arrays of shape (shifts,)."""
    shifts = layout.law.first + np.arange(len(layout.law.weights))
    return (
        np.asarray(layout.law.weights, dtype=float),
        np.asarray(layout.tilted * np.exp(-shifts * step), dtype=float),
    )


@dataclass(frozen=True, eq=False)
class PolicyProbabilities:
    """The distribution of the policy's states; experiment 0 is the one that was searched.

    Raises NotApplicable where the probabilities do not fit into memory.
    """

    policy: PolicyTable

    @cached_property
    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """The first point that may be reached in each node, and the one after the last.

        Two arrays of shape (nodes,); for a node that is never reached the span is empty.
        """
        policy = self.policy
        nodes, points = policy.table.shape
        first, end = np.full(nodes, points), np.zeros(nodes, dtype=np.int64)
        start, place = policy.start
        first[start], end[start] = place, place + 1
        for node in range(nodes - 1, -1, -1):
            for option, low, high in self._moves(node, first[node], end[node]):
                after = policy.follow[node, option]
                left, right = policy.layouts[option].law.reach
                first[after] = min(first[after], min(max(low + left, 0), points - 1))
                end[after] = max(end[after], max(min(high + right, points), 1))
        size = 24.0 * float(np.maximum(end - first, 0).sum())
        if size > MEMORY:
            raise NotApplicable(
                f"the probabilities of this policy would take {size / 1e9:.3g} GB, where "
                f"{MEMORY / 1e9:.3g} GB are allowed; search a smaller game or a coarser tolerance"
            )
        return first, end

    def _moves(self, node: int, first: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the options played between two points: (option, first point, one past the last)."""
        if end <= first:
            return
        row = self.policy.table[node, first:end]
        for option in np.unique(row):
            if option != CLOSED:
                places = np.flatnonzero(row == option)
                yield int(option), int(first + places[0]), int(first + places[-1] + 1)

    @cached_property
    def forward(self) -> tuple[list[np.ndarray], np.ndarray]:
        """(reached, ended): the probabilities of points and of ends in both experiments.

        ``reached[node]`` has shape (2, points of the node's span); ``ended``, shape (2, 2), has for
        each experiment the probability of losing and of winning; in experiment 1 it is multiplied
        by e^threshold.
        """
        policy, (first, end) = self.policy, self.spans
        points = policy.grid.points
        reached = [np.zeros((2, max(b - a, 0))) for a, b in zip(first, end)]
        reached[policy.start[0]][:] = 1.0
        ended = np.zeros((2, 2))
        laws = [finite_masses(layout, policy.grid.step) for layout in policy.layouts]
        for node in range(len(first) - 1, -1, -1):
            here, row = reached[node], policy.table[node]
            over = row[first[node] : end[node]] == CLOSED
            won = policy.grid.z[first[node] : end[node]] > policy.thresholds[node]
            stopped = np.stack((here[:, over & ~won].sum(1), here[:, over & won].sum(1)), axis=1)
            ended += stopped * np.array([[1.0], [np.exp(policy.thresholds[node])]])
            for option, low, high in self._moves(node, first[node], end[node]):
                layout, after = policy.layouts[option], policy.follow[node, option]
                played = np.where(
                    row[low:high] == option, here[:, low - first[node] :][:, : high - low], 0.0
                )
                begin = low + layout.law.first
                for b in range(2):
                    flow = _convolved(played[b], laws[option][b])
                    left, right = max(-begin, 0), max(points - begin, 0)
                    ended[b] += flow[:left].sum(), flow[right:].sum()
                    inside = flow[left:right]
                    place = begin + left - first[after]
                    if inside.size:
                        reached[after][b, place : place + inside.size] += inside
                ended[0, 1] += played[0].sum() * layout.law.infinite
                ended[1, 0] += played[1].sum() * max(0.0, 1.0 - float(laws[option][1].sum()))
        return reached, ended

    @cached_property
    def winning(self) -> list[np.ndarray]:
        """The probability of winning from each point of each node's span, in experiment 0."""
        policy, (first, end) = self.policy, self.spans
        found: list[np.ndarray] = []
        for node in range(len(first)):
            begin = first[node]
            z = policy.grid.z[begin : max(end[node], begin)]
            won = (z > policy.thresholds[node]).astype(float)
            row = policy.table[node]
            for option, low, high in self._moves(node, begin, end[node]):
                law, after = policy.layouts[option].law, policy.follow[node, option]
                ahead = self._beyond(
                    found[after], int(first[after]), low + law.first, high + law.reach[1]
                )
                mean = law.infinite + _correlated(ahead, np.asarray(law.weights, dtype=float))
                played = row[low:high] == option
                won[low - begin : high - begin][played] = mean[played]
            found.append(won)
        return found

    def _beyond(self, values: np.ndarray, first: int, low: int, high: int) -> np.ndarray:
        """Return values at the points from ``low`` to ``high``: 0 below the grid, 1 above it."""
        places = np.arange(low, high)
        ahead = (places >= self.policy.grid.points).astype(float)
        inside = (places >= first) & (places < first + len(values))
        ahead[inside] = values[places[inside] - first]
        return ahead

    def win(self, node: int, place: int) -> float:
        """Return the probability of winning from one place, which may lie beyond the grid."""
        if not 0 <= place < self.policy.grid.points:
            return float(place > 0)
        return float(self.winning[node][place - self.spans[0][node]])


def _convolved(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    places = np.flatnonzero(weights)
    if len(places) > FEW:
        return np.convolve(values, weights)
    found = np.zeros(len(values) + len(weights) - 1)
    for place in places:
        found[place : place + len(values)] += weights[place] * values
    return found


def _correlated(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    places = np.flatnonzero(weights)
    if len(places) > FEW:
        return np.correlate(values, weights, "valid")
    count = len(values) - len(weights) + 1
    found = np.zeros(count)
    for place in places:
        found += weights[place] * values[place : place + count]
    return found
