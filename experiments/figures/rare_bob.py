"""delta(epsilon) of Bob's ten thousand databases over twenty decades, measured and exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.titles import each_of
from simulator import PureDP
from simulator.adversaries import make
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import measured, promised
from simulator.analysis.rare import estimate_rare
from simulator.theory import Composition, bounds_for

TITLE = "Bob's ten thousand databases over twenty decades: tilted estimates on the exact curve"

SPECIFICATION: dict[str, Any] = {
    "databases": 10_000,
    "per_round": 1 / 801,
    "trials": 20_000,
    "seed": 801,
    "measured_at": [0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.890468, 0.97, 1.05, 1.12],
    "decades": 21,
    "points": 64,
}

EXACT = "kairouz-oh-viswanath-3.3"
SHOWN = ("advanced", "advanced-tight-mean", "zcdp-canonne-kamath-steinke", EXACT)


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate the bounds along the decades; estimate by tilted play at a few epsilons."""
    family, rounds = PureDP(specification["per_round"]), specification["databases"]
    deltas = np.logspace(-0.5, -specification["decades"], specification["points"])
    bounds = {
        bound.name: bound.epsilon(deltas).value
        for bound in bounds_for(Composition.repeat(family, rounds))
        if bound.name in SHOWN
    }
    bob = make("fixed-worst-case", family, rounds)
    points = []
    for epsilon in specification["measured_at"]:
        event = estimate_rare(
            bob, family, rounds, specification["trials"],
            epsilon=epsilon, method="tilted", seed=specification["seed"],
        )  # fmt: skip
        points.append(
            {
                "epsilon": epsilon,
                "theta": event.theta,
                "value": event.delta.value,
                "lower": event.delta.lower,
                "upper": event.delta.upper,
                "method": event.delta.method,
            }
        )
    return {"deltas": deltas, "bounds": bounds, "points": points}


def draw(data: Mapping[str, Any]) -> Figure:
    """The curves, and the estimates with their intervals."""
    points = data["points"]
    values = np.array([point["value"] for point in points])
    spread = np.abs([[point[end] for point in points] for end in ("lower", "upper")] - values)
    game = data["specification"]
    with paper_figure(1, width=5.0, height=3.6) as (figure, axes):
        for index, name in enumerate(SHOWN):
            axes.plot(data["bounds"][name], data["deltas"], label=label(name), **promised(index))
        style = measured(0) | {"linestyle": "none"}
        axes.errorbar(
            [point["epsilon"] for point in points], values, spread,
            capsize=2.0, label="tilted play, 95% intervals", **style,
        )  # fmt: skip
        axes.set(yscale="log", ylim=(10.0 ** -game["decades"], 1.0))
        axes.set_xlim(0.0, 1.12 * max(data["bounds"]["advanced"]))
        axes.set(xlabel=r"$\varepsilon$", ylabel=r"$\delta(\varepsilon)$")
        figure.suptitle(each_of(game["per_round"], game["databases"]), fontsize="medium")
        legend(figure, columns=2)
    return figure
