"""A specification: blocks, and what is refused."""

import pytest

from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.theory import PureDP


def never(coins):
    yield from ()


def test_trials_and_views_of_each_block():
    s = Specification(never, PureDP(0.2), rounds=2, trials=10, block_size=4, keep_views=5)
    assert s.blocks == 3
    assert [s.trials_in(block) for block in range(3)] == [4, 4, 2]
    assert [s.views_in(block) for block in range(3)] == [4, 1, 0]


def test_what_cannot_be_called_is_no_adversary():
    with pytest.raises(InvalidInput, match="must be a generator function or a Rule, not 3"):
        Specification(3, PureDP(0.2), rounds=2, trials=10)
