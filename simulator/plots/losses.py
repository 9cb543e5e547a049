"""The privacy loss itself: how likely it is to pass a threshold, and how it grows by the round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from simulator.errors import InvalidInput
from simulator.plots.style import BandLike, curves, draw_band, measured, promised, spaced_marks


def plot_tails(
    axes: Axes,
    thresholds: ArrayLike,
    tails: Mapping[str, BandLike],
    bounds: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    *,
    floor: float | None = None,
) -> None:
    """Draw Pr[L > ε] on a logarithmic axis, one curve an adversary, against bounds on it.

    Parameters
    ----------
    thresholds : shape (n,), increasing; the ε at which the tails were measured.
    tails : by adversary, value, lower and upper of shape (n,). Where no trial passed ε there is
        no estimate to draw: a thin line marks the upper limit alone.
    bounds : by name, (epsilons, deltas) of shape (m,). Where a bound reaches 0 it drops out.
    floor : the least probability shown; by default half a decade below the least measured one.

    Raises :class:`InvalidInput` for shapes that do not go together.
    """
    floor = floor or _floor(tails)
    for index, (name, (epsilons, deltas)) in enumerate((bounds or {}).items()):
        x, y = curves(name, epsilons, deltas)
        # A bound of 0 has no place on the axis: it falls off below the floor.
        axes.plot(x, np.maximum(y, floor * 1e-3), label=name, **promised(index))
    for index, (name, band) in enumerate(tails.items()):
        _draw_tail(axes, name, thresholds, band, floor=floor, index=index)
    axes.set_yscale("log")
    axes.set_ylim(floor, 1.5)
    axes.set_xlim(*_limits(thresholds))
    axes.set_xlabel(r"threshold $\varepsilon$")
    axes.set_ylabel(r"$\Pr[L > \varepsilon]$")


def _draw_tail(
    axes: Axes,
    name: str,
    thresholds: ArrayLike,
    band: BandLike,
    *,
    floor: float,
    index: int,
) -> None:
    look = measured(index)
    x, value, lower, upper = curves(name, thresholds, band.value, band.lower, band.upper)
    seen = value > 0
    label = name if seen.any() else f"{name} (none seen)"
    marks = spaced_marks(x[seen], index) if seen.any() else []
    axes.plot(x[seen], value[seen], label=label, markevery=marks, **look)
    draw_band(axes, x[seen], (np.maximum(lower[seen], floor * 1e-3), upper[seen]), look)
    axes.plot(x, np.where(seen, np.nan, upper), color=look["color"], linewidth=0.5, zorder=1)


def _floor(tails: Mapping[str, BandLike]) -> float:
    values = np.concatenate([np.asarray(band.value, dtype=np.float64) for band in tails.values()])
    positive = values[values > 0]
    if positive.size == 0:
        raise InvalidInput("no tail has a single hit: nothing to draw; name a floor, or fewer ε")
    return float(positive.min()) / np.sqrt(10.0)


def _limits(x: ArrayLike) -> tuple[float, float]:
    array = np.asarray(x, dtype=np.float64)
    return float(array.min()), float(array.max())


def plot_drift(
    axes: Axes,
    rounds: ArrayLike,
    mean: ArrayLike,
    spreads: Mapping[str, tuple[ArrayLike, ArrayLike]],
    envelope: Mapping[str, ArrayLike] | None = None,
    *,
    paths: Sequence[ArrayLike] = (),
    ylabel: str = "accumulated privacy loss",
) -> None:
    """Draw the loss along the rounds: its mean, its spread, and an upper envelope.

    Parameters
    ----------
    rounds : shape (k,), the number of rounds played so far.
    mean : shape (k,), the mean accumulated loss.
    spreads : by name (as "central 95%"), lower and upper of shape (k,); widest first.
    envelope : by name, curves of shape (k,) that the loss passes with small probability.
    paths : single trials, each of shape (k,), drawn thin.
    ylabel : what is drawn, when it is the loss of each round and not their sum.

    Raises :class:`InvalidInput` for shapes that do not go together.
    """
    look = measured(0)
    shades = np.linspace(0.14, 0.34, max(len(spreads), 1))
    for shade, (name, (lower, upper)) in zip(shades, spreads.items()):
        x, low, high = curves(name, rounds, lower, upper)
        axes.fill_between(x, low, high, color=look["color"], alpha=shade, linewidth=0, label=name)
    for path in paths:
        x, y = curves("a path", rounds, path)
        axes.plot(x, y, color="0.35", linewidth=0.35, zorder=2)
    x, y = curves("mean", rounds, mean)
    axes.plot(x, y, label="mean", color=look["color"], linewidth=1.4, zorder=3)
    for index, (name, curve) in enumerate((envelope or {}).items()):
        x, y = curves(name, rounds, curve)
        axes.plot(x, y, label=name, **promised(index))
    axes.set_xlim(*_limits(rounds))
    axes.set_xlabel("rounds played")
    axes.set_ylabel(ylabel)
