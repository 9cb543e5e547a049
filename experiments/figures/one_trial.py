"""One trial of the README's adversary, round by round, in both experiments."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.stages import settled
from simulator import Database, Laplace, counting_query
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.style import measured
from simulator.foundations.seeds import Stream, generator

TITLE = "one trial of Algorithm 1, round by round: answers, the epsilon chosen after each, the loss"

SPECIFICATION: dict[str, Any] = {"seed": 7, "rounds": 60, "epsilons": [0.1, 0.2]}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The answers, the epsilons and the loss after each round, for b = 0 and b = 1.

    Both experiments have the same coins and the same seed of the noise, so that they differ only
    by Alice: in ``simulate`` of the package the noise of the two is independent.
    """
    return {"experiments": [played(specification, b) for b in (0, 1)]}


def played(specification: Mapping[str, Any], b: int) -> dict[str, list[float]]:
    """Algorithm 1 in plain Python, Compose(press_when_ahead, PureDP(0.2), rounds, b)."""
    seed, low_and_high = specification["seed"], specification["epsilons"]
    coins, noise = (generator(seed, 0, stream, 0) for stream in (Stream.COINS, Stream.MECHANISM_0))
    adversary = press_when_ahead(coins, *low_and_high)
    database_0, database_1, mechanism = next(adversary)
    found: dict[str, list[float]] = {"answers": [], "epsilons": [], "losses": []}
    for _ in range(specification["rounds"]):
        pair = mechanism.pair(database_0, database_1)
        answer = float(pair.sample(b, noise))
        found["answers"].append(answer)
        found["epsilons"].append(mechanism.fixed_parameter())
        found["losses"].append(pair.loss(answer))
        database_0, database_1, mechanism = adversary.send(answer)
    return found | {"losses": settled(np.cumsum(found["losses"]))}


def press_when_ahead(
    coins: np.random.Generator, low: float, high: float
) -> Generator[tuple[Database, Database, Laplace], float, None]:
    """Count Alice; after an answer above 0.5, with half the noise. The README has it too."""
    everyone = Database({"alice": 1, "bob": 1, "others": 398})
    without_alice, alice = everyone.remove("alice"), counting_query("alice")
    epsilon = low
    while True:
        answer = yield without_alice, everyone, Laplace(alice, epsilon)
        epsilon = high if answer > 0.5 else low


def draw(data: Mapping[str, Any]) -> Figure:
    """A column for each experiment: the answers, the epsilon of each round, the loss so far."""
    shown = data["experiments"]
    rounds = np.arange(1, data["specification"]["rounds"] + 1)
    with paper_figure(6, height=4.6, columns=2) as (figure, panels):
        for b, (trial, (answers, epsilon, loss)) in enumerate(zip(shown, panels.T)):
            _draw_answers(answers, rounds, np.array(trial["answers"]))
            epsilon.step(rounds, trial["epsilons"], where="mid", color="0.25", linewidth=1.0)
            loss.plot(rounds, trial["losses"], color="#0072B2", linewidth=1.3)
            answers.set_title(["$b = 0$: without Alice", "$b = 1$: with Alice"][b])
            for axes in (answers, epsilon, loss):
                axes.set_xlabel("round", visible=axes is loss)
            for axes in (epsilon, loss):
                axes.axhline(0.0, color="0.6", linewidth=0.6, zorder=0)
        _same_scales(panels, data["specification"]["epsilons"])
        for axes, label in zip(
            panels[:, 0], ("answer $Y_i$", r"chosen $\varepsilon_i$", "loss $L$ so far")
        ):
            axes.set_ylabel(label)
        figure.align_ylabels(panels[:, 0])
        legend(figure, columns=2)
    return figure


def _draw_answers(axes: Any, rounds: np.ndarray, answers: np.ndarray) -> None:
    above = answers > 0.5
    axes.axhline(0.5, color="0.6", linewidth=0.6, zorder=0)
    for index, (seen, name) in enumerate(
        ((above, "above 0.5: half the noise next"), (~above, "at most 0.5: all the noise next"))
    ):
        look = measured(1 - index) | {"linestyle": "none", "markersize": 3.0}
        axes.plot(rounds[seen], answers[seen], label=name, **look)


def _same_scales(panels: np.ndarray, epsilons: list[float]) -> None:
    """Give both columns the same scales, and rounds from the first to the last."""
    for row in panels:
        ends = np.array([axes.get_ylim() for axes in row])
        for axes in row:
            axes.set_ylim(ends.min(), ends.max())
            axes.margins(x=0.01)
    for axes in panels[1]:
        axes.set_ylim(0.0, 1.2 * max(epsilons))
        axes.set_yticks([0.0, *epsilons])
    for axes in panels[:-1].ravel():
        axes.tick_params(labelbottom=False)
    for axes in panels[:, 1]:
        axes.tick_params(labelleft=False)
