"""Plot of every bound's ε(δ) over decades of δ, with the exact one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from simulator.analysis.plots.named import plot_named
from simulator.foundations.errors import InvalidInput

MOST = 13
"""Curves that can be named beside one panel."""


def plot_bounds(
    axes: Axes,
    at: Sequence[float],
    answers: Mapping[str, Sequence[float]],
    exact: Sequence[str] = (),
    *,
    xlabel: str = r"$\delta$",
    ylabel: str = r"$\varepsilon(\delta)$",
) -> None:
    """Draw what bounds answer on logarithmic axes, each curve named at its end.

    Parameters
    ----------
    at : shape (n,), the deltas, decreasing, or the numbers of rounds.
    answers : by name, shape (n,), tightest first; NaN where a bound grants nothing. Of more than
        MOST the tightest are drawn.
    exact : the names drawn thick.

    Raises InvalidInput where nothing is granted.
    """
    drawn = dict(list(answers.items())[:MOST])
    values = np.array([each for series in drawn.values() for each in series])
    values = values[np.isfinite(values) & (values > 0.0)]
    if not values.size:
        raise InvalidInput("no bound answers above 0: there is nothing to draw")
    axes.set(xscale="log", xlim=(at[0], at[-1]), yscale="log")
    axes.set_ylim(float(values.min()) / 1.1, float(values.max()) * 1.1)
    if values.max() < 100.0 * values.min():
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    plot_named(axes, at, drawn, [name for name in exact if name in drawn])
    axes.set(xlabel=xlabel, ylabel=ylabel)
