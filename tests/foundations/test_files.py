"""The places where an output may be written."""

import os

import pytest

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import require_target


def test_an_output_has_the_name_of_a_regular_file_or_of_none(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    require_target(tmp_path / "file")
    require_target(tmp_path / "new")
    for name, why in (("link", "symbolic link"), ("", "a folder"), ("pipe", "a device or a pipe")):
        path = tmp_path / name
        with pytest.raises(InvalidInput, match=f"^cannot write {path}: it is .*{why}"):
            require_target(path)
