"""What adaptivity is worth against the exponential mechanism, by rounds and by epsilon."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from simulator.analysis.plots import paper_figure
from simulator.analysis.plots.style import measured
from simulator.study import Study, Task, collect
from simulator.theory import BoundedRange, Composition, bound
from simulator.worst.menu_parsing import parse_family
from simulator.worst.non_adaptive import dominating_delta

TITLE = "the adaptivity gap of the exponential mechanism, certified from both sides"

SPECIFICATION: dict[str, Any] = {
    "widths": [0.1, 0.5, 1.0, 2.0],
    "rounds": [2, 3, 4, 6, 8, 12, 16, 24, 32],
    "deltas": [1e-2, 1e-6],
    "width": 5e-3,
    "source": "Dong, Durfee and Rogers 2020: the recursion, and the best choice fixed in advance",
}


FIXED = "bounded-range-non-adaptive"


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """At the epsilon where the best fixed choice has a delta: it, and an adaptive one."""
    tasks = []
    for delta, width, rounds in itertools.product(
        specification["deltas"], specification["widths"], specification["rounds"]
    ):
        family = BoundedRange(width)
        best = bound(FIXED).on(Composition.repeat(family, rounds))
        at = f"delta(epsilon={best.epsilon(delta).value!r})"
        wanted = [f"bound:{FIXED} {at}", f"worst {at}"]
        tasks.append(Task(None, family, rounds, wanted, experiments=[0]))
    return {"study": Study.of(collect(tasks, width=specification["width"], jobs=1))}


@dataclass(frozen=True)
class Gap:
    """The delta of some rounds of one range at one epsilon: of a fixed choice, an adaptive one."""

    width: float
    rounds: int
    epsilon: float
    fixed: float
    lower: float
    upper: float

    @property
    def delta(self) -> float:
        """That of the fixed choice, without rounding errors."""
        return float(f"{self.fixed:.3g}")

    @property
    def dominating(self) -> float:
        """That of the family's dominating pair, composed."""
        menu = parse_family(f"range:{self.width}")
        return dominating_delta(menu, self.rounds, self.epsilon, self.width / 1000, experiment=0)

    def percent(self, end: float) -> float:
        """By how many per cent an end of the adaptive delta is above the best fixed one.

        Never below it: a fixed choice is a policy too, which the grid of the search may just miss.
        """
        return max(100.0 * (end / self.fixed - 1.0), 0.0)


def gaps_of(study: Study) -> list[Gap]:
    """The gaps of a study, in its order."""
    fixed = {
        (point.family, point.rounds, point.at): point.value
        for point in study
        if point.quantity.startswith("bound")
    }
    return [
        Gap(
            float(p.family.partition(":")[2]), p.rounds, p.at,
            fixed[p.family, p.rounds, p.at], p.lower, p.upper,
        )
        for p in study
        if p.quantity.startswith("worst")
    ]  # fmt: skip


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel for each delta: the gap in per cent, its two ends shaded."""
    gaps, game = gaps_of(data["study"]), data["specification"]
    with paper_figure(len(game["deltas"]), height=2.9) as (figure, panels):
        for axes, delta in zip(panels, sorted(game["deltas"], reverse=True)):
            for place, width in enumerate(game["widths"]):
                here = [gap for gap in gaps if (gap.delta, gap.width) == (delta, width)]
                rounds = [gap.rounds for gap in here]
                lower = [gap.percent(gap.lower) for gap in here]
                upper = [gap.percent(gap.upper) for gap in here]
                look = measured(place)
                axes.fill_between(rounds, lower, upper, color=look["color"], alpha=0.3, lw=0)
                axes.plot(rounds, lower, label=rf"$\varepsilon_0$ = {width:g}", **look)
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_locator(FixedLocator([2, 4, 8, 16, 32]))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xlabel("rounds $k$")
            axes.set_title(rf"where the best fixed choice has $\delta = 10^{{{_power(delta)}}}$")
        figure.suptitle("shaded: certified ends", fontsize="medium")
        panels[0].set_ylabel(r"adaptive $\delta$ above it, in %")
        panels[0].legend(loc="upper left", title="each round")
    return figure


def _power(delta: float) -> int:
    return round(float(f"{delta:e}".split("e")[1]))
