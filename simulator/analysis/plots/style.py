"""The style of all figures, and files whose bytes are a function of the figure."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from simulator.analysis.plots.names import place_of
from simulator.foundations.curves import UPPER_END
from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import require_target, write_bytes
from simulator.foundations.surroundings import DATE, require_whole

_STYLE = Path(__file__).with_name("paper.mplstyle")
_COLUMN_WIDTH = 3.4
"""The width of a column of a two-column paper, in inches."""
_HEIGHT = 2.9

# Okabe and Ito's palette (2008), which colour-blind readers can distinguish, without its yellow.
# With seven colours and nine markers no two of sixty-three series look alike. Bounds are dark:
# seven colours and six dashes are forty-two looks.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666")
_DARK = ("black", "#7A5200", "#9B1C1C", "#4527A0", "#00696B", "#8E2464", "#33691E")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_DASHES = (
    "solid",
    (0, (5, 2)),
    (0, (1, 1.4)),
    (0, (7, 2, 1, 2)),
    (0, (3, 1.5, 1, 1.5, 1, 1.5)),
    (0, (10, 3)),
)
MARKS_PER_CURVE = 7


class BandLike(Protocol):
    """An estimate along a curve: three arrays of one shape."""

    @property
    def value(self) -> Any:
        """The estimate."""

    @property
    def lower(self) -> Any:
        """The lower end of its interval."""

    @property
    def upper(self) -> Any:
        """The upper end of its interval."""


class Band(NamedTuple):
    """A :class:`BandLike` of three arrays."""

    value: ArrayLike
    lower: ArrayLike
    upper: ArrayLike


def measured(index: int) -> dict[str, Any]:
    """Return the style of the ``index``-th measured series: its colour and marker."""
    return {
        "color": _COLOURS[index % len(_COLOURS)],
        "marker": _MARKERS[index % len(_MARKERS)],
        "markerfacecolor": "white",
        "zorder": 3,
    }


def promised(index: int, name: str = "") -> dict[str, Any]:
    """Return the style of a bound: a dark colour and dashes, without markers.

    A registered bound has the same in all figures, by its name or its label there; a curve of
    another name, or of none, that of the ``index``: see :func:`promises` for several.
    """
    place = place_of(name)
    index = index if place is None else place
    dashes = _DASHES[index % len(_DASHES)]
    return {"color": _DARK[index % len(_DARK)], "linestyle": dashes, "zorder": 2}


def promises(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the styles of the bounds of a figure by name; no two are alike."""
    places = {name: place_of(name) for name in names}
    free = (index for index in count() if index not in places.values())
    return {
        name: promised(next(free) if place is None else place) for name, place in places.items()
    }


def curves(name: str, *columns: ArrayLike) -> tuple[NDArray[np.float64], ...]:
    """Return the columns as float arrays; :class:`InvalidInput` unless of one shape (n,), n ≥ 1."""
    arrays = tuple(np.asarray(column, dtype=np.float64) for column in columns)
    shape = arrays[0].shape
    if len(shape) != 1 or shape[0] == 0 or any(array.shape != shape for array in arrays):
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InvalidInput(f"{name!r} needs arrays of one shape (n,) to be drawn, not {shapes}")
    return arrays


def limits(x: ArrayLike) -> tuple[float, float]:
    """The least and the largest of some values, for an axis."""
    array = np.asarray(x, dtype=np.float64)
    return float(array.min()), float(array.max())


def scientific(number: float) -> str:
    """A number above 0 as TeX with a power of ten, for math mode."""
    mantissa, exponent = f"{number:.2e}".split("e")
    factor, power = f"{float(mantissa):g}", f"10^{{{int(exponent)}}}"
    return power if factor == "1" else rf"{factor} \times {power}"


@contextmanager
def paper_figure(
    panels: int = 1,
    *,
    width: float | None = None,
    height: float = _HEIGHT,
    columns: int = 0,
    fitted: bool = True,
) -> Iterator[tuple[Figure, Any]]:
    """Open a figure in the paper's style, with its axes (an array of them for several panels).

    Panels are in one row, or in rows of so many ``columns``; each is one column wide unless
    ``width`` (inches) is given. Unless they are ``fitted``, margins are not made to fit the labels:
    that takes a second drawing. matplotlib's global state does not change.
    """
    columns = columns or panels
    with matplotlib.rc_context(fname=_STYLE):
        size = (width or _COLUMN_WIDTH * columns, height)
        figure = Figure(figsize=size, layout="constrained" if fitted else None)
        FigureCanvasAgg(figure)
        found = figure.subplots(-(-panels // columns), columns)
        for spare in np.ravel(found)[panels:]:
            spare.remove()
        yield figure, found


def legend(figure: Figure, columns: int = 2) -> None:
    """Draw a legend of all series, each once, below the axes."""
    named: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            named.setdefault(label, handle)
    named |= {UPPER_END: named.pop(UPPER_END)} if UPPER_END in named else {}  # the last
    columns = max(1, min(columns, len(named)))
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns)


def save(figure: Figure, stem: str | PathLike[str]) -> tuple[Path, Path]:
    """Write ``stem``.svg and ``stem``.png (300 dots per inch) and return their paths.

    The files have no date and no program's name: equal figures have equal bytes. Raises
    :class:`InvalidInput` when they cannot be written.
    """
    return save_as(figure, Path(f"{stem}.svg")), save_as(figure, Path(f"{stem}.png"))


_METADATA: dict[str, dict[str, None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
FORMATS = tuple(_METADATA)
"""The suffixes of pictures."""


def drawable(path: str | PathLike[str]) -> Path:
    """Return the path; raise InvalidInput unless a picture can be written there."""
    found = Path(path)
    if found.suffix not in FORMATS:
        raise InvalidInput(f"a picture ends in one of {', '.join(FORMATS)}, not {str(path)!r}")
    if not found.parent.is_dir():
        raise InvalidInput(f"there is no folder {str(found.parent)!r} for the picture")
    require_target(found)
    require_whole([DATE])
    return found


def save_as(figure: Figure, path: str | PathLike[str]) -> Path:
    """Write one file, as :func:`save` does, in the format of its suffix, one of FORMATS."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise InvalidInput(f"a picture ends in one of {', '.join(FORMATS)}, not {str(path)!r}")
    require_whole([DATE])
    content = io.BytesIO()
    with matplotlib.rc_context(fname=_STYLE):
        figure.savefig(content, format=path.suffix[1:], metadata=_METADATA[path.suffix])
    write_bytes(path, content.getvalue())
    return path


def draw_band(
    axes: Axes, x: NDArray[np.float64], band: Sequence[NDArray[np.float64]], look: dict[str, Any]
) -> None:
    """Shade between a band's lower and upper end."""
    lower, upper = band
    axes.fill_between(x, lower, upper, color=look["color"], alpha=0.2, linewidth=0, zorder=1)


def spaced_marks(x: NDArray[np.float64], index: int, logarithmic: bool = False) -> list[int]:
    """Return the indices of a curve's markers, evenly spaced on the axis, shifted by ``index``.

    Every n-th point would have most markers where the points are dense.
    """
    position = np.log(x) if logarithmic else x
    step = (position[-1] - position[0]) / MARKS_PER_CURVE
    wanted = position[0] + step * (np.arange(MARKS_PER_CURVE) + (0.15 + 0.31 * index) % 1.0)
    return sorted({int(np.abs(position - place).argmin()) for place in wanted})
