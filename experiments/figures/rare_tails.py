"""Tails of adaptive adversaries continued far below what counting can reach."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.play import label_of
from simulator import Refusal, Result, parse_guarantee
from simulator.adversaries import make
from simulator.estimation import Estimate
from simulator.play.sampling import Tilted
from simulator.play.specification import Specification
from simulator.plots import legend, paper_figure
from simulator.plots.style import measured, promised
from simulator.rare.steering import aim, steer
from simulator.run.simulate import run
from simulator.theory import azuma_tail
from simulator.theory.loss_atoms import repeated_atoms

TITLE = "tails of adaptive adversaries down to 1e-15, by steered sampling"

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
    "largest_error": 0.1,
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Aim a measure at each delta; estimate each threshold from the best sample for it."""
    family = parse_guarantee(specification["family"])
    tails = {
        name: tail_of(
            Specification(
                make(name, family, specification["rounds"]), family, specification["rounds"],
                specification["trials"], specification["seed"], sampling=Tilted(0.0),
            ),
            aims, specification["points"], specification["largest_error"],
        )
        for name, aims in specification["adversaries"].items()
    }  # fmt: skip
    epsilon, rounds = family.pure_epsilon, specification["rounds"]
    thresholds = np.arange(0.5, 20.0 / 0.1) * 0.1
    atoms = repeated_atoms(epsilon, rounds)
    drift = rounds * epsilon * math.tanh(epsilon / 2.0)
    return {
        "thresholds": thresholds,
        "azuma": [azuma_tail(t - drift, rounds * (2 * epsilon) ** 2) for t in thresholds],
        "exact": [atoms.tail(float(t)) for t in thresholds],
        "tails": tails,
    }


def tail_of(
    s: Specification, aims: list[float], points: int, largest_error: float
) -> dict[str, list[float]]:
    """Thresholds, values and intervals of one adversary's tail in experiment 0."""
    results, top = [run(replace(s, sampling=None), (0,), None, None, False)], 0.0
    for delta in aims:
        epsilon, start = aim(s, 0, delta)
        results.append(run(replace(s, sampling=steer(s, 0, epsilon, start=start)[0]), (0,)))
        top = max(top, epsilon)
    tail: dict[str, list[float]] = {"threshold": [], "value": [], "lower": [], "upper": []}
    for threshold in np.linspace(0.0, 1.06 * top, points)[1:]:
        best = min(
            (estimate for result in results if (estimate := tail_at(result, float(threshold)))),
            key=lambda estimate: estimate.relative_standard_error,
            default=None,
        )
        if best is not None and best.relative_standard_error < largest_error:
            tail["threshold"].append(float(threshold))
            for end in ("value", "lower", "upper"):
                tail[end].append(getattr(best, end))
    return tail


def tail_at(result: Result, threshold: float) -> Estimate | None:
    """One sample's estimate; None where it refuses."""
    try:
        return result.tail(threshold)
    except Refusal:
        return None


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel, sixteen decades."""
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
        axes.set_yscale("log")
        axes.set_ylim(1e-16, 1.0)
        axes.set_xlim(0.0, 20.0)
        axes.set_xlabel(r"threshold $t$")
        axes.set_ylabel(r"$\Pr[L > t]$, experiment 0")
        legend(figure, columns=2)
    return figure
