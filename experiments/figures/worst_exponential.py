"""What adaptivity is worth against the exponential mechanism, by rounds and by epsilon."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from simulator.analysis.plots import paper_figure
from simulator.analysis.plots.style import measured
from simulator.studies import Point, Study, Task, collect
from simulator.theory import BoundedRange, Composition, bound

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
    s, tasks = specification, []
    for delta, width, rounds in itertools.product(s["deltas"], s["widths"], s["rounds"]):
        family = BoundedRange(width)
        best = bound(FIXED).on(Composition.repeat(family, rounds))
        at = f"delta(epsilon={best.epsilon(delta).value!r})"
        wanted = [f"bound:{FIXED} {at}", f"worst {at}"]
        tasks.append(Task(None, family, rounds, wanted, experiments=[0]))
    return {"study": Study.of(collect(tasks, width=s["width"], jobs=1))}


class Gap(NamedTuple):
    """The delta of the best fixed choice, the point of an adaptive one, and its ends in per cent.

    These are above the fixed delta, and never below it: a fixed choice is a policy too, which the
    grid of the search may just miss.
    """

    fixed: float
    worst: Point
    lower: float
    upper: float


def gaps_of(study: Study) -> list[Gap]:
    """The gaps of a study, in its order."""
    fixed, worst = (
        [point for point in study if point.quantity.startswith(source)]
        for source in ("bound", "worst")
    )
    return [
        Gap(a.value, b, *(max(100.0 * (end / a.value - 1.0), 0.0) for end in (b.lower, b.upper)))
        for a, b in zip(fixed, worst)  # a task has one of each
    ]


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel for each delta: the gap in per cent, its two ends shaded."""
    gaps, game = gaps_of(data["study"]), data["specification"]
    with paper_figure(len(game["deltas"]), height=2.9) as (figure, panels):
        for axes, delta in zip(panels, sorted(game["deltas"], reverse=True)):
            near = [gap for gap in gaps if math.isclose(gap.fixed, delta, rel_tol=1e-3)]
            for place, width in enumerate(game["widths"]):
                here = [gap for gap in near if gap.worst.family == str(BoundedRange(width))]
                rounds = [gap.worst.rounds for gap in here]
                lower, upper = [gap.lower for gap in here], [gap.upper for gap in here]
                look = measured(place)
                axes.fill_between(rounds, lower, upper, color=look["color"], alpha=0.3, lw=0)
                axes.plot(rounds, lower, label=rf"$\varepsilon_0$ = {width:g}", **look)
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_locator(FixedLocator([2, 4, 8, 16, 32]))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
            title = rf"where the best fixed choice has $\delta = 10^{{{round(math.log10(delta))}}}$"
            axes.set(xlabel="rounds $k$", title=title)
        figure.suptitle("shaded: certified ends", fontsize="medium")
        panels[0].set_ylabel(r"adaptive $\delta$ above it, in %")
        panels[0].legend(loc="upper left", title="each round")
    return figure
