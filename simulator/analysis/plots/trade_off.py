"""Plot of trade-off functions: type II error against type I error of tests."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from simulator.analysis.plots.style import (
    BandLike,
    curves,
    draw_band,
    measured,
    promises,
    spaced_marks,
)


def plot_trade_off(
    axes: Axes,
    measured_curves: Mapping[str, tuple[ArrayLike, BandLike]],
    references: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
) -> None:
    """Draw trade-off functions: the least type II error at each type I error.

    Parameters
    ----------
    measured_curves : by name, (type I errors, type II errors with their band), shape (n,) each.
    references : by name, (type I errors, type II errors) that a guarantee allows.

    The diagonal is that of a view without information. Raises :class:`InvalidInput` for shapes that
    do not go together.
    """
    axes.plot([0, 1], [1, 0], color="0.65", linewidth=0.7, zorder=0)
    axes.text(
        0.54,
        0.48,
        "no information",
        rotation=-45,
        rotation_mode="anchor",
        ha="center",
        va="bottom",
        fontsize="small",
        color="0.35",
    )
    looks = promises(references or {})
    for name, (type_1, type_2) in (references or {}).items():
        x, y = curves(name, type_1, type_2)
        axes.plot(x, y, label=name, **looks[name])
    for index, (name, (type_1, band)) in enumerate(measured_curves.items()):
        x, value, lower, upper = curves(name, type_1, band.value, band.lower, band.upper)
        look = measured(index)
        draw_band(axes, x, (lower, upper), look)
        axes.plot(x, value, label=name, markevery=spaced_marks(x, index), **look)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_aspect("equal")
    axes.set(xlabel="type I error", ylabel="type II error")
