"""Bob's 10,000 databases: how much epsilon each round may spend, under every bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from scipy.optimize import brentq

from simulator.analysis.plots import paper_figure
from simulator.analysis.plots.names import label
from simulator.theory import LaplaceLaw, calibrate, compose_laws

TITLE = "the epsilon that each of Bob's 10,000 databases may spend, under every bound"

SPECIFICATION: dict[str, Any] = {
    "target_epsilon": 1.0,
    "target_log_delta": -32.0,
    "rounds": 10_000,
    "claimed": 1.0 / 801.0,
    "source": "Zhang 2020, USTC lecture 7",
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The ladder of the registry, and the rung of Laplace noise by its own law."""
    epsilon = specification["target_epsilon"]
    delta = math.exp(specification["target_log_delta"])
    rounds = specification["rounds"]
    ladder = calibrate(epsilon, delta, rounds)

    def excess(value: float) -> float:
        return math.log(compose_laws([(LaplaceLaw(value), rounds)]).delta(epsilon).upper / delta)

    exact = max(rung.value for rung in ladder)
    laplace = brentq(excess, exact, 1.2 * exact, rtol=1e-9)
    rungs = [{"name": rung.name, "kind": rung.kind, "epsilon": rung.value} for rung in ladder]
    rungs.append({"name": "laplace", "kind": "exact", "epsilon": laplace})
    return {"rungs": rungs, "claimed": specification["claimed"]}


MARKERS = {"upper": "o", "exact": "D", "approximation": "x"}
MEANINGS = {
    "upper": "proved to suffice",
    "exact": "exact: the largest that suffices",
    "approximation": "approximation",
}


def draw(data: Mapping[str, Any]) -> Figure:
    """One row a bound, the strictest on top."""
    rungs = data["rungs"]
    with paper_figure(width=5.2, height=3.5) as (figure, axes):
        for kind, marker in MARKERS.items():
            places = [place for place, rung in enumerate(rungs) if rung["kind"] == kind]
            axes.plot(
                [rungs[place]["epsilon"] for place in places], places,
                linestyle="none", marker=marker, color="black", label=MEANINGS[kind],
                markerfacecolor="black" if kind == "exact" else "white",
            )  # fmt: skip
        for place, rung in enumerate(rungs):
            axes.plot([0, rung["epsilon"]], [place, place], color="0.8", linewidth=0.6, zorder=0)
            axes.annotate(
                f"1/{1.0 / rung['epsilon']:.0f}",
                (rung["epsilon"], place), xytext=(6, 0), textcoords="offset points",
                va="center", fontsize=7,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )  # fmt: skip
        claimed = data["claimed"]
        axes.axvline(claimed, color="0.55", linewidth=0.7, linestyle=(0, (4, 2)), zorder=0)
        axes.annotate(
            f"claimed: 1/{1.0 / claimed:.0f}", (claimed, 0), xytext=(-4, 0),
            textcoords="offset points", ha="right", va="center", fontsize=7, color="0.25",
        )  # fmt: skip
        axes.set_yticks(range(len(rungs)), [label(rung["name"]) for rung in rungs])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0.0, 1.12 * max(rung["epsilon"] for rung in rungs))
        axes.xaxis.set_major_locator(FixedLocator([0.0, 0.0005, 0.001, 0.0015]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel(r"$\varepsilon$ of each of 10,000 rounds, for a total of $(1, e^{-32})$")
        axes.legend(loc="lower left", fontsize=7, bbox_to_anchor=(0.0, 0.13), frameon=True,
                    edgecolor="none", framealpha=1.0)  # fmt: skip
    return figure
