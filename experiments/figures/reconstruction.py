"""Reconstruction attacks: the share of recovered rows against the error of the answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.play import columns
from simulator.analysis.estimation import betting_interval
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import curves, draw_band, measured, promised, spaced_marks
from simulator.foundations.seeds import Stream, generator
from simulator.teaching.claims.ledger.zhang2020.reconstruction import (
    furthest_apart,
    share_recovered,
)
from simulator.teaching.reconstruction import reconstruct_exhaustively, subset_sums

TITLE = "rows that reconstruction attacks recover, against the error of the answers, with 95% bands"

SPECIFICATION: dict[str, Any] = {
    "seed": 2003,
    "exhaustive": {"rows": 10, "largest": 0.3, "points": 31, "databases": 60, "every": 5},
    "linear_program": {
        "databases": {"16": 80, "32": 40, "48": 20},
        "errors": [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5],
    },
    "confidence": 0.95,
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Shares of the rows: of 2^n queries by trying all databases, of few by linear program."""
    seed, confidence = specification["seed"], specification["confidence"]
    return {
        "exhaustive": exhaustive(specification["exhaustive"], seed, confidence),
        "linear_program": {
            rows: recovered(int(rows), databases, specification, seed)
            for rows, databases in specification["linear_program"]["databases"].items()
        },
        "errors": specification["linear_program"]["errors"],
    }


def exhaustive(settings: Mapping[str, Any], seed: int, confidence: float) -> dict[str, Any]:
    """What is guaranteed, what the worst answers leave, what uniform noise leaves."""
    n = settings["rows"]
    alphas = np.linspace(0.0, settings["largest"], settings["points"])
    coins = generator(seed, 0, Stream.COINS, 0)
    uniform = [
        [share_of_noisy(n, alpha * n, coins) for _ in range(settings["databases"])]
        for alpha in alphas[:: settings["every"]]
    ]
    return {
        "rows": n,
        "alphas": alphas,
        "guaranteed": np.maximum(1.0 - 4.0 * alphas, 0.0),
        "worst": [1.0 - furthest_apart(n, alpha * n) / n for alpha in alphas],
        "uniform_at": alphas[:: settings["every"]],
        "uniform": means(uniform, confidence),
    }


def share_of_noisy(n: int, error: float, coins: np.random.Generator) -> float:
    """Share of a random database that the first one consistent with noisy answers has right."""
    secret = coins.integers(0, 2, n)
    answers = subset_sums(secret) + coins.uniform(-error, error, 1 << n)
    return float(np.mean(reconstruct_exhaustively(answers, error) == secret))


def recovered(
    n: int, databases: int, specification: Mapping[str, Any], seed: int
) -> dict[str, list[float]]:
    """Mean share at every error, with its interval, for the answers of a decoy where one fits."""
    coins = generator(seed, n, Stream.COINS, 0)
    shares = [
        [share_recovered(n, error * math.sqrt(n), coins) for _ in range(databases)]
        for error in specification["linear_program"]["errors"]
    ]
    return means(shares, specification["confidence"])


def means(samples: Sequence[Sequence[float]], confidence: float) -> dict[str, list[float]]:
    """Mean of each sample and its interval (betting, valid at every sample size)."""
    return columns(betting_interval(sample, confidence) for sample in samples)


def draw(data: Mapping[str, Any]) -> Figure:
    """Left all 2^n queries, right n (log n)^2 of them."""
    with paper_figure(2, height=3.1) as (figure, (every, few)):
        left = data["exhaustive"]
        every.plot(left["alphas"], left["guaranteed"], label=r"guaranteed, $1 - 4\alpha$",
                   **promised(0))  # fmt: skip
        every.step(left["alphas"], left["worst"], where="post", label="worst answers, exact",
                   **promised(1))  # fmt: skip
        _draw_shares(every, left["uniform_at"], left["uniform"], "independent uniform noise", 0)
        every.set_title(rf"all $2^n$ subset counts, $n = {left['rows']}$")
        every.set_xlabel(r"error $\alpha$, as a fraction of the rows")
        every.set_xlim(0.0, left["alphas"][-1])
        for index, (rows, shares) in enumerate(data["linear_program"].items(), start=1):
            _draw_shares(few, data["errors"], shares, rf"linear program, $n = {rows}$", index)
        few.set_title(r"$n\,(\log n)^2$ random subset counts")
        few.set(xlabel=r"error in rows, over $\sqrt{n}$", xscale="log")
        few.set_xticks([0.05, 0.1, 0.2, 0.5, 1.0], ["0.05", "0.1", "0.2", "0.5", "1"])
        few.set_xlim(data["errors"][0], data["errors"][-1])
        for axes in (every, few):
            axes.axhline(0.5, color="0.65", linewidth=0.7, zorder=0)
            axes.text(0.02, 0.5, "guessing", color="0.35", fontsize="small", va="bottom",
                      transform=axes.get_yaxis_transform())  # fmt: skip
            axes.set(ylim=(0.0, 1.03), ylabel="fraction of rows recovered")
        share = f"{100 * data['specification']['confidence']:g}%"
        figure.suptitle(f"shaded: {share} intervals", fontsize="medium")
        legend(figure, columns=3)
    return figure


def _draw_shares(axes: Any, x: Any, shares: Mapping[str, Any], name: str, index: int) -> None:
    at, value, lower, upper = curves(name, x, shares["value"], shares["lower"], shares["upper"])
    look = measured(index)
    draw_band(axes, at, (lower, upper), look)
    marks = spaced_marks(at, index)
    axes.plot(at, value, label=name, markevery=marks, **look)
