"""Tails of the privacy loss of six adversaries, in both experiments, against Azuma's tail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.titles import game_with_bands
from experiments.play import label_of, played
from simulator.analysis.plots import Band, TailCurve, legend, paper_figure, plot_tails
from simulator.foundations.ties import beyond
from simulator.theory import azuma_tail, parse_guarantee
from simulator.theory.pld.response_atoms import repeated_atoms

TITLE = "tails of the privacy loss of six adversaries, with simultaneous 95% bands"

SPECIFICATION: dict[str, Any] = {
    "family": "pure:0.2",
    "rounds": 100,
    "seed": 2011,
    "trials": {
        "fixed-worst-case": 1_000_000,
        "press-when-ahead": 1_000_000,
        "mechanism-switcher": 300_000,
        "budget-splitter": 500_000,
        "stop-when-sure": 1_000_000,
        "patient-hunter": 10_000,
    },
    "confidence": 0.95,
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Play the adversaries; count how many losses pass each threshold."""
    # halfway between the multiples of half an epsilon, where most atoms lie
    step = parse_guarantee(specification["family"]).pure_epsilon / 2.0
    thresholds = np.arange(0.5, 2.1 * specification["rounds"]) * step
    tails: dict[str, Any] = {}
    for name, result in played(specification):
        bands = [result.tail_band(thresholds, b, specification["confidence"]) for b in (0, 1)]
        tails[name] = {
            str(b): {"value": band.value, "lower": band.lower, "upper": band.upper}
            for b, band in enumerate(bands)
        }
    return {"thresholds": thresholds, "tails": tails, "bounds": bounds(specification, thresholds)}


def bounds(specification: Mapping[str, Any], thresholds: np.ndarray) -> dict[str, Any]:
    """Bounds on Pr[L > t]: Azuma's tail beyond the largest drift, in both forms of that drift.

    The exact tail is that of the adversary that plays randomized response in every round; others
    may pass it here and there, for a tail is not monotone under post-processing.
    """
    epsilon = parse_guarantee(specification["family"]).pure_epsilon
    rounds = specification["rounds"]
    squared_ranges = rounds * (2.0 * epsilon) ** 2
    atoms = repeated_atoms(epsilon, rounds)

    def azuma(drift: float) -> list[float]:
        return [azuma_tail(t - rounds * drift, squared_ranges) for t in thresholds]

    return {
        "basic": [float(beyond(t, rounds) < rounds * epsilon) for t in thresholds],
        "Azuma, Lemma 7 drift": azuma(epsilon * math.expm1(epsilon)),
        "Azuma, tight drift": azuma(epsilon * math.tanh(epsilon / 2.0)),
        "randomized response, exact": [atoms.tail(float(t)) for t in thresholds],
    }


CURVES = {
    "randomized response, exact": ("exact, randomized response", 2.4),
    "Azuma, tight drift": ("Azuma, tight drift", 1.9),
    "Azuma, Lemma 7 drift": ("Azuma, drift of Lemma 7", 0.9),
    "basic": ("basic composition", 0.9),
}
"""The curves that are not measured, in the order of the legend: names and widths."""


def seen_and_first_unseen(band: Mapping[str, Any]) -> Band:
    """A measured tail up to the first threshold that no trial passed.

    Beyond it the upper end stays where it is, and one arrow says as much as a row of them.
    """
    value = np.array(band["value"])
    beyond_first = np.cumsum(value == 0.0) > 1
    return Band(*(np.where(beyond_first, np.nan, band[end]) for end in ("value", "lower", "upper")))


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel an experiment, on one scale; the theorems' curves are the heaviest."""
    thresholds = data["thresholds"]
    curves = {name: TailCurve(thresholds, data["bounds"][key]) for key, (name, _) in CURVES.items()}
    widths = dict(CURVES.values())
    with paper_figure(2, height=3.7) as (figure, panels):
        for experiment, axes in enumerate(panels):
            tails = {
                label_of(name): seen_and_first_unseen(measured[str(experiment)])
                for name, measured in data["tails"].items()
            }
            plot_tails(axes, thresholds, tails, curves, floor=2e-7)
            for line in axes.lines:
                line.set_linewidth(widths.get(line.get_label(), 0.9))
            axes.set(
                title=f"experiment $b = {experiment}$", xlabel="privacy loss $t$", xlim=(0, 20.5)
            )
        panels[0].set_ylabel(r"$\Pr[L > t]$")
        panels[1].set_ylabel(r"$\Pr[-L > t]$")
        figure.suptitle(game_with_bands(data["specification"], "simultaneous"), fontsize="medium")
        legend(figure, columns=3)
    return figure
