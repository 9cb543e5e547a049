"""What adaptivity is worth against the exponential mechanism, by rounds and by epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from simulator.analysis.plots import paper_figure
from simulator.analysis.plots.style import measured
from simulator.theory import BoundedRange, Composition, bound
from simulator.worst import worst_case

TITLE = "the adaptivity gap of the exponential mechanism, certified from both sides"

SPECIFICATION: dict[str, Any] = {
    "widths": [0.1, 0.5, 1.0, 2.0],
    "rounds": [2, 3, 4, 6, 8, 12, 16, 24, 32],
    "deltas": [1e-2, 1e-6],
    "tolerance": 5e-3,
    "seconds": 600.0,
    "source": "Dong, Durfee and Rogers 2020: the recursion, and the best choice fixed in advance",
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """At the epsilon where the best fixed choice has a delta, what an adaptive one has."""
    curves = []
    for delta in specification["deltas"]:
        for width in specification["widths"]:
            points = []
            for rounds in specification["rounds"]:
                composition = Composition.repeat(BoundedRange(width), rounds)
                fixed = bound("bounded-range-non-adaptive").on(composition)
                epsilon = fixed.epsilon(delta).value
                found = worst_case(
                    f"exponential:{width}",
                    rounds=rounds,
                    epsilon=epsilon,
                    tolerance=specification["tolerance"],
                    seconds=specification["seconds"],
                )
                assert found.non_adaptive is not None
                points.append(
                    {
                        "rounds": rounds,
                        "epsilon": epsilon,
                        "fixed": found.non_adaptive.upper,
                        "lower": found.delta.lower,
                        "upper": found.delta.upper,
                        "dominating": found.dominating,
                    }
                )
            curves.append({"delta": delta, "width": width, "points": points})
    return {"curves": curves}


def gap(point: Mapping[str, float], end: str) -> float:
    """By how many per cent an end of the adaptive delta is above the best fixed one.

    Never below it: a fixed choice is a policy too, which the grid of the search may just miss.
    """
    return max(100.0 * (point[end] / point["fixed"] - 1.0), 0.0)


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel for each delta: the gap in per cent, its two ends shaded."""
    deltas = sorted({curve["delta"] for curve in data["curves"]}, reverse=True)
    with paper_figure(len(deltas), height=2.9) as (figure, panels):
        for axes, delta in zip(panels, deltas):
            here = [curve for curve in data["curves"] if curve["delta"] == delta]
            for place, curve in enumerate(here):
                rounds = [point["rounds"] for point in curve["points"]]
                lower = [gap(point, "lower") for point in curve["points"]]
                upper = [gap(point, "upper") for point in curve["points"]]
                look = measured(place)
                axes.fill_between(rounds, lower, upper, color=look["color"], alpha=0.3, lw=0)
                axes.plot(rounds, lower, label=rf"$\varepsilon_0$ = {curve['width']:g}", **look)
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_locator(FixedLocator([2, 4, 8, 16, 32]))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xlabel("rounds $k$")
            axes.set_title(rf"where the best fixed choice has $\delta = 10^{{{_power(delta)}}}$")
        figure.suptitle("shaded: certified ends", fontsize="medium")
        panels[0].set_ylabel(r"adaptive $\delta$ above it, in %")
        panels[0].legend(loc="upper left", title="each round")
    return figure


def _power(delta: float) -> int:
    return round(float(f"{delta:e}".split("e")[1]))
