"""Two laws on one grid of losses whose deltas enclose that of any law.

As a function of y = exp(E), delta is convex, and on a grid of losses it is piecewise linear with
kinks at the grid's y. UPPER: the chords of the law's own curve; each cell's mass goes to its two
ends, keeping its masses under P0 and P1 (Doroshenko, Ghazi,
Kamath, Kumar and Manurangsi 2022, seen from its atoms). LOWER: the
same chords, lowered at every grid point by the most that they rise above the curve in either cell
beside it; each chord is then below the curve, and both laws differ from the truth in second order
of the step. A curve that is lower for one round is lower for any composition, since
delta of the composition is the mean of delta(y x) over the other rounds' ratios x.

The losses are an offset of the law and whole multiples of a step: of laws with atoms, so that these
lie on the grid, where they cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.theory.lattice import common_step
from simulator.theory.laws.base import Floats, PrivacyLossLaw
from simulator.theory.outward import UNIT

_STEP_BITS = 20
_CLOSE = 16
"""An atom within this many roundings of a grid point is on it; the slack covers many times that."""
_LEAST_MASS = 1e-290
"""A mass below it has lost digits."""
_ROUGH = 2.5
"""Where neighbouring cells' masses are further apart, cells are rounded down whole: a lowered curve
would not be convex there. So are those beside them, and the ends."""
_BESIDE = 2


@dataclass(frozen=True, eq=False)
class GridLaw:
    """P0-masses (n,) at losses offset + step * (first + j), and the mass at infinity.

    ``error`` (n,) bounds the rounding of each mass; ``slack`` how far losses are off, in nats.
    """

    step: float
    first: int
    _: KW_ONLY
    masses: Floats
    error: Floats
    slack: float
    infinite_mass: float
    offset: float = 0.0

    @property
    def losses(self) -> Floats:
        """All losses, shape (n,)."""
        return self.offset + grid(self.step, self.first, self.masses.size)


def grid(step: float, first: int, size: int) -> Floats:
    """The losses step * first, step * (first + 1), ..., of that many."""
    return np.asarray(step * np.arange(first, first + size), dtype=np.float64)


def fitted_step(laws: Sequence[PrivacyLossLaw], step: float) -> float:
    """A step of at most ``step`` that divides the distances between atoms of one law.

    The law is that with the heaviest atoms: all its distances if they have a common step, otherwise
    that of its two heaviest. Without atoms the step has 20 binary digits, see :func:`round_step`.
    """
    several = [law for law in laws if law.atom_losses.size > 1]
    if not several:
        return round_step(step)
    law = max(several, key=lambda one: float(np.exp(one.atom_log_masses).sum()))
    ascending = law.atom_losses - law.atom_losses[0]
    apart = common_step(ascending)
    if apart is None or apart < step:
        one, other = law.atom_losses[np.argsort(law.atom_log_masses)[-2:]]
        apart = abs(float(other - one))
    if apart < step:
        return round_step(step)
    return apart / math.ceil(apart / step)


def fitted_offset(law: PrivacyLossLaw, step: float) -> float:
    """The offset, at most half a step, that puts the heaviest atom on the grid."""
    if law.atom_losses.size == 0:
        return 0.0
    heaviest = float(law.atom_losses[np.argmax(law.atom_log_masses)])
    return heaviest - step * round(heaviest / step)


def round_step(step: float) -> float:
    """The greatest step of 20 binary digits that is at most ``step``."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(math.ldexp(mantissa, _STEP_BITS)), exponent - _STEP_BITS)


def enclosing_grid_laws(
    law: PrivacyLossLaw, step: float, reach: tuple[float, float], offset: float | None = None
) -> tuple[GridLaw, GridLaw]:
    """The lower and the upper law on the multiples of ``step``, moved by ``offset``.

    By default that is :func:`fitted_offset`.

    ``reach`` is the range of losses that is cut into cells: the upper law puts what is above at
    infinity and what is below at its bottom, the lower law drops both.
    """
    offset = fitted_offset(law, step) if offset is None else offset
    first = math.floor((reach[0] - offset) / step)
    last = max(math.ceil((reach[1] - offset) / step), first + 1)
    edges = offset + grid(step, first, last + 1 - first)
    under0, under1 = law.continuous_masses(edges)
    usable = (under0 > _LEAST_MASS) & (under1 > _LEAST_MASS)
    rise, size = np.full(under0.size, step), np.zeros(under0.size)
    logs0, logs1 = np.log(under0[usable]), np.log(under1[usable])
    rise[usable] = np.clip(logs0 - logs1 - edges[:-1][usable], 0.0, step)
    size[usable] = 64 + 2 * np.abs(logs0) + 2 * np.abs(logs1)
    whole = np.where(usable, under0, 0.0)
    upward = np.expm1(-rise) / np.expm1(-step)
    upper = _spread(under0, upward)
    floored = _rough(whole)
    part = np.where(floored, 0.0, upward)
    dips = np.where(floored, 0.0, whole * upward * -np.expm1(rise - step))
    lower = _lowered(_spread(whole, part), dips, step)
    if lower is None:  # first order, but certain
        lower = _spread(whole, np.zeros(part.size))
    # Each mass is a few operations on its two cells, whose masses are off by their exponents.
    error = 4 * UNIT * (_spread(whole * size, 1.0) + _spread(whole * size, 0.0))
    slack = 4 * UNIT * (64 + float(size.max()) + 4 * float(np.abs(edges).max()))
    slack += law.loss_error
    error += 2 * law.loss_error * (_spread(whole, 1.0) + _spread(whole, 0.0))
    for loss, log_mass in zip(law.atom_losses, law.atom_log_masses):
        cell, share = _place(float(loss), edges, step)
        mass = float(np.exp(log_mass))
        upper[cell] += mass * (1 - share)
        upper[cell + 1] += mass * share
        lower[cell + (share >= 1.0)] += mass
        size = 4 * UNIT * (8 + abs(log_mass)) + 2 * law.loss_error
        error[cell : cell + 2] += size * mass
    ends = np.array([-np.inf, edges[0]]), np.array([edges[-1], np.inf])
    below, above = (float(law.continuous_masses(end)[0][0]) for end in ends)
    upper[0] += below
    error[0] += 1e-12 * below
    return (
        GridLaw(
            step,
            first,
            masses=lower,
            error=error,
            slack=slack,
            infinite_mass=law.infinite_mass * (1 - 1e-14),
            offset=offset,
        ),
        GridLaw(
            step,
            first,
            masses=upper,
            error=error,
            slack=slack,
            infinite_mass=law.infinite_mass * (1 + 1e-14) + above * (1 + 1e-12),
            offset=offset,
        ),
    )


def _place(loss: float, edges: Floats, step: float) -> tuple[int, float]:
    """The cell of an atom, and the share of it that goes to the cell's upper end."""
    close = _CLOSE * UNIT * (4 + abs(loss))
    cell = int(np.searchsorted(edges, loss + close, side="right")) - 1
    cell = min(max(cell, 0), edges.size - 2)
    height = max(loss - float(edges[cell]), 0.0)
    if min(height, step - height) <= close:
        return cell, float(round(height / step))
    return cell, math.expm1(-height) / math.expm1(-step)


def _spread(masses: Floats, upward: Floats | float) -> Floats:
    """Each cell's mass at its two ends, the share ``upward`` at the upper one."""
    points = np.zeros(masses.size + 1)
    points[:-1] += masses * (1 - upward)
    points[1:] += masses * upward
    return points


def _rough(masses: Floats) -> NDArray[np.bool_]:
    """The cells at the ends, and where masses rise or fall too steeply."""
    steep = np.ones(masses.size + 1, dtype=bool)
    steep[1:-1] = (masses[1:] > _ROUGH * masses[:-1]) | (masses[:-1] > _ROUGH * masses[1:])
    steep[1:-1] |= (masses[1:] == 0.0) | (masses[:-1] == 0.0)
    beside = steep.copy()
    for apart in range(1, _BESIDE + 1):
        beside[apart:] |= steep[:-apart]
        beside[:-apart] |= steep[apart:]
    return np.asarray(beside[:-1] | beside[1:])


def _lowered(masses: Floats, dips: Floats, step: float) -> Floats | None:
    """The masses of the curve lowered at each point by the larger dip of the cells beside it.

    Where the lowered curve is not convex, a point has negative mass. That point is removed: its
    mass goes to the remaining points beside it, keeping the masses under P0 and P1, which lowers
    the curve further. None where the topmost point would be removed, or the step exceeds 1.
    """
    if step > 1.0:
        return None
    depth = np.r_[0.0, np.maximum(dips[:-1], dips[1:]), 0.0]
    change = np.diff(depth)
    lowered = masses.copy()
    lowered[:-1] -= change / math.expm1(step)
    lowered[1:] -= change / math.expm1(-step)
    wrong = np.flatnonzero(lowered < 0.0).tolist()
    below: dict[int, int] = {}
    above: dict[int, int] = {}
    while wrong:
        point = wrong.pop()
        if not lowered[point] < 0.0:
            continue
        left, right = below.get(point, point - 1), above.get(point, point + 1)
        if right == masses.size:
            return None
        rise = math.expm1(step * (point - left))
        share = rise / (rise - math.expm1(step * (point - right))) if left >= 0 else 1.0
        mass, lowered[point] = float(lowered[point]), 0.0
        for where, part in ((left, 1 - share), (right, share)):
            if where >= 0:
                lowered[where] += part * mass
                wrong.append(where)
        above[left], below[right] = right, left
    return lowered
