"""Curves named at their right end, for panels with more curves than dashes can distinguish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from simulator.analysis.plots.style import promises

LEAST_GAP = 0.064
"""The least distance of two names, as a share of the panel's height."""


def plot_named(
    axes: Axes,
    x: Sequence[float],
    curves: Mapping[str, Sequence[float | None]],
    emphasised: Sequence[str] = (),
) -> None:
    """Draw each curve and its name to the right of where it ends, names pushed apart.

    Parameters
    ----------
    x : shape (n,), the same for all curves.
    curves : by name, shape (n,); None where there is nothing to draw.
    emphasised : curves drawn thick.

    Call it when the panel's limits and scales are set.
    """
    ends = {}
    looks = promises(curves)
    for name, y in curves.items():
        values = np.array(y, dtype=np.float64)
        axes.plot(x, values, linewidth=1.8 if name in emphasised else 0.9, **looks[name])
        ends[name] = _panel_height(axes, x[-1], float(values[-1]))
    for name, (end, place) in _apart(ends).items():
        axes.annotate(
            name,
            xy=(1.0, end),
            xytext=(1.1, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=7,
            color=looks[name]["color"],
            arrowprops={
                "arrowstyle": "-",
                "linewidth": 0.4,
                "color": looks[name]["color"],
                "linestyle": looks[name]["linestyle"],
                "relpos": (0.0, 0.5),
                "shrinkA": 1,
                "shrinkB": 1,
            },
        )


def _panel_height(axes: Axes, x: float, y: float) -> float:
    """Where a point lies between the panel's bottom (0) and top (1), held inside."""
    across = axes.transAxes.inverted().transform(axes.transData.transform((x, y)))
    return float(np.clip(across[1], 0.0, 1.0))


def _apart(ends: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """For each name the height of its curve's end and that of the name; no two names overlap.

    Names of curves that end close together form a block that is centred on its ends.
    """
    blocks: list[list[str]] = []
    for name in sorted(ends, key=lambda key: ends[key]):
        blocks.append([name])
        while len(blocks) > 1 and _overlap(blocks[-2], blocks[-1], ends):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    return {
        name: (ends[name], height)
        for block in blocks
        for name, height in zip(block, _heights(block, ends))
    }


def _heights(block: Sequence[str], ends: Mapping[str, float]) -> list[float]:
    room = LEAST_GAP * (len(block) - 1)
    centre = float(np.mean([ends[name] for name in block]))
    lowest = min(max(centre - room / 2.0, 0.0), 1.0 - room)
    return [lowest + LEAST_GAP * place for place in range(len(block))]


def _overlap(below: Sequence[str], above: Sequence[str], ends: Mapping[str, float]) -> bool:
    return _heights(above, ends)[0] - _heights(below, ends)[-1] < LEAST_GAP
