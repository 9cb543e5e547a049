"""A picture of a game along one of its knobs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simulator.analysis.plots import paper_figure
from simulator.analysis.plots.style import measured, promised
from simulator.games.model import Variant
from simulator.games.outcome import GameOutcome
from simulator.games.rows import GameRow, RowKind

MOST_COLUMNS = 3
"""Most panels beside each other."""
_ROUNDING = 1e-9
"""A number smaller than the largest by this factor is 0 up to rounding."""
NOTHING = 1e-9
"""A number below it is drawn as 0: it is the rounding of a search."""


def picture(game: Variant, played: Sequence[tuple[Any, GameOutcome]], knob: str = "") -> Figure:
    """Draw what :meth:`Variant.along` returned: a panel for each quantity.

    Values that are attained are marks with their ends; bounds are lines, wrong claims named as
    such. The axis is logarithmic where the largest number is over 30 times the least; numbers below
    1e-9 of the largest are rounding, and do not count. Several panels have a legend each, as looks
    repeat.
    """
    quantities = list(dict.fromkeys(q for _, outcome in played for q in outcome.quantities))
    several = len(quantities) > 1
    columns = 2 if len(quantities) == 4 else min(len(quantities), MOST_COLUMNS)
    rows = math.ceil(len(quantities) / columns)
    size = {"width": max(4.6, 3.4 * columns), "height": 4.2 if several else 2.9}
    with paper_figure(columns, rows=rows, **size) as (figure, found):
        panels = np.ravel(found)
        for axes, quantity in zip(panels, quantities):
            _panel(axes, quantity, played)
            axes.set_xlabel(knob or game.sweep[0])
            if several:
                axes.set_title(textwrap.fill(quantity, 44), fontsize="small")
                axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize="x-small")
            else:
                axes.set_ylabel(quantity)
        for empty in panels[len(quantities) :]:
            empty.remove()
        figure.suptitle(game.title, fontsize="medium")
        if not several:
            legend(figure)
    return figure


def _panel(axes: Axes, quantity: str, played: Sequence[tuple[Any, GameOutcome]]) -> None:
    lines: dict[tuple[RowKind, str], list[tuple[Any, GameRow]]] = {}
    for value, outcome in played:
        for row in outcome.rows:
            if row.quantity == quantity:
                lines.setdefault((row.kind, row.what), []).append((value, row))
    heights = [
        end
        for along in lines.values()
        for _, row in along
        for end in (row.lower, row.upper)
        if math.isfinite(end) and end > 0.0
    ]
    heights = [height for height in heights if height > _ROUNDING * max(heights)]
    if max(heights, default=0.0) < NOTHING:
        axes.set_ylim(-0.05, 1.0)
    elif max(heights) > 30.0 * min(heights):
        axes.set_yscale("log")
        axes.set_ylim(0.5 * min(heights), 2.0 * max(heights))
    for number, ((kind, what), along) in enumerate(lines.items()):
        xs = [value for value, _ in along]
        if kind in (RowKind.BOUND, RowKind.WRONG):
            style = promised(number)
            name = f"wrong: {what}" if kind is RowKind.WRONG else what
            axes.plot(xs, [row.upper for _, row in along], label=name, **style)
        else:
            lower = [max(row.lower, 0.0) for _, row in along]
            upper = [row.upper if math.isfinite(row.upper) else row.lower for _, row in along]
            style = measured(number)
            axes.fill_between(xs, lower, upper, alpha=0.3, linewidth=0.0, color=style["color"])
            axes.plot(xs, [(a + b) / 2 for a, b in zip(lower, upper)], label=what, **style)
