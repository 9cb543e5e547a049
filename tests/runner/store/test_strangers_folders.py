"""Folders of strangers: no link is followed, no pipe waited for, one line says why."""

import json
import os

import numpy as np
import pytest

from simulator import PureDP, simulate
from simulator.analysis.result import Result
from simulator.errors import InvalidInput
from simulator.foundations.files import replacing, write_new
from simulator.foundations.wording import printable
from simulator.runner import merge_folders
from simulator.runner.store import RunStore
from simulator.runner.store.manifest import read_manifest, specification_id
from tests.helpers.games import press_when_ahead


def play(out):
    return simulate(press_when_ahead, PureDP(0.2), 5, 20, out=out, jobs=1, progress=False)


def rewrite(folder, **changes):
    """Change members of a manifest, with the identity that fits."""
    path = folder / "specification.json"
    stored = json.loads(path.read_text()) | changes
    if isinstance(stored["specification"], dict):
        stored["id"] = specification_id(stored["specification"])
    path.write_text(json.dumps(stored))


@pytest.mark.parametrize("name", ["blocks.log", "specification.json"])
@pytest.mark.parametrize("there", [True, False])
def test_no_link_is_followed_out_of_a_folder(tmp_path, name, there):
    elsewhere = tmp_path / "elsewhere"
    if there:
        elsewhere.write_text("mine")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / name).symlink_to(elsewhere)
    with pytest.raises(InvalidInput):
        play(folder)
    assert elsewhere.exists() == there
    assert not there or elsewhere.read_text() == "mine"


@pytest.mark.parametrize("name", ["blocks.log", "specification.json"])
def test_no_pipe_is_waited_for(tmp_path, name):
    folder = tmp_path / "run"
    play(folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    for read in (play, RunStore.load, Result.load):
        with pytest.raises(InvalidInput, match="not a regular file"):
            read(folder)


def test_a_malformed_manifest_is_refused_in_one_line(tmp_path):
    play(tmp_path / "run")
    good = json.loads((tmp_path / "run" / "specification.json").read_text())
    specification = good["specification"]
    for changes in (
        {"sessions": [{"versions": "1.0"}]},
        {"sessions": [{"machine": ["x"]}]},
        {"sessions": 3},
        {"sessions": [7]},
        {"goal": {"trials": float("inf"), "keep_views": 0}},
        {"goal": {"trials": "many"}},
        {"goal": []},
        {"specification": []},
        {"specification": specification | {"block_size": 0}},
        {"specification": specification | {"block_size": [1]}},
        {"specification": specification | {"code": [1]}},
        {"specification": specification | {"rounds": 10**40}},
    ):
        rewrite(tmp_path / "run", **(good | changes))
        for read in (lambda folder: merge_folders([folder], tmp_path / "out"), Result.load):
            with pytest.raises(InvalidInput) as refused:
                read(tmp_path / "run")
            assert "\n" not in str(refused.value)


def test_a_small_manifest_cannot_ask_for_much_memory(tmp_path):
    play(tmp_path / "run")
    content = dict(read_manifest(tmp_path / "run").content) | {"block_size": 1}
    rewrite(tmp_path / "run", specification=content, goal={"trials": 10**12, "keep_views": 0})
    with pytest.raises(InvalidInput, match="too many to compare"):
        merge_folders([tmp_path / "run"], tmp_path / "out")


def test_a_loss_beyond_what_the_family_allows_is_refused(tmp_path):
    play(tmp_path / "run")
    manifest = read_manifest(tmp_path / "run")
    (tmp_path / "run" / "blocks.log").unlink()
    with RunStore.open(tmp_path / "run", manifest.content, manifest.goal) as store:
        for b in (0, 1):
            store.append(b, 0, {"losses": np.full(20, 1.001)})  # 5 rounds of 0.2
    with pytest.raises(InvalidInput, match=r"a loss of 1\.001"):
        play(tmp_path / "run")


def test_control_characters_are_written_as_escapes(tmp_path):
    play(tmp_path / "run")
    content = dict(read_manifest(tmp_path / "run").content) | {"\x1b[2J": "\x9b1m\x7f"}
    rewrite(tmp_path / "run", specification=content)
    with pytest.raises(InvalidInput) as refused:
        play(tmp_path / "run")
    assert str(refused.value).isprintable()
    assert r"\x1b[2J" in str(refused.value)
    assert printable("a\u202eb\nc\td é") == "a\\u202eb\nc\td é"


def test_a_new_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new.txt"
    with pytest.raises(TypeError), replacing(path, new=True) as file:
        file.write("text, where bytes are due")
    assert list(tmp_path.iterdir()) == []
    write_new(path, "whole")
    with pytest.raises(InvalidInput, match="exists already"):
        write_new(path, "other")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["whole"]
