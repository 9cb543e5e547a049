"""A policy as a map: its likeliest option by the loss so far and by the rounds or budget left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.worst.game_graph import CLOSED
from simulator.worst.policy import Policy
from simulator.worst.sample_plays import Remaining

CELLS = 400
"""Most cells of a picture along either axis."""
LEFT_OUT = 1e-6
"""Least probability of a place in the picture, as a share of the policy's delta."""


@dataclass(frozen=True, eq=False)
class PolicyMap:
    """The likeliest option by the loss so far and by the rounds or budget left.

    Attributes
    ----------
    losses : edges of the cells along the loss so far, shape (columns + 1,).
    left : edges along the rounds or budget left, shape (rows + 1,).
    moves : shape (rows, columns): an option, or -1 where the policy makes no move.
    remaining : rounds or budget.
    """

    losses: np.ndarray
    left: np.ndarray
    moves: np.ndarray
    remaining: Remaining


def policy_map(policy: Policy) -> PolicyMap:
    """The map of the places that a policy reaches. Raises NotApplicable where it makes no move."""
    remaining = Remaining.of(policy)
    reached, _ = policy.probabilities.forward
    first, end = policy.probabilities.spans
    floor = LEFT_OUT * max(policy.value, 0.0)
    places, nodes, options, weights = [], [], [], []
    for node, (here, _) in enumerate(reached):
        row = policy.table[node, first[node] : max(end[node], first[node])]
        shown = np.flatnonzero((here > floor) & (row != CLOSED))
        places.append(first[node] + shown)
        nodes.append(np.full(len(shown), node))
        options.append(row[shown].astype(np.int64))
        weights.append(here[shown])
    place = np.concatenate(places)
    if not place.size:
        raise NotApplicable("the policy makes no move, so there is nothing to draw")
    row_edges, rows = _binned(remaining.left[np.concatenate(nodes)])
    column_edges, columns = _columns(place)
    tally = np.zeros((len(row_edges) - 1, len(column_edges) - 1, len(policy.menu)))
    np.add.at(tally, (rows, columns, np.concatenate(options)), np.concatenate(weights))
    moves = np.where(tally.max(axis=2) > 0.0, tally.argmax(axis=2), -1)
    loss = policy.grid.z[0] + policy.epsilon + column_edges * policy.grid.step
    return PolicyMap(loss, row_edges, _filled(moves), remaining)


def _binned(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(edges, bins): cells around each value, or equal ones where there are too many values."""
    distinct = np.unique(values)
    if len(distinct) > CELLS:
        edges = np.linspace(distinct[0], distinct[-1], CELLS + 1)
    else:
        gaps = np.diff(distinct)
        beside = float(gaps.min()) if gaps.size else 1.0
        middles = 0.5 * (distinct[1:] + distinct[:-1])
        edges = np.array([distinct[0] - beside / 2, *middles, distinct[-1] + beside / 2])
    return edges, np.clip(np.searchsorted(edges, values, "right") - 1, 0, len(edges) - 2)


def _columns(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(edges in steps of the grid, bins) for grid points."""
    low, high = int(places.min()), int(places.max())
    wide = -(-(high - low + 1) // CELLS)
    bins = (places - low) // wide
    return low - 0.5 + wide * np.arange(int(bins.max()) + 2), bins


def _filled(moves: np.ndarray) -> np.ndarray:
    """The moves, each cell widened to the middle between its neighbours, up to the least gap."""
    found = np.full_like(moves, -1)
    for row, filled in zip(moves, found):
        known = np.flatnonzero(row >= 0)
        if not known.size:
            continue
        gap = int(np.diff(known).min()) if known.size > 1 else 1
        reach = max(gap // 2, len(row) // 120)
        places = np.arange(len(row))
        after = np.clip(np.searchsorted(known, places), 0, known.size - 1)
        before = np.maximum(after - (known[after] > places), 0)
        nearer = np.abs(known[after] - places) < np.abs(known[before] - places)
        nearest = np.where(nearer, known[after], known[before])
        close = np.abs(nearest - places) <= reach
        filled[close] = row[nearest[close]]
    return found
