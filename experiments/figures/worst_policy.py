"""How the worst adversary plays against a sum of squares whose budget is slightly too large."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.stages import settled
from simulator.analysis.plots import paper_figure
from simulator.theory import Guarantee
from simulator.worst import worst_case
from simulator.worst.policy_map import policy_map
from simulator.worst.policy_plot import plot_policy
from simulator.worst.sample_plays import Play, play

TITLE = "the worst adversary's moves against a budget from the Gaussian curve, which is unsound"

SPECIFICATION: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "unit": 0.01,
    "top": 0.2,
    "budget": 0.05603,
    "columns": 120,
    "rows": 140,
    "seed": 4,
    "source": "the Gaussian curve's largest sum of squares at (1, 1e-6); the search is ours",
}


@dataclass(frozen=True)
class Squares:
    """Admit while the sum of squared epsilons stays within a budget."""

    budget: float
    epsilon: float
    delta: float
    initial: float = 0.0
    monotone: bool = True

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        """Whether the round fits, and the sum with it."""
        after = state + guarantee.pure_epsilon**2
        fits = after <= self.budget * (1.0 + 1e-12)
        return fits, after if fits else state


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The moves on a coarse map, a typical play and a winning one."""
    unit, top = specification["unit"], specification["top"]
    found = worst_case(
        [f"randomized-response:{unit * j:.10g}" for j in range(1, round(top / unit) + 1)],
        filter=Squares(specification["budget"], specification["epsilon"], specification["delta"]),
        epsilon=specification["epsilon"],
    )
    policy = found.policy
    shown = policy_map(policy)
    epsilons = np.array([float(label.rpartition(":")[2]) for label in policy.labels])
    columns = _middles(shown.losses, specification["columns"])
    rows = _middles(shown.left, specification["rows"])
    cells = shown.moves[np.searchsorted(shown.left, 0.5 * (rows[1:] + rows[:-1])) - 1][
        :, np.searchsorted(shown.losses, 0.5 * (columns[1:] + columns[:-1])) - 1
    ]
    moves = [[None if move < 0 else float(epsilons[move]) for move in row] for row in cells]
    return {
        "lower": found.delta.lower,
        "upper": found.delta.upper,
        "ratio": found.ratio,
        "losses": columns.tolist(),
        "left": rows.tolist(),
        "moves": moves,
        "typical": _path(play(policy, seed=specification["seed"])),
        "winning": _path(play(policy, seed=specification["seed"], winning=True)),
    }


def _middles(edges: np.ndarray, cells: int) -> np.ndarray:
    return np.linspace(edges[0], edges[-1], min(cells, len(edges) - 1) + 1)


def _path(drawn: Play) -> dict[str, list[float]]:
    return {
        "losses": settled([*(r.loss for r in drawn.rounds), drawn.loss]),
        "left": [*(r.left for r in drawn.rounds), drawn.left],
    }


def draw(data: Mapping[str, Any]) -> Figure:
    """Which epsilon is chosen at which loss and budget, and the two plays."""
    epsilons = sorted({move for row in data["moves"] for move in row if move is not None})
    place = {epsilon: i for i, epsilon in enumerate(epsilons)}
    moves = np.array([[-1 if m is None else place[m] for m in row] for row in data["moves"]])
    percent = 100.0
    paths = {
        f"{name} play": (data[name]["losses"], percent * np.array(data[name]["left"]))
        for name in ("typical", "winning")
    }
    with paper_figure(width=4.8, height=3.6) as (figure, axes):
        plot_policy(
            axes,
            data["losses"],
            percent * np.array(data["left"]),
            moves,
            [f"{epsilon:g}" for epsilon in epsilons],
            values=(r"$\varepsilon$ of the randomized response chosen", epsilons),
            epsilon=1.0,
            paths=paths,
            ylabel=r"budget left for $\sum \varepsilon_i^2$ (%)",
        )
    return figure
