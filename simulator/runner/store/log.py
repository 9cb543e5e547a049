"""The format of ``blocks.log``: records with checksums and the identity of their run.

The file begins with one line of text with the identity of the run. Each record has a frame (a mark,
the length of the content, its CRC-32, and the CRC-32 of the frame itself) and its content: a line
of JSON with the run, the block, and the types and shapes of its arrays, and then the bytes of the
arrays. One record may hold the sum of an aligned stretch of blocks. After damage a reader continues
at the next valid frame, so one damaged record loses no other. The content of a record is checked
before it is used, and an array never takes more memory than its bytes in the file.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import canonical_json

LOG_NAME = "blocks.log"

_OPENING = b"dpcompose block log 2 "
OPENING_SIZE = len(_OPENING) + 64 + 1
_MARK = b"\x00BLK"
_FRAME = struct.Struct("<4sQI")
_CHECK = struct.Struct("<I")
FRAME_SIZE = _FRAME.size + _CHECK.size
_RUN_DIGITS = 32

_TYPES = {
    np.dtype(code).newbyteorder("<").str: np.dtype(code).newbyteorder("<")
    for code in "?bBhHiIqQefd"
}
"""The types of arrays in a record: numbers, little-endian, by numpy's name of the type."""

_PATIENCE = 8
"""A scan checks at most so many times the bytes that a file has on disk."""


def opening(run: str) -> bytes:
    """Return the first line of the log of the run with identity ``run``."""
    return _OPENING + run.encode() + b"\n"


@dataclass(frozen=True)
class Block:
    """The arrays of one block of one experiment, or of an aligned stretch of blocks.

    A stretch has ``blocks`` blocks from number ``block`` on; ``blocks`` is a power of two that
    divides ``block``. Of two stretches one contains the other, or they are disjoint.
    ``adds`` says whether the arrays may be added to those of other blocks.
    """

    experiment: int
    block: int
    arrays: Mapping[str, NDArray[Any]]
    meta: Mapping[str, Any]
    _: KW_ONLY
    blocks: int = 1
    adds: bool = False


@dataclass(frozen=True)
class Location:
    """The place of a record, in bytes from the start of the file, and the blocks that it has."""

    start: int
    stop: int
    experiment: int
    block: int
    _: KW_ONLY
    blocks: int = 1
    adds: bool = False


@dataclass(frozen=True)
class Scan:
    """The records of a file, the gaps between them, and the end of the last record."""

    found: tuple[Location, ...]
    gaps: tuple[tuple[int, int], ...]
    end: int


def encode(run: str, block: Block) -> bytes:
    """Return one record. Raises InvalidInput for arrays of objects, or meta that is not JSON."""
    arrays = {name: _storable(name, array) for name, array in block.arrays.items()}
    heading = {
        "run": run[:_RUN_DIGITS],
        "experiment": block.experiment,
        "block": block.block,
        "arrays": [[name, each.dtype.str, list(each.shape)] for name, each in arrays.items()],
        "meta": dict(block.meta),
    }
    if block.adds:
        heading["adds"] = block.blocks
    line = canonical_json(heading, "the block's meta").encode() + b"\n"
    body = line + b"".join(each.tobytes() for each in arrays.values())
    frame = _FRAME.pack(_MARK, len(body), zlib.crc32(body))
    return frame + _CHECK.pack(zlib.crc32(frame)) + body


def _storable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    given = np.asarray(array)
    little = given.dtype.newbyteorder("<")
    if little.str not in _TYPES:
        held = "objects" if given.dtype.hasobject else str(given.dtype)
        raise InvalidInput(f"array {name!r} holds {held}; store numbers only")
    return np.ascontiguousarray(given, dtype=little).reshape(given.shape)


def decode(run: str, record: bytes) -> Block:
    """Return the block in a record that :func:`scan` has found.

    Raises :class:`InvalidInput` for a record of another run, or one that :func:`encode` cannot have
    written.
    """
    line, heading = _heading(run, memoryview(record)[FRAME_SIZE:])
    at = FRAME_SIZE + line
    arrays: dict[str, NDArray[Any]] = {}
    for name, dtype, shape in heading["arrays"]:
        size = math.prod(shape)
        arrays[name] = np.frombuffer(record, dtype, size, at).reshape(shape).copy()
        at += size * dtype.itemsize
    return Block(
        heading["experiment"], heading["block"], arrays, heading["meta"],
        blocks=heading.get("adds", 1), adds="adds" in heading,
    )  # fmt: skip


Written = Callable[[int], tuple[int, int] | None]
"""The next stretch of a file, at or after a place, that is not a hole; None after the last one."""


def scan(data: Any, run: str, written: Written | None = None, size: int | None = None) -> Scan:
    """Find every complete record in ``data`` (bytes, or a memory map).

    ``run`` is the identity of the run, ``written`` lists what is not a hole, and ``size`` is the
    number of bytes of that. Takes a time linear in the size of the file, or in ``size`` where no
    record states more. Raises
    :class:`InvalidInput` for the log of another run, for a record that :func:`encode` cannot have
    written, and for a file that is no block log.
    """
    begins = bytes(data[:OPENING_SIZE])
    whole = begins.startswith(_OPENING) and len(begins) == OPENING_SIZE and begins[-1:] == b"\n"
    with memoryview(data) as view:
        marks = partial(_next_mark, data, written or partial(_to_the_end, len(data)))
        patience = max(len(data), _PATIENCE * (len(data) if size is None else size))
        found = tuple(_records(marks, view, run, patience))
    if whole and begins != opening(run) and not found:
        raise InvalidInput("the log of another run; name another folder")
    if not found and not whole and not opening(run).startswith(begins):
        raise InvalidInput("not a block log of this version; move it away or name another folder")
    start = OPENING_SIZE if begins == opening(run) else 0
    edges = [start, *(edge for each in found for edge in (each.start, each.stop)), len(data)]
    gaps = tuple((a, b) for a, b in zip(edges[::2], edges[1::2]) if a < b)
    return Scan(found, gaps, edges[-2])


def _to_the_end(size: int, place: int) -> tuple[int, int] | None:
    """The one stretch of a file without holes."""
    return (place, size) if place < size else None


def _next_mark(data: Any, written: Written, position: int) -> int:
    """The place of the next mark at or after a position, or -1. Its first byte may be a hole's."""
    while (stretch := written(position)) is not None:
        start, stop = stretch
        found: int = data.find(_MARK, max(position, start - 1), stop + len(_MARK) - 1)
        if found >= 0:
            return found
        position = max(stop, position + 1)
    return -1


def _records(
    marks: Callable[[int], int], view: memoryview, run: str, patience: int
) -> Iterator[Location]:
    position, checked = 0, 0
    while (start := marks(position)) >= 0:
        if checked > patience:
            raise InvalidInput("damaged beyond repair; move it away or name another folder")
        position = start + 1
        frame = bytes(view[start : start + FRAME_SIZE])
        if len(frame) < FRAME_SIZE or _CHECK.unpack_from(frame, _FRAME.size) != (
            zlib.crc32(frame[: _FRAME.size]),
        ):
            continue
        _, length, check = _FRAME.unpack_from(frame)
        stop = start + FRAME_SIZE + length
        if stop > len(view):
            continue
        checked += length
        with view[start + FRAME_SIZE : stop] as body:
            if zlib.crc32(body) != check:
                continue
            try:
                _, heading = _heading(run, body)
            except InvalidInput as error:
                raise InvalidInput(f"not readable: its record at byte {start} {error}") from None
        position = stop
        yield Location(
            start, stop, heading["experiment"], heading["block"],
            blocks=heading.get("adds", 1), adds="adds" in heading,
        )  # fmt: skip


def _heading(run: str, body: memoryview) -> tuple[int, dict[str, Any]]:
    """The length of a record's line of JSON, and its content, checked against the bytes."""
    try:
        line = bytes(body[: _line_length(body)])
        heading = json.loads(line)
        whose = heading["run"]
        blocks = heading.get("adds", 1)
        numbers = [heading["experiment"], heading["block"], blocks]
        arrays = [
            (str(name), _TYPES[code], tuple(shape)) for name, code, shape in heading["arrays"]
        ]
        numbers += [extent for _, _, shape in arrays for extent in shape]
        sound = (
            isinstance(heading["meta"], dict)
            and isinstance(whose, str)
            and all(type(number) is int and 0 <= number < 2**63 for number in numbers)
            and blocks > 0 and not blocks & (blocks - 1) and heading["block"] % blocks == 0
            and len({name for name, _, _ in arrays}) == len(arrays)
            and all(len(shape) <= 8 and math.prod(e or 1 for e in shape) < 2**60
                    for _, _, shape in arrays)
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, MemoryError):
        sound = False
    if not sound:
        raise InvalidInput("was not written by this program; name another folder")
    if whose != run[:_RUN_DIGITS]:
        raise InvalidInput("belongs to another run; name another folder")
    size = sum(math.prod(shape) * dtype.itemsize for _, dtype, shape in arrays)
    if len(line) + size != len(body):
        raise InvalidInput("has another size than it states; name another folder")
    return len(line), heading | {"arrays": arrays}


def _line_length(body: memoryview) -> int:
    """The number of bytes of the first line, with its end."""
    step = 1 << 12
    for start in range(0, len(body), step):
        place = bytes(body[start : start + step]).find(b"\n")
        if place >= 0:
            return start + place + 1
    raise ValueError("no line")
