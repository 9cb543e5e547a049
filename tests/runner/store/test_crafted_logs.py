"""A record that somebody has made by hand gives one line, whatever it holds."""

import json
import struct
import time
import zlib

import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput
from simulator.runner.store import RunStore, specification_id
from simulator.runner.store.log import OPENING_SIZE, Block, encode, opening, scan

SPECIFICATION = {"rounds": 1}
RUN = specification_id(SPECIFICATION)
GOOD = {"run": RUN[:32], "experiment": 0, "block": 0, "arrays": [], "meta": {}}


def framed(body, length=None):
    frame = struct.pack(
        "<4sQI", b"\x00BLK", len(body) if length is None else length, zlib.crc32(body)
    )
    return frame + struct.pack("<I", zlib.crc32(frame)) + body


def heading(**others):
    return json.dumps(GOOD | others).encode() + b"\n"


def put(folder, content):
    RunStore.open(folder, SPECIFICATION).close()
    (folder / "blocks.log").write_bytes(content)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"\n", b"no json\n", b"[]\n", b"null\n", b"[" * 100_000 + b"\n", b"\xff\xfe\n",
        b'{"run": ' + b"9" * 5000 + b"}\n", json.dumps(GOOD).encode(),
        heading(experiment="0"), heading(experiment=True), heading(block=-1), heading(block=2**70),
        heading(meta=[]), heading(run=7), heading(run="0" * 32), heading(arrays=[["losses"]]),
        heading(arrays=[["losses", "|O", [1]]]) + b"12345678",
        heading(arrays=[["losses", "<f8", [2**62]]]), heading(arrays=[["losses", "<f8", [-1]]]),
        heading(arrays=[["losses", "<f8", [0, 2**62]]]), heading(arrays=[["a", "<f8", [1.0]]]),
        heading(arrays=[["losses", "<f8", [2]]]) + b"12345678",
        heading(arrays=[["losses", "<f8", [1] * 100]]) + b"12345678",
        heading(arrays=[["a", "<f8", [1]], ["a", "<f8", [1]]]) + b"1234567812345678",
        heading() + b"more",
    ],
)  # fmt: skip
def test_a_crafted_record_is_one_line_and_changes_nothing(tmp_path, body):
    put(tmp_path, opening(RUN) + framed(body))
    before = (tmp_path / "blocks.log").read_bytes()
    for attempt in (
        lambda: RunStore.open(tmp_path, SPECIFICATION),
        lambda: RunStore.load(tmp_path),
    ):
        with pytest.raises(InvalidInput, match="name another folder") as refusal:
            attempt()
        assert "\n" not in str(refusal.value)
    assert (tmp_path / "blocks.log").read_bytes() == before


def test_a_log_of_another_run_is_refused_with_records_and_without(tmp_path):
    for blocks in (0, 1):
        here, there = tmp_path / f"here{blocks}", tmp_path / f"there{blocks}"
        with RunStore.open(there, {"rounds": 2}) as store:
            for block in range(blocks):
                store.append(0, block, {"losses": np.zeros(3)})
        put(here, (there / "blocks.log").read_bytes())
        with pytest.raises(InvalidInput, match="another run"):
            RunStore.open(here, SPECIFICATION)


def test_a_log_of_another_format_is_refused_in_one_line(tmp_path):
    put(tmp_path, b"dpcompose block log 1\n" + b"\x00" * 100)
    with pytest.raises(InvalidInput, match="not a block log of this version"):
        RunStore.open(tmp_path, SPECIFICATION)


def test_a_scan_takes_a_time_linear_in_the_size_of_the_file(tmp_path):
    frame = struct.Struct("<4sQI")
    count = 100_000
    frames = []
    for place in range(count):  # each frame proves itself, and claims all that follows
        head = frame.pack(b"\x00BLK", (count - place - 1) * 20, 1)
        frames.append(head + struct.pack("<I", zlib.crc32(head)))
    put(tmp_path, opening(RUN) + b"".join(frames))
    start = time.process_time()
    with pytest.raises(InvalidInput, match="damaged beyond repair"):
        RunStore.open(tmp_path, SPECIFICATION)
    assert time.process_time() - start < 2.0  # all of it checked for each takes minutes


def test_a_scan_leaves_holes_out(tmp_path):
    """A record behind 40 GB of them is found; to search these would take minutes."""
    with RunStore.open(tmp_path, SPECIFICATION) as store:
        store.append(0, 0, {"losses": np.zeros(3)})
    log = tmp_path / "blocks.log"
    whole = log.read_bytes()
    record, hole = whole[OPENING_SIZE:], 40 << 30
    frame = struct.pack("<4sQI", b"\x00BLK", 1 << 20, 1)
    frame += struct.pack("<I", zlib.crc32(frame))
    with log.open("r+b") as file:
        file.write(whole + frame)
        file.seek(hole)
        file.write(record)
        file.truncate(hole + len(record) + (1 << 30))
    with RunStore.load(tmp_path) as store:
        assert store.done() == {(0, 0)}
        assert "dropped" in store.dropped
        assert len(store.locations()) == 1


def test_the_bytes_of_holes_are_not_searched():
    class Counted(bytes):
        searched = 0

        def find(self, mark, start, stop):
            Counted.searched += stop - start
            return super().find(mark, start, stop)

    record = encode(RUN, Block(0, 0, {"losses": np.zeros(3)}, {}))
    begun, hole = len(opening(RUN)), 1 << 20
    data = Counted(opening(RUN) + bytes(hole) + record)
    stretches = [(0, begun), (begun + hole + 1, len(data))]  # the mark's first byte is a hole's

    def written(place):
        left = [(max(start, place), stop) for start, stop in stretches if place < stop]
        return left[0] if left else None

    found = scan(data, RUN, written, len(data) - hole)
    assert found.found == scan(bytes(data), RUN).found
    assert len(found.found) == 1
    assert Counted.searched < 2 * (begun + len(record))


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe", b"[" * 100_000, b'{"id": 1, "specification": 2, "sessions": [3]}', b"[]"],
)
def test_a_specification_that_is_damaged_is_one_line(tmp_path, content):
    (tmp_path / "specification.json").write_bytes(content)
    with pytest.raises(InvalidInput, match="name another folder"):
        RunStore.open(tmp_path, SPECIFICATION)


def test_of_two_records_of_a_block_the_later_counts(tmp_path):
    with RunStore.open(tmp_path, SPECIFICATION, {"trials": 3}) as store:
        store.append(0, 0, {"losses": np.zeros(3)})
    with RunStore.open(tmp_path, SPECIFICATION, {"trials": 5}) as store:
        store.outgrow(0, 0)
        store.append(0, 0, {"losses": np.ones(5)})
    store = RunStore.load(tmp_path)
    assert store.goal() == {"trials": 5}
    assert [len(each.arrays["losses"]) for each in store.read()] == [5]
    with pytest.raises(InvalidInput, match="trials: 5 there, 4 here"):
        RunStore.open(tmp_path, SPECIFICATION, {"trials": 4})
