"""Bins as compressed bytes.

Keys are written as differences. Of each column the lowest bytes of all numbers come first, then the
next ones, so that the high bytes, which vary little, compress well.
"""

from __future__ import annotations

import zlib
from typing import Any, TypeVar

import numpy as np

from simulator.engine.outcomes.bins import LossBins
from simulator.engine.outcomes.weighted_bins import WeightedBins
from simulator.foundations.errors import InvalidInput

AnyBins = TypeVar("AnyBins", LossBins, WeightedBins)

_COLUMNS = (np.int32, np.int64, np.int64, np.float64, np.float64)
_WEIGHTED = (np.int32,) * 2 + (np.int64,) * 3 + (np.float64,) * 4
_MOST_BINS = 1 << 23
_SIZE = 8


def packed(bins: LossBins | WeightedBins) -> np.ndarray:
    """The bins as uint8, shape (bytes,)."""
    columns = list(bins.arrays().values())
    columns[0] = np.diff(columns[0], prepend=np.int32(0))
    start = columns[0].size.to_bytes(_SIZE, "little")
    if isinstance(bins, WeightedBins):
        start += bins.level.to_bytes(1, "little")
        columns[1] = np.diff(columns[1], prepend=np.int32(0))
    pieces = []
    for column in columns:
        little = np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<"))
        rows = little.view(np.uint8).reshape(column.size, little.itemsize)
        pieces.append(rows.T.tobytes())
    return np.frombuffer(start + zlib.compress(b"".join(pieces), 1), dtype=np.uint8)


def unpacked(array: np.ndarray) -> LossBins:
    """Inverse of ``packed``; raises InvalidInput for other bytes."""
    data, many = _opened(array, _SIZE)
    columns = _columns(data[_SIZE:], many, _COLUMNS)
    columns[0] = np.cumsum(columns[0], dtype=np.int32)
    return _checked(LossBins(*columns))


def unpacked_weighted(array: np.ndarray) -> WeightedBins:
    """Inverse of ``packed`` for weighted losses; raises InvalidInput likewise."""
    data, many = _opened(array, _SIZE + 1)
    columns = _columns(data[_SIZE + 1 :], many, _WEIGHTED)
    columns[:2] = [np.cumsum(column, dtype=np.int32) for column in columns[:2]]
    return _checked(WeightedBins.of_columns(columns, data[_SIZE]))


def _opened(array: np.ndarray, least: int) -> tuple[bytes, int]:
    if array.dtype != np.uint8 or array.ndim != 1:
        raise InvalidInput(f"bins of type {array.dtype} and shape {array.shape}")
    data = array.tobytes()
    many = int.from_bytes(data[:_SIZE], "little")
    if len(data) < least or many > _MOST_BINS:
        raise InvalidInput("bins that cannot be read")
    return data, many


def _columns(data: bytes, many: int, kinds: tuple[type, ...]) -> list[Any]:
    width = sum(np.dtype(kind).itemsize for kind in kinds)
    try:
        raw = zlib.decompressobj().decompress(data, many * width + 1)
    except zlib.error:
        raw = b""
    if len(raw) != many * width:
        raise InvalidInput("bins that cannot be read")
    columns: list[Any] = []
    at = 0
    for kind in kinds:
        little = np.dtype(kind).newbyteorder("<")
        stop = at + many * little.itemsize
        flat = np.frombuffer(raw[at:stop], dtype=np.uint8).reshape(little.itemsize, many)
        columns.append(np.ascontiguousarray(flat.T).view(little).reshape(many).astype(kind))
        at = stop
    return columns


def _checked(bins: AnyBins) -> AnyBins:
    if problem := bins.problem():
        raise InvalidInput(problem)
    return bins
