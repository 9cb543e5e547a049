"""Text is written in one step or not at all."""

from __future__ import annotations

import os

import pytest

from simulator.foundations import files
from simulator.foundations.errors import InvalidInput


def test_text_is_written_into_a_new_folder(tmp_path):
    files.write_text(tmp_path / "a" / "b.md", "δ\n")
    assert (tmp_path / "a" / "b.md").read_text(encoding="utf-8") == "δ\n"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.md"]


def test_a_file_in_the_way_is_one_line(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(InvalidInput, match="cannot write"):
        files.write_text(tmp_path / "file" / "b.md", "new")
    with pytest.raises(InvalidInput, match="cannot write into"):
        files.check_writable(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "old"


def test_a_folder_that_can_be_written_is_left_empty(tmp_path):
    files.check_writable(tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_a_link(tmp_path, there):
    victim = tmp_path / "victim"
    if there:
        victim.write_text("old")
    (tmp_path / "link").symlink_to(victim)
    writers = {
        "text": lambda: files.write_text(tmp_path / "link", "new"),
        "bytes": lambda: files.write_bytes(tmp_path / "link", b"new"),
        "json": lambda: files.write_json(tmp_path / "link", {}),
        "new": lambda: files.write_new(tmp_path / "link", "new"),
    }
    for name, write in writers.items():
        with pytest.raises(InvalidInput, match=r"it is a symbolic link|exists already"):
            write()
        assert victim.exists() == there, name
    assert not there or victim.read_text() == "old"


def test_a_pipe_or_a_device_is_no_file_to_replace(tmp_path):
    """A rename would put a file in its place, and /dev/null would be a file from then on."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match=r"cannot write .*a device or a pipe"):
        files.write_text(tmp_path / "pipe", "new")
    assert (tmp_path / "pipe").is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
