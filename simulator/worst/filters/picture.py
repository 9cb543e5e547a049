"""A picture of the rounds that filters admit along schedules."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from simulator.analysis.plots.style import drawable, legend, paper_figure, save_as, scientific
from simulator.worst.filters.plot import plot_filters
from simulator.worst.filters.schedules import ScheduleRow


def draw_filters(
    rows: Sequence[ScheduleRow], promise: tuple[float, float], path: str | PathLike[str]
) -> Path:
    """Draw the rows of a table into a file, and return its path.

    Raises InvalidInput for a path that cannot be written, and where no filter admits a round.
    """
    target = drawable(path)
    height = 1.3 + 0.24 * len(rows)
    with paper_figure(width=5.4, height=height) as (figure, axes):
        plot_filters(
            axes,
            [(row.schedule, row.rounds, row.most) for row in rows],
            rf"$\varepsilon = {promise[0]:g}$, $\delta = {scientific(promise[1])}$",
        )
        legend(figure, 4)
        return save_as(figure, target)
