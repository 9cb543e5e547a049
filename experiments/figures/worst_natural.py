"""The worst-case delta under the natural filter over its promise, searched over menus."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from simulator.analysis.plots import paper_figure
from simulator.analysis.plots.style import measured
from simulator.foundations.errors import NotApplicable
from simulator.theory.filters.natural import NaturalFilter
from simulator.worst import worst_case

TITLE = "the natural filter's overshoot: the true worst case over the promised delta, by menu"

SPECIFICATION: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "unit": 0.025,
    "top": 16,
    "sizes": [1, 2, 3, 4],
    "finer_units": [0.05, 0.025, 0.0125, 0.00625],
    "finer_partners": [0.125, 0.25],
    "log10_deltas": [-2, -3, -4, -5, -6, -7, -8],
    "source": "arXiv 2602.15815 and 2602.06756: natural filters are not free; the search is ours",
}

Menu = tuple[int, ...]
"""Epsilons in units, ascending."""


@lru_cache(maxsize=4096)
def overshoot(menu: Menu, unit: float, epsilon: float, delta: float) -> float:
    """The worst case over the promised delta; 0 where the menu has too many states."""
    names = [f"randomized-response:{unit * multiple:.10g}" for multiple in menu]
    try:
        found = worst_case(names, filter=NaturalFilter(epsilon, delta), epsilon=epsilon)
    except NotApplicable:
        return 0.0
    return found.delta.lower / delta


def best_of(menus: Iterable[Menu], *terms: float) -> tuple[float, Menu]:
    """The menu with the largest overshoot."""
    return max((overshoot(menu, *terms), menu) for menu in menus)


def neighbours(menu: Menu, top: int) -> Iterable[Menu]:
    """The menus that differ by one or two units in one mechanism."""
    for place, move in itertools.product(range(len(menu)), (-2, -1, 1, 2)):
        moved = tuple(sorted((*menu[:place], menu[place] + move, *menu[place + 1 :])))
        if moved[0] >= 1 and moved[-1] <= top and len(set(moved)) == len(moved):
            yield moved


def ascend(menu: Menu, top: int, *terms: float) -> tuple[float, Menu]:
    """Move one mechanism at a time as long as it helps."""
    best = overshoot(menu, *terms), menu
    while True:
        step = best_of([best[1], *neighbours(best[1], top)], *terms)
        if step[0] <= best[0] * (1.0 + 1e-9):
            return best
        best = step


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """All pairs; the best menu of each size; finer pairs; the best pair against delta."""
    unit, top = specification["unit"], specification["top"]
    terms = unit, specification["epsilon"], specification["delta"]
    pairs = {pair: overshoot(pair, *terms) for pair in itertools.combinations(range(1, top + 1), 2)}
    menus = []
    best: Menu = ()
    for size in specification["sizes"]:
        if size <= 2:
            ratio, best = best_of(itertools.combinations(range(1, top + 1), size), *terms)
        else:
            grown = [tuple(sorted({*best, extra})) for extra in range(1, top + 1)]
            _, start = best_of([menu for menu in grown if len(menu) == size], *terms)
            ratio, best = ascend(start, top, *terms)
        menus.append({"size": size, "menu": [unit * m for m in best], "ratio": ratio})
    finer = []
    for small, partner in itertools.product(
        specification["finer_units"], specification["finer_partners"]
    ):
        ratio = overshoot((1, round(partner / small)), small, *terms[1:])
        finer.append({"unit": small, "partner": partner, "ratio": ratio})
    by_delta = []
    for power in specification["log10_deltas"]:
        ratio, menu = best_of(pairs, unit, terms[1], 10.0**power)
        by_delta.append({"log10_delta": power, "menu": [unit * m for m in menu], "ratio": ratio})
    return {
        "pairs": [{"menu": [unit * m for m in pair], "ratio": r} for pair, r in pairs.items()],
        "menus": menus,
        "finer": finer,
        "by_delta": by_delta,
    }


def draw(data: Mapping[str, Any]) -> Figure:
    """The pairs as a map; the best menus by size, and the best pair by delta."""
    with paper_figure(2, height=3.0) as (figure, (left, right)):
        values = sorted({epsilon for pair in data["pairs"] for epsilon in pair["menu"]})
        place = {epsilon: i for i, epsilon in enumerate(values)}
        table = np.full((len(values), len(values)), np.nan)
        for pair in data["pairs"]:
            low, high = pair["menu"]
            table[place[low], place[high]] = pair["ratio"]
        edges = np.append(np.array(values) - values[0] / 2, values[-1] + values[0] / 2)
        shown = left.pcolormesh(edges, edges, table, cmap="viridis", rasterized=True)
        figure.colorbar(shown, ax=left, label=r"worst $\delta$ over the promised one")
        left.set_xlabel(r"larger $\varepsilon$ of the menu")
        left.set(ylabel=r"smaller $\varepsilon$ of the menu", ylim=(edges[0], 5 * values[0]))
        sizes = [menu["size"] for menu in data["menus"]]
        right.plot(sizes, [menu["ratio"] for menu in data["menus"]], **measured(0))
        for menu in data["menus"]:
            text = ", ".join(f"{epsilon:.3g}" for epsilon in menu["menu"])
            right.annotate(
                text, (menu["size"], menu["ratio"]), xytext=(-5, 5), textcoords="offset points",
                ha="right", fontsize=6.5,
            )  # fmt: skip
        right.axhline(1.0, color="0.55", linewidth=0.7, linestyle=(0, (4, 2)))
        right.text(max(sizes) + 0.25, 0.95, "what is promised", fontsize="small", color="0.35",
                   ha="right", va="top")  # fmt: skip
        right.set_xlim(min(sizes) - 1.0, max(sizes) + 0.3)
        right.set_ylim(0.0, 1.15 * max(menu["ratio"] for menu in data["menus"]))
        right.set_xticks(sizes)
        right.set_xlabel("mechanisms in the menu")
        right.set_ylabel(r"worst $\delta$ over the promised one, best menu found")
    return figure
