"""delta(epsilon) over thirty decades: every bound, the exact curves, and each bound's slack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.slack import EXACT, draw_slack
from experiments.drawing.titles import each_of
from experiments.studies import bounds_and_laplace, with_laplace
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import promised

TITLE = "delta(epsilon) over thirty decades, all bounds and the exact curves"

SPECIFICATION: dict[str, Any] = {"epsilon": 0.1, "rounds": 1000, "decades": 30, "points": 61}

SHOWN = ("advanced", "advanced-tight-mean", "gdp-clt", EXACT, "laplace")


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Each bound's epsilon at every delta, evenly over thirty decades."""
    exponents = np.linspace(0.0, specification["decades"], specification["points"])[1:]
    deltas = (10.0**-exponents).tolist()
    rounds = [specification["rounds"]]
    return {"study": bounds_and_laplace(specification["epsilon"], rounds, deltas)}


def draw(data: Mapping[str, Any]) -> Figure:
    """Left the curves, right each bound's epsilon over the exact one, down the same decades."""
    curves = {name: values[::-1] for name, values in with_laplace(data["study"]).items()}
    deltas = sorted({point.at for point in data["study"]}, reverse=True)
    game = data["specification"]
    with paper_figure(2, width=7.4, height=3.3) as (figure, (decades, slack)):
        for index, name in enumerate(SHOWN):
            decades.plot(curves[name], deltas, label=label(name), **promised(index, name))
        decades.set(yscale="log", ylim=(deltas[-1], 1.0))
        decades.set(xlim=(0.0, max(max(curves[name]) for name in SHOWN)), xlabel=r"$\varepsilon$")
        decades.set_ylabel(r"$\delta(\varepsilon)$")
        slack.set(xscale="log", xlim=(0.1, deltas[-1]), ylim=(0.9, 1.8))
        draw_slack(slack, deltas, curves)
        figure.suptitle(each_of(game["epsilon"], game["rounds"]), fontsize="medium")
        slack.set_xlabel(r"$\delta$")
        legend(figure, columns=3)
    return figure
