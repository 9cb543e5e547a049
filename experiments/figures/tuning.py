"""Hyperparameters that were tuned and not counted: true epsilon over the claimed one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.special import ndtr

from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured, promised
from simulator.teaching.mechanisms.best_of import best_of_guarantee, best_of_law
from simulator.theory import GaussianDP, PureDP
from simulator.theory.events import Account, gaussian, select
from simulator.theory.guarantees.run_counts import (
    FixedRuns,
    NegativeBinomialRuns,
    PoissonRuns,
    RunCount,
)
from simulator.theory.laws.finite import FiniteLaw

TITLE = "the best of many runs is published, and one run is charged"

SPECIFICATION: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "runs": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    "cells": 20_000,
}

NUMBERS = {
    "fixed": lambda mean: FixedRuns(int(mean)),
    "Poisson": lambda mean: PoissonRuns(float(mean)),
    "geometric": lambda mean: NegativeBinomialRuns.of_mean(float(mean)),
    "logarithmic": lambda mean: NegativeBinomialRuns.of_mean(float(mean), 0.0),
}
BOUNDS = {"geometric": 1.0, "logarithmic": 0.0, "Poisson": np.inf}
"""The shapes of the laws for which Papernot and Steinke have a Renyi curve."""


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The epsilon of the best run over that of one run, by the number of runs.

    One run is Gaussian noise that is (epsilon, delta)-DP, scored by its answer, or any epsilon-DP
    mechanism with the worst scores.
    """
    claimed, delta = specification["epsilon"], specification["delta"]
    runs, cells = specification["runs"], specification["cells"]
    mu = float(brentq(lambda m: GaussianDP(m).hockey_stick(claimed) - delta, 1e-3, 10.0))
    pure = {
        name: [best_of_guarantee(PureDP(claimed), number(n)).pure_epsilon / claimed for n in runs]
        for name, number in NUMBERS.items()
    }
    exact = {
        name: [_epsilon(mu, delta, number(n), cells) / claimed for n in runs]
        for name, number in NUMBERS.items()
    }
    bounds = {
        name: [
            Account(select(gaussian(1.0 / mu), float(n), shape)).epsilon(delta).upper / claimed
            for n in runs
        ]
        for name, shape in BOUNDS.items()
    }
    return {"runs": runs, "mu": mu, "pure": pure, "gaussian": exact, "bounds": bounds}


def _epsilon(mu: float, delta: float, runs: RunCount, cells: int) -> float:
    """The epsilon of the best of normal answers, by ascending score, in the worse experiment.

    The answers are cut into cells, so the value is a lower end; that scores descend is the same as
    to exchange the databases.
    """
    edges = np.r_[-np.inf, np.linspace(-10.0, mu + 10.0, cells + 1), np.inf]
    laws = [best_of_law(_masses(edges - mean), range(cells + 2), runs) for mean in (0.0, mu)]
    found = 0.0
    for first, second in (laws, laws[::-1]):
        law = FiniteLaw.from_probabilities(first, second)
        if law.delta(0.0) > delta:
            found = max(found, float(brentq(_excess, 0.0, 500.0, args=(law, delta))))
    return found


def _excess(epsilon: float, law: FiniteLaw, delta: float) -> float:
    return law.delta(epsilon) - delta


def _masses(edges: np.ndarray) -> np.ndarray:
    """Normal probabilities between the edges, each from the smaller tail."""
    low, high = ndtr(edges), ndtr(-edges)
    return np.where(edges[:-1] > 0.0, high[:-1] - high[1:], low[1:] - low[:-1])


def draw(data: Mapping[str, Any]) -> Figure:
    """Left any runs that are pure, right Gaussian runs with the bounds of Renyi accounting."""
    claimed, delta = data["specification"]["epsilon"], data["specification"]["delta"]
    with paper_figure(2, height=3.4) as (figure, (left, right)):
        _panel(left, data["runs"], data["pure"], {})
        left.set_title(rf"runs of pure $\varepsilon = {claimed:g}$, the worst scores")
        _panel(right, data["runs"], data["gaussian"], data["bounds"])
        power = round(float(np.log10(delta)))
        right.set_title(rf"Gaussian runs, $\varepsilon = {claimed:g}$ at $\delta = 10^{{{power}}}$")
        left.set_ylabel(r"true $\varepsilon$ over the claimed one")
        legend(figure)
    return figure


def _panel(
    axes: Axes,
    runs: list[int],
    exact: Mapping[str, list[float]],
    bounds: Mapping[str, list[float]],
) -> None:
    axes.axhline(1.0, label="claimed: one run", **promised(0))
    for index, (name, values) in enumerate(exact.items()):
        axes.plot(runs, values, label=f"{name} number of runs", **measured(index))
    for index, (name, values) in enumerate(bounds.items(), 1):
        axes.plot(runs, values, label=f"{name}, Papernot and Steinke", **promised(index))
    axes.set(xscale="log", yscale="log", xlim=(runs[0], runs[-1]))
    axes.set_xlabel("number of runs, or its mean")
