"""Plots of the tail of the privacy loss and of its hockey-stick divergence, with bounds.

A tail Pr[L > t] and a divergence δ(ε) are different curves and are not interchangeable: δ(ε) is at
most Pr[L > ε], so a tail may well lie above an exact δ(ε). Each has a function and a type here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from simulator.analysis.plots.style import (
    BandLike,
    curves,
    draw_band,
    limits,
    measured,
    promises,
    spaced_marks,
)
from simulator.foundations.curves import draw_upper_ends
from simulator.foundations.errors import InvalidInput


class TailCurve(NamedTuple):
    """A bound on Pr[L > t], or its exact value, at thresholds t of shape (m,)."""

    thresholds: ArrayLike
    probabilities: ArrayLike


class DivergenceCurve(NamedTuple):
    """A bound on δ(ε), or its exact value, at ε of shape (m,)."""

    epsilons: ArrayLike
    deltas: ArrayLike


def plot_tails(
    axes: Axes,
    thresholds: ArrayLike,
    tails: Mapping[str, BandLike],
    bounds: Mapping[str, TailCurve] | None = None,
    *,
    floor: float | None = None,
) -> None:
    """Draw Pr[L > t] on a logarithmic axis, one curve an adversary, against bounds on it.

    Parameters
    ----------
    thresholds : shape (n,), increasing; the t at which the tails were measured.
    tails : by adversary, value, lower and upper of shape (n,). Where no trial passed t there is
        no estimate to draw: arrows point down from the upper ends.
    bounds : by name, curves of the tail. Where a bound reaches 0 it drops out.
    floor : the least probability shown; by default half a decade below the least measured one.

    Raises :class:`InvalidInput` for a bound or a band of δ(ε), and for shapes that do not go
    together.
    """
    _require(tails, bounds or {}, TailCurve, "epsilons", "plot_divergence")
    _draw_falling(axes, thresholds, tails, bounds or {}, floor=floor)
    axes.set(xlabel=r"threshold $t$", ylabel=r"$\Pr[L > t]$")


def plot_divergence(
    axes: Axes,
    epsilons: ArrayLike,
    divergences: Mapping[str, BandLike],
    bounds: Mapping[str, DivergenceCurve] | None = None,
    *,
    floor: float | None = None,
) -> None:
    """Draw δ(ε) on a logarithmic axis, one curve an adversary, against bounds on it.

    Parameters
    ----------
    epsilons : shape (n,), increasing; the ε at which δ was measured.
    divergences : by adversary, value, lower and upper of shape (n,), drawn as tails are.
    bounds : by name, curves of the divergence. Where a bound reaches 0 it drops out.
    floor : as for tails.

    Raises :class:`InvalidInput` for a bound or a band of a tail, and for shapes that do not go
    together.
    """
    _require(divergences, bounds or {}, DivergenceCurve, "thresholds", "plot_tails")
    _draw_falling(axes, epsilons, divergences, bounds or {}, floor=floor)
    axes.set(xlabel=r"$\varepsilon$", ylabel=r"$\delta(\varepsilon)$")


def _require(
    bands: Mapping[str, BandLike], bounds: Mapping[str, Any], kind: type, alien: str, other: str
) -> None:
    """Raise InvalidInput where a curve of the other kind is among them."""
    for name, curve in bounds.items():
        if not isinstance(curve, kind):
            raise InvalidInput(
                f"{name!r} must be a {kind.__name__}, not a {type(curve).__name__}: a tail and a "
                f"divergence are not to be compared, see {other}"
            )
    for name, band in bands.items():
        if hasattr(band, alien):
            raise InvalidInput(
                f"{name!r} is a {type(band).__name__}: a tail and a divergence are not to be "
                f"compared, see {other}"
            )


def _draw_falling(
    axes: Axes,
    at: ArrayLike,
    bands: Mapping[str, BandLike],
    bounds: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    floor: float | None,
) -> None:
    floor = floor or _floor(bands)
    looks = promises(bounds)
    for name, curve in bounds.items():
        x, y = curves(name, *curve)
        # a logarithmic axis has no 0: the curve leaves it below the floor
        axes.plot(x, np.maximum(y, floor * 1e-3), label=name, **looks[name])
    for index, (name, band) in enumerate(bands.items()):
        _draw_measured(axes, name, at, band, floor=floor, index=index)
    axes.set(yscale="log", ylim=(floor, 1.5))
    axes.set_xlim(*limits(at))


def _draw_measured(
    axes: Axes, name: str, at: ArrayLike, band: BandLike, *, floor: float, index: int
) -> None:
    look = measured(index)
    x, value, lower, upper = curves(name, at, band.value, band.lower, band.upper)
    seen = value > 0
    label = name if seen.any() else f"{name} (none seen)"
    marks = spaced_marks(x[seen], index) if seen.any() else []
    axes.plot(x[seen], value[seen], label=label, markevery=marks, **look)
    draw_band(axes, x[seen], (np.maximum(lower[seen], floor * 1e-3), upper[seen]), look)
    draw_upper_ends(axes, x, np.where(seen, np.nan, upper), look["color"], index)


def _floor(bands: Mapping[str, BandLike]) -> float:
    values = np.concatenate([np.asarray(band.value, dtype=np.float64) for band in bands.values()])
    positive = values[values > 0]
    if positive.size == 0:
        raise InvalidInput("no curve has a hit above 0: give a floor, or smaller points")
    return float(positive.min()) / np.sqrt(10.0)
