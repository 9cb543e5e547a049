"""Folders that do not merge, in one line on why not, and merges that are killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simulator import Result
from simulator.errors import InvalidInput
from simulator.runner import merge_folders
from simulator.runner.store import RunStore
from simulator.runner.store.manifest import read_manifest, write_manifest
from tests.helpers.games import PRESS
from tests.helpers.part_runs import (
    forge,
    play,
    play_part,
    refused,
)
from tests.helpers.same_runs import assert_same


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
    session["revision"] = "of 1999"
    write_manifest(
        tmp_path / "older",
        type(manifest)(manifest.content, manifest.identity, manifest.goal, (session,)),
    )
    several = [folder / "part-1", tmp_path / "older", folder / "part-3"]
    refused(several, tmp_path / "whole", r"different versions: numpy 1\.0 and ")
    merged = merge_folders(several, tmp_path / "whole", mixed_versions=True)
    assert [line for line in merged.notices if "numpy 1.0 and" in line]
    assert [line for line in merged.notices if "an abacus" in line]
    assert [line for line in merged.notices if "by 2 revisions" in line and "of 1999" in line]
    assert_same(whole, play(out=tmp_path / "whole"))
    sessions = read_manifest(tmp_path / "whole").sessions
    assert {each["versions"]["numpy"] for each in sessions} >= {"1.0", np.__version__}


def test_what_is_no_folder_of_a_run_is_refused(parts, tmp_path):
    folder, _ = parts
    (tmp_path / "empty").mkdir()
    refused([folder / "part-1", tmp_path / "empty"], tmp_path / "whole", "cannot read .*empty")
    with pytest.raises(InvalidInput, match="at least one folder to merge"):
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
        with pytest.raises(InvalidInput, match=r"is in .*part, which is only read"):
            merge_folders([tmp_path / "part"], out)
    with pytest.raises(InvalidInput, match="exists already"):
        merge_folders(["part"], "nowhere")
    for out in ("", ".", "part/.."):
        with pytest.raises(InvalidInput, match=r"must (name a|be the path of a new) folder"):
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
from simulator.runner import merge_folders
from simulator.runner import merging
whole = merging.Records.encoded

def slowly(self, chosen):
    for record in whole(self, chosen):
        print("ready", flush=True)
        time.sleep(0.2)
        yield record

merging.Records.encoded = slowly
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
    left, lock = sorted(tmp_path.iterdir())
    assert lock.name == ".whole.lock"
    assert left.name == f".whole.{process.pid}"
    mine = tmp_path / ".whole.12"  # what only looks like it stays
    mine.mkdir()
    (mine / "notes").touch()
    merged = merge_folders(sources, tmp_path / "whole")
    assert merged.stored == 16
    assert merged.notices == (f"removed {left}, which a killed process had begun",)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".whole.12", "whole"]


def test_two_merges_do_not_make_one_folder_at_once(merging, tmp_path):
    _, sources = merging
    refused([Path(each) for each in sources], tmp_path / "whole", "another process is making")


@pytest.mark.parametrize("folders", ["whole", Path("whole"), b"whole", None])
def test_one_folder_is_no_list_of_folders(folders, tmp_path):
    with pytest.raises(InvalidInput, match="folders must be a list of folders"):
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
