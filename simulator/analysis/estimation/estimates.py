"""Estimates at several points: a sequence of them, with their values and ends as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.analysis.estimation.estimate import Estimate
from simulator.engine.outcomes.samples import Floats
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.foundations.frames import Tabular, holds_same
from simulator.foundations.wording import count_of

_SHOWN = ("value", "lower", "upper", "confidence", "method")
"""The columns of the table in a notebook."""


class Estimates(Tabular, Sequence[Estimate]):
    """One estimate for each of several points, in their order; compared and indexed as a sequence.

    The intervals are not simultaneous; a band, such as ``result.delta_band``, is. A refused point
    has no value but trivial ends, and its ``no_guess`` is the reason; if all points are refused an
    error is raised.

    Attributes
    ----------
    at : the name of the points, such as "epsilon".
    points : float64, shape (points,), where the estimates are.
    """

    def __init__(self, at: str, points: ArrayLike, estimates: Sequence[Estimate]) -> None:
        self.at = at
        self.points: Floats = np.asarray(points, dtype=np.float64)
        self._estimates = tuple(estimates)
        if self.points.shape != (len(self._estimates),):
            given = count_of(len(self._estimates), "estimate")
            raise InvalidInput(f"{given} for points of shape {self.points.shape}")

    @property
    def value(self) -> Floats:
        """The values, float64 of shape (points,); NaN where an estimate has none."""
        return np.array([np.nan if e.no_guess else e.value for e in self], dtype=np.float64)

    @property
    def lower(self) -> Floats:
        """The lower ends, float64 of shape (points,)."""
        return np.array([e.lower for e in self], dtype=np.float64)

    @property
    def upper(self) -> Floats:
        """The upper ends, float64 of shape (points,)."""
        return np.array([e.upper for e in self], dtype=np.float64)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The points, the values, the ends of the intervals, their confidence and method."""
        ends: dict[str, NDArray[Any]] = {self.at: self.points}
        ends |= {"value": self.value, "lower": self.lower, "upper": self.upper}
        for name, kind in (("confidence", np.float64), ("method", np.str_)):
            ends[name] = np.array([getattr(e, name) for e in self], dtype=kind)
        return ends

    def __len__(self) -> int:
        return len(self._estimates)

    @overload
    def __getitem__(self, place: int) -> Estimate: ...
    @overload
    def __getitem__(self, place: slice) -> Estimates: ...
    def __getitem__(self, place: int | slice) -> Estimate | Estimates:
        """An estimate, or those of a slice of the points."""
        if isinstance(place, slice):
            return Estimates(self.at, self.points[place], self._estimates[place])
        return self._estimates[place]

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self._estimates)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Estimates)
            and self.at == other.at
            and np.array_equal(self.points, other.points)
            and holds_same(self._estimates, other._estimates)
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "\n".join(f"{self.at} {point:g}: {e}" for point, e in zip(self.points, self))

    def __repr__(self) -> str:
        ends = f" from {self.points.min():g} to {self.points.max():g}" if len(self) else ""
        return f"<{count_of(len(self), 'estimate')}, {self.at}{ends}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in (self.at, *_SHOWN))
        rows = "".join(
            f"<tr><td>{point:g}</td>"
            + "".join(f"<td>{_shown(e, name)}</td>" for name in _SHOWN)
            + "</tr>"
            for point, e in zip(self.points, self)
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def at_points(
    name: str,
    points: ArrayLike,
    estimate: Callable[[float], Estimate],
    ends: tuple[float, float],
    confidence: float,
) -> Any:
    """The estimate at one point, or the Estimates at several.

    A refused point among several has ``ends`` and the reason. Raises InvalidInput unless the points
    are numbers of shape (points,), and Refusal if all of them are refused.
    """
    if _is_scalar(points):
        return estimate(points)  # type: ignore[arg-type]
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise InvalidInput(f"{name} must be a number or a list of numbers, not {points!r:.80}")
    found: list[Estimate] = []
    refusals: list[Refusal] = []
    for point in array:
        try:
            found.append(estimate(float(point)))
        except Refusal as refusal:
            refusals.append(refusal)
            found.append(Estimate.refused(str(refusal), ends, float(confidence)))
    if refusals and len(refusals) == len(found):
        raise refusals[0]
    return Estimates(name, array, found)


def _is_scalar(points: Any) -> bool:
    try:
        return isinstance(points, str | bytes) or np.ndim(points) == 0
    except ValueError:  # rows of several lengths
        return False


def _shown(estimate: Estimate, name: str) -> str:
    if name == "value" and estimate.no_guess:
        return ""
    entry = getattr(estimate, name)
    return f"{entry:.4g}" if isinstance(entry, float) else escape(str(entry))
