"""Blocks read from storage are those of a play, or what is wrong with them is said in one line."""

import numpy as np
import pytest

from simulator import PureDP
from simulator.engine.block import play_block
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.outcomes.stored import stored_outcome, stored_tally
from simulator.engine.outcomes.tally import Tally
from simulator.engine.sampling import Tilted
from simulator.engine.specification import Specification
from simulator.errors import InvalidInput
from tests.helpers.games import press_when_ahead


def specification(**others):
    settings = {"block_size": 8, "trace": True} | others
    return Specification(press_when_ahead, PureDP(0.9), 4, 20, 5, **settings)


NAN = np.full(8, np.nan)


@pytest.mark.parametrize(
    "change",
    [
        {"losses": NAN}, {"losses": np.zeros(9)}, {"losses": np.zeros((2, 4))},
        {"losses": np.zeros(8, dtype=np.float32)}, {"losses": np.zeros(0)}, {"losses": None},
        {"trace": np.zeros((3, 5))}, {"trace": np.full((3, 4), 9.0)}, {"trace": None},
        {"trace": np.full((3, 4), np.nan)}, {"log_weights": np.zeros(8)}, {"more": np.zeros(1)},
        {"trials": np.arange(1, 4)}, {"trials": np.zeros((3, 2))}, {"coins": None},
        {"coins": np.zeros((3, 5), dtype=np.uint64)}, {"coins": np.zeros((3, 6))},
        {"coins": np.full((3, 6), 2**63, dtype=np.uint64)}, {"answers": np.zeros((3, 5))},
        {"answers": np.zeros((3, 4), dtype=complex)}, {"trials": np.arange(4)},
    ],
)  # fmt: skip
def test_a_block_that_the_run_cannot_have_left_is_refused(change):
    s = specification(keep_views=3)
    arrays = play_block(s, 0, 0).arrays()
    assert stored_outcome(s, 0, 0, arrays) is not None
    crafted = {name: array for name, array in (arrays | change).items() if array is not None}
    with pytest.raises(InvalidInput, match="experiment 0, block 0 is stored with") as refusal:
        stored_outcome(s, 0, 0, crafted)
    assert "\n" not in str(refusal.value)
    for experiment, block in ((2, 0), (0, 3), (0, -1)):
        with pytest.raises(InvalidInput, match="not a block of this run"):
            stored_outcome(s, experiment, block, arrays)


@pytest.mark.parametrize(
    "settings", [{}, {"trace": False}, {"trace": False, "sampling": Tilted(1)}]
)
def test_the_tally_of_a_block_reads_back(settings):
    s = specification(**settings)
    whole = Tally.of(play_block(s, 1, 1))
    read = stored_tally(s, 1, 1, whole.arrays(), blocks=1)
    assert (read.experiment, read.block, read.blocks) == (1, 1, 1)
    assert read.bins.trials == 8
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(read.arrays()[name], array)
    short = Tally.of(play_block(s, 1, 2))
    assert stored_tally(s, 1, 1, short.arrays(), blocks=1) is None


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"losses": np.full(8, 3.7)}, r"a loss of 3.7, where pure:0\.9 allows 3\.6 in all rounds"),
        ({"losses": np.array([*np.zeros(7), np.nan])}, "losses that are not numbers"),
        ({"losses": np.zeros(9)}, "9 losses for 8 trials"),
        ({"trace": np.full((3, 4), np.nan)}, "a trace that is out of range"),
        ({"trace": None}, "too many or too few arrays: trace"),
        ({"log_weights": np.zeros(8)}, "too many or too few arrays: bins, weighted_bins"),
    ],
)
def test_a_tally_that_the_run_cannot_have_left_is_refused(change, complaint):
    s = specification()
    arrays = play_block(s, 0, 0).arrays() | change
    crafted = Tally.of(Outcome(0, 0, **arrays)).arrays()
    with pytest.raises(InvalidInput, match=f"experiment 0, block 0 is stored with {complaint}$"):
        stored_tally(s, 0, 0, crafted, blocks=1)
    digests = {"digests": np.zeros(2, dtype=np.uint64)}
    right = Tally.of(play_block(s, 0, 0)).arrays()
    with pytest.raises(InvalidInput, match=r"digests of type uint64 and shape \(2,\)"):
        stored_tally(s, 0, 0, right | digests, blocks=1)
    for experiment, block in ((2, 0), (0, 3), (0, -1)):
        with pytest.raises(InvalidInput, match="not a block of this run"):
            stored_tally(s, experiment, block, right, blocks=1)
