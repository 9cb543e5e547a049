"""Privacy amplification by shuffling: the clones' bounds against exact shuffled responses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import measured, promised, spaced_marks
from simulator.foundations.errors import NotApplicable
from simulator.theory import Composition, ShuffledDP, bound, shuffled_law

TITLE = "shuffled reports: the clones' bounds and exact randomized response"

SPECIFICATION: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "largest": 10**6,
    "per_decade": 5,
    "small": {"reports": 8, "values": [2, 3], "points": 40},
}

CLOSED, SUMMED, RESPONSE = "clones-closed-form", "clones-numerical", "shuffled-randomized-response"


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate the bounds for many reports; of few, enumerate every pair of databases as well."""
    epsilon, delta = specification["epsilon"], specification["delta"]
    decades = math.log10(specification["largest"])
    count = round(specification["per_decade"] * decades) + 1
    reports = np.unique(np.round(10.0 ** np.linspace(0.0, decades, count)).astype(int))

    def epsilon_of(name: str, n: int) -> float:
        applied = bound(name).on(Composition.repeat(ShuffledDP(epsilon, n), 1))
        try:
            return applied.epsilon(delta).value
        except NotApplicable:
            return math.nan

    names = (CLOSED, SUMMED, RESPONSE)
    curves = {name: [epsilon_of(name, int(n)) for n in reports] for name in names}
    return {
        "epsilon": epsilon,
        "delta": delta,
        "reports": reports,
        "epsilons": curves,
        "small": _few_reports(epsilon, **specification["small"]),
    }


def _few_reports(epsilon: float, reports: int, values: list[int], points: int) -> dict[str, Any]:
    """delta(epsilon) of the clones, and the worst of all shuffled responses over some values."""
    grid = np.linspace(0.0, epsilon, points, endpoint=False)
    clones = bound(SUMMED).on(Composition.repeat(ShuffledDP(epsilon, reports), 1))
    return {
        "reports": reports,
        "grid": grid,
        "clones": [clones.delta(float(e)).upper for e in grid],
        "exact": {str(many): _worst_shuffle(epsilon, reports, many, grid) for many in values},
    }


def _worst_shuffle(epsilon: float, reports: int, values: int, grid: np.ndarray) -> list[float]:
    """The largest delta over every pair of databases that differ in one person."""
    table = np.ones((values, values)) + np.expm1(epsilon) * np.eye(values)
    table /= table.sum(axis=1, keepdims=True)
    worst = np.zeros(grid.size)
    for others in itertools.combinations_with_replacement(range(values), reports - 1):
        law = shuffled_law(table, (0, *others), (1, *others))
        for one in (law, law.reversed()):
            worst = np.maximum(worst, [one.delta(float(e)) for e in grid])
    return worst.tolist()


def draw(data: Mapping[str, Any]) -> Figure:
    """Left epsilon by the number of reports, right the whole curve of a few reports."""
    with paper_figure(2, width=7.2, height=3.4) as (figure, (many, few)):
        _draw_many(many, data)
        _draw_few(few, data["small"])
        legend(figure, columns=3)
    return figure


def named(values: int | str) -> str:
    """Randomized response over so many values, as it stands in the legend."""
    return f"exact, response of {values} values"


def _draw_many(axes: Axes, data: Mapping[str, Any]) -> None:
    reports = np.array(data["reports"])
    for index, name in enumerate((SUMMED, CLOSED)):
        values = np.array(data["epsilons"][name], dtype=np.float64)
        axes.plot(reports, values, label=label(name), **promised(index))
    values = np.array(data["epsilons"][RESPONSE], dtype=np.float64)
    marks = spaced_marks(reports, 0, logarithmic=True)
    axes.plot(reports, values, label=named(2), markevery=marks, **measured(0))
    axes.axhline(data["epsilon"], color="0.6", linewidth=0.6, zorder=0)
    own = rf"$\varepsilon_0 = {data['epsilon']:g}$ of a report"
    axes.text(reports[-1], 0.94 * data["epsilon"], own,
              ha="right", va="top", fontsize="small", color="0.35")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(reports[0], reports[-1]))
    axes.set_xlabel(r"shuffled reports $n$")
    power = round(math.log10(data["delta"]))
    axes.set_ylabel(rf"$\varepsilon$ at $\delta = 10^{{{power}}}$")


def _draw_few(axes: Axes, small: Mapping[str, Any]) -> None:
    grid = np.array(small["grid"])
    axes.plot(grid, small["clones"], label=label(SUMMED), **promised(0))
    for index, (values, deltas) in enumerate(small["exact"].items()):
        marks = spaced_marks(grid, index)
        axes.plot(grid, deltas, label=named(values), markevery=marks, **measured(index))
    axes.set(yscale="log", xlim=(grid[0], grid[-1]), xlabel=r"$\varepsilon$")
    axes.set_ylabel(rf"$\delta(\varepsilon)$ of {small['reports']} reports")
