"""Plot of ε at a fixed δ against the number of rounds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from simulator.analysis.plots.style import BandLike, curves, measured, promises, scientific
from simulator.foundations.curves import draw_upper_ends


def plot_epsilon_against_rounds(
    axes: Axes,
    rounds: ArrayLike,
    bounds: Mapping[str, ArrayLike],
    *,
    delta: float | None = None,
    crossover: float | None = None,
    points: Mapping[str, tuple[ArrayLike, BandLike]] | None = None,
) -> None:
    """Draw ε(δ) against k on two logarithmic axes, where k and √k are straight lines.

    Parameters
    ----------
    rounds : shape (n,), increasing, ≥ 1.
    bounds : by name, ε of shape (n,).
    delta : the δ at which they hold, for the axis label.
    crossover : the k from which a √k bound is below the linear one; marked on the axis.
    points : by name, (rounds, ε with its interval), drawn as points with error bars; of a
        value of 0 the upper end has an arrow down.

    Raises :class:`InvalidInput` for shapes that do not go together.
    """
    looks = promises(bounds)
    for name, epsilons in bounds.items():
        x, y = curves(name, rounds, epsilons)
        axes.plot(x, y, label=name, **looks[name])
    for index, (name, (at, band)) in enumerate((points or {}).items()):
        x, value, lower, upper = curves(name, at, band.value, band.lower, band.upper)
        look, seen = measured(index), value > 0.0
        bars = np.array([value - lower, upper - value])[:, seen]
        axes.errorbar(
            x[seen], value[seen], yerr=bars, label=name,
            linestyle="none", elinewidth=0.9, capsize=1.5, **look,
        )  # fmt: skip
        draw_upper_ends(axes, x, np.where(seen, np.nan, upper), look["color"], index)
    axes.set(xscale="log", yscale="log")
    span = np.asarray(rounds, dtype=np.float64)
    axes.set(xlim=(float(span.min()), float(span.max())), xlabel=r"rounds $k$")
    axes.set_ylabel(_epsilon_label(delta))
    if crossover is not None:
        _mark_crossover(axes, crossover)


def _epsilon_label(delta: float | None) -> str:
    if delta is None:
        return r"$\varepsilon(\delta)$"
    return rf"$\varepsilon$ at $\delta = {scientific(delta)}$"


def _mark_crossover(axes: Axes, rounds: float) -> None:
    axes.axvline(rounds, color="0.55", linewidth=0.6, zorder=0)
    axes.annotate(
        rf"$\sqrt{{k}}$ wins from $k = {rounds:g}$",
        xy=(rounds, 0.0),
        xycoords=axes.get_xaxis_transform(),
        xytext=(3, 4),
        textcoords="offset points",
        fontsize="small",
        color="0.25",
    )
