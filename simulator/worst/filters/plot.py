"""A plot of the rounds that filters admit along schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from simulator.analysis.plots.style import measured
from simulator.foundations.errors import InvalidInput

OWN = ("certified", "residue")
"""Filters that are drawn filled."""
_KNOWN = (*OWN, "sum", "rogers", "whitehouse", "zcdp", "renyi")
"""Filters with a look of their own in every picture."""
_APART = 0.09
"""Between the filters of a schedule, so that equal ones are seen; schedules are 1 apart."""


def plot_filters(
    axes: Axes, rows: Sequence[tuple[str, Mapping[str, int], int | None]], title: str = ""
) -> None:
    """Draw the rounds of each filter as a share of the most, one line per schedule.

    Parameters
    ----------
    rows : (schedule, rounds by filter, the most that any sound filter admits). Where the last is
        None, rounds are a share of those of the filter that admits most, and the schedule's name is
        followed by a star. Of one filter without limits the rounds themselves are drawn.
    title : above the axes.

    Raises :class:`InvalidInput` without rows, or where no filter admits a round.
    """
    shown = [row for row in rows if max(row[1].values(), default=0) > 0]
    if not shown:
        raise InvalidInput("there are no rounds to draw: no filter admits one")
    names = list(dict.fromkeys(name for _, rounds, _ in shown for name in rounds))
    looks = list(dict.fromkeys((*_KNOWN, *names)))
    alone = len(names) == 1 and all(most is None for _, _, most in shown)
    labels = []
    for place, (schedule, rounds, most) in enumerate(shown):
        whole = 1 if alone else most or max(rounds.values())
        labels.append(schedule if alone else f"{schedule}  ({whole}{'' if most else '*'})")
        axes.axhline(place, color="#DDDDDD", linewidth=0.6, zorder=0)
        for index, name in enumerate(names):
            if not rounds.get(name):
                continue
            look = measured(looks.index(name)) | {"markersize": 4.0}
            at = place + _APART * (index - (len(names) - 1) / 2)
            if name in OWN:
                look["markerfacecolor"] = look["color"]
            axes.plot(
                rounds[name] / whole, at, linestyle="none", label=name,
                clip_on=False, **look,
            )  # fmt: skip
    axes.set(ylim=(len(shown) - 0.5, -0.5), yticks=range(len(shown)))
    axes.set_yticklabels(labels)
    if alone:
        axes.set_xscale("log")
        axes.set_xlabel("rounds admitted")
    else:
        axes.set_xlim(0.0, 1.0)
        axes.set_xlabel(
            "rounds admitted, as a share of the most of any sound filter\n(in brackets; with a "
            "star, of the best filter shown)"
        )
    if title:
        axes.set_title(title)
