"""The loss along the rounds: its drift and spread, and what Azuma's inequality allows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.titles import game_with_bands
from experiments.play import label_of, played
from experiments.stages import settled
from simulator.analysis.plots import legend, paper_figure, plot_drift
from simulator.analysis.plots.style import curves, draw_band, measured, promised, spaced_marks
from simulator.theory import azuma_deviation, parse_guarantee

AZUMA = {"Lemma 7 drift": "Azuma, drift of Lemma 7", "tight drift": "Azuma, tight drift"}
"""As in the figure of tails."""
TITLE = "drift and spread of the privacy loss along the rounds, with Azuma's envelope"

SPECIFICATION: dict[str, Any] = {
    "family": "pure:0.2",
    "rounds": 200,
    "seed": 1967,
    "trials": {
        "press-when-ahead": 500_000,
        "stop-when-sure": 500_000,
        "budget-splitter": 500_000,
        "fixed-worst-case": 500_000,
    },
    "experiments": [0],
    "trace": True,
    "keep_views": 12,
    "followed": "press-when-ahead",
    "delta": 1e-3,
    "confidence": 0.95,
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Moments of the loss after each round, single paths, and the envelopes."""
    data: dict[str, Any] = {"followed": specification["followed"], "moments": {}}
    for name, result in played(specification):
        mean, deviation = result.moments(0)
        data["moments"][name] = {
            "mean": mean,
            "standard_deviation": deviation,
            "drift": np.diff(mean, prepend=0.0),
            "drift_half_width": half_width(specification, specification["trials"][name]),
        }
        if name == specification["followed"]:
            data["paths"] = [
                settled(np.cumsum(result.replay(view).round_losses)) for view in result.views
            ]
    return data | envelopes(specification)


def half_width(specification: Mapping[str, Any], trials: int) -> float:
    """Half the width of a band on the drift, simultaneous over the rounds (Hoeffding).

    A round's loss lies in [-epsilon, epsilon], so nothing is assumed of its law.
    """
    epsilon = parse_guarantee(specification["family"]).pure_epsilon
    error = (1.0 - specification["confidence"]) / specification["rounds"]
    return epsilon * math.sqrt(2.0 * math.log(2.0 / error) / trials)


def envelopes(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Largest drift a round, in two forms, and the loss passed with probability delta at most."""
    epsilon = parse_guarantee(specification["family"]).pure_epsilon
    rounds = np.arange(1, specification["rounds"] + 1)
    drifts = {
        "Lemma 7 drift": epsilon * math.expm1(epsilon),
        "tight drift": epsilon * math.tanh(epsilon / 2.0),
    }
    spread = np.array(
        [azuma_deviation(specification["delta"], k * (2.0 * epsilon) ** 2) for k in rounds]
    )
    return {
        "rounds": rounds,
        "delta": specification["delta"],
        "largest_drifts": drifts,
        "envelopes": {name: drift * rounds + spread for name, drift in drifts.items()},
    }


def draw(data: Mapping[str, Any]) -> Figure:
    """Left the accumulated loss of one adversary, right the drift of every round for all."""
    rounds = data["rounds"]
    followed = data["moments"][data["followed"]]
    mean, spread = np.array(followed["mean"]), np.array(followed["standard_deviation"])
    with paper_figure(2, height=3.4) as (figure, (total, drift)):
        plot_drift(
            total,
            rounds,
            mean,
            {
                "mean ± 2 standard deviations": (mean - 2 * spread, mean + 2 * spread),
                "mean ± 1 standard deviation": (mean - spread, mean + spread),
            },
            {f"{AZUMA[name]}, left": curve for name, curve in data["envelopes"].items()},
            paths=data["paths"],
        )
        total.set(title=label_of(data["followed"]), ylabel="accumulated privacy loss, experiment 0")
        exponent = round(math.log10(data["delta"]))
        total.text(
            0.03, 0.93, rf"envelopes at $\delta = 10^{{{exponent}}}$",
            transform=total.transAxes, fontsize="small",
        )  # fmt: skip
        _draw_drift(drift, data)
        figure.suptitle(
            game_with_bands(data["specification"], "simultaneous", "right"), fontsize="medium"
        )
        legend(figure, columns=3)
    return figure


def _draw_drift(axes: Any, data: Mapping[str, Any]) -> None:
    rounds = data["rounds"]
    for index, (name, value) in enumerate(data["largest_drifts"].items(), 4):
        label = f"largest drift, {name}, right"
        axes.plot(
            rounds, np.full(len(rounds), value), label=label, **promised(index) | {"zorder": 4}
        )
    for index, (name, moments) in enumerate(data["moments"].items()):
        x, y = curves(name, rounds, moments["drift"])
        look, half = measured(index), moments["drift_half_width"]
        draw_band(axes, x, (y - half, y + half), look)
        axes.plot(x, y, label=label_of(name), markevery=spaced_marks(x, index), **look)
    axes.set_xlim(rounds[0], rounds[-1])
    axes.set_ylim(bottom=0.0)
    axes.set(title="drift of each round", xlabel="round", ylabel="mean privacy loss of the round")
