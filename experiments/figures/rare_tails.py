"""Tails of adaptive adversaries continued far below what counting can reach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.titles import each_of
from experiments.play import label_of
from experiments.studies import curve
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured, promised
from simulator.studies import Study, Task, collect
from simulator.theory import azuma_tail, parse_guarantee

TITLE = "tails of adaptive adversaries down to 1e-15, by measures that cover every path"

SPECIFICATION: dict[str, Any] = {
    "family": "pure:0.2",
    "rounds": 100,
    "seed": 15,
    "trials": 100_000,
    "largest": {
        "fixed-worst-case": 17.6,
        "press-when-ahead": 9.3,
        "mechanism-switcher": 16.7,
        "feign-retreat": 16.3,
        "double-when-behind": 0.986,
    },
    "points": 26,
}

EXACT = "fixed-worst-case"


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Each adversary's tail under the measures that cover its paths; one tail by recursion, too."""
    s, family = specification, parse_guarantee(specification["family"])
    epsilon, rounds = family.pure_epsilon, s["rounds"]
    measured = {
        name: [f"rare:covering tail(epsilon={t!r})" for t in places(largest, s["points"])]
        for name, largest in s["largest"].items()
    }
    steps = (np.arange(0.5, 2.0 * rounds) * (epsilon / 2.0)).tolist()
    measured.setdefault(EXACT, []).extend(f"exact tail(epsilon={t!r})" for t in steps)
    tasks = [
        Task(name, family, rounds, quantities, seed=s["seed"], experiments=[0])
        for name, quantities in measured.items()
    ]
    drift, squares = rounds * epsilon * np.tanh(epsilon / 2.0), rounds * (2 * epsilon) ** 2
    return {
        "study": Study.of(collect(tasks, trials=s["trials"], jobs=1)),
        "azuma": [azuma_tail(t - drift, squares) for t in steps],
    }


def places(largest: float, points: int) -> list[float]:
    """Thresholds up to the largest, evenly."""
    return (np.arange(1, points + 1) * (largest / points)).tolist()


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel, sixteen decades."""
    game, study = data["specification"], data["study"]
    tails = study.filter(lambda point: point.quantity.startswith("rare"))
    exact = curve(study.filter(lambda point: point.quantity.startswith("exact")))
    epsilon = parse_guarantee(game["family"]).pure_epsilon
    with paper_figure(1, width=5.4, height=3.8) as (figure, axes):
        axes.plot(exact.at, data["azuma"], label="Azuma, tight drift",
                  **promised(1, "Azuma, tight drift"))  # fmt: skip
        axes.plot(exact.at, exact.value, label="exact, randomized response",
                  **promised(0, "exact, randomized response"))  # fmt: skip
        for index, name in enumerate(game["largest"]):
            tail = curve(tails.filter(adversary=name))
            spread = np.abs(np.array([tail.lower, tail.upper]) - tail.value)
            axes.errorbar(
                tail.at, tail.value, spread, capsize=1.5, label=label_of(name), **measured(index)
            )
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
