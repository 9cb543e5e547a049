"""The states of a monotone filter in whole units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.theory.lattice import common_step
from simulator.theory.outward import UNIT
from simulator.worst.game_graph import (
    require_an_end,
)
from simulator.worst.menu import Option
from simulator.worst.own_filter import Transitions


@dataclass(frozen=True)
class Units:
    """A monotone filter's states in whole units from its first one, rounding included.

    ``state(count, up)`` lies ``slack(count)`` units above the count (up) or below it. The slack
    grows in each round by more than the rounding of that round's sum; sums of whole numbers, which
    often end exactly at a limit, are not rounded.

    Attributes
    ----------
    mismatch : the distance of a round's cost from a whole number of units, where it counts as one.
    common : whether the unit is a common divisor of the first costs.
    """

    initial: float
    unit: float
    mismatch: float = 0.0
    common: bool = False

    def slack(self, count: int) -> float:
        """In units."""
        if self.mismatch == 0.0 and all(float(x).is_integer() for x in (self.unit, self.initial)):
            return 0.0
        largest = count + 1 + abs(self.initial) / self.unit
        return count * (self.mismatch + 2.0 * UNIT * largest)

    def state(self, count: int, up: bool) -> float:
        """The state at a count."""
        slack = self.slack(count)
        return float(self.initial + self.unit * (count + slack if up else count - slack))

    def count(self, state: float, up: bool) -> int:
        """The least count whose state is not below ``state`` (up), else the largest not above."""
        count = max(round((state - self.initial) / self.unit), 0)
        if up:
            while self.state(count, up) < state:
                count += 1
            while count > 0 and self.state(count - 1, up) >= state:
                count -= 1
        else:
            while count > 0 and self.state(count, up) > state:
                count -= 1
            while self.state(count + 1, up) <= state:
                count += 1
        return count


def units_of(
    transitions: Transitions, options: Sequence[Option], rounds: int | None, resolution: int
) -> Units:
    """The units of a monotone filter's states: a common divisor of first costs, or a fine unit.

    Raises InvalidInput where a round costs nothing and no number of rounds ends the game.
    """
    initial = float(transitions.initial)
    promises = {g for option in options for g in (option.guarantee, option.least)}
    reached = [transitions.after(transitions.initial, guarantee) for guarantee in promises]
    costs = np.array([float(after) - initial for after in reached if after is not None])
    if rounds is None:
        require_an_end(bool((costs > 0.0).all()))
    costs = costs[costs > 0.0]
    if not costs.size:
        return Units(initial, 1.0)
    common = common_step(costs)
    if common is not None and common >= costs.min() / 64:
        off = np.abs(costs / common - np.rint(costs / common)).max()
        return Units(initial, common, float(off), common=True)
    return Units(initial, float(costs.min()) * 64 / max(resolution, 64))
