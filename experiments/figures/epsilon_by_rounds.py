"""What k rounds cost: epsilon(delta) from one round to ten thousand, and each bound's slack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from simulator import PureDP
from simulator.analysis.plots import legend, paper_figure, plot_epsilon_against_rounds
from simulator.analysis.plots.named import plot_named
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import promised
from simulator.theory import Composition, LaplaceLaw, bound, bounds_for, compose_laws

TITLE = "epsilon(delta) against the number of rounds, from 1 to 10,000"

SPECIFICATION: dict[str, Any] = {"epsilon": 0.1, "delta": 1e-6, "largest": 10_000, "points": 49}

EXACT = "kairouz-oh-viswanath-3.3"
SHOWN = ("basic", "advanced", "advanced-tight-mean", EXACT, "laplace")


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate every bound, and the exact law of Laplace noise, on a grid of k."""
    epsilon, delta = specification["epsilon"], specification["delta"]
    grid = np.geomspace(1, specification["largest"], specification["points"])
    rounds = np.unique(np.round(grid).astype(int))

    def granted(name: str, k: int) -> float:
        return bound(name).on(Composition.repeat(PureDP(epsilon), k)).epsilon(delta).value

    entries = [applied.bound for applied in bounds_for(Composition.repeat(PureDP(epsilon), 2))]
    curves = {
        entry.name: [granted(entry.name, int(k)) for k in rounds]
        for entry in entries
        if not entry.costly
    }
    brackets = [compose_laws([(LaplaceLaw(epsilon), int(k))]).epsilon(delta) for k in rounds]
    curves["laplace"] = [bracket.upper for bracket in brackets]
    first = next(
        k
        for k in range(1, specification["largest"])
        if granted("advanced", k) < granted("basic", k)
    )
    return {
        "delta": delta,
        "rounds": rounds,
        "epsilons": curves,
        "laplace_lower": [bracket.lower for bracket in brackets],
        "crossover": first,
    }


def draw(data: Mapping[str, Any]) -> Figure:
    """Left the growth of epsilon, right every bound over the exact answer."""
    rounds, curves = data["rounds"], data["epsilons"]
    with paper_figure(2, width=7.4, height=3.3) as (figure, (growth, slack)):
        plot_epsilon_against_rounds(
            growth,
            rounds,
            {label(name): curves[name] for name in SHOWN},
            delta=data["delta"],
            crossover=data["crossover"],
        )
        exact = np.array(curves[EXACT])
        ratios = {
            label(name): (np.array(curves[name]) / exact).tolist()
            for name in curves
            if name not in (EXACT, "basic")
        }
        slack.set(xscale="log", yscale="log", xlim=(rounds[0], rounds[-1]), ylim=(0.93, 2.0))
        slack.yaxis.set_major_locator(FixedLocator([1.0, 1.2, 1.5, 2.0]))
        slack.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        slack.yaxis.set_minor_locator(NullLocator())
        slack.axhline(1.0, color="0.6", linewidth=0.6, zorder=0)
        order = dict.fromkeys((*SHOWN, *curves))  # a bound has one look in both panels
        places = {label(name): place for place, name in enumerate(order)}
        plot_named(slack, rounds, ratios, [label("laplace")], places)
        slack.plot(rounds, np.array(curves["basic"]) / exact, **promised(0))
        figure.suptitle(
            rf"rounds of $\varepsilon_0 = {data['specification']['epsilon']:g}$ each",
            fontsize="medium",
        )
        slack.text(90, 1.93, "basic", fontsize=7)
        slack.set_xlabel(r"rounds $k$")
        slack.set_ylabel(r"$\varepsilon$ over the exact $\varepsilon$ for the family")
        legend(figure, columns=3)
    return figure
