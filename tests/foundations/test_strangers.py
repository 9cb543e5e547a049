"""Files that others have written are read to a depth and a size."""

import pytest

from simulator.errors import InvalidInput
from simulator.foundations import strangers


def test_the_depth_and_the_size_that_are_read(tmp_path):
    levels = strangers.DEEPEST
    assert strangers.from_json("[" * levels + "]" * levels, "it")
    with pytest.raises(InvalidInput, match="it: is nested more than 100 levels deep"):
        strangers.from_json("[" * (levels + 1) + "]" * (levels + 1), "it")
    objects = '{"a": [' * (levels // 2) + "%s" + "]}" * (levels // 2)
    assert strangers.from_json(objects % "1, 2", "it")
    with pytest.raises(InvalidInput, match="it: is nested more than 100 levels deep"):
        strangers.from_json(objects % "1, {}", "it")
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert strangers.read_bytes(path, 5) == b"12345"
    with pytest.raises(InvalidInput, match="are read here"):
        strangers.read_bytes(path, 4)
    (tmp_path / "link").symlink_to(path)
    assert strangers.read_text(tmp_path / "link") == "12345"
    with pytest.raises(InvalidInput, match="it is a symbolic link"):
        strangers.read_text(tmp_path / "link", follow=False)


def test_a_file_of_the_kernel_states_no_size(tmp_path):
    with pytest.raises(InvalidInput, match="read"):
        strangers.read_bytes("/proc/self/maps", 10)
