"""The panel of a figure that shows every bound over the exact answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from simulator.analysis.plots.named import plot_named
from simulator.analysis.plots.names import label

EXACT = "kairouz-oh-viswanath-3.3"


def draw_slack(axes: Axes, x: Sequence[float], curves: Mapping[str, Sequence[float]]) -> None:
    """Draw the curves of bounds, basic composition apart, over that of the exact bound."""
    exact = np.array(curves[EXACT])
    ratios = {
        label(name): (np.array(values) / exact).tolist()
        for name, values in curves.items()
        if name not in (EXACT, "basic")
    }
    axes.axhline(1.0, color="0.6", linewidth=0.6, zorder=0)
    plot_named(axes, x, ratios, [label("laplace")])
    axes.set_ylabel(r"$\varepsilon$ over the exact $\varepsilon$ for the family")
