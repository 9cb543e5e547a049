"""Hockey-stick divergence of six adversaries, in both directions, against composition bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.titles import game_with_bands
from experiments.play import label_of
from experiments.studies import curve, curves_of_bounds, played
from simulator.analysis.plots import DivergenceCurve, legend, paper_figure, plot_divergence
from simulator.analysis.plots.names import label
from simulator.studies import Study, collect, grid
from simulator.theory import parse_guarantee

TITLE = "hockey-stick divergence of six adversaries, with 95% intervals, against the bounds"

SPECIFICATION: dict[str, Any] = {
    "family": "pure:0.2",
    "rounds": 100,
    "seed": 2010,
    "trials": {
        "fixed-worst-case": 200_000,
        "press-when-ahead": 200_000,
        "mechanism-switcher": 300_000,
        "double-when-behind": 200_000,
        "stop-when-sure": 200_000,
        "database-changer": 200_000,
    },
    "confidence": 0.95,
    "bounds": ["basic", "advanced", "advanced-tight-mean", "kairouz-oh-viswanath-3.3"],
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """delta(epsilon) of each adversary at 43 epsilons, epsilon(delta) of bounds at 41 deltas."""
    s, family = specification, parse_guarantee(specification["family"])
    largest = 1.05 * s["rounds"] * family.pure_epsilon
    epsilons = np.arange(0.0, largest, largest / 42).tolist()
    deltas = (1.0 / (1.0 + 10.0 ** np.linspace(-2.0, 8.0, 41))).tolist()  # from 0.99 down
    measured = played(s, [f"delta(epsilon={epsilon!r})" for epsilon in epsilons])
    promised = [f"bound:{name} epsilon(delta={d!r})" for name in s["bounds"] for d in deltas]
    tasks = grid(None, family, s["rounds"], promised)
    return {"study": Study.merge(measured, Study.of(collect(tasks, jobs=1)))}


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel a direction, on one scale."""
    study, game = data["study"], data["specification"]
    deltas = sorted({point.at for point in study.filter(adversary="")})
    bounds = {
        label(name): DivergenceCurve([0.0, *epsilons[::-1]], [1.0, *deltas[::-1]])
        for name, epsilons in curves_of_bounds(study).items()
    }
    with paper_figure(2, height=3.4) as (figure, panels):
        for experiment, axes in enumerate(panels):
            bands = {
                label_of(name): curve(study.filter(adversary=name, experiment=experiment))
                for name in game["trials"]
            }
            at = next(iter(bands.values())).at
            plot_divergence(axes, at, bands, bounds, floor=1e-7)
        panels[0].set_title("views of experiment 0 from those of 1")
        panels[1].set_title("views of experiment 1 from those of 0")
        figure.suptitle(game_with_bands(game, "pointwise"), fontsize="medium")
        legend(figure, columns=3)
    return figure
