"""Plot of estimates of small probabilities, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from simulator.analysis.plots.style import BandLike, measured
from simulator.foundations.curves import draw_upper_ends
from simulator.foundations.errors import InvalidInput


def plot_rare(
    axes: Axes, at: Sequence[float], estimates: Mapping[str, Sequence[BandLike]], point: float
) -> None:
    """Draw estimates of small probabilities at points of an axis, each with its interval.

    Parameters
    ----------
    at : shape (n,), increasing.
    estimates : by name, n estimates each. A lower end of 0 is drawn down to the axis; of a value of
        0 the upper end has an arrow down.
    point : the one that was estimated; marked on the axis.

    Raises InvalidInput if no estimate is above 0.
    """
    values = [each.value for series in estimates.values() for each in series if each.value > 0.0]
    if not values:
        raise InvalidInput("no estimate is above 0: there is nothing to draw")
    ends = [each.lower for series in estimates.values() for each in series]
    floor = max(min(values) / 100.0, min(ends) / 3.0)
    for index, (name, series) in enumerate(estimates.items()):
        columns = np.array([(each.value, each.lower, each.upper) for each in series]).T
        look, x = measured(index), np.asarray(at, dtype=np.float64)
        seen = columns[0] > 0.0
        value, lower, upper = np.maximum(columns[:, seen], floor * 1e-3)
        axes.errorbar(
            x[seen], value, yerr=(value - lower, upper - value), label=name,
            elinewidth=0.9, capsize=1.5, **look,
        )  # fmt: skip
        draw_upper_ends(axes, x, np.where(seen, np.nan, columns[2]), look["color"], index)
    axes.axvline(point, color="0.55", linewidth=0.6, zorder=0, label="the estimated event")
    axes.set_yscale("log")
    axes.set_ylim(bottom=floor)
    axes.set_xlabel(r"$\varepsilon$")
