"""Two finite laws around any law: one pessimistic, on a grid, one optimistic.

Write x = exp(-L) = dP1/dP0; delta(E) = E0[(1 - exp(E) x)_+] is the mean of a convex function of
x, and stays so after any composition. So by Jensen's inequality
- replacing a piece of the law by its mean in x can only lower delta: the OPTIMISTIC law collapses
  each cell to the loss -ln(m1/m0), m0 and m1 its masses under P0 and P1;
- spreading a piece while keeping its mean in x can only raise delta: the PESSIMISTIC law splits
  each collapsed cell between the two grid points around it. (This is the connect-the-dots law of
  Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, PoPETs 2022, seen from its atoms.)
Both keep m0 and m1 of every cell, so they differ from the law, and from each other, in second
order of the step. Beyond the tails the pessimistic law reveals everything (mass at infinity).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.theory.laws.base import Floats, PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw

MAX_CELLS = 1 << 22


@dataclass(frozen=True)
class Discretised:
    """delta of ``optimistic`` <= delta of the law <= delta of ``pessimistic``, also composed."""

    optimistic: FiniteLaw
    pessimistic: FiniteLaw


def discretise(law: PrivacyLossLaw, step: float, tail_mass: float = 1e-60) -> Discretised:
    """Cut ``law`` into cells of width ``step`` (in nats) between its ``tail_mass`` quantiles.

    Raises InvalidInput for a step that is not positive, or would take more than 4 million cells.
    """
    if not (np.isfinite(step) and step > 0):
        raise InvalidInput(f"step must be a positive finite number, got {step!r}")
    low, high = _range(law, tail_mass)
    cells = (high - low) / step
    if cells > MAX_CELLS:
        raise InvalidInput(
            f"a step of {step:.3g} over losses in [{low:.6g}, {high:.6g}] takes {cells:.3g} cells"
            f" ({cells * 160 / 1e9:.3g} GB) where at most {MAX_CELLS} are allowed; take a step of"
            f" at least {(high - low) / MAX_CELLS:.3g}"
        )
    edges = step * np.arange(np.floor(low / step), np.ceil(high / step) + 1)
    inner = _collapse(*law.continuous_masses(edges), edges)
    losses = np.r_[law.atom_losses, inner[0]]
    masses = np.r_[np.exp(law.atom_log_masses), inner[1]]
    top = _beyond(law, edges[-1], np.inf)
    bottom = _beyond(law, -np.inf, edges[0])
    return Discretised(
        _optimistic(law, losses, masses, [top, bottom]),
        _pessimistic(
            law, losses, masses, top=top, bottom=bottom, step=step, origin=float(edges[0])
        ),
    )


def _range(law: PrivacyLossLaw, tail_mass: float) -> tuple[float, float]:
    low, high = law.support
    if not np.isfinite(high):
        high = _quantile(lambda x: law.sf(x) - law.infinite_mass, tail_mass)
    if not np.isfinite(low):
        low = -_quantile(lambda x: law.cdf(-x, under=1) - law.dual_infinite_mass, tail_mass)
    return low, high


def _quantile(tail: Callable[[float], float], tail_mass: float) -> float:
    """Some x, within a percent of the least, beyond which no more than ``tail_mass`` is left."""
    x = 1e-6
    while tail(x) > tail_mass:
        x *= 1.01
    return float(x)


def _beyond(law: PrivacyLossLaw, low: float, high: float) -> tuple[float, float]:
    under0, under1 = law.continuous_masses(np.array([low, high]))
    return float(under0[0]), float(under1[0])


def _collapse(under0: Floats, under1: Floats, edges: Floats) -> tuple[Floats, Floats]:
    """Losses and P0-masses of the cells that have any."""
    full = (under0 > 0) & (under1 > 0)
    losses = np.log(under0[full]) - np.log(under1[full])
    return np.clip(losses, edges[:-1][full], edges[1:][full]), under0[full]


def _optimistic(
    law: PrivacyLossLaw, losses: Floats, masses: Floats, outer: list[tuple[float, float]]
) -> FiniteLaw:
    for under0, under1 in outer:
        if under0 > 0 and under1 > 0:
            losses = np.r_[losses, np.log(under0) - np.log(under1)]
            masses = np.r_[masses, under0]
    return _gather(losses, masses, law.infinite_mass, law.dual_infinite_mass)


def _pessimistic(
    law: PrivacyLossLaw,
    losses: Floats,
    masses: Floats,
    *,
    top: tuple[float, float],
    bottom: tuple[float, float],
    step: float,
    origin: float,
) -> FiniteLaw:
    index = np.floor((losses - origin) / step)
    rise = np.clip(losses - (origin + step * index), 0, step)
    upward = np.expm1(-rise) / np.expm1(-step)
    points = origin + step * np.r_[index, index + 1, 0.0]
    spread = np.r_[masses * (1 - upward), masses * upward, bottom[0]]
    revealed = max(bottom[1] - bottom[0] * float(np.exp(-origin)), 0.0) if bottom[0] > 0 else 0.0
    return _gather(
        points,
        spread,
        law.infinite_mass + top[0],
        law.dual_infinite_mass + top[1] + revealed,
    )


def _gather(losses: Floats, masses: Floats, infinite: float, dual: float) -> FiniteLaw:
    """Sort, merge equal losses, drop empty ones."""
    points, where = np.unique(losses[masses > 0], return_inverse=True)
    total = np.bincount(where, weights=masses[masses > 0], minlength=points.size)
    return FiniteLaw(points, np.log(total), infinite, dual)
