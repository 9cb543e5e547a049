"""Tails of adaptive adversaries continued far below what counting can reach."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.titles import each_of
from experiments.play import columns, label_of
from simulator.adversaries import make
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured, promised
from simulator.analysis.rare.covering import cover_delta
from simulator.analysis.result import Result
from simulator.engine.block import covering_engine
from simulator.engine.enumerated.moments import Moments
from simulator.engine.specification import Specification
from simulator.runner.play import run
from simulator.theory import azuma_tail, parse_guarantee
from simulator.theory.pld.response_atoms import repeated_atoms

TITLE = "tails of adaptive adversaries down to 1e-15, by measures that cover every path"

SPECIFICATION: dict[str, Any] = {
    "family": "pure:0.2",
    "rounds": 100,
    "seed": 15,
    "trials": 100_000,
    "adversaries": {
        "fixed-worst-case": [1e-3, 1e-6, 1e-10, 1e-15],
        "press-when-ahead": [1e-3, 1e-6, 1e-10, 1e-15],
        "mechanism-switcher": [1e-3, 1e-6, 1e-10, 1e-15],
        "feign-retreat": [1e-3, 1e-6, 1e-10, 1e-15],
        "double-when-behind": [1e-3, 1e-6, 1e-10, 1e-15],
    },
    "points": 27,
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Cover each adversary for every delta; estimate each threshold from the sample made for it."""
    family = parse_guarantee(specification["family"])
    tails = {
        name: tail_of(
            Specification(
                make(name, family, specification["rounds"]), family, specification["rounds"],
                specification["trials"], specification["seed"],
            ),
            aims, specification["points"],
        )
        for name, aims in specification["adversaries"].items()
    }  # fmt: skip
    epsilon, rounds = family.pure_epsilon, specification["rounds"]
    thresholds = np.arange(0.5, 2.0 * rounds) * (epsilon / 2.0)
    atoms = repeated_atoms(epsilon, rounds)
    drift = rounds * epsilon * math.tanh(epsilon / 2.0)
    return {
        "thresholds": thresholds,
        "azuma": [azuma_tail(t - drift, rounds * (2 * epsilon) ** 2) for t in thresholds],
        "exact": [atoms.tail(float(t)) for t in thresholds],
        "tails": tails,
    }


def tail_of(s: Specification, aims: list[float], points: int) -> dict[str, list[float]]:
    """Thresholds, values and intervals of one adversary's tail in experiment 0.

    A sample serves the thresholds nearest to the loss that is typical under its measure.
    """
    moments = covering_engine(s, 0).moments
    measures = [cover_delta(s, 0, delta) for delta in aims]
    typical = np.array([mean_loss(moments, measure.theta) for measure in measures])
    results = [
        Result.of(run(replace(s, sampling=one), (0,), None, None, False)) for one in measures
    ]
    thresholds = np.linspace(0.0, 1.06 * typical[-1], points)[1:].tolist()
    nearest = [results[int(np.abs(typical - threshold).argmin())] for threshold in thresholds]
    estimates = (result.tail(threshold) for result, threshold in zip(nearest, thresholds))
    return {"threshold": thresholds} | columns(estimates)


def mean_loss(moments: Moments, theta: float, step: float = 1e-4) -> float:
    """The mean of the loss under the measure of theta: the slope of ln E e^{theta L}."""
    rise = moments.log_moment(theta + step) - moments.log_moment(theta - step)
    return rise / (2.0 * step)


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel, sixteen decades."""
    game = data["specification"]
    epsilon = parse_guarantee(game["family"]).pure_epsilon
    with paper_figure(1, width=5.4, height=3.8) as (figure, axes):
        axes.plot(data["thresholds"], data["azuma"], label="Azuma, tight drift", **promised(1))
        axes.plot(
            data["thresholds"], data["exact"], label="randomized response, exact", **promised(0)
        )
        for index, (name, tail) in enumerate(data["tails"].items()):
            values = np.array(tail["value"])
            spread = np.abs(np.array([tail["lower"], tail["upper"]]) - values)
            axes.errorbar(
                tail["threshold"], values, spread, capsize=1.5, label=label_of(name),
                **measured(index),
            )  # fmt: skip
        axes.axhspan(1e-16, 3e-6, color="0.95", zorder=0)
        axes.text(0.99, 1.2e-6, "beyond a million plain trials", ha="right", va="top",
                  transform=axes.get_yaxis_transform(), fontsize="small", color="0.4")  # fmt: skip
        axes.set(yscale="log", ylim=(1e-16, 1.0), xlabel=r"threshold $t$")
        axes.set_xlim(0.0, game["rounds"] * epsilon)
        axes.set_ylabel(r"$\Pr[L > t]$, experiment 0")
        title = f"{each_of(epsilon, game['rounds'])}; bars: pointwise 95% intervals"
        figure.suptitle(title, fontsize="medium")
        legend(figure, columns=2)
    return figure
