"""Plot of estimates of small probabilities, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from simulator.analysis.plots.style import BandLike, measured
from simulator.foundations.errors import InvalidInput


def plot_rare(
    axes: Axes, at: Sequence[float], estimates: Mapping[str, Sequence[BandLike]], point: float
) -> None:
    """Draw estimates of small probabilities at points of an axis, each with its interval.

    Parameters
    ----------
    at : shape (n,), increasing.
    estimates : by name, n estimates each. A lower end of 0 is drawn down to the axis.
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
        value, lower, upper = np.maximum(columns, floor * 1e-3)
        axes.errorbar(
            at, value, yerr=(value - lower, upper - value), label=name,
            elinewidth=0.9, capsize=1.5, **measured(index),
        )  # fmt: skip
    axes.axvline(point, color="0.55", linewidth=0.6, zorder=0)
    axes.set_yscale("log")
    axes.set_ylim(bottom=floor)
    axes.set_xlabel(r"$\varepsilon$")
