"""How much of their promise filters leave unused, and the largest budget sound for one menu."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq

from simulator.analysis.plots import paper_figure
from simulator.analysis.plots.style import measured, promised
from simulator.theory.filters.advanced import WhitehouseFilter
from simulator.theory.filters.named import filter_class
from simulator.theory.filters.renyi import ZCDPFilter
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.worst import Game, entries, worst_case
from simulator.worst.game_graph import budget_graph
from simulator.worst.grid import Grid, lattice_layout
from simulator.worst.recursion import Values, upper_rounding, upper_sweep

TITLE = "the slack of privacy filters: the true worst case over the promise, and the best budget"

SPECIFICATION: dict[str, Any] = {
    "epsilon": 2.0,
    "menu": [0.05, 0.1, 0.15, 0.2],
    "log10_deltas": {
        "renyi": [-4, -5, -6, -7, -8, -9, -10],
        "zcdp": [-4, -5, -6, -7, -8, -9, -10],
        "whitehouse": [-1, -2, -3, -4, -5, -6, -7, -8],
        "rogers": [-1, -2, -3],
    },
    "budget_log10_deltas": [-3, -4, -5, -6, -7, -8, -9, -10],
    "tolerance": 1e-3,
    "seconds": 600.0,
    "budget_epsilon": 1.0,
    "budget_unit": 0.01,
    "budget_top": 0.2,
    "budget_largest": 0.16,
    "source": "filters as in simulator.theory.filters; the recursion is ours",
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Both panels."""
    return {"slack": slack(specification), "budgets": budgets(specification)}


def slack(specification: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each filter's worst case over its promise, both ends."""
    menu = [f"randomized-response:{epsilon}" for epsilon in specification["menu"]]
    epsilon = specification["epsilon"]
    found = []
    for name, powers in specification["log10_deltas"].items():
        for power in powers:
            delta = 10.0**power
            worst = worst_case(
                menu,
                filter=filter_class(name)(epsilon, delta),
                epsilon=epsilon,
                tolerance=specification["tolerance"],
                seconds=specification["seconds"],
            )
            ends = {"lower": worst.delta.lower / delta, "upper": worst.delta.upper / delta}
            found.append({"filter": name, "log10_delta": power} | ends)
    return found


def budgets(specification: Mapping[str, Any]) -> dict[str, Any]:
    """For each delta the largest budget for the sum of squares that is sound for one menu.

    The menu is every multiple of the unit up to the top; another menu can break the same budget.
    One sweep values every budget: what is left in a node is the budget of a game that begins there.
    """
    unit, epsilon = specification["budget_unit"], specification["budget_epsilon"]
    multiples = range(1, round(specification["budget_top"] / unit) + 1)
    menu = entries([f"randomized-response:{unit * j:.10g}" for j in multiples])
    options = Game(menu, rounds=1).options(unit)
    graph = budget_graph(
        [j * j for j in multiples], round(specification["budget_largest"] / unit**2)
    )
    layouts = [lattice_layout(option.law, unit) for option in options]
    reach = round(16.0 / unit)
    grid = Grid(unit, -reach, 2 * reach, -epsilon + round(epsilon / unit) * unit)
    rounding = upper_rounding(graph, layouts)
    values = [Values(grid, value, None, rounding) for value in upper_sweep(graph, grid, layouts)]
    curve = np.array([value.upper(epsilon) for value in values])
    rows = []
    for power in specification["budget_log10_deltas"]:
        delta = 10.0**power
        admitted = int(np.flatnonzero(curve <= delta)[-1])
        rows.append(
            {
                "log10_delta": power,
                "sound": admitted * unit**2 if admitted < len(curve) - 1 else None,
                "gaussian": brentq(
                    lambda b, d=delta: gaussian_delta(math.sqrt(b), epsilon) - d, 1e-6, 4.0
                ),
                "whitehouse": _squares(WhitehouseFilter(epsilon, delta)),
                "zcdp": 2.0 * ZCDPFilter(epsilon, delta).rho,
            }
        )
    return {"rows": rows, "overshoot": _overshoot(rows, curve, unit)}


def _squares(filter_: WhitehouseFilter) -> float:
    """The sum of squares at which the filter stops."""
    log_inverse = -math.log(filter_.delta)
    root = math.sqrt(2 * log_inverse + 2 * filter_.epsilon) - math.sqrt(2 * log_inverse)
    return root * root


def _overshoot(
    rows: list[dict[str, Any]], curve: np.ndarray, unit: float
) -> list[dict[str, float]]:
    """The worst-case delta at the Gaussian curve's budget, over the promised delta."""
    found = []
    for row in rows:
        place = math.floor(row["gaussian"] / unit**2)
        if place < len(curve):
            ratio = float(curve[place]) / 10.0 ** row["log10_delta"]
            found.append({"log10_delta": row["log10_delta"], "ratio": ratio})
    return found


NAMES = {
    "renyi": "Rényi, one order",
    "zcdp": "zCDP",
    "whitehouse": "Whitehouse et al. 2023",
    "rogers": "Rogers et al. 2016",
}


def draw(data: Mapping[str, Any]) -> Figure:
    """Slack on the left, budgets on the right."""
    with paper_figure(2, height=3.2) as (figure, (left, right)):
        looks = {name: measured(place) for place, name in enumerate(NAMES)}
        for name, look in looks.items():
            rows = [row for row in data["slack"] if row["filter"] == name and row["upper"] > 1e-14]
            x = [10.0 ** row["log10_delta"] for row in rows]
            middle = [row["upper"] for row in rows]
            left.plot(x, middle, label=NAMES[name], **look)
            left.fill_between(
                x, [row["lower"] for row in rows], middle, color=look["color"], alpha=0.3
            )
        left.axhline(1.0, color="0.55", linewidth=0.7, linestyle=(0, (4, 2)))
        left.text(0.02, 1.2, "what is promised", fontsize="small", color="0.35", va="bottom",
                  transform=left.get_yaxis_transform())  # fmt: skip
        left.set(xscale="log", yscale="log", ylim=(1e-12, 5.0))
        left.set_xlabel(r"promised $\delta$, with $\varepsilon = 2$")
        left.set_ylabel(r"largest true $\delta$ over the promised one")
        left.legend(fontsize=7)
        rows = [row for row in data["budgets"]["rows"] if row["sound"] is not None]
        x = [10.0 ** row["log10_delta"] for row in rows]
        right.plot(x, [row["gaussian"] for row in rows], label="Gaussian curve (unsound)",
                   **promised(1))  # fmt: skip
        right.plot(x, [row["sound"] for row in rows], label="largest sound for this menu",
                   **promised(0))  # fmt: skip
        right.plot(x, [row["zcdp"] for row in rows], label="zCDP", **looks["zcdp"])
        right.plot(x, [row["whitehouse"] for row in rows], label=NAMES["whitehouse"],
                   **looks["whitehouse"])  # fmt: skip
        right.set(xscale="log", yscale="log", xlabel=r"$\delta$ at $\varepsilon = 1$")
        right.set_ylabel(r"budget for $\sum \varepsilon_i^2$")
        right.legend(fontsize=7)
    return figure
