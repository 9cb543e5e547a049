"""Parts of a run, and folders that merge: the same bits as one run, or one line on why not."""

import json
import os
import shutil
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import simulator.run.worker
from simulator import (
    InvalidInput,
    PureDP,
    Result,
    Tilted,
    merge_folders,
    simulate,
    simulate_part,
)
from simulator.run.parts import Part
from simulator.store import RunStore
from simulator.store.manifest import read_manifest, write_manifest
from tests.helpers.exploring import examples
from tests.helpers.games import PRESS, press_when_ahead
from tests.helpers.same_runs import assert_same

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

WIDE = PureDP(0.9)
SETTINGS = {"seed": 5, "block_size": 8, "trace": True, "keep_views": 11}
BLOCKS = 13


def play(**others):
    settings = {"adversary": press_when_ahead, "rounds": 20, "trials": 100, "jobs": 1}
    return simulate(family=WIDE, **(settings | SETTINGS | others))


def play_part(part, out, **others):
    settings = {"adversary": press_when_ahead, "rounds": 20, "trials": 100, "jobs": 1}
    return simulate_part(family=WIDE, part=part, out=out, **(settings | SETTINGS | others))


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Three parts of a run, and its result without them."""
    folder = tmp_path_factory.mktemp("parts")
    stored = [play_part((i, 3), folder / f"part-{i}") for i in (1, 2, 3)]
    assert [list(each.blocks) for each in stored] == [
        list(range(4)), list(range(4, 8)), list(range(8, 13))
    ]  # fmt: skip
    return folder, play()


@pytest.fixture
def nothing_is_played(monkeypatch):
    def play_block(specification, b, block):
        raise AssertionError(f"experiment {b}, block {block} was played")

    monkeypatch.setattr(simulator.run.worker, "play_block", play_block)


def contents(*folders):
    return {path: path.read_bytes() for folder in folders for path in sorted(folder.iterdir())}


def refused(folders, out, match, **others):
    """Merge what must not be merged: one line, nothing written, nothing changed."""
    before = contents(*folders)
    around = sorted(path.name for path in out.parent.iterdir())
    with pytest.raises(InvalidInput, match=match) as refusal:
        merge_folders(folders, out, **others)
    assert "\n" not in str(refusal.value)
    assert contents(*folders) == before
    assert sorted(path.name for path in out.parent.iterdir()) == around


# --- the same bits --------------------------------------------------------------------------------


def test_merged_parts_are_the_run(parts, tmp_path, nothing_is_played):
    folder, whole = parts
    sources = [folder / f"part-{i}" for i in (3, 1, 2)]
    before = contents(*sources)
    merged = merge_folders(sources, tmp_path / "whole")
    assert merged.complete
    assert (merged.stored, merged.overlapping) == (2 * BLOCKS, 0)
    assert contents(*sources) == before
    assert_same(whole, play(out=tmp_path / "whole"))


def test_what_is_missing_is_named_and_played(parts, tmp_path):
    folder, whole = parts
    merged = merge_folders([folder / "part-1", folder / "part-3"], tmp_path / "whole")
    assert merged.missing == {0: ((4, 8),), 1: ((4, 8),)}
    assert not merged.complete
    resumed = play(out=tmp_path / "whole")
    assert resumed.rounds_played == 2 * 4 * 8 * 20
    assert_same(whole, resumed)


def test_overlapping_blocks_are_counted_and_stored_once(parts, tmp_path, nothing_is_played):
    folder, whole = parts
    merged = merge_folders(
        [folder / "part-1", folder / "part-2", folder / "part-1", folder / "part-3"],
        tmp_path / "whole",
    )
    assert (merged.stored, merged.overlapping) == (2 * BLOCKS, 2 * 4)
    log = (tmp_path / "whole" / "blocks.log").read_bytes()
    assert log.count(b"\x00BLK") == 2 * BLOCKS
    assert_same(whole, play(out=tmp_path / "whole"))


def test_a_part_is_resumed_and_goes_on_as_the_whole(tmp_path, monkeypatch):
    whole = play()
    out = tmp_path / "part"
    with monkeypatch.context() as interrupted:
        play_block, played = simulator.run.worker.play_block, []

        def few(specification, b, block):
            if len(played) == 3:
                raise KeyboardInterrupt
            played.append(block)
            return play_block(specification, b, block)

        interrupted.setattr(simulator.run.worker, "play_block", few)
        with pytest.raises(KeyboardInterrupt):
            play_part("2/3", out)
    play_part("2/3", out)
    with RunStore.load(out) as store:
        assert store.covered() == {0: [(4, 8)], 1: [(4, 8)]}
    assert_same(whole, play(out=out))


def test_counted_losses_merge_with_losses(tmp_path):
    whole = play(keep="summary", keep_views=0)
    for i, keep in ((1, "summary"), (2, "losses"), (3, "summary")):
        play_part((i, 3), tmp_path / str(i), keep=keep, keep_views=0)
    assert play_part((2, 2), tmp_path / "4", keep="summary", keep_views=0).blocks.start == 6
    merged = merge_folders([tmp_path / name for name in "1243"], tmp_path / "whole")
    assert (merged.stored, merged.overlapping) == (2 * BLOCKS, 2 * 7)
    result = play(keep="summary", keep_views=0, out=tmp_path / "whole")
    assert result.rounds_played == 0
    for epsilon in (0.5, 1.0, 2.0):
        assert result.tail(epsilon).as_dict() == whole.tail(epsilon).as_dict()
    assert result.traces[0].tobytes() == whole.traces[0].tobytes()


def test_a_stretch_is_compared_with_the_blocks_that_it_adds_up(tmp_path):
    from simulator.run.simulate import added_records

    for name in ("stretch", "blocks"):
        play(keep="summary", keep_views=0, out=tmp_path / name)
    manifest = read_manifest(tmp_path / "stretch")
    with RunStore.open(
        tmp_path / "stretch", manifest.content, manifest.goal, combine=added_records
    ) as store:
        store.condense()
        assert any(location.blocks == 4 for location in store.locations())
    merged = merge_folders([tmp_path / "blocks", tmp_path / "stretch"], tmp_path / "whole")
    assert (merged.stored, merged.overlapping) == (2 * BLOCKS, 2 * BLOCKS)
    with RunStore.load(tmp_path / "whole") as store:
        assert any(location.blocks == 4 for location in store.locations())
    play(keep="summary", keep_views=0, seed=6, out=tmp_path / "other")
    forge(tmp_path / "other", tmp_path / "stretch")
    refused(
        [tmp_path / "stretch", tmp_path / "other"], tmp_path / "new",
        "experiment 0, block 0 is not the same in",
    )  # fmt: skip


def test_a_raised_run_merges_with_the_smaller_one(tmp_path):
    whole = play()
    play(trials=60, keep_views=0, out=tmp_path / "small")  # its last block has 4 trials
    play_part((2, 2), tmp_path / "half")
    play_part((1, 2), tmp_path / "first")
    short = merge_folders([tmp_path / "small"], tmp_path / "alone")
    assert short.complete
    assert merge_folders([tmp_path / "small", tmp_path / "half"], tmp_path / "new").complete
    assert play(out=tmp_path / "new").rounds_played == 2 * 2 * 8 * 20  # for their views
    # of a block with fewer views and one with more the latter stays
    several = [tmp_path / name for name in ("small", "half", "first")]
    assert merge_folders(several, tmp_path / "views").complete
    result = play(out=tmp_path / "views")
    assert result.rounds_played == 0
    assert_same(whole, result)


@pytest.mark.parametrize("sampling", [None, Tilted(0.5)])
@pytest.mark.parametrize("smaller", ["losses", "summary"])
def test_a_raised_summary_merges_with_the_smaller_one(smaller, sampling, tmp_path):
    """The last block of the smaller run has 4 trials, of which a summary keeps counts alone."""
    others = {"adversary": PRESS, "keep_views": 0, "trace": sampling is None, "sampling": sampling}
    whole = play(keep="summary", out=tmp_path / "whole", **others)
    play(trials=60, keep=smaller, out=tmp_path / "small", **others)
    play_part((2, 2), tmp_path / "half", keep="summary", **others)
    assert merge_folders([tmp_path / "small"], tmp_path / "alone").complete
    for number, names in enumerate((("small", "half"), ("half", "small"), ("small", "whole"))):
        new = tmp_path / f"new{number}"
        merged = merge_folders([tmp_path / name for name in names], new)
        assert merged.complete
        again = play(keep="summary", out=new, **others)
        assert again.rounds_played == 0
        for b in (0, 1):
            assert again.sample[b].counts.tobytes() == whole.sample[b].counts.tobytes()
            assert again.sample[b].largest.tobytes() == whole.sample[b].largest.tobytes()
    small = merge_folders([tmp_path / "small", tmp_path / "small"], tmp_path / "twice")
    assert small.complete


def test_counts_that_are_not_to_be_read_are_named(tmp_path):
    play(keep="summary", keep_views=0, out=tmp_path / "whole")
    manifest = read_manifest(tmp_path / "whole")
    with (
        RunStore.load(tmp_path / "whole") as right,
        RunStore.open(tmp_path / "wrong", manifest.content, manifest.goal) as wrong,
    ):
        for record in right.read():
            arrays = dict(record.arrays)
            if not record.adds and "bins" in arrays:
                arrays["bins"] = np.zeros(3, np.uint8)
            where = record.experiment, record.block
            wrong.append(*where, arrays, blocks=record.blocks, adds=record.adds)
    refused([tmp_path / "wrong"], tmp_path / "new", "block 12 is stored with counts that are not")


# --- refused --------------------------------------------------------------------------------------


def forge(folder, identity_of, least=0):
    """Give a folder's blocks from ``least`` on the identity of another run, as a fault would."""
    other = read_manifest(identity_of)
    with RunStore.load(folder) as store:
        records = list(store.read())
    shutil.rmtree(folder)
    with RunStore.open(folder, other.content, other.goal) as forged:
        for each in records:
            if each.block >= least:
                where = each.experiment, each.block
                forged.append(*where, each.arrays, blocks=each.blocks, adds=each.adds)


@pytest.mark.parametrize("change", ["loss", "view"])
def test_a_block_that_differs_is_named_with_both_folders(change, parts, tmp_path):
    folder, _ = parts
    other = tmp_path / "other"
    manifest = read_manifest(folder / "part-1")
    with (
        RunStore.load(folder / "part-1") as right,
        RunStore.open(other, manifest.content, manifest.goal) as wrong,
    ):
        for record in right.read():
            arrays = {name: np.array(array) for name, array in record.arrays.items()}
            if (record.experiment, record.block) == (1, 0):
                name = "losses" if change == "loss" else "answers"
                arrays[name].flat[3] = np.nextafter(arrays[name].flat[3], 9.0)
            wrong.append(record.experiment, record.block, arrays)
    refused(
        [folder / "part-1", other], tmp_path / "whole",
        "experiment 1, block 0 is not the same in .*part-1 and in .*other: ",
    )  # fmt: skip


def test_a_short_block_that_begins_otherwise_is_named(tmp_path):
    play(trials=60, out=tmp_path / "small")
    play(trials=60, seed=6, out=tmp_path / "wrong")
    play_part((2, 2), tmp_path / "half", trials=100)
    forge(tmp_path / "wrong", tmp_path / "small", least=7)
    merge_folders([tmp_path / "small", tmp_path / "half"], tmp_path / "fine")
    refused(
        [tmp_path / "half", tmp_path / "wrong"], tmp_path / "whole", "block 7 is not the same in"
    )


def test_folders_of_other_specifications_are_refused_by_what_differs(parts, tmp_path):
    folder, _ = parts
    play_part((1, 3), tmp_path / "seed", seed=6)
    refused([folder / "part-1", tmp_path / "seed"], tmp_path / "whole", r"\(seed: 5 there, 6 here")
    play_part((1, 3), tmp_path / "adversary", adversary=PRESS)
    refused([folder / "part-1", tmp_path / "adversary"], tmp_path / "whole", "adversary: ")


def test_folders_of_other_versions_are_refused_unless_asked_for(parts, tmp_path):
    folder, whole = parts
    shutil.copytree(folder / "part-2", tmp_path / "older")
    manifest = read_manifest(tmp_path / "older")
    session = json.loads(json.dumps(manifest.sessions[0]))
    session["versions"]["numpy"] = "1.0"
    session["machine"]["processor"] = "an abacus"
    write_manifest(
        tmp_path / "older",
        type(manifest)(manifest.content, manifest.identity, manifest.goal, (session,)),
    )
    several = [folder / "part-1", tmp_path / "older", folder / "part-3"]
    refused(several, tmp_path / "whole", r"different versions: numpy 1\.0 and ")
    merged = merge_folders(several, tmp_path / "whole", mixed_versions=True)
    assert [line for line in merged.notices if "numpy 1.0 and" in line]
    assert [line for line in merged.notices if "an abacus" in line]
    assert_same(whole, play(out=tmp_path / "whole"))
    sessions = read_manifest(tmp_path / "whole").sessions
    assert {each["versions"]["numpy"] for each in sessions} >= {"1.0", np.__version__}


def test_what_is_no_folder_of_a_run_is_refused(parts, tmp_path):
    folder, _ = parts
    (tmp_path / "empty").mkdir()
    refused([folder / "part-1", tmp_path / "empty"], tmp_path / "whole", "cannot read .*empty")
    with pytest.raises(InvalidInput, match="no folder to merge"):
        merge_folders([], tmp_path / "whole")


def test_a_folder_that_exists_is_not_written_over(parts, tmp_path):
    folder, _ = parts
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "mine").touch()
    refused([folder / "part-1"], tmp_path / "whole", "exists already; name a new folder")
    (tmp_path / "whole" / "mine").unlink()
    assert merge_folders([folder / "part-1"], tmp_path / "whole").stored == 8
    refused([folder / "part-1"], folder / "part-2", "exists already")


def test_a_folder_is_not_merged_into_itself(parts, tmp_path, monkeypatch):
    folder, _ = parts
    shutil.copytree(folder / "part-1", tmp_path / "part")
    (tmp_path / "link").symlink_to(tmp_path / "part")
    (tmp_path / "nowhere").symlink_to(tmp_path / "none")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    for out in ("part/new", "part/a/b", "link/new", "other/../part/new"):
        with pytest.raises(InvalidInput, match=r"would lie in .*part, which is only read"):
            merge_folders([tmp_path / "part"], out)
    with pytest.raises(InvalidInput, match="exists already"):
        merge_folders(["part"], "nowhere")
    for out in ("", ".", "part/.."):
        with pytest.raises(InvalidInput, match=r"must name a (new )?folder"):
            merge_folders(["part"], out)
    assert sorted(tmp_path.rglob("*")) == before


def test_folders_without_a_block_leave_nothing(tmp_path):
    assert not play_part("1/40", tmp_path / "first").blocks
    assert not play_part("2/40", tmp_path / "second").blocks
    sources = [tmp_path / "first", tmp_path / "second"]
    refused(sources, tmp_path / "whole", "first, .*second: there is no block to merge")


def test_a_damaged_folder_gives_what_is_whole_and_says_so(parts, tmp_path):
    folder, _ = parts
    shutil.copytree(folder / "part-2", tmp_path / "torn")
    log = tmp_path / "torn" / "blocks.log"
    log.write_bytes(log.read_bytes()[:-50])
    merged = merge_folders([folder / "part-1", tmp_path / "torn"], tmp_path / "whole")
    assert merged.stored == 8 + 7
    assert "torn/blocks.log is damaged" in merged.notices[0]


KILLED = """
import sys, time
from simulator import merge_folders
from simulator.run import merging
whole = merging.Pile.encoded

def slowly(self, chosen):
    for record in whole(self, chosen):
        print("ready", flush=True)
        time.sleep(0.2)
        yield record

merging.Pile.encoded = slowly
merge_folders(sys.argv[1:3], sys.argv[3])
"""


@pytest.fixture
def merging(parts, tmp_path):
    """A merge that is under way in a process of its own: the process, and what it merges."""
    folder, _ = parts
    sources = [str(folder / "part-1"), str(folder / "part-2")]
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, *sources, str(tmp_path / "whole")],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        for _ in range(3):
            assert process.stdout.readline() == b"ready\n"
        yield process, sources
        process.kill()


def test_a_merge_that_is_killed_is_cleared_away_by_the_next(merging, tmp_path):
    process, sources = merging
    process.send_signal(signal.SIGKILL)
    process.wait()
    [left] = tmp_path.iterdir()
    assert left.name == f".whole.{process.pid}"
    mine = tmp_path / ".whole.12"  # what only looks like it stays
    mine.mkdir()
    (mine / "notes").touch()
    merged = merge_folders(sources, tmp_path / "whole")
    assert merged.stored == 16
    assert merged.notices == (f"removed {left}, which a process had begun that was killed",)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".whole.12", "whole"]


def test_two_merges_do_not_make_one_folder_at_once(merging, tmp_path):
    _, sources = merging
    refused([Path(each) for each in sources], tmp_path / "whole", "another process is making")


# --- parts ----------------------------------------------------------------------------------------


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
    with pytest.raises(InvalidInput, match=r"a part is written as \(2, 8\)"):
        simulate_part(PRESS, PureDP(0.2), 2, 8, part=part, out=tmp_path / "part")
    assert not (tmp_path / "part").exists()


@pytest.mark.parametrize("folders", ["whole", Path("whole"), b"whole", None])
def test_one_folder_is_no_list_of_folders(folders, tmp_path):
    with pytest.raises(InvalidInput, match="folders must be several, as a list"):
        merge_folders(folders, tmp_path / "merged")


@pytest.mark.parametrize("folder", ["", "a\0b", "\ud800", b"whole", None, 3])
def test_what_names_no_folder_is_one_line(folder, tmp_path):
    for called in (
        lambda: merge_folders([folder], tmp_path / "merged"),
        lambda: merge_folders([tmp_path], folder),
        lambda: Result.load(folder),
        lambda: RunStore.open(folder, {}),
    ):
        with pytest.raises(InvalidInput, match="folder") as refused:
            called()
        assert "exists already" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
