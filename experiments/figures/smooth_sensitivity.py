"""The median's sensitivities: local, smooth and global, and the noise that they need."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured, promised
from simulator.data import datasets
from simulator.data.databases import REPLACE_ONE
from simulator.teaching.mechanisms.median import admissible_beta, smooth_sensitivity

TITLE = "local, smooth and global sensitivity of the median"

SPECIFICATION: dict[str, Any] = {
    "values": 101,
    "top": 100.0,
    "epsilon": 1.0,
    "delta": 1e-6,
    "epsilons": [0.1, 5.0],
    "points": 60,
    "column": "mean_radius",
    "range": [0.0, 50.0],
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The lecture's family of databases of 0 and Λ, and a column of real measurements."""
    n, top = specification["values"], specification["top"]
    beta = admissible_beta(specification["epsilon"], specification["delta"])
    path = [np.sort([0.0] * (n - ones) + [top] * ones) for ones in range(n + 1)]
    table = datasets.load("breast_cancer", [specification["column"]])
    records: list[Any] = list(table)
    measurements = np.sort([float(record[0]) for record in records])
    lower, upper = specification["range"]
    first, last = specification["epsilons"]
    epsilons = np.geomspace(first, last, specification["points"])
    smooth = [
        smooth_sensitivity(
            measurements, lower, upper, admissible_beta(float(e), specification["delta"]),
            REPLACE_ONE,
        )
        for e in epsilons
    ]  # fmt: skip
    return {
        "top": top,
        "beta": beta,
        "ones": list(range(n + 1)),
        "local": [smooth_sensitivity(x, 0.0, top, math.inf, REPLACE_ONE) for x in path],
        "smooth": [smooth_sensitivity(x, 0.0, top, beta, REPLACE_ONE) for x in path],
        "epsilons": epsilons,
        "noise": {
            "local": smooth_sensitivity(measurements, lower, upper, math.inf, REPLACE_ONE)
            / epsilons,
            "smooth": 2.0 * np.array(smooth) / epsilons,
            "global": (upper - lower) / epsilons,
        },
        "rows": len(measurements),
        "column": specification["column"].replace("_", " "),
    }


def draw(data: Mapping[str, Any]) -> Figure:
    """Left a spike and its smooth tent, right the scale of the noise on real data."""
    smooth, local = (measured(index) | {"marker": None} for index in (0, 1))
    local |= {"linestyle": (0, (3, 1)), "linewidth": 0.9}
    with paper_figure(2, height=3.1) as (figure, (path, noise)):
        path.plot(data["ones"], np.full(len(data["ones"]), data["top"]), label="global",
                  **promised(0))  # fmt: skip
        path.plot(data["ones"], data["smooth"], label="smooth", **smooth)
        path.plot(data["ones"], data["local"], label="local (leaks)", drawstyle="steps-mid",
                  **local)  # fmt: skip
        path.set(ylim=(0.0, 1.06 * data["top"]), xlim=(0, data["ones"][-1]))
        path.set_xlabel(rf"values at $\Lambda = {data['top']:g}$, the others at 0")
        path.set_ylabel("sensitivity of the median")
        path.set_title(rf"{data['ones'][-1]} values, $\beta = {data['beta']:.3f}$")
        noise.plot(data["epsilons"], data["noise"]["global"], **promised(0))
        noise.plot(data["epsilons"], data["noise"]["smooth"], **smooth)
        noise.plot(data["epsilons"], data["noise"]["local"], **local)
        noise.set(xscale="log", yscale="log")
        noise.set_xticks([0.1, 0.2, 0.5, 1, 2, 5], ["0.1", "0.2", "0.5", "1", "2", "5"])
        noise.xaxis.set_minor_locator(NullLocator())
        noise.set(xlim=(data["epsilons"][0], data["epsilons"][-1]), xlabel=r"$\varepsilon$")
        noise.set_ylabel("scale of the Laplace noise")
        noise.set_title(f"{data['column']} of {data['rows']} tumours, in [0, 50]")
        legend(figure, columns=3)
    return figure
