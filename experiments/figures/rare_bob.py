"""delta(epsilon) of Bob's ten thousand databases over twenty decades, measured and exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.titles import each_of
from experiments.studies import curve, curves_of_bounds
from simulator import PureDP
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import measured, promised
from simulator.studies import Study, collect, grid

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
    """The bounds along the decades; tilted play at a few epsilons."""
    s, family = specification, PureDP(specification["per_round"])
    deltas = np.logspace(-0.5, -s["decades"], s["points"]).tolist()
    promised = [f"bound:{name} epsilon(delta={d!r})" for name in SHOWN for d in deltas]
    wanted = [f"rare:tilted delta(epsilon={epsilon})" for epsilon in s["measured_at"]]
    bob = grid(
        "fixed-worst-case", family, s["databases"], [*promised, *wanted],
        seed=s["seed"], experiments=[0],
    )  # fmt: skip
    return {"study": Study.of(collect(bob, trials=s["trials"], jobs=1))}


def draw(data: Mapping[str, Any]) -> Figure:
    """The curves, and the estimates with their intervals."""
    study, game = data["study"], data["specification"]
    bounds = curves_of_bounds(study.filter(lambda point: point.trials == 0))
    deltas = sorted({point.at for point in study.filter(trials=0)})
    found = curve(study.filter(lambda point: point.trials > 0))
    spread = np.abs(np.array([found.lower, found.upper]) - found.value)
    with paper_figure(1, width=5.0, height=3.6) as (figure, axes):
        for index, name in enumerate(SHOWN):
            axes.plot(bounds[name], deltas, label=label(name), **promised(index, name))
        style = measured(0) | {"linestyle": "none"}
        axes.errorbar(
            found.at, found.value, spread,
            capsize=2.0, label="tilted play, 95% intervals", **style,
        )  # fmt: skip
        axes.set(yscale="log", ylim=(10.0 ** -game["decades"], 1.0))
        axes.set_xlim(0.0, 1.12 * max(bounds["advanced"]))
        axes.set(xlabel=r"$\varepsilon$", ylabel=r"$\delta(\varepsilon)$")
        figure.suptitle(each_of(game["per_round"], game["databases"]), fontsize="medium")
        legend(figure, columns=2)
    return figure
