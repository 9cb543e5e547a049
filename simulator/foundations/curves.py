"""Values along points, each with its ends: drawn on axes, and as a sequence with a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.foundations.errors import InvalidInput
from simulator.foundations.frames import Tabular
from simulator.foundations.wording import count_of

Floats = NDArray[np.float64]
Several = Sequence[float] | Floats
"""Points as a list or an array of shape (points,)."""

UPPER_END = "upper end, where none was seen"
"""The legend's entry for the arrows of :func:`draw_upper_ends`."""
_ARROWS = 7
_LABELS = {
    "threshold": r"threshold $t$",
    "tail": r"$\Pr[L > t]$",
    "epsilon": r"$\varepsilon$",
    "delta": r"$\delta$",
    "epsilon of delta": r"$\varepsilon(\delta)$",
    "delta of epsilon": r"$\delta(\varepsilon)$",
}
_LOGARITHMIC = ("tail", "delta", "delta of epsilon")


class DrawnTable(Tabular):
    """A table whose values can be drawn along its points."""

    def drawn(self) -> tuple[str, str, tuple[Floats, Floats, Floats, Floats]]:
        """Names of the points and of the values; points, values, lower and upper ends."""
        raise NotImplementedError

    def plot(self, ax: Any = None, *, label: str | None = None, **style: Any) -> Any:
        """Draw the values and the band between their ends; return the matplotlib axes.

        Parameters
        ----------
        ax : matplotlib axes; by default those of a new figure.
        label : the name in the axes' legend.
        style : of the line, as ``color="black"``.

        Probabilities, and points that are a delta, have a logarithmic axis. Arrows point down from
        the upper ends of values of 0.
        """
        at, of, (x, value, lower, upper) = self.drawn()
        axes = new_axes() if ax is None else ax
        if not callable(getattr(axes, "fill_between", None)):
            raise InvalidInput(f"ax must be matplotlib axes to draw on, not {ax!r:.80}")
        seen = np.isfinite(value) & ((value > 0.0) | (of not in _LOGARITHMIC))
        (line,) = axes.plot(x[seen], value[seen], label=label, **style)
        look = {"color": line.get_color(), "alpha": 0.2, "linewidth": 0}
        axes.fill_between(x[seen], lower[seen], upper[seen], **look)
        bounded = ~seen & (upper < 1.0) & (of in _LOGARITHMIC)
        draw_upper_ends(axes, x, np.where(bounded, upper, np.nan), line.get_color())
        for name, set_label, set_scale in (
            (at, axes.set_xlabel, axes.set_xscale),
            (of, axes.set_ylabel, axes.set_yscale),
        ):
            set_label(_LABELS.get(name, name))
            if name in _LOGARITHMIC:
                set_scale("log")
        return axes


def new_axes() -> Any:
    """The axes of a new figure of pyplot, which a notebook shows."""
    import matplotlib.pyplot as plt  # slow, and most calls draw nothing

    return plt.subplots(layout="constrained")[1]


def draw_upper_ends(axes: Any, x: Floats, upper: Floats, color: Any, index: int = 0) -> None:
    """Draw arrows down from upper ends, where nothing was seen; NaN where something was.

    At most seven along the axis, moved by ``index`` so that the arrows of several series at one
    height can be distinguished.
    """
    from matplotlib.path import Path  # slow, and most calls draw nothing

    places = np.flatnonzero(np.isfinite(upper))
    if not places.size:
        return
    step = (x.max() - x.min()) / _ARROWS
    wanted = x[places[0]] + step * (np.arange(_ARROWS) + (0.1 + 0.31 * index) % 1.0)
    nearest = [np.abs(x[places] - at).argmin() for at in wanted if at <= x[places[-1]]]
    places = places[np.unique(nearest or [0])]
    tick, stem = [(-0.5, 0.0), (0.5, 0.0)], [(0.0, 0.0), (0.0, -1.5)]
    head = [(-0.4, -0.9), (0.0, -1.5), (0.4, -0.9)]
    arrow = Path([*tick, *stem, *head], [1, 2, 1, 2, 1, 2, 2])
    look = {"linestyle": "none", "marker": arrow, "markersize": 9, "markerfacecolor": "none"}
    axes.plot(x[places], upper[places], **look, color=color, zorder=2.5)
    if UPPER_END not in axes.get_legend_handles_labels()[1]:
        axes.plot([], [], **look, color="0.35", label=UPPER_END)


class _Ends(Protocol):
    @property
    def value(self) -> float: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...


T = TypeVar("T", bound=_Ends)


class Series(DrawnTable, Sequence[T]):
    """One answer for each of several points, in their order; compared and indexed as a sequence.

    Attributes
    ----------
    at : the name of the points, such as "epsilon".
    points : float64, shape (points,), where the answers are.
    of : the name of what is answered, such as "delta of epsilon".
    """

    def __init__(self, at: str, points: ArrayLike, each: Sequence[T], of: str = "value") -> None:
        self.at, self.of = at, of
        self.points: Floats = np.asarray(points, dtype=np.float64)
        self._each = tuple(each)
        if self.points.shape != (len(self._each),):
            given = count_of(len(self._each), self._noun)
            raise InvalidInput(f"{given} for points of shape {self.points.shape}")
        for answer in self._each:
            if not hasattr(answer, "value"):
                raise InvalidInput(
                    f"each {self._noun} must have a value and ends, not {answer!r:.80}"
                )

    _noun = "answer"

    @property
    def value(self) -> Floats:
        """The values, float64 of shape (points,)."""
        return np.array([e.value for e in self], dtype=np.float64)

    @property
    def lower(self) -> Floats:
        """The lower ends, float64 of shape (points,)."""
        return np.array([e.lower for e in self], dtype=np.float64)

    @property
    def upper(self) -> Floats:
        """The upper ends, float64 of shape (points,)."""
        return np.array([e.upper for e in self], dtype=np.float64)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The points, the values and their ends."""
        ends = {"value": self.value, "lower": self.lower, "upper": self.upper}
        return {self.at: self.points, **ends}

    def drawn(self) -> tuple[str, str, tuple[Floats, Floats, Floats, Floats]]:
        """The values and their ends, by point."""
        return self.at, self.of, (self.points, self.value, self.lower, self.upper)

    def __len__(self) -> int:
        return len(self._each)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: int | slice) -> T | Self:
        """An answer, or those of a slice of the points."""
        if isinstance(place, slice):
            return type(self)(self.at, self.points[place], self._each[place], self.of)
        return self._each[place]

    def __iter__(self) -> Iterator[T]:
        return iter(self._each)

    def compared(self) -> dict[str, Any]:
        """The name of the points, the points and the answers."""
        return {"at": self.at, "points": self.points, "answers": self._each}

    def __str__(self) -> str:
        return "\n".join(f"{self.at} {point:g}: {e}" for point, e in zip(self.points, self))

    def __repr__(self) -> str:
        ends = f" from {self.points.min():g} to {self.points.max():g}" if len(self) else ""
        return f"<{count_of(len(self), self._noun)}, {self.at}{ends}>"

    def _repr_html_(self) -> str:
        columns = self.columns()
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{_shown(entry)}</td>" for entry in row) + "</tr>"
            for row in zip(*(column.tolist() for column in columns.values()))
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def several(name: str, points: Any) -> Floats | None:
    """The points as an array of shape (points,), or None for a single one.

    Raises InvalidInput for what is neither a number nor a list of numbers.
    """
    try:
        if isinstance(points, str | bytes) or np.ndim(points) == 0:
            return None
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # ValueError also for rows of several lengths
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise InvalidInput(f"{name} must be a number or a list of numbers, not {points!r:.80}")
    return array


def _shown(entry: Any) -> str:
    if isinstance(entry, float):
        return "" if np.isnan(entry) else f"{entry:.4g}"
    return escape(str(entry))


def spans_decades(low: float, high: float) -> bool:
    """Whether a range of positive numbers is drawn on a logarithmic axis: a factor of 30."""
    return 0.0 < 30.0 * low <= high
