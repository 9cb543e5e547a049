"""What k rounds cost: epsilon(delta) from one round to ten thousand, and each bound's slack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from experiments.drawing.slack import EXACT, draw_slack
from experiments.studies import bounds_and_laplace, with_laplace
from simulator import PureDP
from simulator.analysis.plots import legend, paper_figure, plot_epsilon_against_rounds
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import promised
from simulator.theory import Composition, bound

TITLE = "epsilon(delta) against the number of rounds, from 1 to 10,000"

SPECIFICATION: dict[str, Any] = {"epsilon": 0.1, "delta": 1e-6, "largest": 10_000, "points": 49}

SHOWN = ("basic", "advanced", "advanced-tight-mean", EXACT, "laplace")


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Every bound, and the exact law of Laplace noise, on a grid of k."""
    epsilon, delta = specification["epsilon"], specification["delta"]
    ladder = np.geomspace(1, specification["largest"], specification["points"])
    rounds = np.unique(np.round(ladder).astype(int)).tolist()

    def granted(name: str, k: int) -> float:
        return bound(name).on(Composition.repeat(PureDP(epsilon), k)).epsilon(delta).value

    every_k = range(1, specification["largest"])
    first = next(k for k in every_k if granted("advanced", k) < granted("basic", k))
    return {"study": bounds_and_laplace(epsilon, rounds, [delta]), "crossover": first}


def draw(data: Mapping[str, Any]) -> Figure:
    """Left the growth of epsilon, right every bound over the exact answer."""
    curves, game = with_laplace(data["study"], "rounds"), data["specification"]
    rounds = sorted({point.rounds for point in data["study"]})
    with paper_figure(2, width=7.4, height=3.3) as (figure, (growth, slack)):
        shown = {label(name): curves[name] for name in SHOWN}
        plot_epsilon_against_rounds(
            growth, rounds, shown, delta=game["delta"], crossover=data["crossover"]
        )
        slack.set(xscale="log", yscale="log", xlim=(rounds[0], rounds[-1]), ylim=(0.93, 2.0))
        slack.yaxis.set_major_locator(FixedLocator([1.0, 1.2, 1.5, 2.0]))
        slack.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        slack.yaxis.set_minor_locator(NullLocator())
        draw_slack(slack, rounds, curves)
        slack.plot(rounds, np.array(curves["basic"]) / curves[EXACT], **promised(0, "basic"))
        slack.text(90, 1.93, "basic", fontsize=7)
        slack.set_xlabel(r"rounds $k$")
        each = rf"rounds of $\varepsilon_0 = {game['epsilon']:g}$ each"
        figure.suptitle(each, fontsize="medium")
        legend(figure, columns=3)
    return figure
