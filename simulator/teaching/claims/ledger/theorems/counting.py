"""Counters under continual observation, exactly."""

from __future__ import annotations

from simulator.mechanisms import ContinualCounter
from simulator.mechanisms.continual_counter import tree_factor
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.model import Finding


def blocks_of_an_element(*, stream: int = 16, spared: int = 0) -> Finding:
    """Lap(blocks/epsilon) in the tree: the largest loss of one element, in epsilons.

    With ``spared`` the noise is for so many blocks fewer than log2 T + 1.
    """
    blocks = stream.bit_length() - spared
    counter = ContinualCounter(tree_factor(stream), float(blocks), "laplace")
    attained = float(counter.sensitivities.max()) / blocks
    return upper_bound(attained, 1.0, "the largest loss of an element over ε")


def error_of_a_count(*, stream: int = 16, most: int = 5) -> Finding:
    """The largest variance of a count of the tree, over that of a block."""
    counter = ContinualCounter(tree_factor(stream), 1.0)
    found = round(float(counter.mean_squared_errors.max()))
    return statement(
        found <= most,
        f"a count of {stream} elements has the noise of {found} blocks",
        printed=f"{number(most)} blocks at the most",
    )
