"""A merged folder is made by one process at a time, and read back before it gets its name."""

import os
from pathlib import Path

import pytest

from simulator.errors import InvalidInput
from simulator.runner.store import assembly
from simulator.runner.store.assembly import assemble
from simulator.runner.store.locking import locked
from simulator.runner.store.log import Block, encode
from simulator.runner.store.manifest import Manifest

MANIFEST = Manifest.of({"name": "test"}, {"trials": 1})


def records(count=3):
    return [encode(MANIFEST.identity, Block(0, i, {"losses": [1.0 * i]}, {})) for i in range(count)]


def test_while_another_process_makes_the_folder_nothing_of_it_is_touched(tmp_path):
    whole = tmp_path / "whole"
    begun = tmp_path / f".whole.{os.getpid() + 1}"
    begun.mkdir()  # by the other one, which has no log yet
    with locked(tmp_path / ".whole.lock"):
        with pytest.raises(InvalidInput, match="another process is making"):
            assemble(whole, MANIFEST, records())
        assert begun.is_dir()
    assert len(assemble(whole, MANIFEST, records())) == 1  # it was killed
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]


def test_two_at_once_make_one_folder(tmp_path):
    whole = tmp_path / "whole"

    def with_a_rival():
        yield from records(1)
        with pytest.raises(InvalidInput, match="another process is making"):
            assemble(whole, MANIFEST, records())
        yield from records(3)[1:]

    assemble(whole, MANIFEST, with_a_rival())
    assert (whole / "blocks.log").read_bytes().count(b"\x00BLK") == 3


def test_what_was_not_written_whole_is_not_given_its_name(tmp_path, monkeypatch):
    def losing(log, data):
        return log.write(data[: len(data) // 2] if data.startswith(b"\x00BLK") else data)

    monkeypatch.setattr(assembly, "write_all", losing)
    with pytest.raises(InvalidInput, match="not written completely"):
        assemble(tmp_path / "whole", MANIFEST, records())
    assert list(Path(tmp_path).iterdir()) == []
