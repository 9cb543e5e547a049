"""Add up records of a log: which records form a group, and the log of the sums.

Only complete aligned stretches are added up, two of equal length at a time, so that a log of many
blocks has one or two records per power of two. Block 0 keeps a record of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from numpy.typing import NDArray

from simulator.runner.store.log import Block, Location, decode, encode, opening

Arrays = Mapping[str, NDArray[Any]]
"""The arrays of a record, by name."""

Combine = Callable[[Iterator[Block]], Arrays]
"""Adds up the arrays of records that cover an aligned stretch, in their order."""


def stretches(records: list[Location]) -> list[list[Location]]:
    """Group the records of one experiment, in order: complete aligned stretches, or single ones.

    Neighbours of one size make a stretch of twice that size, as in a binary counter.
    """
    groups: list[tuple[Location, int, list[Location]]] = []
    for each in records:
        groups.append((each, each.blocks, [each]))
        while len(groups) > 1:
            (first, size, left), (second, other, right) = groups[-2:]
            aligned = first.block > 0 and first.block % (2 * size) == 0
            adjacent = first.block + size == second.block and size == other
            if not (aligned and adjacent and first.adds and second.adds):
                break
            groups[-2:] = [(first, 2 * size, left + right)]
    return [group for _, _, group in groups]


def write_all(log: BinaryIO, data: bytes) -> int:
    """Write all bytes, also if the system writes fewer at a time, and return their number."""
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[log.write(remaining) :]
    return len(data)


def write_groups(
    log: BinaryIO,
    run: str,
    groups: Sequence[Sequence[Location]],
    bytes_of: Callable[[Location], bytes],
    combine: Combine,
) -> list[Location]:
    """Write the log of a run, every group of records as one; return their locations."""
    placed = []
    at = write_all(log, opening(run))
    for group in groups:
        first, blocks = group[0], sum(each.blocks for each in group)
        record = bytes_of(first)
        if len(group) > 1:
            arrays = combine(decode(run, bytes_of(each)) for each in group)
            whole = Block(first.experiment, first.block, arrays, {}, blocks=blocks, adds=True)
            record = encode(run, whole)
        stop = at + write_all(log, record)
        placed.append(
            Location(at, stop, first.experiment, first.block, blocks=blocks, adds=first.adds)
        )
        at = stop
    return placed
