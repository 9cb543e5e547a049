"""Folders that merge: the same bits as one run."""

import numpy as np
import pytest

import simulator.runner.worker
from simulator.analysis import Tilted
from simulator.runner import merge_folders
from simulator.runner.store import RunStore
from simulator.runner.store.manifest import read_manifest
from tests.helpers.games import PRESS
from tests.helpers.part_runs import BLOCKS, contents, forge, play, play_part, refused
from tests.helpers.same_runs import assert_same


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
        play_block, played = simulator.runner.worker.play_block, []

        def few(specification, b, block):
            if len(played) == 3:
                raise KeyboardInterrupt
            played.append(block)
            return play_block(specification, b, block)

        interrupted.setattr(simulator.runner.worker, "play_block", few)
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
    from simulator.runner.play import added_records

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


@pytest.mark.sampled
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
    refused([tmp_path / "wrong"], tmp_path / "new", "block 12 is stored with counts that cannot")
