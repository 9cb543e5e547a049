"""Plot of the privacy loss along the rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from simulator.analysis.plots.style import curves, limits, measured, promises


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
    paths : single trials, each of shape (k,), drawn thin under one name.
    ylabel : what is drawn, when it is the loss of each round and not their sum.

    Raises :class:`InvalidInput` for shapes that do not go together.
    """
    look = measured(0)
    if np.shape(rounds) == (1,):  # one point makes no line: each becomes a level stretch about it
        only = float(np.asarray(rounds, dtype=np.float64)[0])
        axes.set_xticks([only])
        rounds, mean = [only - 0.5, only + 0.5], _twice(mean)
        paths = [_twice(path) for path in paths]
        spreads = {name: (_twice(low), _twice(high)) for name, (low, high) in spreads.items()}
        envelope = {name: _twice(curve) for name, curve in (envelope or {}).items()}
    shades = np.linspace(0.14, 0.34, max(len(spreads), 1))
    for shade, (name, (lower, upper)) in zip(shades, spreads.items()):
        x, low, high = curves(name, rounds, lower, upper)
        axes.fill_between(x, low, high, color=look["color"], alpha=shade, linewidth=0, label=name)
    for index, path in enumerate(paths):
        x, y = curves("a path", rounds, path)
        name = "_" if index else "single trials"
        axes.plot(x, y, color="0.35", linewidth=0.35, zorder=2, label=name)
    x, y = curves("mean", rounds, mean)
    axes.plot(x, y, label="mean", color=look["color"], linewidth=1.4, zorder=3)
    looks = promises(envelope or {})
    for name, curve in (envelope or {}).items():
        x, y = curves(name, rounds, curve)
        axes.plot(x, y, label=name, **looks[name])
    axes.set_xlim(*limits(rounds))
    axes.set(xlabel="rounds played", ylabel=ylabel)


def _twice(curve: ArrayLike) -> NDArray[np.float64]:
    return np.repeat(np.asarray(curve, dtype=np.float64), 2)
