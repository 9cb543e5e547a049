"""Error of an estimate against delta, for every way of sampling a rare event.

Both adversaries have few states, so that the exact divergence is known by recursion and the error
is against the truth, not what a sample estimates of its own error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.titles import each_of
from experiments.play import label_of
from simulator.adversaries import make
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured
from simulator.analysis.rare import Rehearsals, StateGraph, enumerate_states, pilot_tilt, steer
from simulator.analysis.rare.covering import cover
from simulator.analysis.result import Result
from simulator.engine.outcomes.loss_sample import excess
from simulator.engine.sampling import Sampling, Tilted
from simulator.engine.specification import Specification
from simulator.errors import NotApplicable, Refusal
from simulator.runner.play import run
from simulator.theory import parse_guarantee

TITLE = "relative error against delta of plain, tilted, steered, covering and Doob sampling"

SPECIFICATION: dict[str, Any] = {
    "family": "pure:0.2",
    "rounds": 100,
    "trials": 20_000,
    "repetitions": 12,
    "seed": 64,
    "adversaries": {"double-when-behind": 1, "feign-retreat": 0},
    "deltas": [1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14],
}

METHODS = ("plain", "tilted", "steered", "covering", "doob")
ROUNDING = 1e-14
"""What an error without a sample is at least: below it machines differ."""


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """For each adversary and delta, the root mean square relative error of every method."""
    family = parse_guarantee(specification["family"])
    errors: dict[str, Any] = {}
    for name, b in specification["adversaries"].items():
        adversary = make(name, family, specification["rounds"])
        s = Specification(
            adversary, family, specification["rounds"], specification["trials"],
            specification["seed"], sampling=Tilted(0.0),
        )  # fmt: skip
        graph = enumerate_states(s, b)
        errors[name] = [
            error_at(s, b, graph, delta, specification["repetitions"])
            for delta in specification["deltas"]
        ]
    return {"deltas": specification["deltas"], "errors": errors}


def epsilon_of(graph: StateGraph, delta: float) -> float:
    """Where the exact divergence is ``delta``, by bisection."""
    low, high = 0.0, float(graph.signed.max())
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if graph.delta(middle) > delta else (low, middle)
    return high


def error_at(
    s: Specification, b: int, graph: StateGraph, delta: float, repetitions: int
) -> dict[str, float | None]:
    """Relative error of each method at one delta; None where it has no value."""
    epsilon = epsilon_of(graph, delta)
    exact = graph.delta(epsilon)
    measures: dict[str, Sampling | None] = {"plain": Tilted(0.0), "tilted": None, "steered": None}
    for method, choose in (("tilted", pilot_tilt), ("steered", steer)):
        try:
            measures[method] = choose(Rehearsals.of(s, b), epsilon)[0]
        except Refusal:
            measures[method] = None
    measures["covering"] = cover(s, b, epsilon)
    errors: dict[str, float | None] = {}
    for method, sampling in measures.items():
        found = [
            estimate(replace(s, sampling=sampling, seed=s.seed + 1 + i), b, epsilon)
            for i in range(repetitions)
            if sampling is not None
        ]
        estimates = [value for value in found if value is not None]
        enough = len(estimates) > repetitions // 2
        deviations = [value / exact - 1.0 for value in estimates]
        mean_square = sum(d * d for d in deviations) / max(len(deviations), 1)
        errors[method] = math.sqrt(mean_square) if enough else None
    signed, log_weights = doob_sample(graph, epsilon, s.trials, np.random.default_rng(s.seed))
    weighted = np.exp(log_weights) * -np.expm1(np.minimum(epsilon - signed, 0.0))
    errors["doob"] = max(abs(float(weighted.mean()) / exact - 1.0), ROUNDING)
    return errors


def doob_sample(
    graph: StateGraph, epsilon: float, trials: int, noise: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw paths from Doob's transform for delta(``epsilon``).

    Returns the signed losses and log-weights ln dP_b/dQ, shape (trials,) each. Raises
    NotApplicable if the event is impossible.
    """
    values = [excess(graph.signed, epsilon)]  # the expected excess from every node on
    for layer in reversed(graph.layers):
        values.insert(0, layer.expectation(values[0]))
    total = float(graph.start @ values[0])
    if total <= 0.0:
        raise NotApplicable(f"no play of this adversary loses more than {epsilon:g}")
    wanted = graph.start * values[0]
    place = np.searchsorted(np.cumsum(wanted), noise.random(trials) * wanted.sum(), "right")
    log_weights = np.log(total) - np.log(values[0][place])
    for layer, before, after in zip(graph.layers, values, values[1:]):
        ways = layer.mass * after[layer.follow]
        share = ways / np.where(before > 0.0, before, 1.0)[layer.source]
        # each node has a unit of the line; a draw within it takes one of the node's ways
        ends = np.cumsum(share)
        starts = np.searchsorted(layer.source, np.arange(layer.nodes))
        base = np.concatenate(([0.0], ends))[starts]
        last = np.searchsorted(layer.source, place, "right") - 1
        chosen = np.searchsorted(ends, base[place] + noise.random(trials), "right")
        chosen = np.clip(chosen, starts[place], last)
        while (missed := ways[chosen] <= 0.0).any():  # rounding has run past a node's last way
            chosen[missed] -= 1
        log_weights += np.log(before[place]) - np.log(after[layer.follow[chosen]])
        place = layer.follow[chosen]
    return graph.signed[place], log_weights


def estimate(s: Specification, b: int, epsilon: float) -> float | None:
    """One run's estimate of the divergence; None where it is refused, or has ends alone."""
    try:
        return float(Result.of(run(s, (b,), None, None, progress=False)).delta(epsilon, b))
    except Refusal:
        return None


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel an adversary; methods without a value at its top."""
    deltas = np.array(data["deltas"])
    with paper_figure(2, width=7.0, height=3.2) as (figure, panels):
        for axes, (name, errors) in zip(panels, data["errors"].items()):
            for index, method in enumerate(METHODS):
                values = [error[method] for error in errors]
                heights = [TOP if v is None else max(v, BOTTOM) for v in values]
                given = np.array([v is not None for v in values])
                style = measured(index)
                axes.plot(deltas[given], np.array(heights)[given], label=NAMES[method], **style)
                lost = style | {"linestyle": "none", "marker": "x"}
                axes.plot(deltas[~given], np.array(heights)[~given] * 0.82**index, **lost)
            axes.set(xscale="log", yscale="log")
            axes.invert_xaxis()
            axes.set_ylim(BOTTOM / 2, TOP * 2)
            axes.axhline(TOP / 2.2, color="0.7", linewidth=0.6)
            axes.set(title=label_of(name), xlabel=r"$\delta$")
        panels[0].set_ylabel(f"relative error, {data['specification']['trials']:,} trials")
        panels[0].text(0.02, TOP * 1.25, "no value:", transform=panels[0].get_yaxis_transform(),
                       fontsize="small", va="center")  # fmt: skip
        game = data["specification"]
        epsilon = parse_guarantee(game["family"]).pure_epsilon
        figure.suptitle(each_of(epsilon, game["rounds"]), fontsize="medium")
        legend(figure, columns=5)
    return figure


TOP, BOTTOM = 4.0, 1e-4
NAMES = {
    "plain": "plain",
    "tilted": "one theta",
    "steered": "steered",
    "doob": "Doob (rounding error only)",
    "covering": "covering measure",
}
