"""Plot of every bound's ε(δ) over decades of δ, with the exact one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from simulator.analysis.plots.named import plot_named
from simulator.foundations.errors import InvalidInput

MOST = 13
"""Curves that can be named beside one panel."""


def plot_bounds(
    axes: Axes,
    deltas: Sequence[float],
    epsilons: Mapping[str, Sequence[float]],
    exact: Sequence[str] = (),
) -> None:
    """Draw ε against δ, from large δ on the left to small ones, each curve named at its end.

    Parameters
    ----------
    deltas : shape (n,), decreasing.
    epsilons : by name, shape (n,), tightest first; NaN where a bound grants nothing. Of more than
        MOST the tightest are drawn.
    exact : the names drawn thick.

    Raises InvalidInput where nothing is granted.
    """
    drawn = dict(list(epsilons.items())[:MOST])
    values = np.array([each for series in drawn.values() for each in series])
    values = values[np.isfinite(values) & (values > 0.0)]
    if not values.size:
        raise InvalidInput("no bound grants an ε above 0: there is nothing to draw")
    axes.set(xscale="log", xlim=(deltas[0], deltas[-1]), yscale="log")
    axes.set_ylim(float(values.min()) / 1.1, float(values.max()) * 1.1)
    plot_named(axes, deltas, drawn, [name for name in exact if name in drawn])
    axes.set(xlabel=r"$\delta$", ylabel=r"$\varepsilon(\delta)$")
