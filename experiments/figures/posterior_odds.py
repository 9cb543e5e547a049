"""An attacker's posterior odds about Alice, round by round, with her data and without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import binom

from simulator import Database, Laplace, PureDP, counting_query
from simulator import simulate as play
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured, promised
from simulator.foundations.seeds import Stream, generator

TITLE = "posterior odds of Alice's disease along the rounds, and the band of Theorem 2.1"

SPECIFICATION: dict[str, Any] = {
    "seed": 2021,
    "people": 200,
    "rates": [0.5, 0.8],
    "true_rate": 0.8,
    "epsilon": 0.05,
    "rounds": 40,
    "plays": 40,
    "shown": 3,
    "source": "Properties of DP, chapter 5, Theorem 2.1 and the example of smoking",
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Play noisy counts of the sick, and condition on the answers after every round.

    The prior: every smoker is sick with one of two rates, even odds on which. Without Alice's
    data the count is of the others, which depends on her through the rate alone.
    """
    settings = dict(specification)
    coins = generator(settings["seed"], 0, Stream.COINS, 0)
    others = int(coins.binomial(settings["people"] - 1, settings["true_rate"]))
    answers = played(settings, others)
    paths = [beliefs(settings, list(given)) for given in answers]
    rounds = np.arange(settings["rounds"] + 1)
    return {
        "rounds": rounds,
        "prior_odds": float(np.exp(paths[0]["with"][0])),
        "known_odds": settings["true_rate"] / (1.0 - settings["true_rate"]),
        "with": [path["with"] for path in paths[: settings["shown"]]],
        "without": [path["without"] for path in paths[: settings["shown"]]],
        "largest": [path["largest"] for path in paths],
        "least": [path["least"] for path in paths],
        "band": 2.0 * settings["epsilon"] * rounds,
        "epsilon": settings["epsilon"],
        "shown": settings["shown"],
    }


def played(settings: Mapping[str, Any], others: int) -> list[tuple[float, ...]]:
    """The answers of every play of experiment 1: Alice, who is sick, is in the database."""
    without = Database({"sick": others, "healthy": settings["people"] - 1 - others})
    count = Laplace(counting_query("sick"), settings["epsilon"])

    def adversary(coins: np.random.Generator) -> Any:
        while True:
            yield without, without.add("sick"), count

    result = play(
        adversary, PureDP(settings["epsilon"]), settings["rounds"], settings["plays"],
        seed=settings["seed"], experiments=(1,), keep_views=settings["plays"],
        jobs=1, progress=False,
    )  # fmt: skip
    return [view.answers for view in result.views]


def beliefs(settings: Mapping[str, Any], answers: list[float]) -> dict[str, np.ndarray]:
    """Log odds of Alice's disease with and without her data, and the extreme log ratios.

    Each of shape (rounds + 1,). The ratio is that of Theorem 2.1, of the posteriors of a whole
    data set x = (number of sick among the others, Alice): its largest and least value over x.
    """
    counts = np.arange(settings["people"])
    rates = np.array(settings["rates"])
    prior = np.mean(
        [
            np.outer(binom.pmf(counts, settings["people"] - 1, rate), [1.0 - rate, rate])
            for rate in rates
        ],
        axis=0,
    )
    errors = np.array(answers)[:, None] - np.arange(settings["people"] + 1)
    losses = np.abs(errors) * settings["epsilon"]
    likelihood = np.vstack([np.zeros(settings["people"] + 1), -np.cumsum(losses, axis=0)])
    seen = np.stack([likelihood[:, :-1], likelihood[:, 1:]], axis=-1)  # of count, count + Alice
    unseen = np.stack([likelihood[:, :-1]] * 2, axis=-1)
    real, hypothetical = (normalised(np.log(prior) + log) for log in (seen, unseen))
    ratio = (real - hypothetical).reshape(len(real), -1)
    return {
        "with": log_odds(real),
        "without": log_odds(hypothetical),
        "largest": ratio.max(axis=1),
        "least": ratio.min(axis=1),
    }


def normalised(log_joint: np.ndarray) -> np.ndarray:
    """Log posteriors of shape (rounds + 1, counts, 2), each round adding to 1."""
    return log_joint - np.logaddexp.reduce(log_joint, axis=(1, 2), keepdims=True)


def log_odds(posterior: np.ndarray) -> np.ndarray:
    """Log odds that Alice is sick, shape (rounds + 1,)."""
    healthy, sick = np.moveaxis(np.logaddexp.reduce(posterior, axis=1), -1, 0)
    return sick - healthy


def draw(data: Mapping[str, Any]) -> Figure:
    """Left the odds in a few plays, right the ratio of the posteriors in all of them."""
    with paper_figure(2, height=3.1) as (figure, (odds, ratio)):
        _draw_odds(odds, data)
        _draw_ratio(ratio, data)
        for axes in (odds, ratio):
            axes.set_xlim(data["rounds"][0], data["rounds"][-1])
            axes.set_xlabel(rf"rounds played, $\varepsilon = {data['epsilon']:g}$ each")
        legend(figure, columns=3)
    return figure


def _draw_odds(axes: Any, data: Mapping[str, Any]) -> None:
    for index in range(data["shown"]):
        look = measured(index) | {"markevery": (2 + 2 * index, 7)}
        axes.plot(data["rounds"], np.exp(data["with"][index]), **look,
                  label=f"play {index + 1}, with her data")  # fmt: skip
        axes.plot(data["rounds"], np.exp(data["without"][index]), color=look["color"],
                  linestyle=(0, (2, 1.5)), linewidth=0.9,
                  )  # fmt: skip
    axes.plot([], [], color="0.35", linestyle=(0, (2, 1.5)), linewidth=0.9,
              label="the same plays, without")  # fmt: skip
    known = {"odds before": (data["prior_odds"], (0, (1, 2))), "once the rate is known": (
        data["known_odds"], "solid")}  # fmt: skip
    for name, (value, dashes) in known.items():
        axes.axhline(value, color="0.6", linewidth=0.8, linestyle=dashes, zorder=0, label=name)
    axes.set(title="what the study teaches about Alice", ylabel="posterior odds of her disease")


def _draw_ratio(axes: Any, data: Mapping[str, Any]) -> None:
    rounds, band = data["rounds"], np.array(data["band"])
    bounds = {r"$\pm 2\varepsilon$, Theorem 2.1": band, r"$\pm\varepsilon$ so far": band / 2.0}
    axes.fill_between(rounds, -band, band, color="0.94", linewidth=0, zorder=0)
    for index, (name, bound) in enumerate(bounds.items()):
        for sign, label in ((1.0, name), (-1.0, None)):
            axes.plot(rounds, sign * bound, label=label, **promised(index) | {"zorder": 4})
    paths = np.array([*data["largest"], *data["least"]])
    name = f"largest and least ratio, {len(data['largest'])} plays"
    names = [name] + [None] * (len(paths) - 1)
    axes.plot(rounds, paths.T, color="#56B4E9", linewidth=0.5, label=names)
    axes.set(title="what her own data add", ylabel=r"$\ln$ (posterior with / without her data)")
