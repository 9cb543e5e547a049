"""A private folder is read only where nobody but its owner can have written it."""

import os

import pytest

from simulator.errors import InvalidInput
from simulator.foundations import private_folder
from simulator.foundations.private_folder import PrivateFolder


def test_reads_what_it_has_written(tmp_path):
    folder = PrivateFolder(tmp_path / "deep" / "folder")
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.read("a", 100) is None
    assert folder.write("a", b"content")
    assert folder.read("a", 100) == b"content"
    assert folder.read("a", 6) is None
    (folder.path / "folder").mkdir()
    assert folder.read("folder", 100) is None


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_what_others_can_write_is_not_used(tmp_path, mode):
    folder = PrivateFolder(tmp_path / "folder")
    folder.write("a", b"content")
    (folder.path / "a").chmod(mode & 0o666)
    assert folder.read("a", 100) is None
    folder.path.chmod(mode)
    with pytest.raises(InvalidInput, match="others can write it"):
        PrivateFolder(tmp_path / "folder")


def test_what_is_of_another_user_is_not_used(tmp_path, monkeypatch):
    folder = PrivateFolder(tmp_path / "folder")
    folder.write("a", b"content")
    monkeypatch.setattr(private_folder.os, "geteuid", lambda: os.getuid() + 1)
    assert folder.read("a", 100) is None
    with pytest.raises(InvalidInput, match="it belongs to user"):
        PrivateFolder(tmp_path / "folder")


def test_links_are_not_followed(tmp_path):
    folder = PrivateFolder(tmp_path / "folder")
    (tmp_path / "outside").write_bytes(b"content")
    (folder.path / "a").symlink_to(tmp_path / "outside")
    assert folder.read("a", 100) is None
    assert not folder.write("a", b"new")
    assert (tmp_path / "outside").read_bytes() == b"content"
    (tmp_path / "link").symlink_to(folder.path)
    with pytest.raises(InvalidInput, match="a link"):
        PrivateFolder(tmp_path / "link")
    with pytest.raises(InvalidInput, match="cannot use"):
        PrivateFolder(tmp_path / "outside")


def test_the_oldest_are_removed(tmp_path):
    folder = PrivateFolder(tmp_path / "folder")
    for age, name in enumerate("abcd"):
        folder.write(name, bytes(10))
        os.utime(folder.path / name, (1000 - age, 1000 - age))
    folder.read("d", 100)  # used now
    folder.trim(25)
    assert sorted(path.name for path in folder.path.iterdir()) == ["a", "d"]
    folder.trim(0)
    assert list(folder.path.iterdir()) == []
