"""Parts of a run, made once for a file, and the order that nothing be played."""

import pytest

import simulator.runner.worker
from tests.helpers.part_runs import play, play_part


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

    monkeypatch.setattr(simulator.runner.worker, "play_block", play_block)
