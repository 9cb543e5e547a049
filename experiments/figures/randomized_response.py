"""How well randomized response estimates a frequency, against epsilon."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from scipy.stats import binom

from simulator import Database, RandomizedResponse, counting_query
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured
from simulator.foundations.seeds import Stream, generator

TITLE = "the frequency that randomized response estimates, against epsilon"

SPECIFICATION: dict[str, Any] = {
    "seed": 1965,
    "people": [100, 1000, 10_000],
    "frequency": 0.3,
    "epsilons": [0.05, 5.0],
    "points": 60,
    "surveys_of": 1000,
    "surveys": 12,
    "surveyed_at": [0.07, 0.1, 0.15, 0.22, 0.33, 0.5, 0.75, 1.1, 1.6, 2.4, 3.5],
    "coverage": 0.95,
    "source": "Zhang 2020, USTC lecture 7",
}

SHADES = ("0.93", "0.82", "0.66")
TICKS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Exact central intervals of the estimate, and surveys by the mechanism itself."""
    frequency = specification["frequency"]
    first, last = specification["epsilons"]
    epsilons = np.geomspace(first, last, specification["points"])
    people = specification["surveys_of"]
    noise = generator(specification["seed"], 0, Stream.MECHANISM_1, 0)
    return {
        "epsilons": epsilons,
        "frequency": frequency,
        "intervals": {
            str(n): np.transpose(
                [central(n, frequency, float(e), specification["coverage"]) for e in epsilons]
            )
            for n in specification["people"]
        },
        "surveyed_at": specification["surveyed_at"],
        "surveys_of": people,
        "surveys": [
            [survey(people, frequency, e, noise) for _ in range(specification["surveys"])]
            for e in specification["surveyed_at"]
        ],
        "coverage": specification["coverage"],
    }


def central(people: int, frequency: float, epsilon: float, coverage: float) -> tuple[float, float]:
    """Quantiles of the estimate: the number of 1s is a sum of two independent binomials."""
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    ones = round(people * frequency)
    law = np.convolve(
        binom.pmf(np.arange(ones + 1), ones, truth),
        binom.pmf(np.arange(people - ones + 1), people - ones, 1.0 - truth),
    )
    tail = (1.0 - coverage) / 2.0
    ends = np.searchsorted(np.cumsum(law), [tail, 1.0 - tail])
    low, high = (estimate(int(end), people, truth) for end in ends)
    return low, high


def estimate(ones: int, people: int, truth: float) -> float:
    """The unbiased estimate of the frequency from the number of answers 1."""
    return (ones / people - 1.0 + truth) / (2.0 * truth - 1.0)


def survey(people: int, frequency: float, epsilon: float, noise: np.random.Generator) -> float:
    """The estimate from one survey, in which everyone answers about their own bit."""
    response = RandomizedResponse(counting_query("yes"), epsilon)
    yes, no = Database({"yes": 1}), Database({})
    sick = round(people * frequency)
    ones = sum(
        int(response.sample(yes if person < sick else no, noise)) for person in range(people)
    )
    return estimate(ones, people, 1.0 / (1.0 + math.exp(-epsilon)))


def draw(data: Mapping[str, Any]) -> Figure:
    """Nested intervals, narrower for more people, with single surveys as points."""
    epsilons = data["epsilons"]
    with paper_figure(width=4.6, height=3.2) as (figure, axes):
        for shade, (people, (low, high)) in zip(SHADES, data["intervals"].items()):
            axes.fill_between(epsilons, low, high, color=shade, linewidth=0, zorder=0,
                              label=f"{100 * data['coverage']:.0f}% of surveys of "
                              f"{int(people):,} people")  # fmt: skip
        look = measured(0) | {"linestyle": "none", "markersize": 2.6}
        label = f"one survey of {data['surveys_of']:,}"
        for index, (at, surveys) in enumerate(zip(data["surveyed_at"], data["surveys"])):
            axes.plot([at] * len(surveys), surveys, label=None if index else label, **look)
        axes.axhline(data["frequency"], color="black", linewidth=1.0, label="true frequency")
        for end in (0.0, 1.0):
            axes.axhline(end, color="0.3", linewidth=0.6, linestyle=(0, (1, 2)), zorder=1,
                         label=None if end else "least and largest frequency")  # fmt: skip
        axes.set_xscale("log")
        axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set(xlim=(epsilons[0], epsilons[-1]), ylim=(-1.0, 1.6))
        axes.set(xlabel=r"$\varepsilon$ of each person", ylabel="estimated frequency")
        legend(figure, columns=2)
    return figure
