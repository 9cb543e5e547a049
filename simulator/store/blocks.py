"""The format of ``blocks.log``: records that prove themselves whole.

The file opens with one line of text. Each record is a frame (a mark, the length of what follows,
its CRC-32, and the CRC-32 of the frame itself) and then its content: a line of JSON with the
record's numbers, followed by its arrays in numpy's own format. A reader that meets damage looks
for the next frame that proves itself, so one bad record costs no other.
"""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from simulator.errors import InvalidInput
from simulator.store.files import canonical_json

OPENING = b"dpcompose block log 1\n"
_MARK = b"\x00BLK"
_FRAME = struct.Struct("<4sQI")
_CHECK = struct.Struct("<I")
FRAME_SIZE = _FRAME.size + _CHECK.size


@dataclass(frozen=True)
class Block:
    """What one block of one experiment has left behind."""

    experiment: int
    block: int
    arrays: Mapping[str, NDArray[Any]]
    meta: Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """Where a whole record lies, in bytes from the start of the file."""

    start: int
    stop: int
    experiment: int
    block: int


@dataclass(frozen=True)
class Scan:
    """What a file holds: whole records, the gaps between them, and where the last record ends."""

    entries: tuple[Entry, ...]
    gaps: tuple[tuple[int, int], ...]
    end: int


def encode(block: Block) -> bytes:
    """Return one record. :class:`InvalidInput` for object arrays, or meta that JSON cannot hold."""
    heading = {
        "experiment": block.experiment,
        "block": block.block,
        "arrays": list(block.arrays),
        "meta": dict(block.meta),
    }
    content = io.BytesIO()
    content.write(canonical_json(heading, "the block's meta").encode() + b"\n")
    for name, array in block.arrays.items():
        try:
            npy.write_array(content, np.asanyarray(array), allow_pickle=False)
        except ValueError:
            raise InvalidInput(f"array {name!r} holds objects; store numbers only") from None
    body = content.getvalue()
    frame = _FRAME.pack(_MARK, len(body), zlib.crc32(body))
    return frame + _CHECK.pack(zlib.crc32(frame)) + body


def decode(record: bytes) -> Block:
    """Return the block in a record that :func:`scan` has found whole."""
    content = io.BytesIO(record[FRAME_SIZE:])
    heading = json.loads(content.readline())
    arrays = {name: npy.read_array(content, allow_pickle=False) for name in heading["arrays"]}
    return Block(heading["experiment"], heading["block"], arrays, heading["meta"])


def scan(data: Any) -> Scan:
    """Find every whole record in ``data`` (bytes, or a memory map), whatever lies between them.

    Raises :class:`InvalidInput` when neither the opening nor a single record is one of ours: then
    it is somebody else's file, and not for us to mend.
    """
    entries = list(_records(data))
    opening = bytes(data[: len(OPENING)])
    if not entries and not OPENING.startswith(opening):
        raise InvalidInput("not a block log of this version; move it away or name another folder")
    start = len(OPENING) if opening == OPENING else 0
    edges = [start, *(edge for entry in entries for edge in (entry.start, entry.stop)), len(data)]
    gaps = tuple((a, b) for a, b in zip(edges[::2], edges[1::2]) if a < b)
    return Scan(tuple(entries), gaps, edges[-2])


def _records(data: Any) -> Iterator[Entry]:
    position = 0
    while (start := data.find(_MARK, position)) >= 0:
        entry = _whole(data, start)
        if entry is not None:
            yield entry
        position = start + 1 if entry is None else entry.stop


def _whole(data: Any, start: int) -> Entry | None:
    """Return the record that starts here if its frame and its content prove themselves."""
    frame = bytes(data[start : start + FRAME_SIZE])
    if len(frame) < FRAME_SIZE or _CHECK.unpack_from(frame, _FRAME.size) != (
        zlib.crc32(frame[: _FRAME.size]),
    ):
        return None
    _, length, check = _FRAME.unpack_from(frame)
    stop = start + FRAME_SIZE + length
    body = data[start + FRAME_SIZE : stop]
    if stop > len(data) or zlib.crc32(body) != check:
        return None
    heading = json.loads(body[: body.index(b"\n")])
    return Entry(start, stop, heading["experiment"], heading["block"])
