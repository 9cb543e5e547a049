"""Readings of odometers over the exact epsilon at a fixed time, and the least sound factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from experiments.filter_trial.odometers import published, reading
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured, promised
from simulator.worst.least_odometer import exact_epsilons, least_odometer

TITLE = "odometers: readings over the exact epsilon, and the least that is sound at any time"

SPECIFICATION: dict[str, Any] = {
    "epsilon": 0.1,
    "delta": 1e-6,
    "rounds": 256,
    "places": 40,
    "ends": [8, 16, 32, 64, 128, 256, 512, 1024],
    "source": "Rogers et al. 2016, Lecuyer 2021, Whitehouse et al. 2023; the search is ours",
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The readings along rounds of one epsilon, and the least factor by the last round."""
    s = specification
    epsilon, delta, rounds = s["epsilon"], s["delta"], s["rounds"]
    exact = exact_epsilons((epsilon,), rounds, delta)
    at = np.unique(np.geomspace(1, rounds, s["places"]).round().astype(int)).tolist()
    odometers = published((epsilon,), rounds, delta)
    least = [least_odometer((epsilon,), end, delta) for end in s["ends"]]
    return {
        "rounds": at,
        "exact": [exact[n,] for n in at],
        "readings": {
            name: [reading(odometer, epsilon, n) for n in at]
            for name, odometer in odometers.items()
        },
        "factors": [found.factor.upper for found in least],
        "in_delta": [found.at_once.delta.lower / delta for found in least],
    }


def draw(data: Mapping[str, Any]) -> Figure:
    """On the left what odometers read, on the right what any stopping time costs."""
    s = data["specification"]
    exact = np.array(data["exact"])
    with paper_figure(panels=2) as (figure, (left, right)):
        for index, (name, read) in enumerate(data["readings"].items()):
            left.plot(data["rounds"], np.array(read) / exact, label=name, **promised(index, name))
        if s["rounds"] in s["ends"]:
            factor = data["factors"][s["ends"].index(s["rounds"])]
            basic = s["epsilon"] * np.array(data["rounds"]) / exact  # sound in any case
            least = np.minimum(factor, basic)
            left.plot(data["rounds"], least, label="least sound", color="#0072B2", linewidth=1.6)
        left.set(xscale="log", xlabel="rounds", ylabel=r"reading over the exact $\varepsilon$")
        left.set(xlim=(1, s["rounds"]), ylim=(0.98, 1.62))
        right.plot(s["ends"], data["factors"], label=r"in $\varepsilon$", **measured(0))
        right.plot(s["ends"], data["in_delta"], label=r"in $\delta$", **measured(1))
        right.set(xscale="log", xlabel="last round", ylabel="cost of stopping, as a factor")
        right.set(xlim=(min(s["ends"]), max(s["ends"])), yscale="log", ylim=(0.95, None))
        right.yaxis.set_major_locator(FixedLocator([1.0, 2.0, 5.0, 10.0, 20.0]))
        right.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        right.yaxis.set_minor_locator(NullLocator())
        legend(figure, 4)
        return figure
