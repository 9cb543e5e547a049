"""Centres of k-means with and without privacy, on the petals of 150 irises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured
from simulator.data import datasets
from simulator.teaching.claims.ledger.zhang2020.clustering import (
    START,
    STEPS,
    cluster_irises,
    irises,
)
from simulator.teaching.clustering import centres_seen, clustering_cost, plain_lloyd

TITLE = "centres of k-means on 150 irises, with and without privacy"

SPECIFICATION: dict[str, Any] = {
    "epsilons": [20.0, 5.0, 1.0],
    "plays": 40,
    "box_cm": [8.0, 3.0],
    "source": "lecture notes on group privacy and composition, private Lloyd's",
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Lloyd's algorithm once without noise, and many plays at each total epsilon."""
    points = irises()
    table = datasets.load("iris", ["petal_length_cm", "petal_width_cm"])
    plain = plain_lloyd(points, START, STEPS)
    cost = clustering_cost(points, plain)
    private = []
    for epsilon in specification["epsilons"]:
        plays = specification["plays"]
        result = cluster_irises(epsilon, plays, keep_views=plays)
        last = [
            np.array(centres_seen(view.answers, START)[-1])
            for view in result.views
            if view.experiment == 1
        ]
        private.append(
            {
                "epsilon": epsilon,
                "centres": [in_cm(centres, specification["box_cm"]) for centres in last],
                "cost": np.median([clustering_cost(points, centres) for centres in last]) / cost,
            }
        )
    return {
        "points": [[float(value) for value in record] for record in list[Any](table)],
        "start": in_cm(np.array(START), specification["box_cm"]),
        "plain": in_cm(plain, specification["box_cm"]),
        "private": private,
        "steps": STEPS,
    }


def in_cm(centres: np.ndarray, box: list[float]) -> np.ndarray:
    """From the unit L1 ball back to centimetres, shape (k, 2)."""
    return (centres * len(box) + 1.0) * np.array(box) / 2.0


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel without privacy, one for each epsilon; a marker for each centre of each play."""
    points, plain = np.array(data["points"]), np.array(data["plain"])
    panels = 1 + len(data["private"])
    with paper_figure(panels, width=1.9 * panels, height=2.6) as (figure, row):
        for axes in row:
            axes.plot(*points.T, ".", color="0.78", markersize=2.5, zorder=0, label="an iris")
            axes.set(xlim=(0.0, 8.0), ylim=(0.0, 3.0), xlabel="petal length (cm)")
        for axes, found in zip(row[1:], data["private"]):
            for index, centres in enumerate(np.moveaxis(np.array(found["centres"]), 1, 0)):
                look = measured(index) | {"linestyle": "none", "markersize": 3.0, "zorder": 2}
                axes.plot(*centres.T, **look, label=f"cluster {index + 1}, one play")
            outside = np.any(np.array(found["centres"]) > (8.0, 3.0), axis=2)
            outside |= np.any(np.array(found["centres"]) < 0.0, axis=2)
            if outside.any():
                text = f"{outside.sum()} of {outside.size} outside"
                axes.text(0.2, 2.8, text, fontsize="small", color="0.35")
            axes.set_title(rf"$\varepsilon = {found['epsilon']:g}$: cost × {found['cost']:.1f}")
        for index, (start, end) in enumerate(zip(data["start"], plain)):
            look = measured(index) | {"linestyle": "none", "markersize": 4.5, "zorder": 3}
            row[0].annotate("", end, start, arrowprops={"arrowstyle": "->", "linewidth": 0.6})
            row[0].plot(*start, **look)
        for axes in row:
            axes.plot(*plain.T, "+", color="black", markersize=8, markeredgewidth=1.3, zorder=4,
                      label="centre without privacy")  # fmt: skip
        row[0].set(title=f"no privacy, {data['steps']} steps", ylabel="petal width (cm)")
        legend(figure, columns=5)
    return figure
