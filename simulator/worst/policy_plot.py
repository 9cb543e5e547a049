"""Plot of a policy: its move at each loss so far and number of rounds left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from simulator.analysis.plots.style import curves
from simulator.foundations.errors import InvalidInput

_PALE = ("#9ecae8", "#f2b48c", "#8fd0b8", "#e3bcd3", "#f3d38a", "#c9c9c9", "#d6e8a8")
FEW_MOVES = len(_PALE)
"""The largest number of moves with a colour each; more have a colour bar."""
_PATHS = (("black", "solid"), ("#D55E00", (0, (5, 1.5))))


def plot_policy(
    axes: Axes,
    losses: ArrayLike,
    left: ArrayLike,
    moves: ArrayLike,
    labels: Sequence[str],
    *,
    values: tuple[str, ArrayLike] | None = None,
    logarithmic: bool = False,
    epsilon: float | None = None,
    paths: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    ylabel: str = "rounds left",
) -> None:
    """Colour each cell by the move that is made there.

    Parameters
    ----------
    losses, left : edges of the cells, shapes (columns + 1,) and (rows + 1,), increasing.
    moves : shape (rows, columns): an index into ``labels``, or -1 for a cell to leave blank.
    labels : the moves' names.
    values : (name, a number for each move) to be drawn on a colour bar, in place of the names;
        needed where there are more than seven moves.
    logarithmic : whether that colour bar is.
    epsilon : a loss to mark.
    paths : by name, (losses, left) of shape (n,): single plays.
    ylabel : what ``left`` counts.

    Raises :class:`InvalidInput` for shapes that do not go together.
    """
    x, y = np.asarray(losses, dtype=float), np.asarray(left, dtype=float)
    cells = np.asarray(moves)
    if cells.shape != (len(y) - 1, len(x) - 1) or cells.max(initial=-1) >= len(labels):
        raise InvalidInput(
            f"a policy's moves need the shape (rows, columns) of their edges, "
            f"{(len(y) - 1, len(x) - 1)}, and a label each; not {cells.shape}"
        )
    handles: list[Any] = []
    if values is None:
        handles += _by_name(axes, x, y, cells, labels)
    else:
        _by_value(axes, (x, y), cells, values, logarithmic=logarithmic)
    halo = [patheffects.withStroke(linewidth=2.8, foreground="white")]
    for (name, (at, rest)), (colour, dashes) in zip((paths or {}).items(), _PATHS):
        along, height = curves(name, at, rest)
        handles += axes.plot(
            along, height, color=colour, linestyle=dashes, label=name, path_effects=halo, zorder=3
        )
    if epsilon is not None:
        handles.append(
            axes.axvline(epsilon, color="0.35", linewidth=0.8, linestyle=(0, (1, 1.4)), zorder=2)
        )
        handles[-1].set_label(rf"$\varepsilon = {epsilon:g}$")
    axes.set_ylim(min(float(y[0]), 0.0), float(y[-1]))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set(xlabel="loss so far", ylabel=ylabel)
    columns = 3 if max(len(str(handle.get_label())) for handle in handles) <= 20 else 2
    axes.figure.legend(
        handles=handles, loc="outside lower center", ncols=min(len(handles), columns)
    )


def _by_name(
    axes: Axes, x: np.ndarray, y: np.ndarray, cells: np.ndarray, labels: Sequence[str]
) -> list[Any]:
    """Draw the cells in a colour for each move; return the legend's patches of moves drawn."""
    seen = [move for move in range(len(labels)) if (cells == move).any()]
    if len(labels) > FEW_MOVES:
        raise InvalidInput(f"{len(labels)} moves are too many for one colour each: give values=")
    shown = np.ma.masked_less(cells, 0)
    norm = BoundaryNorm(np.arange(len(_PALE) + 1) - 0.5, len(_PALE))
    axes.pcolormesh(
        x, y, shown, cmap=ListedColormap(list(_PALE)), norm=norm, rasterized=True, zorder=0
    )
    return [Patch(facecolor=_PALE[move], label=labels[move]) for move in seen]


def _by_value(
    axes: Axes,
    edges: tuple[np.ndarray, np.ndarray],
    cells: np.ndarray,
    values: tuple[str, ArrayLike],
    *,
    logarithmic: bool,
) -> None:
    """Draw the cells by a number of their move, with a colour bar."""
    name, numbers = values
    scale = np.asarray(numbers, dtype=float)
    shown = np.ma.masked_array(scale[np.maximum(cells, 0)], cells < 0)
    norm = LogNorm if logarithmic else Normalize
    mesh = axes.pcolormesh(
        *edges,
        shown,
        cmap="viridis",
        norm=norm(scale.min(), scale.max()),
        rasterized=True,
        zorder=0,
    )
    bar = axes.figure.colorbar(mesh, ax=axes, label=name, pad=0.02)
    bar.outline.set_linewidth(0.4)
    if logarithmic:
        ticks = scale.min() * np.geomspace(1.0, scale.max() / scale.min(), 5)
        bar.set_ticks(ticks, labels=[f"{tick:.2g}" for tick in ticks])
        bar.minorticks_off()
