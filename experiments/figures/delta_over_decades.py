"""delta(epsilon) over thirty decades: every bound, the exact curves, and each bound's slack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.titles import each_of
from simulator import PureDP
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.named import plot_named
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import promised
from simulator.theory import Composition, LaplaceLaw, bounds_for, compose_laws

TITLE = "delta(epsilon) over thirty decades, all bounds and the exact curves"

SPECIFICATION: dict[str, Any] = {"epsilon": 0.1, "rounds": 1000, "decades": 30, "points": 61}

EXACT = "kairouz-oh-viswanath-3.3"
SHOWN = ("advanced", "advanced-tight-mean", "gdp-clt", EXACT, "laplace")


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Compute each bound's epsilon at every delta, evenly over thirty decades."""
    exponents = np.linspace(0.0, specification["decades"], specification["points"])[1:]
    deltas = 10.0**-exponents
    rounds = Composition.repeat(PureDP(specification["epsilon"]), specification["rounds"])
    epsilons: dict[str, Any] = {
        applied.name: applied.epsilon(deltas).value
        for applied in bounds_for(rounds)
        if not applied.bound.costly
    }
    composed = compose_laws([(LaplaceLaw(specification["epsilon"]), specification["rounds"])])
    brackets = [composed.epsilon(float(d)) for d in deltas]
    epsilons["laplace"] = [bracket.upper for bracket in brackets]
    return {
        "deltas": deltas,
        "epsilons": epsilons,
        "laplace_lower": [bracket.lower for bracket in brackets],
    }


def draw(data: Mapping[str, Any]) -> Figure:
    """Left the curves, right each bound's epsilon over the exact one, down the same decades."""
    deltas, curves = data["deltas"], data["epsilons"]
    with paper_figure(2, width=7.4, height=3.3) as (figure, (decades, slack)):
        for index, name in enumerate(SHOWN):
            decades.plot(curves[name], deltas, label=label(name), **promised(index))
        decades.set(yscale="log", ylim=(deltas[-1], 1.0))
        decades.set(xlim=(0.0, max(max(curves[name]) for name in SHOWN)), xlabel=r"$\varepsilon$")
        decades.set_ylabel(r"$\delta(\varepsilon)$")
        exact = np.array(curves[EXACT])
        ratios = {
            label(name): (np.array(curves[name]) / exact).tolist()
            for name in curves
            if name not in (EXACT, "basic")
        }
        slack.set(xscale="log", xlim=(0.1, deltas[-1]), ylim=(0.9, 1.8))
        slack.axhline(1.0, color="0.6", linewidth=0.6, zorder=0)
        order = dict.fromkeys((*SHOWN, *curves))  # a bound has one look in both panels
        places = {label(name): place for place, name in enumerate(order)}
        plot_named(slack, deltas, ratios, [label("laplace")], places)
        game = data["specification"]
        figure.suptitle(each_of(game["epsilon"], game["rounds"]), fontsize="medium")
        slack.set_xlabel(r"$\delta$")
        slack.set_ylabel(r"$\varepsilon$ over the exact $\varepsilon$ for the family")
        legend(figure, columns=3)
    return figure
