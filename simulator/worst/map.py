"""A policy as a picture: which move at which loss so far, and with how much left.

Pictures are imported where one is drawn: matplotlib takes half a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simulator.errors import NotApplicable
from simulator.worst.arena import CLOSED
from simulator.worst.plays import Clock, Play, play

if TYPE_CHECKING:
    from simulator.worst.policy import Policy

CELLS = 400
"""Of a picture along either axis, at most."""
LEFT_OUT = 1e-6
"""Places are left out whose probability is less than this share of the policy's delta."""


@dataclass(frozen=True, eq=False)
class PolicyMap:
    """The likeliest move by loss and clock.

    Attributes
    ----------
    losses : edges of the cells along the loss so far, shape (columns + 1,).
    left : edges along the clock, shape (rows + 1,).
    moves : shape (rows, columns): an option, or -1 where the policy has no move to make.
    clock : what runs down.
    """

    losses: np.ndarray
    left: np.ndarray
    moves: np.ndarray
    clock: Clock


def policy_map(policy: Policy) -> PolicyMap:
    """Lay out the places that a policy reaches. Raises NotApplicable where it makes no move."""
    clock = Clock.of(policy)
    reached, _ = policy.chances.forward
    first, end = policy.chances.spans
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
    row_edges, rows = _binned(clock.left[np.concatenate(nodes)])
    column_edges, columns = _columns(place)
    tally = np.zeros((len(row_edges) - 1, len(column_edges) - 1, len(policy.menu)))
    np.add.at(tally, (rows, columns, np.concatenate(options)), np.concatenate(weights))
    moves = np.where(tally.max(axis=2) > 0.0, tally.argmax(axis=2), -1)
    loss = policy.grid.z[0] + policy.epsilon + column_edges * policy.grid.step
    return PolicyMap(loss, row_edges, _filled(moves), clock)


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
    """Widen each cell to the middle between its neighbours, as far as its row's least gap."""
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


def draw(policy: Policy, path: str | PathLike[str], *, seed: int = 0) -> Path:
    """Draw the policy with a typical and a winning play into a file, and return its path.

    Raises InvalidInput for a path that cannot be written, and NotApplicable where nothing is
    reached or no play wins.
    """
    from simulator.plots.policy import plot_policy
    from simulator.plots.style import drawable, paper_figure, save_as

    target = drawable(path)
    shown = policy_map(policy)
    plays = {"typical play": play(policy, seed=seed)}
    if policy.chances.win(*policy.start) > 0.0:
        plays["winning play"] = play(policy, seed=seed, winning=True)
    names, scale, group = _scale(policy.labels)
    moves = np.where(shown.moves >= 0, group[shown.moves], -1)
    share = shown.clock.name == "budget left"
    with paper_figure(width=4.6, height=3.4) as (figure, axes):
        plot_policy(
            axes, shown.losses, shown.left * (100.0 if share else 1.0), moves, names,
            values=scale, logarithmic=scale is not None and scale[0].startswith("ε"),
            epsilon=None if policy.thresholds.any() else policy.epsilon,
            paths={name: _path(drawn, share) for name, drawn in plays.items()},
            ylabel=f"{shown.clock.name}{' (%)' if share else ''}",
        )  # fmt: skip
        return save_as(figure, target)


def _path(drawn: Play, share: bool) -> tuple[np.ndarray, np.ndarray]:
    losses = np.array([*(r.loss for r in drawn.rounds), drawn.loss])
    left = np.array([*(r.left for r in drawn.rounds), drawn.left])
    finite = np.isfinite(losses)
    return losses[finite], left[finite] * (100.0 if share else 1.0)


def _scale(
    labels: Sequence[str],
) -> tuple[list[str], tuple[str, np.ndarray] | None, np.ndarray]:
    """(names, what a colour bar shows, each option's place among the names).

    The bar shows a parameter where many options differ in nothing else. Where they are of several
    mechanisms, the parameters of each share its name.
    """
    from simulator.plots.policy import FEW_MOVES

    alone = np.arange(len(labels))
    if len(labels) <= FEW_MOVES:
        return list(labels), None, alone
    split = [label.rpartition("@" if "@" in label else ":") for label in labels]
    names = list(dict.fromkeys(name for name, _, _ in split))
    if len(names) > 1:
        many = {name: sum(other == name for other, _, _ in split) > 1 for name in names}
        wide = [s[0] if many[s[0]] else label for label, s in zip(labels, split)]
        names = list(dict.fromkeys(wide))
        group = np.array([names.index(name) for name in wide])
        if len(names) <= FEW_MOVES:
            return names, None, group
        return list(labels), ("place in the menu", alone.astype(float)), alone
    name = names[0]
    symbol = f"t of {name}" if "@" in labels[0] else f"ε of {name}"
    return list(labels), (symbol, np.array([float(number) for _, _, number in split])), alone
