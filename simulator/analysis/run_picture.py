"""A picture of a run: tails, divergence and loss along the rounds, with the bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simulator.analysis.estimation import Estimate
from simulator.analysis.loading import UnknownAdversary
from simulator.analysis.plots import (
    Band,
    DivergenceCurve,
    TailCurve,
    legend,
    paper_figure,
    plot_divergence,
    plot_drift,
    plot_tails,
)
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import BandLike
from simulator.engine.specification import Specification
from simulator.foundations.curves import new_axes
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.foundations.wording import count_of, printable
from simulator.theory import BoundOnComposition, Composition, bounds_for, tail_bounds

DRAWN = (
    "basic",
    "kairouz-oh-viswanath-3.3",
    "analytic-gaussian",
    "dominating-pairs",
    "advanced-tight-mean",
    "zcdp-canonne-kamath-steinke",
    "bounded-range-azuma",
)
"""The bounds on the divergence that are drawn if they apply."""
TAILS = ("bounded-range-azuma", "advanced-tight-mean", "zcdp-bun-steinke")
"""The bound on the tail that is drawn: the first that applies."""
POINTS, FEW, FINE = 160, 40, 320
PASSED = 1e-3
"""The probability that the loss exceeds the envelope after a round, at most."""
PATHS = 8


EXPERIMENTS = ("experiment 0", "experiment 1")


class Drawable(Protocol):
    """What is drawn of a :class:`~simulator.analysis.result.Result`, which draws itself by this."""

    @property
    def specification(self) -> Specification:
        """What was played."""

    @property
    def sample(self) -> Mapping[int, Any]:
        """The losses, by experiment."""

    @property
    def weights(self) -> Mapping[int, Any]:
        """The weighted losses, by experiment; empty of plain play."""

    @property
    def traces(self) -> Mapping[int, Any]:
        """The moments along the rounds, by experiment; empty where they were not recorded."""

    @property
    def views(self) -> Sequence[Any]:
        """The views that were kept."""

    def known(self, experiment: int) -> Any:
        """The losses of an experiment."""

    def tail(self, epsilon: Any, experiment: int, confidence: float) -> Any:
        """The tail at one point or several."""

    def delta(self, epsilon: Any, experiment: int, confidence: float) -> Any:
        """The hockey-stick divergence at one point or several."""

    def tail_band(self, thresholds: Any, experiment: int, confidence: float) -> Any:
        """The tail with a simultaneous band."""

    def delta_band(self, epsilons: Any, experiment: int, confidence: float) -> Any:
        """The divergence with a simultaneous band."""

    def moments(self, experiment: int) -> Any:
        """The mean and the deviation of the loss along the rounds."""

    def replay(self, view: Any) -> Any:
        """The rounds of a view."""


def picture(
    result: Drawable,
    name: str,
    confidence: float = 0.95,
    *,
    title: str | None = None,
    size: tuple[float, float] | None = None,
    labels: Sequence[str] = EXPERIMENTS,
) -> Figure:
    """Draw a run, with one colour per experiment; ``name`` is that of its adversary.

    ``title`` replaces the line with the name and the parameters, ``size`` is the width and height
    in inches, and ``labels`` are the names of experiments 0 and 1.

    The third panel, the loss along the rounds, needs a run with ``trace=True``. Bands hold at all
    points of a panel at once; those of weighted samples point by point, as the title says, and they
    leave out points that the sample cannot estimate. Raises Refusal if losses are unknown.
    """
    s = result.specification
    width, height = size or (None, 3.2)
    panels_drawn = 3 if result.traces else 2
    with paper_figure(panels_drawn, width=width, height=height) as (figure, panels):
        for of, axes in zip(PANELS, panels):
            PANELS[of](axes, result, confidence, labels)
        usual = (
            f"{printable(name)} in {s.family}, {count_of(s.rounds, 'round')}, "
            f"{count_of(s.trials, 'trial')}"
            + (f", filter {s.filter}" if s.filter is not None else "")
            + (f" from {s.sampling}, intervals point by point" if result.weights else "")
        )
        if shown := usual if title is None else printable(title):
            # the name may hold any character
            figure.suptitle(shown, fontsize="medium", parse_math=False)
        legend(figure, columns=3 if size is None else int(size[0] / 2.4))
    return figure


def panel(result: Drawable, of: str, ax: Axes | None, confidence: float) -> Axes:
    """Draw one of PANELS on axes, by default those of a new figure with a legend; return them."""
    if of not in PANELS:
        raise InvalidInput(f"draw one of {', '.join(PANELS)}, not {of!r:.80}")
    if of == "loss" and not result.traces:
        raise InvalidInput("the loss along the rounds was not recorded: play with trace=True")
    if ax is not None and not isinstance(ax, Axes):
        raise InvalidInput(f"ax must be matplotlib axes to draw on, not {ax!r:.80}")
    axes = new_axes() if ax is None else ax
    PANELS[of](axes, result, confidence, EXPERIMENTS)
    if ax is None:
        axes.legend(fontsize="small")
    return axes


def _composition(result: Drawable) -> Composition:
    return Composition.repeat(result.specification.family, result.specification.rounds)


def _tail_bound(rounds: Composition) -> list[BoundOnComposition]:
    """The first of TAILS that applies, or none."""
    ready = {bound.name: bound for bound in tail_bounds(rounds)}
    return [ready[name] for name in TAILS if name in ready][:1]


def _largest(result: Drawable) -> float:
    """The end of the axis: a little beyond the largest finite loss, of either sign.

    If no loss is positive, the largest loss that the family allows.
    """
    reach = 0.0
    for b in result.sample:
        sample = result.known(b)
        reach = (sample.negated() if b else sample).largest_finite(reach)
    if reach <= 0.0:
        s = result.specification
        reach = s.rounds * s.family.core.pure_epsilon
    return 1.04 * reach if math.isfinite(reach) else 1.0


def _draw_tails(axes: Axes, result: Drawable, confidence: float, labels: Sequence[str]) -> None:
    largest = _largest(result)
    # between the multiples of a step, where atoms often lie
    points = FEW if result.weights else POINTS
    thresholds = (np.arange(points) + 0.5) * (largest / points)
    fine = np.linspace(0.0, largest, FINE)
    promised = {
        label(bound.name): TailCurve(fine, bound.delta(fine).upper)
        for bound in _tail_bound(_composition(result))
    }
    bands = {
        labels[b]: _point_by_point(result.tail, thresholds, b, confidence)
        if result.weights
        else result.tail_band(thresholds, b, confidence)
        for b in result.sample
    }
    plot_tails(axes, thresholds, bands, promised, floor=_floor(result, bands))
    axes.set_xlim(left=0.0)
    axes.set_ylabel(r"$\Pr[\pm L > t]$")


def _draw_divergence(
    axes: Axes, result: Drawable, confidence: float, labels: Sequence[str]
) -> None:
    largest = _largest(result)
    epsilons = np.linspace(0.0, largest, FEW if result.weights else POINTS)
    fine = np.linspace(0.0, largest, FINE)
    promised = {
        label(bound.name): DivergenceCurve(fine, bound.delta(fine).upper)
        for bound in bounds_for(_composition(result))
        if bound.name in DRAWN
    }
    bands = {
        labels[b]: _point_by_point(result.delta, epsilons, b, confidence)
        if result.weights
        else result.delta_band(epsilons, b, confidence)
        for b in result.sample
    }
    plot_divergence(axes, epsilons, bands, promised, floor=_floor(result, bands))


def _point_by_point(
    estimate: Callable[[float, int, float], Estimate], points: np.ndarray, b: int, confidence: float
) -> Band:
    """An estimate at every point; NaN where there is none."""
    columns = []
    for point in points:
        try:
            found = estimate(float(point), b, confidence)
        except Refusal:
            columns.append((math.nan,) * 3)
        else:
            columns.append((found.value, found.lower, found.upper))
    return Band(*np.array(columns).T)


def _floor(result: Drawable, bands: Mapping[str, BandLike]) -> float:
    """The least probability of the axis: below that of one trial, or of a weighted sample."""
    values = np.concatenate([np.asarray(band.value) for band in bands.values()])
    reached = values[values > 0.0]
    if result.weights and reached.size:
        return float(reached.min()) / 3.0
    return 0.3 / result.specification.trials


def _draw_along(axes: Axes, result: Drawable, confidence: float, labels: Sequence[str]) -> None:
    """The loss of the first experiment that was played, after each round."""
    s = result.specification
    experiment = min(result.traces)
    sign = -1.0 if experiment else 1.0
    mean, deviation = result.moments(experiment)
    along = np.arange(1, s.rounds + 1)
    known = not isinstance(s.adversary, UnknownAdversary)
    paths = [
        sign * np.cumsum(result.replay(view).round_losses)
        for view in result.views
        if view.experiment == experiment and known
    ]
    mean = sign * mean
    plot_drift(
        axes, along, mean,
        {
            "mean ± 2 standard deviations": (mean - 2 * deviation, mean + 2 * deviation),
            "mean ± 1 standard deviation": (mean - deviation, mean + deviation),
        },
        _envelope(result),
        paths=[np.where(np.isfinite(path), path, np.nan) for path in paths[:PATHS]],
        ylabel=f"{'-' if experiment else ''}loss so far, {labels[experiment]}{_finite(result)}",
    )  # fmt: skip


def _finite(result: Drawable) -> str:
    """A remark on the share of finite losses, if some are infinite at the end."""
    finite, trials = result.traces[min(result.traces)][2][-1], result.specification.trials
    return "" if finite == trials else f"\n(of the {finite / trials:.3g} that stay finite)"


def _envelope(result: Drawable) -> dict[str, np.ndarray]:
    """The bounds that the loss exceeds after each round with probability PASSED at most."""
    s = result.specification
    along = np.arange(1, s.rounds + 1)
    places = np.unique(np.round(np.geomspace(1, s.rounds, 60)).astype(int))
    curves = {}
    for bound in _tail_bound(Composition.repeat(s.family, s.rounds)):
        ends = [
            bound.bound.on(Composition.repeat(s.family, int(k))).epsilon(PASSED).upper
            for k in places
        ]
        curves[f"{label(bound.name)}, passed by 1 in 1000"] = np.interp(along, places, ends)
    return curves


PANELS = {"tail": _draw_tails, "delta": _draw_divergence, "loss": _draw_along}
"""The panels of a picture, by what they show; the loss along the rounds needs a trace."""
