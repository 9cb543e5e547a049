"""A cache in a folder: it never raises, never hands over half a file, and trusts nobody else's."""

import os
import stat

import pytest

from simulator.foundations.cache_files import Cache, user_folder


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def only_file(cache):
    (path,) = cache.folder.iterdir()
    return path


def test_what_is_written_is_read(cache):
    assert cache.read("a") is None
    assert cache.write("a", b"content")
    assert cache.read("a") == b"content"
    assert cache.write("a", b"")
    assert cache.read("a") == b""
    assert cache.read("b") is None


def test_only_this_user_can_write_or_read_it(cache):
    before = os.umask(0)
    try:
        cache.write("a", b"content")
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(cache).stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_can_write_is_neither_read_nor_written(cache, mode):
    cache.write("a", b"content")
    cache.folder.chmod(mode)
    assert cache.read("a") is None
    assert not cache.write("b", b"content")
    cache.folder.chmod(0o700)
    assert cache.read("a") == b"content"


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_is_not_read(cache, mode):
    cache.write("a", b"content")
    only_file(cache).chmod(mode)
    assert cache.read("a") is None


def test_what_is_somebody_elses_is_not_read(cache, monkeypatch):
    cache.write("a", b"content")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert cache.read("a") is None
    assert not cache.write("a", b"other")


def test_no_symbolic_link_is_followed_to_a_file_or_to_the_folder(cache, tmp_path):
    cache.write("a", b"content")
    linked = Cache(tmp_path / "link")
    linked.folder.symlink_to(cache.folder)
    assert linked.read("a") is None
    path = only_file(cache)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert cache.read("a") is None


def test_a_damaged_truncated_or_renamed_file_is_a_miss(cache):
    cache.write("a", b"content")
    path = only_file(cache)
    whole = path.read_bytes()
    for broken in (b"", whole[:-1], whole[:20], whole + b"x", whole[:-1] + b"T", b"x" + whole[1:]):
        path.write_bytes(broken)
        assert cache.read("a") is None
    path.write_bytes(whole)
    assert cache.read("a") == b"content"
    path.rename(path.with_name("b.bin"))
    assert cache.read("b") is None


def test_a_folder_that_cannot_be_made_is_a_miss(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "cache"):
        cache = Cache(folder)
        assert not cache.write("a", b"content")
        assert cache.read("a") is None


def test_a_full_disk_leaves_nothing_behind(cache, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    cache.write("a", b"content")
    monkeypatch.setattr(os, "replace", full)
    assert not cache.write("b", b"content")
    assert [path.name for path in cache.folder.iterdir()] == ["a.bin"]


def test_what_was_used_longest_ago_goes_first(tmp_path):
    cache = Cache(tmp_path / "cache", most_bytes=3 * 132)
    for age, name in enumerate("abc"):
        cache.write(name, b"x" * 100)
        os.utime(cache.folder / f"{name}.bin", (1000 + age, 1000 + age))
    assert cache.read("a") is not None  # used now: b is the oldest
    cache.write("d", b"x" * 100)
    assert sorted(path.name for path in cache.folder.iterdir()) == ["a.bin", "c.bin", "d.bin"]


def test_what_a_killed_writer_left_is_removed_in_time(cache):
    cache.write("a", b"content")
    old, new = cache.folder / "b.1.part", cache.folder / "c.2.part"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1000, 1000))
    other = cache.folder / "notes.txt"
    other.write_text("not of this cache")
    cache.write("d", b"content")
    assert not old.exists()
    assert new.exists()
    assert other.exists()


def test_the_folder_is_found_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("DPCOMPOSE_CACHE", raising=False)
    assert user_folder() == tmp_path / ".cache" / "dpcompose"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert user_folder() == tmp_path / ".cache" / "dpcompose"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert user_folder() == tmp_path / "xdg" / "dpcompose"
    monkeypatch.setenv("DPCOMPOSE_CACHE", str(tmp_path / "own"))
    assert user_folder() == tmp_path / "own"
    monkeypatch.setenv("DPCOMPOSE_CACHE", "OFF")
    assert user_folder() is None
    monkeypatch.delenv("DPCOMPOSE_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    assert user_folder() is None
