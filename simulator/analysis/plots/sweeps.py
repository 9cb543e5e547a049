"""Plot of a check along one of its parameters, with the changes of its verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from simulator.analysis.plots.style import curves, limits, measured, promised, spaced_marks
from simulator.foundations.curves import spans_decades
from simulator.foundations.errors import InvalidInput

_SHADES = ("#F3EBCF", "#DCE6F2", "#E8E0EE", "0.90")
_KNOWN = {"holds": "#DDEBDD", "holds, not tight": "#EDF5E4", "fails as printed": "#F6DDD6"}
_DECADES = 100.0


def plot_sweep(
    axes: Axes,
    values: ArrayLike,
    attained: ArrayLike,
    claimed: ArrayLike,
    verdicts: Sequence[tuple[float, float, str]],
    *,
    knob: str = "",
) -> None:
    """Draw the measured quantity and what is claimed of it; shade the stretches of each verdict.

    Parameters
    ----------
    values : shape (n,), the parameter's values, ascending.
    attained, claimed : shape (n,), NaN where the check compares no two numbers.
    verdicts : stretches (first, last, verdict), ascending; a verdict has one shade throughout.
    knob : the parameter's name.

    Raises :class:`InvalidInput` for shapes that do not go together, and without a stretch.
    """
    x, y, bound = curves(knob, values, attained, claimed)
    if not verdicts:
        raise InvalidInput("a sweep without a verdict has nothing to draw")
    others = [name for name in _named(verdicts) if name not in _KNOWN]
    shades = _KNOWN | {name: _SHADES[i % len(_SHADES)] for i, name in enumerate(others)}
    left, right = limits(x)
    logarithmic = spans_decades(left, right)
    flips = [
        math.sqrt(before[1] * after[0]) if logarithmic else (before[1] + after[0]) / 2.0
        for before, after in pairwise(verdicts)
    ]
    for (first, last, name), start, stop in zip(verdicts, [left, *flips], [*flips, right]):
        label = f"{name}: {first:.6g} to {last:.6g}"
        axes.axvspan(start, stop, color=shades[name], linewidth=0, zorder=0, label=label)
    for flip in flips:
        axes.axvline(flip, color="0.35", linewidth=0.6, zorder=1)
    known = np.isfinite(y)
    if known.any():
        marks = spaced_marks(x[known], 0, logarithmic)  # evenly, as many points are near a change
        axes.plot(x[known], y[known], label="measured", markevery=marks, **measured(0))
    if np.isfinite(bound).any():
        axes.plot(x, bound, label="claimed", **promised(0))
    _scale(axes, np.concatenate([y, bound]))
    axes.set(xlim=(left, right), xlabel=knob, xscale="log" if logarithmic else "linear")
    axes.set_ylabel("what the claim is about" if known.any() else "")


def _named(verdicts: Sequence[tuple[float, float, str]]) -> list[str]:
    return list(dict.fromkeys(name for _, _, name in verdicts))


def _scale(axes: Axes, heights: np.ndarray) -> None:
    """Use a logarithmic axis for heights that span decades, and no ticks without any."""
    finite = heights[np.isfinite(heights)]
    if finite.size == 0:
        axes.set_yticks([])
    elif finite.min() > 0.0 and finite.max() > _DECADES * finite.min():
        axes.set_yscale("log")
