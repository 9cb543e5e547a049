"""Loaders that shuffle, divide or draw by weight: what their accountant says, and what is lost."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simulator import Result
from simulator import simulate as play
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured, promised
from simulator.foundations.stages import in_stages
from simulator.training.adversaries.loaders import Loader, all_loaders, shuffling_loaders

TITLE = "loaders that shuffle: epsilon that Poisson accounting claims, and certified lower ends"

SPECIFICATION: dict[str, Any] = {
    "sigma": 1.0,
    "batches": 100,
    "epochs": 10,
    "rate": 0.1,
    "coordinates": 1000,
    "steps": 10,
    "records": 1000,
    "draws": 10,
    "heavy": 50,
    "delta": 1e-5,
    "played_delta": 0.01,
    "confidence": 0.95,
    "trials": 2000,
    "seed": 2024,
    "sigmas": [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0],
}

DRAWN = ("shuffled in every epoch", "batches formed first, then shuffled")


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the claims and lower ends for every noise; play each loader; keep a transcript."""
    batches, epochs, delta = (specification[key] for key in ("batches", "epochs", "delta"))
    curves: dict[str, list[Any]] = {"claimed": [], **{name: [] for name in DRAWN}}
    for sigma in in_stages(specification["sigmas"], "noise multipliers"):
        shuffling = {one.name: one for one in shuffling_loaders(sigma, batches, epochs)}
        curves["claimed"].append(shuffling[DRAWN[0]].claimed_epsilon(delta))
        for name in DRAWN:
            curves[name].append(shuffling[name].proved_epsilon(delta))
    loaders = all_loaders(specification)
    # In both directions of every loader at once, as the larger of many lower ends is shown.
    confidence = 1.0 - (1.0 - specification["confidence"]) / (2.0 * len(loaders))
    rows = [row(one, specification, confidence) for one in in_stages(loaders, "loaders")]
    return {"sigmas": specification["sigmas"], "curves": curves, "rows": rows}


def row(loader: Loader, game: Mapping[str, Any], confidence: float) -> dict[str, Any]:
    """The claim, the certified lower ends at two deltas, and the transcript of one trial."""
    result = play(
        loader, loader.family, loader.rounds, game["trials"], seed=game["seed"],
        relation=loader.relation, keep_views=50, progress=False,
    )  # fmt: skip
    seen = [result.epsilon(game["played_delta"], b, confidence).lower for b in (0, 1)]
    worse = int(np.argmax(seen))
    return {
        "name": loader.name,
        "rounds": loader.rounds,
        "claimed": {
            str(d): loader.claimed_epsilon(d) for d in (game["delta"], game["played_delta"])
        },
        "proved": {str(d): loader.proved_epsilon(d) for d in (game["delta"], game["played_delta"])},
        "played": seen[worse],
        "transcript": transcript(result, worse),
    }


def transcript(result: Result, experiment: int) -> dict[str, Any]:
    """Of the kept trials of an experiment, the one of the largest loss: its losses by round.

    The answer is that of the worst round; of many numbers, the five largest.
    """
    sign = -1.0 if experiment else 1.0
    views = [view for view in result.views if view.experiment == experiment]
    replays = [result.replay(view) for view in views]
    best = int(np.argmax([sign * replay.loss for replay in replays]))
    losses = [sign * loss for loss in replays[best].round_losses]
    worst = int(np.argmax(losses))
    answer = np.ravel(np.asarray(views[best].answers[worst], dtype=float))
    return {
        "experiment": experiment,
        "trial": views[best].trial,
        "loss": sign * replays[best].loss,
        "round_losses": losses,
        "round": worst,
        "answer": answer if answer.size < 5 else np.sort(answer)[::-1][:5],
    }


def draw(data: Mapping[str, Any]) -> Figure:
    """Left epsilon against the noise; right the loaders at the delta at which they are played."""
    game = data["specification"]
    with paper_figure(2, width=7.6, height=3.4) as (figure, (left, right)):
        power = round(float(np.log10(game["delta"])))
        left.plot(
            data["sigmas"], data["curves"]["claimed"], label="Poisson accounting", **promised(0)
        )
        for index, name in enumerate(DRAWN):
            left.plot(
                data["sigmas"], data["curves"][name], label=f"{name}: at least", **measured(index)
            )
        left.set(xscale="log", yscale="log")
        left.set_xticks([0.5, 1.0, 2.0, 3.0], ["0.5", "1", "2", "3"])
        left.minorticks_off()
        left.set_xlabel(r"noise multiplier $\sigma$")
        left.set_ylabel(rf"$\varepsilon$ at $\delta = 10^{{{power}}}$")
        left.set_title(f"{game['epochs']} epochs of {game['batches']} batches")
        _draw_rows(right, data["rows"], str(game["played_delta"]))
        right.set_xlabel(
            rf"$\varepsilon$ at $\delta = {game['played_delta']:g}$, $\sigma = {game['sigma']:g}$"
        )
        right.set_title(f"played {game['trials']:,} times, {100 * game['confidence']:g}% together")
        legend(figure, columns=3)
    return figure


def _draw_rows(axes: Axes, rows: list[Mapping[str, Any]], delta: str) -> None:
    """A line a loader, from what is claimed to what is certified."""
    looks: tuple[tuple[str, float, dict[str, Any]], ...] = (
        ("claimed", 0.0, {"marker": "|", "color": "black", "label": "claimed"}),
        ("proved", 0.16, {"marker": ">", "color": "black", "label": "at least, exact"}),
        ("played", -0.16, {"marker": "o", "color": "black", "label": "at least, by play"}),
    )
    places = np.arange(len(rows))[::-1]
    for key, offset, look in looks:
        points = [row[key] if key == "played" else row[key][delta] for row in rows]
        shown = [np.nan if point is None else point for point in points]
        axes.plot(shown, places + offset, linestyle="none", markersize=4, **look)
    axes.set(xscale="log", ylim=(-0.6, len(rows) - 0.4))
    names = [textwrap.fill(row["name"], 24) for row in rows]
    axes.set_yticks(places, names, fontsize="small")
