"""The number of states found, and the decision to give up where they do not close."""

from __future__ import annotations

import math

from simulator.foundations.errors import NotApplicable
from simulator.foundations.wording import count_of

MOST_NODES = 200_000
TREE, TREE_REPEATS, TREE_GROWTH = 20_000, 0.02, 1.2
"""The search counts as an infinite tree at TREE nodes if at most the share TREE_REPEATS of the ways
led to a known node, and in each of the last rounds the new nodes grew by the factor TREE_GROWTH. Of
an automaton of ``MOST_NODES`` nodes visited at random, 5% of the ways do once 20,000 are known."""

INSTEAD = 'the method "auto" uses the bound of the family instead'
"""The alternative where a rule cannot be enumerated."""


class Census:
    """The nodes of a search, counted as they are found.

    Attributes
    ----------
    rounds : k.
    nodes : how many were found.
    ways : the number of ways to a node, known or new.
    new : the number of nodes first found in each round.
    """

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.nodes = self.ways = 0
        self.new = [0] * rounds

    def count(self, i: int, new: bool) -> None:
        """Count a way to a node before round ``i``; raises NotApplicable if they do not close."""
        self.ways += 1
        if not new:
            return
        self.nodes += 1
        self.new[i] += 1
        if self.nodes > MOST_NODES or (self.nodes % TREE == 0 and self._is_a_tree(i)):
            raise NotApplicable(
                f"{self.nodes} states of the rule were found within {i + 1} of "
                f"{count_of(self.rounds, 'round')} and they do not close: {INSTEAD}; or keep less "
                "in the state (a float that adds up answers takes a new value each time: count "
                "them instead)"
            )

    def _is_a_tree(self, i: int) -> bool:
        """Whether few nodes were found twice, and at this growth there will be too many."""
        if i < 3 or self.ways - self.nodes > TREE_REPEATS * self.ways:
            return False
        one, two, three = self.new[i - 3 : i]  # round i itself is not complete
        if not (0 < TREE_GROWTH * one <= two and TREE_GROWTH * two <= three):
            return False
        growth = three / two
        levels = min(self.rounds - i, math.log(MOST_NODES) / math.log(growth))
        return three * growth**levels > MOST_NODES
