"""Digests of multisets of plain records, as sums: a step to a neighbour changes two terms."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from hashlib import blake2b
from itertools import chain, islice
from typing import Any

import numpy as np

_WRITTEN = frozenset({int, float, bool, str, bytes, type(None)})
"""Types whose texts are different for different values, and alike in every process."""
MODULUS = 1 << 512
_AT_ONCE = 1 << 10
"""Records whose digests are summed together: they stay in the cache."""


def total(counts: Mapping[Hashable, int]) -> int | None:
    """Return the sum of the digests of all records with their counts.

    None where a record is neither a number, a text, None nor a tuple of them.
    """
    if not _are_written(counts):
        return None
    found, rest = np.zeros(16, dtype=np.uint64), iter(counts.items())
    try:
        while digests := b"".join(
            [
                blake2b(f"({record!r}, {count!r})".encode()).digest()
                for record, count in islice(rest, _AT_ONCE)
            ]
        ):
            found += np.frombuffer(digests, "<u4").reshape(-1, 16).sum(axis=0, dtype=np.uint64)
    except ValueError:  # very many digits, or half of a surrogate pair
        return None
    return sum(word << 32 * place for place, word in enumerate(found.tolist())) % MODULUS


def term(pair: tuple[Hashable, int]) -> int:
    """Return the digest of a record and its count."""
    return int.from_bytes(blake2b(repr(pair).encode()).digest(), "little")


def moved(before: int, record: Hashable, counts: tuple[int, int]) -> int | None:
    """Return a total after the count of one record has changed; None as in :func:`total`."""
    if not _are_written((record,)):
        return None
    try:
        old, new = (term((record, count)) if count else 0 for count in counts)
    except ValueError:
        return None
    return (before - old + new) % MODULUS


def _are_written(records: Any) -> bool:
    kinds = set(map(type, records))
    if tuple not in kinds:
        return kinds <= _WRITTEN
    tuples = [each for each in records if type(each) is tuple]
    return kinds - {tuple} <= _WRITTEN and set(map(type, chain.from_iterable(tuples))) <= _WRITTEN
