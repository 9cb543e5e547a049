"""A specification: blocks, and what is refused."""

import pytest

from simulator.engine.outcomes import bins
from simulator.engine.specification import SUMMARY_ABOVE, Specification
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


@pytest.mark.parametrize(
    ("keep", "trials", "counted"),
    [
        ("summary", 10, True), ("losses", 10 * SUMMARY_ABOVE, False),
        (None, SUMMARY_ABOVE, False), (None, SUMMARY_ABOVE + 1, True),
    ],
)  # fmt: skip
def test_losses_are_counted_where_it_is_wanted_or_they_are_many(keep, trials, counted):
    s = Specification(never, PureDP(0.2), rounds=2, trials=trials, keep=keep)
    assert s.summarises is counted


def test_more_trials_than_can_be_counted_are_refused():
    for keep in ("summary", None):
        with pytest.raises(InvalidInput, match=r"a summary counts .* at most; play fewer trials"):
            Specification(never, PureDP(0.2), rounds=2, trials=bins.MOST + 1, keep=keep)


def test_likelihoods_are_trusted_unless_it_is_said_that_they_are_not():
    assert Specification(never, PureDP(0.2), rounds=2, trials=10).trust
