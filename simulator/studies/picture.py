"""A picture of a study: a quantity along a parameter, one series per group, with the bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator, LogLocator, NullFormatter

from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import draw_band, legend, measured, paper_figure, promised
from simulator.foundations.curves import draw_upper_ends
from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import did_you_mean
from simulator.studies.points import COLUMNS, Point, latest
from simulator.studies.quantities import AT, Quantity

ALONG = ("rounds", "seed", "at")
"""The numbers that may be an axis; ``at`` is the quantity's epsilon or delta."""
MOST_BOUNDS = 4
"""The tightest bounds that are drawn, by their values at the largest x; of each family one."""
LONG_NAME = 24
"""Names of more characters do not fit beside one another in a legend."""
_HEIGHT, _LINE = 2.3, 0.17
"""Inches of the axes with their labels, and of a line of the legend."""
_APART = ("adversary", "family", "rounds", "relation", "filter", "seed", "experiment", "place")
_NAMES = {"rounds": r"rounds $k$", "epsilon": r"$\varepsilon$", "delta": r"$\delta$"}
_NAMES |= {"tail": r"$\Pr[L > \varepsilon]$", "mean": "mean loss", "variance": "variance of loss"}


class Growth(NamedTuple):
    """The exponent of a power law through some points, and its 95% interval.

    >>> from simulator.studies import Growth
    >>> print(Growth(0.52, 0.49, 0.55))
    $k^{0.52}$ [0.49, 0.55]
    """

    exponent: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"$k^{{{self.exponent:.2f}}}$ [{self.lower:.2f}, {self.upper:.2f}]"


def growth(points: Sequence[Point]) -> Growth | None:
    """The exponent by which the values grow with the rounds; None for fewer than three values.

    Least squares on logarithms; the interval is that of a linear regression with normal errors
    (Student's t), so it holds where the values follow a power law.

    >>> from simulator.studies import collect, grid, growth
    >>> tasks = grid(None, "pure:0.1", [10, 20, 40], "bound:basic epsilon(delta=1e-6)")
    >>> round(growth(list(collect(tasks, jobs=1))).exponent, 6)
    1.0
    """
    from scipy.special import stdtrit

    seen = [p for p in points if p.value > 0.0 and math.isfinite(p.value)]
    if len({p.rounds for p in seen}) < 3:
        return None
    logarithms = np.log([p.rounds for p in seen]), np.log([p.value for p in seen])
    (slope, _), covariance = np.polyfit(*logarithms, 1, cov=True)
    reach = float(stdtrit(len(seen) - 2, 0.975)) * math.sqrt(covariance[0, 0])
    return Growth(float(slope), float(slope) - reach, float(slope) + reach)


def picture(
    points: Sequence[Point],
    x: str = "rounds",
    y: str = "epsilon",
    hue: str = "adversary",
    *,
    bounds: bool = True,
    fit: bool = False,
    title: str | None = None,
    size: tuple[float, float] | None = None,
    labels: Mapping[str, str] | None = None,
) -> Figure:
    """Draw a quantity along ``x``, one colour per ``hue``: values, and bands between their ends.

    Parameters
    ----------
    x : "rounds", "seed", or "at" for the epsilon or delta that the quantity is a function of.
    y : a kind of quantity, "epsilon", "delta" or "tail", or one quantity as it is written.
    hue : the field of a point that tells the series apart.
    bounds : whether to draw the bounds that the study has: the tightest four, shared by the
        families, and one of each family at least.
    fit : whether to add the exponent of growth to the legend, where x is "rounds".
    title : by default what all points have in common.
    size : of the figure, in inches.
    labels : other names of values of ``hue`` in the legend.

    Raises InvalidInput where there is nothing to draw, and for a label of no series.

    >>> from simulator.studies import collect, grid, picture
    >>> tasks = grid(None, "pure:0.1", [10, 20, 40], "bound:basic epsilon(delta=1e-6)")
    >>> figure = picture(list(collect(tasks, jobs=1)))
    >>> figure.axes[0].get_xlabel()
    'rounds $k$'
    """
    if x not in ALONG or hue not in COLUMNS:
        raise InvalidInput(
            f"x={x!r} is not one of {', '.join(ALONG)}"
            if x not in ALONG
            else f"the group (hue) {hue!r} is no column of a study{did_you_mean(hue, COLUMNS)}"
        )
    chosen = [point for point in latest(points) if matches(point, y)]
    kind = Quantity.parse(chosen[0].quantity).kind if chosen else y
    drawn = [p for p in chosen if not p.quantity.startswith("bound") and math.isfinite(p.lower)]
    promises = [p for p in chosen if p.quantity.startswith("bound:")] if bounds else []
    if not (drawn or promises):
        known = sorted({p.quantity for p in points if not p.quantity.startswith("bound")})
        raise InvalidInput(f"the study has no {y!r} to draw; it has {', '.join(known) or 'none'}")
    with paper_figure() as (figure, axes):
        varying = [name for name in _APART if name not in (x, hue) and differs(drawn, name)]
        if x == "at" and "place" in varying:
            varying.remove("place")
        if len({tuple(field_of(p, name) for name in (x, hue, *varying)) for p in drawn}) < len(
            drawn
        ):
            varying.append("metadata")  # two adversaries of one name
        found = series_of(drawn, (hue, *varying), x)
        hues = [str(names[0]) for names, _ in found]
        for name in labels or {}:
            if name not in hues:
                raise InvalidInput(f"no series {name!r} to label{did_you_mean(name, hues)}")
        looks = looks_of(hues)
        for look, (names, series) in zip(looks, found):
            parts = [worded(*pair) for pair in zip((hue, *varying), names)]
            parts[0] = (labels or {}).get(str(names[0]), parts[0])
            text = ", ".join(parts)
            if fit and x == "rounds" and (exponent := growth(series)) is not None:
                text += f": {exponent}"
            draw_series(axes, series, x, look, text)
        draw_bounds(axes, promises, x)
        shown = drawn or promises
        axes.set(xlabel=_NAMES.get(axis_name(x, kind), axis_name(x, kind)), ylabel=_NAMES[kind])
        scales(axes, shown, x, kind)
        axes.set_title(common(shown, x, hue) if title is None else title, fontsize="small")
        long = max(len(text) for text in axes.get_legend_handles_labels()[1]) > LONG_NAME
        legend(figure, columns=1 if long else 2)
        lines = len(axes.get_legend_handles_labels()[1]) / (1 if long else 2)
        figure.set_size_inches(size or (figure.get_figwidth(), _HEIGHT + _LINE * lines))
    return figure


def matches(point: Point, y: str) -> bool:
    """Whether a point is about a quantity, or of a kind of quantity, and has ends."""
    return point.stopped != "failed" and y in (
        point.quantity,
        Quantity.parse(point.quantity).kind,
    )


def field_of(point: Point, name: str) -> Any:
    """A field of a point; ``at`` is the number in its quantity, ``place`` the quantity's text."""
    quantity = Quantity.parse(point.quantity)
    if name == "at":
        return quantity.at
    if name == "place":
        return point.quantity
    return getattr(point, name)


def differs(points: Sequence[Point], name: str) -> bool:
    """Whether two points have another value of a field."""
    return len({field_of(point, name) for point in points}) > 1


def series_of(
    points: Sequence[Point], names: Sequence[str], x: str
) -> list[tuple[tuple[Any, ...], list[Point]]]:
    """The points with equal fields of these names, ascending in x."""

    def group(point: Point) -> tuple[Any, ...]:
        return tuple(field_of(point, name) for name in names)

    order = {key: place for place, key in enumerate(dict.fromkeys(map(group, points)))}
    listed = sorted(points, key=lambda point: (order[group(point)], field_of(point, x)))
    return [(key, list(each)) for key, each in itertools.groupby(listed, group)]


def worded(name: str, value: Any) -> str:
    """A field in the legend."""
    return f"{name} {value}" if name in ("experiment", "rounds", "seed") else str(value)


def looks_of(hues: Sequence[Any]) -> list[dict[str, Any]]:
    """A look of each series: a colour per hue and a marker within it, where these suffice."""
    colours = {hue: measured(place)["color"] for place, hue in enumerate(dict.fromkeys(hues))}
    plain = [measured(index) for index in range(len(hues))]
    looks = [
        measured(hues[:index].count(hue)) | {"color": colours[hue]}
        for index, hue in enumerate(hues)
    ]
    distinct = len({(look["color"], look["marker"]) for look in looks}) == len(hues)
    return looks if distinct and len(colours) > 1 else plain


def draw_series(
    axes: Axes, series: Sequence[Point], x: str, look: dict[str, Any], text: str
) -> None:
    """Draw values with a band; arrows point down from the upper ends of values of 0."""
    at = np.array([field_of(point, x) for point in series], dtype=np.float64)
    value, lower, upper = (
        np.array([getattr(point, name) for point in series]) for name in ("value", "lower", "upper")
    )
    seen = np.isfinite(value) & (value > 0.0)
    axes.plot(at[seen], value[seen], label=text, **look)
    bounded = seen & np.isfinite(upper)
    draw_band(axes, at[bounded], (lower[bounded], upper[bounded]), look)
    draw_upper_ends(axes, at, np.where(seen | ~np.isfinite(upper), np.nan, upper), look["color"])


def draw_bounds(axes: Axes, points: Sequence[Point], x: str) -> None:
    """Draw the tightest upper bounds, as many of each family; of equal ones the first."""
    certain = [point for point in points if point.method in ("upper", "exact")]
    names = [each for each in ("family", "rounds") if each != x and differs(certain, each)]
    found = series_of(certain, ("place", *names), x)
    games = list(dict.fromkeys(key[1:] for key, _ in found))
    most = max(1, MOST_BOUNDS // max(1, len(games)))
    drawn: list[tuple[Any, ...]] = []
    for key, series in sorted(found, key=lambda e: (games.index(e[0][1:]), e[1][-1].value)):
        at = {field_of(point, x): point.value for point in series}
        own = [other for before, other in drawn if before[1:] == key[1:]]
        if len(own) == most or any(close(at, other) for other in own):
            continue
        text = label(Quantity.parse(key[0]).name)
        text = ", ".join([text, *(worded(*pair) for pair in zip(names, key[1:]))])
        lone: dict[str, Any] = {"marker": "_", "markersize": 10} if len(at) == 1 else {}
        axes.plot(
            list(at),
            list(at.values()),
            label=text,
            **promised(len(drawn), text if len(games) == 1 else ""),
            **lone,
        )
        drawn.append((key, at))


def close(one: dict[Any, float], other: dict[Any, float]) -> bool:
    """Whether two curves look the same: within a thousandth."""
    return one.keys() == other.keys() and all(
        math.isclose(one[at], other[at], rel_tol=1e-3) for at in one
    )


def axis_name(x: str, kind: str) -> str:
    """What the x axis shows."""
    return AT[kind] if x == "at" else x


def scales(axes: Axes, points: Sequence[Point], x: str, kind: str) -> None:
    """Logarithmic axes for rounds, deltas and probabilities, and for values of several decades."""
    values = [point.value for point in points if point.value > 0.0]
    if x == "rounds" or axis_name(x, kind) == "delta":
        axes.set_xscale("log")
    if kind != "epsilon" or (values and max(values) > 10.0 * min(values)):
        axes.set_yscale("log")
    for axis, (least, most) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axis.get_scale() == "log" and least >= 1e-3 and most <= min(100.0 * least, 1e5):
            plain_ticks(axis, most / least)


def plain_ticks(axis: Axis, ratio: float) -> None:
    """Plain numbers beside a logarithmic axis of few decades, where powers of ten overlap."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)) if ratio > 5.0 else AutoLocator())
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def common(points: Sequence[Point], x: str, hue: str) -> str:
    """What all points have in common, as a title."""
    names = ("adversary", "family", "rounds", "filter", "experiment")
    same = [each for each in names if each not in (x, hue) and not differs(points, each)]
    if all(point.quantity.startswith("bound") for point in points):
        same = [each for each in same if each != "experiment"]  # a bound is of both
    texts = [
        worded(each, field_of(points[0], each)) for each in same if field_of(points[0], each) != ""
    ]
    if x != "at" and not differs(points, "place"):
        texts.append(points[0].quantity)
    return ", ".join(texts)
