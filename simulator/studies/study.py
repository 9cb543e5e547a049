"""The results of a study: points to filter, merge, write, and draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import InvalidInput
from simulator.foundations.frames import Tabular
from simulator.studies.points import COLUMNS, Point
from simulator.studies.storing import load_points, write_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Study(Tabular, Sequence[Point]):
    """Points of a study, each about another quantity; an immutable sequence.

    ``study.columns()``, ``to_frame()`` and ``to_csv()`` have one row per point.

    >>> from simulator.studies import Study, collect, grid
    >>> tasks = grid(None, ["pure:0.1", "pure:0.2"], 10, "bound:basic epsilon(delta=1e-6)")
    >>> study = Study(tuple(collect(tasks, jobs=1)))
    >>> len(study), len(study.filter(family="pure:0.1"))
    (2, 1)
    """

    points: tuple[Point, ...]

    @classmethod
    def load(cls, *paths: str | PathLike[str]) -> Study:
        """The points of files; where two files have one quantity of one task, see :meth:`merge`."""
        return cls.merge(*(cls(tuple(load_points(path))) for path in paths))

    @classmethod
    def merge(cls, *studies: Study) -> Study:
        """All points; of two about one quantity the one that is done, or has more trials.

        Raises InvalidInput for two points with as many trials and other numbers.
        """
        kept: dict[tuple[str, str, int], Point] = {}
        for point in (point for study in studies for point in study):
            before = kept.get(point.key)
            if before is None or _rank(point) > _rank(before):
                kept[point.key] = point
            elif _rank(point) == _rank(before) and not point.same_numbers(before):
                raise InvalidInput(
                    f"two studies have other numbers for {point.quantity} of {point.adversary} "
                    f"(task {point.task}): of {before.program}, and of {point.program}"
                )
        return cls(tuple(kept.values()))

    def filter(self, wanted: Callable[[Point], bool] | None = None, **fields: Any) -> Study:
        """The points with these fields, as ``adversary="random-pair"``, that ``wanted`` accepts.

        Raises InvalidInput for a field that no point has.
        """
        if unknown := set(fields) - set(COLUMNS):
            raise InvalidInput(f"no field {min(unknown)!r}; there are {', '.join(COLUMNS)}")
        return Study(
            tuple(
                point
                for point in self.points
                if all(getattr(point, name) == value for name, value in fields.items())
                and (wanted is None or wanted(point))
            )
        )

    def columns(self) -> dict[str, NDArray[Any]]:
        """Arrays of shape (points,) by name."""
        return {name: np.array([getattr(p, name) for p in self.points]) for name in COLUMNS}

    def plot(
        self, x: str = "rounds", y: str = "epsilon", hue: str = "adversary", **how: Any
    ) -> Figure:
        """A matplotlib figure of a quantity along ``x``; see :func:`picture` for the parameters."""
        from simulator.studies.picture import picture  # imports matplotlib

        return picture(self.points, x, y, hue, **how)

    def write(self, path: str | PathLike[str]) -> None:
        """Write a file that :func:`collect` resumes and :meth:`load` reads."""
        write_points(path, self.points)

    @overload
    def __getitem__(self, place: int) -> Point: ...
    @overload
    def __getitem__(self, place: slice) -> Study: ...
    def __getitem__(self, place: int | slice) -> Point | Study:
        if isinstance(place, slice):
            return Study(self.points[place])
        return self.points[place]

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    @staticmethod
    def of(points: Iterable[Point]) -> Study:
        """The last of the points about each quantity, as :func:`collect` yields them."""
        return Study(tuple({point.key: point for point in points}.values()))


def _rank(point: Point) -> tuple[bool, bool, int]:
    return point.stopped != "failed", point.done, point.trials
