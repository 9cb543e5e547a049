"""Privacy amplification by shuffling: the clones, the blanket of Laplace noise, and exact ends."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.studies import curve, curves_of_bounds
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import measured, promised, spaced_marks
from simulator.studies import Study, Task, collect
from simulator.theory import LaplaceLaw, ShuffledBlanket, ShuffledDP, shuffled_law
from simulator.theory.laws.clones import ClonePair

TITLE = "shuffled reports: the clones' bounds, the blanket of Laplace noise, exact responses"

SPECIFICATION: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "largest": 10**6,
    "per_decade": 5,
    "from": 10,
    "small": {"reports": 8, "values": [2, 3], "points": 40},
}

CLOSED, SUMMED, RESPONSE = "clones-closed-form", "clones-numerical", "shuffled-randomized-response"


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The bounds for many reports; of few, every pair of databases is enumerated as well."""
    epsilon, delta, small = (specification[key] for key in ("epsilon", "delta", "small"))
    decades = math.log10(specification["largest"])
    count = round(specification["per_decade"] * decades) + 1
    reports = np.unique(np.round(10.0 ** np.linspace(0.0, decades, count)).astype(int)).tolist()
    grid = np.linspace(0.0, epsilon, small["points"], endpoint=False).tolist()
    many = [f"bound:{name} epsilon(delta={delta})" for name in (CLOSED, SUMMED, RESPONSE)]
    tasks = [Task(None, ShuffledDP(epsilon, n), 1, many, metadata={"reports": n}) for n in reports]
    few = [f"bound:{SUMMED} delta(epsilon={e!r})" for e in grid]
    tasks.append(Task(None, ShuffledDP(epsilon, small["reports"]), 1, few))
    exact = {
        str(values): _worst_shuffle(epsilon, small["reports"], values, np.array(grid))
        for values in small["values"]
    }
    fewer = [ClonePair(epsilon, n, math.exp(-epsilon)).epsilon_bracket(delta) for n in reports]
    blanket = [
        ShuffledBlanket(LaplaceLaw(epsilon), n).epsilon_bracket(delta)
        for n in reports
        if n >= specification["from"]
    ]
    return {
        "study": Study.of(collect(tasks, jobs=1)),
        "exact": exact,
        "fewer": [one.upper for one in fewer],
        "blanket": {"upper": [one.upper for one in blanket], "lower": [o.lower for o in blanket]},
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
        _draw_few(few, data)
        legend(figure, columns=3)
    return figure


def named(values: int | str) -> str:
    """Randomized response over so many values, as it stands in the legend."""
    return f"exact, response of {values} values"


def by_reports(study: Study) -> tuple[list[int], dict[str, list[float]]]:
    """The numbers of reports, and the epsilon of each bound; NaN where it does not apply."""
    found = study.filter(lambda point: "epsilon(" in point.quantity)
    reports = sorted({json.loads(point.metadata)["reports"] for point in found})
    return reports, curves_of_bounds(found)


def _draw_many(axes: Axes, data: Mapping[str, Any]) -> None:
    (reports, curves), game = by_reports(data["study"]), data["specification"]
    for index, name in enumerate((SUMMED, CLOSED)):
        axes.plot(reports, curves[name], label=label(name), **promised(index, name))
    axes.plot(reports, data["fewer"], color="0.5", linewidth=0.8, linestyle=(0, (4, 2)),
              label=r"clones of 2021, share $e^{-\varepsilon_0}$")  # fmt: skip
    marks = spaced_marks(np.array(reports), 0, logarithmic=True)
    axes.plot(reports, curves[RESPONSE], label="exact, response of 2 or 3 values",
              markevery=marks, **measured(2))  # fmt: skip
    some = [n for n in reports if n >= game["from"]]
    ends = data["blanket"]
    axes.fill_between(some, ends["lower"], ends["upper"], color="0.6", alpha=0.35, linewidth=0,
                      label="Laplace noise, equal others to blanket")  # fmt: skip
    axes.axhline(game["epsilon"], color="0.6", linewidth=0.6, zorder=0)
    own = rf"$\varepsilon_0 = {game['epsilon']:g}$ of a report"
    axes.text(reports[-1], 0.94 * game["epsilon"], own,
              ha="right", va="top", fontsize="small", color="0.35")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(reports[0], reports[-1]))
    axes.set_xlabel(r"shuffled reports $n$")
    power = round(math.log10(game["delta"]))
    axes.set_ylabel(rf"$\varepsilon$ at $\delta = 10^{{{power}}}$")


def _draw_few(axes: Axes, data: Mapping[str, Any]) -> None:
    clones = curve(data["study"].filter(lambda point: "delta(" in point.quantity))
    axes.plot(clones.at, clones.value, label=label(SUMMED), **promised(0, SUMMED))
    for index, (values, deltas) in enumerate(data["exact"].items()):
        marks = spaced_marks(np.array(clones.at), index)
        axes.plot(clones.at, deltas, label=named(values), markevery=marks, **measured(index))
    axes.set(yscale="log", xlim=(clones.at[0], clones.at[-1]), xlabel=r"$\varepsilon$")
    reports = data["specification"]["small"]["reports"]
    axes.set_ylabel(rf"$\delta(\varepsilon)$ of {reports} reports")
