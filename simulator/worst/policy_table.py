"""A policy as integer tables: the option that it plays at each node and grid point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.worst.grid import Grid, NearestLayout


@dataclass(frozen=True, eq=False, kw_only=True)
class PolicyTable:
    """The option to play at each node and grid point, the state of a policy.

    Attributes
    ----------
    epsilon : with which the loss is compared.
    grid : of the losses past ``epsilon``.
    follow : int32, shape (nodes, options): the node after an option.
    table : int16, shape (nodes, points): the option to play, CLOSED where the policy stops.
    layouts : the options' laws on the grid.
    thresholds : float64, shape (nodes,): with which the loss past epsilon is compared where the
        game ends in a node; zero except for odometers, where these are readings.
    """

    epsilon: float
    grid: Grid
    follow: np.ndarray
    table: np.ndarray
    layouts: tuple[NearestLayout, ...]
    thresholds: np.ndarray

    @property
    def start(self) -> tuple[int, int]:
        """The node and the grid point before the first round."""
        z = (-self.epsilon - self.grid.offset) / self.grid.step - self.grid.first
        return len(self.follow) - 1, round(z)

    @cached_property
    def depth(self) -> np.ndarray:
        """The largest number of rounds that it plays from each node, shape (nodes,)."""
        depth = np.zeros(len(self.follow), dtype=np.int64)
        for node, row in enumerate(self.follow):
            used = np.unique(self.table[node])
            after = row[used[used >= 0]]
            depth[node] = depth[after].max() + 1 if after.size else 0
        return depth

    @cached_property
    def rounds(self) -> int:
        """The largest number of rounds that it plays."""
        return max(int(self.depth[-1]), 1)
