"""A picture of a game along one of its knobs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured, promises
from simulator.foundations.curves import spans_decades
from simulator.teaching.games.model import Variant
from simulator.teaching.games.outcome import GameOutcome
from simulator.teaching.games.rows import GameRow, RowKind

Series = tuple[RowKind, str]
"""A line of the picture: rows of one kind with one text, in every panel."""

_ROUNDING = 1e-9
"""A number smaller than the largest by this factor is the rounding of a search, and so is an upper
end below it whose lower end is 0."""
_COLUMNS = 2
_PANEL, _LINE = 2.5, 0.19
"""Heights of a panel and of a line of the legend, in inches."""
_TITLE = 44
"""Characters of a line of a panel's title."""


def picture(game: Variant, played: Sequence[tuple[Any, GameOutcome]], knob: str = "") -> Figure:
    """Draw what :meth:`Variant.along` returned: a panel for each quantity.

    Exact values, worst cases and plays are marks with their ends (of a play the middle is marked);
    bounds are lines, wrong claims named as such. An axis is logarithmic where the largest number is
    over 30 times the least; it ends a hundred times below the least value that is attained.
    """
    quantities = list(dict.fromkeys(q for _, outcome in played for q in outcome.quantities))
    styles = _styles([row for _, outcome in played for row in outcome.rows])
    columns = min(_COLUMNS, len(quantities))
    panel_rows, legend_rows = -(-len(quantities) // columns), -(-len(styles) // 2)
    height = _PANEL * panel_rows + _LINE * legend_rows + 0.3
    with paper_figure(
        len(quantities), width=max(5.4, 3.6 * columns), height=height, columns=columns
    ) as (figure, found):
        for axes, quantity in zip(np.ravel(found), quantities):
            _panel(axes, quantity, played, styles)
            axes.set_xlabel(knob or game.sweep[0])
            axes.set_title(textwrap.fill(quantity, _TITLE), fontsize="small")
        figure.suptitle(game.title, fontsize="medium")
        legend(figure)
    return figure


def _styles(rows: Sequence[GameRow]) -> dict[Series, dict[str, Any]]:
    """A look for each series, the same in all panels."""
    drawn: list[Series] = []
    stated: list[Series] = []
    for row in rows:
        listed = stated if row.stated else drawn
        if (row.kind, row.what) not in listed:
            listed.append((row.kind, row.what))
    looks = promises(map(_named, stated))
    return {series: measured(i) for i, series in enumerate(drawn)} | {
        series: looks[_named(series)] for series in stated
    }


def _named(series: Series) -> str:
    kind, what = series
    return f"wrong: {what}" if kind is RowKind.WRONG else what


def _panel(
    axes: Axes,
    quantity: str,
    played: Sequence[tuple[Any, GameOutcome]],
    styles: dict[Series, dict[str, Any]],
) -> None:
    lines: dict[Series, list[tuple[Any, GameRow]]] = {}
    for value, outcome in played:
        for row in outcome.rows:
            if row.quantity == quantity:
                lines.setdefault((row.kind, row.what), []).append((value, row))
    floor = _scale(axes, [row for along in lines.values() for _, row in along])
    for series, along in lines.items():
        xs = [value for value, _ in along]
        lower, middle, upper = (np.array(ends) for ends in zip(*(_ends(row) for _, row in along)))
        name = _named(series)
        style = styles[series]
        if (upper > lower).any():
            begins = np.maximum(lower, floor)
            axes.fill_between(xs, begins, upper, alpha=0.3, linewidth=0.0, color=style["color"])
        axes.plot(xs, middle, label=name, **style)
    xs = [value for value, _ in played]
    if all(isinstance(x, int | float) for x in xs) and spans_decades(min(xs), max(xs)):
        axes.set_xscale("log")
    elif all(isinstance(x, int) for x in xs):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _ends(row: GameRow) -> tuple[float, float, float]:
    """Where a row's band begins, where it is marked, and where its band ends."""
    if row.stated:
        return row.upper, row.upper, row.upper
    lower = max(row.lower, 0.0)
    upper = row.upper if math.isfinite(row.upper) else lower
    if lower == 0.0 and upper < _ROUNDING:
        upper = 0.0
    return lower, (lower + upper) / 2.0 if row.kind is RowKind.PLAYED else upper, upper


def _scale(axes: Axes, rows: Sequence[GameRow]) -> float:
    """A logarithmic axis where numbers differ much, down to a hundredth of what is attained.

    Returns the lower end of what is drawn.
    """
    heights = [h for row in rows for h in _ends(row) if math.isfinite(h) and h > 0.0]
    if heights and max(heights) > 30.0 * min(heights):
        axes.set_yscale("log", nonpositive="mask")
        attained = [
            h for row in rows if row.kind is not RowKind.PLAYED and not row.stated
            for h in _ends(row) if h > _ROUNDING * max(heights)
        ]  # fmt: skip
        floor = max(min(heights), min(attained, default=0.0) / 100.0)
        axes.set_ylim(bottom=floor / 1.5, top=max(heights) * 1.5)
        return floor / 2.0
    return 0.0
