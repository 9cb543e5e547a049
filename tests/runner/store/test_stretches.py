"""Records that stand for aligned stretches of blocks: the log does not grow with the blocks."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.foundations.errors import InvalidInput
from simulator.runner.store import RunStore
from simulator.runner.store.cover import Cover
from tests.helpers.exploring import examples

SPECIFICATION = {"adversary": "press_when_ahead", "rounds": 100}


def added(records):
    """Sums of the arrays, and the blocks in order: a witness that none was lost or doubled."""
    named = [each.arrays for each in records]
    return {
        "counts": sum(each["counts"] for each in named),
        "digests": np.concatenate([each["digests"] for each in named]),
    }


def arrays(block):
    return {"counts": np.array([1, block]), "digests": np.array([block], dtype=np.uint64)}


def opened(folder):
    return RunStore.open(folder, SPECIFICATION, combine=added)


def whole(store):
    """Every block that is stored, as its digest says."""
    found = list(store.read())
    for each in found:
        numbers = np.arange(each.block, each.block + each.blocks)
        np.testing.assert_array_equal(each.arrays["digests"], numbers)
        np.testing.assert_array_equal(each.arrays["counts"], [each.blocks, numbers.sum()])
    return [(each.experiment, each.block, each.blocks) for each in found]


@examples(40)
@given(st.permutations(range(40)), st.sets(st.integers(0, 39)))
def test_in_whatever_order_blocks_come_and_are_added_up_the_same_is_left(
    tmp_path_factory, order, rests
):
    folder = tmp_path_factory.mktemp("run")
    with opened(folder) as store:
        for i, block in enumerate(order):
            store.append(1, block, arrays(block), adds=True)
            if i in rests:
                store.condense()
        store.condense()
        left = [(1, 0, 1), (1, 1, 1), (1, 2, 2), (1, 4, 4), (1, 8, 8), (1, 16, 16), (1, 32, 8)]
        assert whole(store) == left
        assert store.covered() == {1: [(0, 40)]}
    with opened(folder) as store:
        assert whole(store) == left
        with pytest.raises(InvalidInput, match="already"):
            store.append(1, 20, arrays(20))


def test_blocks_that_do_not_add_up_stay_alone(tmp_path):
    with opened(tmp_path) as store:
        for block in range(8):
            store.append(0, block, arrays(block), adds=block != 5)
        store.condense()
        assert whole(store) == [(0, 0, 1), (0, 1, 1), (0, 2, 2), (0, 4, 1), (0, 5, 1), (0, 6, 2)]


def test_a_part_that_comes_later_than_its_stretch_takes_its_place(tmp_path):
    with opened(tmp_path) as store:
        for block in range(8):
            store.append(0, block, arrays(block), adds=True)
        store.condense()
        store.outgrow(0, 4)
        assert store.covered() == {0: [(0, 4)]}
        store.append(0, 6, arrays(6), adds=True)
    store = RunStore.load(tmp_path)
    assert store.done() == {(0, 0), (0, 1), (0, 2), (0, 3), (0, 6)}


def test_the_log_is_written_anew_as_it_grows(tmp_path, monkeypatch):
    monkeypatch.setattr("simulator.runner.store.folder.REWRITE_AFTER", 4000)
    with opened(tmp_path) as store:
        sizes = []
        for block in range(500):
            store.append(0, block, arrays(block), adds=True)
            sizes.append((tmp_path / "blocks.log").stat().st_size)
        assert max(sizes) < 13_000
        assert store.covered() == {0: [(0, 500)]}
        whole(store)


def test_a_disk_that_refuses_leaves_the_old_log(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    with opened(tmp_path) as store:
        for block in range(8):
            store.append(0, block, arrays(block), adds=True)
        with monkeypatch.context() as patched:
            patched.setattr("simulator.runner.store.folder.write_groups", refuse)
            store.condense()
        assert len(whole(store)) == 8
        store.append(0, 8, arrays(8), adds=True)
    assert len(whole(RunStore.load(tmp_path))) == 9
    assert not (tmp_path / ".blocks.log.new").exists()


def test_the_lock_goes_over_to_the_new_log(tmp_path):
    with opened(tmp_path) as store:
        for block in range(4):
            store.append(0, block, arrays(block), adds=True)
        store.condense()
        with pytest.raises(InvalidInput, match="another process is writing"):
            opened(tmp_path)
    opened(tmp_path).close()


def test_without_a_way_to_add_up_the_log_is_left_alone(tmp_path):
    with RunStore.open(tmp_path, SPECIFICATION) as store, pytest.raises(InvalidInput, match="add"):
        store.condense()


@pytest.mark.parametrize(("blocks", "block"), [(3, 3), (2, 1), (0, 4), (-2, 4), (1.0, 4)])
def test_a_stretch_that_is_none_is_refused(tmp_path, blocks, block):
    with RunStore.open(tmp_path, SPECIFICATION) as store:
        store.append(0, block, arrays(block), blocks=blocks, adds=True)
    with pytest.raises(InvalidInput, match="not written by this program"):
        RunStore.load(tmp_path)


KILLED = """
import sys
import numpy as np
from tests.runner.store.test_stretches import arrays, opened

with opened(sys.argv[1]) as store:
    for block in range(int(sys.argv[2]), 10**6):
        store.append(0, block, arrays(block), adds=True)
        print(block, flush=True)
        store.condense()
"""


@pytest.mark.nightly
def test_killed_at_any_moment_it_keeps_every_block_that_was_stored(tmp_path):
    at = 0
    for i in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), str(at)],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        for _ in range(3):
            said = int(child.stdout.readline())
        time.sleep(0.003 * i)
        os.kill(child.pid, signal.SIGKILL)
        rest = child.communicate()[0].split()
        said = int(rest[-1]) if rest else said
        with opened(tmp_path) as store:
            assert store.dropped == "" or "damaged" in store.dropped
            whole(store)
            ((start, at),) = store.covered()[0]
            assert start == 0
            assert at > said
            assert not (tmp_path / ".blocks.log.new").exists()


@examples(60)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30), st.integers(1, 8)), max_size=30))
def test_a_cover_is_a_set_of_numbers(steps):
    cover, witness = Cover(), set()
    for add, start, size in steps:
        numbers = set(range(start, start + size))
        if add:
            cover.add(start, start + size)
            witness |= numbers
        else:
            cover.remove(start, start + size)
            witness -= numbers
        stretches = list(cover)
        assert {n for a, b in stretches for n in range(a, b)} == witness
        assert all(b < c for (_, b), (c, _) in itertools.pairwise(stretches))
        assert all((n in cover) == (n in witness) for n in range(40))
        assert cover.meets(start, start + size) == bool(witness & numbers)
        missing = {n for a, b in cover.missing(20) for n in range(a, b)}
        assert missing == set(range(20)) - witness
