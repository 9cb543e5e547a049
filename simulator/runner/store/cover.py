"""A set of blocks, kept as a few disjoint stretches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator


class Cover:
    """A set of whole numbers, at least 0, kept as sorted disjoint stretches [start, stop)."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._stops: list[int] = []

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(list(zip(self._starts, self._stops)))

    def __contains__(self, number: int) -> bool:
        return self.meets(number, number + 1)

    def meets(self, start: int, stop: int) -> bool:
        """Whether any number of [start, stop) is covered."""
        place = bisect_left(self._starts, stop)
        return place > 0 and self._stops[place - 1] > start

    def add(self, start: int, stop: int) -> None:
        """Add [start, stop)."""
        first = bisect_left(self._stops, start)
        last = bisect_right(self._starts, stop)
        if first < last:
            start, stop = min(start, self._starts[first]), max(stop, self._stops[last - 1])
        self._starts[first:last], self._stops[first:last] = [start], [stop]

    def remove(self, start: int, stop: int) -> None:
        """Remove [start, stop)."""
        first = bisect_right(self._stops, start)
        last = bisect_left(self._starts, stop)
        left = [
            (a, b)
            for low, high in list(zip(self._starts, self._stops))[first:last]
            for a, b in ((low, min(high, start)), (max(low, stop), high))
            if a < b
        ]
        self._starts[first:last] = [a for a, _ in left]
        self._stops[first:last] = [b for _, b in left]

    def missing(self, stop: int) -> Iterator[tuple[int, int]]:
        """The stretches of [0, stop) that are not covered."""
        at = 0
        for start, end in self:
            if at < min(start, stop):
                yield at, min(start, stop)
            at = max(at, end)
        if at < stop:
            yield at, stop
