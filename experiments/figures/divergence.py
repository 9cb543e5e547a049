"""Hockey-stick divergence of six adversaries, in both directions, against composition bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.titles import game_with_bands
from experiments.play import columns, label_of, played
from simulator.analysis.plots import Band, DivergenceCurve, legend, paper_figure, plot_divergence
from simulator.theory import Composition, bound, parse_guarantee

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
    """Play the adversaries and estimate delta(epsilon) at each epsilon."""
    family = parse_guarantee(specification["family"])
    largest = 1.05 * specification["rounds"] * family.pure_epsilon
    epsilons = np.arange(0.0, largest, largest / 42)
    measured: dict[str, Any] = {}
    for name, result in played(specification):
        measured[name] = {}
        for b in (0, 1):
            estimates = (result.delta(e, b, specification["confidence"]) for e in epsilons)
            measured[name][str(b)] = columns(estimates)
    fine = np.linspace(0.0, largest, 421)
    rounds = Composition.repeat(family, specification["rounds"])
    promised = {name: bound(name).on(rounds).delta(fine).value for name in specification["bounds"]}
    return {"epsilons": epsilons, "measured": measured, "bound_epsilons": fine, "bounds": promised}


LABELS = {
    "basic": "basic",
    "advanced": "advanced (Theorem 3.20)",
    "advanced-tight-mean": "advanced, tight mean",
    "kairouz-oh-viswanath-3.3": "exact for the family",
}


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel a direction, on one scale."""
    curves = {
        LABELS[name]: DivergenceCurve(data["bound_epsilons"], values)
        for name, values in data["bounds"].items()
    }
    with paper_figure(2, height=3.4) as (figure, panels):
        for experiment, axes in enumerate(panels):
            bands = {
                label_of(name): Band(**found[str(experiment)])
                for name, found in data["measured"].items()
            }
            plot_divergence(axes, data["epsilons"], bands, curves, floor=1e-7)
        panels[0].set_title("views of experiment 0 from those of 1")
        panels[1].set_title("views of experiment 1 from those of 0")
        figure.suptitle(game_with_bands(data["specification"], "pointwise"), fontsize="medium")
        legend(figure, columns=3)
    return figure
