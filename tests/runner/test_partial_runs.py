"""Parts share out every block of a run once."""

from itertools import pairwise

import pytest

from simulator import PureDP
from simulator.errors import InvalidInput
from simulator.runner import merge_folders, simulate_part
from simulator.runner.partial_runs import Part
from tests.helpers.exploring import examples
from tests.helpers.games import PRESS
from tests.helpers.part_runs import play_part

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies


@examples(200)
@hypothesis.given(st.integers(0, 300_000), st.integers(1, 400))
def test_parts_share_out_every_block_once(total, count):
    parts = [Part(i, count).blocks(total) for i in range(1, count + 1)]
    assert parts[0].start == 0
    assert parts[-1].stop == total
    assert all(one.stop == other.start for one, other in pairwise(parts))
    lengths = [len(part) for part in parts]
    assert max(lengths) <= max(1.25 * total / count + 1, 1)


def test_parts_of_many_blocks_begin_where_stretches_do():
    assert [Part(i, 3).blocks(238_000).start % 1024 for i in (1, 2, 3)] == [0, 0, 0]


@pytest.mark.parametrize("text", ["5/4", "0/4", "1/0", "-1/4", "1", "a/b", "1/2/3", "1.5/3", "1/٣"])
def test_a_part_that_is_none_is_refused_and_nothing_is_written(text, tmp_path):
    with pytest.raises(InvalidInput) as refusal:
        play_part(text, tmp_path / "part")
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "part").exists()


def test_a_part_may_be_empty(tmp_path):
    assert play_part("40/40", tmp_path / "last").trials == 4
    empty = play_part("1/40", tmp_path / "first")
    assert (len(empty.blocks), empty.trials) == (0, 0)
    assert "no block" in str(empty)
    assert merge_folders([tmp_path / "first", tmp_path / "last"], tmp_path / "both").stored == 2


@pytest.mark.parametrize("part", [1, None, (1,), (1, 2, 3), {1: 2}])
def test_what_is_no_pair_is_no_part(part, tmp_path):
    with pytest.raises(InvalidInput, match=r"give a part as \(2, 8\)"):
        simulate_part(PRESS, PureDP(0.2), 2, 8, part=part, out=tmp_path / "part")
    assert not (tmp_path / "part").exists()
