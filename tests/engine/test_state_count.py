"""When the states of a rule count as an infinite tree, and when they are counted on."""

import numpy as np
import pytest

from simulator.engine.enumerated.state_count import MOST_NODES, TREE, Census
from simulator.errors import NotApplicable


def tree(census, ways_back=0):
    """Each state has two that follow it, and so many of the ways lead to a known one."""
    for i in range(census.rounds):
        for _ in range(1 << (i + 1)):
            census.count(i, True)
            for _ in range(ways_back):
                census.count(i, False)


def test_a_tree_is_given_up_long_before_all_of_its_states_are_counted():
    census = Census(60)
    with pytest.raises(NotApplicable, match=r"20000 states .* within 14 of 60 rounds .* not close"):
        tree(census)
    assert census.nodes == TREE


def test_states_that_are_met_again_may_close_and_are_counted_to_the_most():
    census = Census(60)
    with pytest.raises(NotApplicable, match="200001 states"):
        tree(census, ways_back=1)
    assert census.nodes == MOST_NODES + 1


@pytest.mark.parametrize("states", [30_000, 150_000])
def test_states_in_no_order_that_close_late_are_all_found(states):
    """They grow as a tree at first; some of them are met again long before all are known."""
    census = Census(60)
    leads = np.random.default_rng(1).integers(states, size=(states, 2)).tolist()
    known, layer = {1}, [1]
    for i in range(60):
        after = []
        for state in layer:
            for there in leads[state]:
                census.count(i, there not in known)
                if there not in known:
                    known.add(there)
                    after.append(there)
        layer = after
    assert census.nodes > 0.7 * states


def test_a_history_that_is_kept_whole_closes_with_the_play():
    census = Census(16)
    tree(census)
    assert census.nodes > 100_000
