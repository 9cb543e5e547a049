"""Two laws on one grid of losses whose deltas enclose that of any law.

As a function of y = exp(E), delta is convex, and on a grid of losses it is piecewise linear with
kinks at the grid's y. UPPER: the chords of the law's own curve; each cell's mass goes to its two
ends, keeping its masses under P0 and P1 (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022, seen
from its atoms). LOWER: chords between points that are lowered, so that each chord is below the
curve: by the most that the cell's chord rises above the curve, at both ends; or at one end alone,
down to the curve's tangent at the other, where the cell beside that one has far less mass, as at
the ends of the law. Both laws differ from the truth in second order of the step. A curve that is
lower for one round is lower for any composition, since delta of the composition is the mean of
delta(y x) over the other rounds' ratios x.

The losses are an offset of the law and whole multiples of a step: of laws with atoms, so that these
lie on the grid, where they cost nothing. Cells are several steps wide where a law has little mass.
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
"""Of two neighbouring cells that differ by more, the smaller cannot bear the larger one's depth."""
_CELLS = 1 << 14
"""A cell is halved while it adds more than this share to the error of cells of one step."""
_OVERFLOWS = 700.0
"""Cells wider than this have no second order: e^width is beyond the largest double."""
_COARSEST, _WIDEST = 256, 0.5
"""Cells to start from, at least, and their largest width."""


Points = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GridLaw:
    """P0-masses (n,) at losses offset + step * points, and the mass at infinity.

    ``points`` (n,) are ascending whole numbers; ``error`` (n,) bounds the rounding of each mass;
    ``slack`` how far losses are off, in nats.
    """

    step: float
    points: Points
    _: KW_ONLY
    masses: Floats
    error: Floats
    slack: float
    infinite_mass: float
    offset: float = 0.0

    @property
    def losses(self) -> Floats:
        """All losses, shape (n,)."""
        return losses_at(self.points, self.step, self.offset)


def losses_at(points: Points, step: float, offset: float) -> Floats:
    """The losses offset + step * points."""
    return np.asarray(offset + step * points, dtype=np.float64)


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
    law: PrivacyLossLaw,
    step: float,
    reach: tuple[float, float],
    theta: float = 0.0,
    offset: float | None = None,
    *,
    start: Points | None = None,
) -> tuple[GridLaw, GridLaw]:
    """The lower and the upper law on the multiples of ``step``, moved by ``offset``.

    By default that is :func:`fitted_offset`.

    ``reach`` is the range of losses that is cut into cells: the upper law puts what is above at
    infinity and what is below at its bottom, the lower law drops both. Cells are fine where the law
    has its mass, and where it has once it is tilted by ``theta`` >= 0. The points of a similar law
    to ``start`` from save time.
    """
    offset = fitted_offset(law, step) if offset is None else offset
    points = _chosen_points(law, step, reach, theta=theta, offset=offset, start=start)
    edges = losses_at(points, step, offset)
    width: Floats = step * np.diff(points)
    under0, under1 = law.continuous_masses(edges)
    usable = (under0 > _LEAST_MASS) & (under1 > _LEAST_MASS)
    rise, size = width.copy(), np.zeros(under0.size)
    logs0, logs1 = np.log(under0[usable]), np.log(under1[usable])
    rise[usable] = np.clip(logs0 - logs1 - edges[:-1][usable], 0.0, width[usable])
    size[usable] = 64 + 2 * np.abs(logs0) + 2 * np.abs(logs1)
    whole = np.where(usable, under0, 0.0)
    upward = np.expm1(-rise) / np.expm1(-width)
    upper = _spread(under0, upward)
    lower = _lower_masses(whole, rise, width)
    # Each mass is a few operations on its two cells, whose masses are off by their exponents.
    error = 4 * UNIT * (_spread(whole * size, 1.0) + _spread(whole * size, 0.0))
    slack = 4 * UNIT * (64 + float(size.max()) + 4 * float(np.abs(edges).max()))
    slack += law.loss_error + law.shift_error
    error += 2 * law.loss_error * (_spread(whole, 1.0) + _spread(whole, 0.0))
    for loss, log_mass in zip(law.atom_losses, law.atom_log_masses):
        cell, share = _place(float(loss), edges)
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
            points,
            masses=lower,
            error=error,
            slack=slack,
            infinite_mass=law.infinite_mass * (1 - 1e-14),
            offset=offset,
        ),
        GridLaw(
            step,
            points,
            masses=upper,
            error=error,
            slack=slack,
            infinite_mass=law.infinite_mass * (1 + 1e-14) + above * (1 + 1e-12),
            offset=offset,
        ),
    )


def _chosen_points(
    law: PrivacyLossLaw,
    step: float,
    reach: tuple[float, float],
    *,
    theta: float,
    offset: float,
    start: Points | None,
) -> Points:
    """The ends of the cells, in steps: halved until each has a small share of the error.

    A cell's share is its mass, under the law and under the law tilted by ``theta``, times its
    squared width.
    """
    first = math.floor((reach[0] - offset) / step)
    last = max(math.ceil((reach[1] - offset) / step), first + 1)
    apart = max(min((last - first) // _COARSEST, math.floor(_WIDEST / step)), 1)
    atoms = np.rint((law.atom_losses - offset) / step)
    cells = np.arange(first, last, apart) if start is None else np.append(start, first)
    wanted = np.r_[cells, last, atoms - 1, atoms, atoms + 1]
    points = np.unique(np.clip(wanted, first, last)).astype(np.int64)
    while True:
        edges = losses_at(points, step, offset)
        width = np.diff(points)
        masses = law.continuous_masses(edges)[0]
        exponents = theta * edges[1:] + np.log(np.maximum(masses, _LEAST_MASS))
        tilted = np.exp(exponents - exponents.max())
        share = np.maximum(masses, tilted / tilted.sum()) * width.astype(float) ** 2
        coarse = (share * _CELLS > 1.0) & (width > 1)
        if not coarse.any():
            return points
        points = np.sort(np.r_[points, points[:-1][coarse] + width[coarse] // 2])


def _place(loss: float, edges: Floats) -> tuple[int, float]:
    """The cell of an atom, and the share of it that goes to the cell's upper end."""
    close = _CLOSE * UNIT * (4 + abs(loss))
    cell = int(np.searchsorted(edges, loss + close, side="right")) - 1
    cell = min(max(cell, 0), edges.size - 2)
    width = float(edges[cell + 1] - edges[cell])
    height = max(loss - float(edges[cell]), 0.0)
    if min(height, width - height) <= close:
        return cell, float(round(height / width))
    return cell, math.expm1(-height) / math.expm1(-width)


def _spread(masses: Floats, upward: Floats | float) -> Floats:
    """Each cell's mass at its two ends, the share ``upward`` at the upper one."""
    points = np.zeros(masses.size + 1)
    points[:-1] += masses * (1 - upward)
    points[1:] += masses * upward
    return points


def _lower_masses(masses: Floats, rise: Floats, width: Floats) -> Floats:
    """The lower law's masses at the ends of the cells.

    ``rise`` is how far a cell's ln(P0/P1) is above its lower end, in [0, width].
    """
    first_order = _spread(masses, np.zeros(masses.size))  # certain
    if width.max() > _OVERFLOWS:
        return first_order
    less_before = _ROUGH * np.r_[0.0, masses[:-1]] < masses
    less_after = _ROUGH * np.r_[masses[1:], 0.0] < masses
    less_before[-1] = False  # nothing is above the last cell: it is lowered at its lower end
    lump = less_before & less_after | (masses.size == 1)  # goes to its lower end whole
    less_before &= ~lump
    upward = np.where(lump, 0.0, np.expm1(-rise) / np.expm1(-width))
    dips = masses * upward * -np.expm1(rise - width)
    below = np.where(less_after, -masses * np.expm1(-rise), dips)
    above = np.where(less_before, masses * np.expm1(width - rise), dips)
    below[less_before | lump] = above[less_after & ~less_before] = above[lump] = 0.0
    depth = np.maximum(np.r_[0.0, above], np.r_[below, 0.0])
    _fit_ends(depth, masses, rise, width)
    lowered = _lowered(_spread(masses, upward), depth, width)
    return first_order if lowered is None else lowered


def _fit_ends(depth: Floats, masses: Floats, rise: Floats, width: Floats) -> None:
    """Change the depths near both ends, in place, so that the lowered curve is convex there.

    Outside of the first and the last point the curve is a line, and no point may be lowered beyond
    that. Where a cell's chord needs more, the cell's other end is lowered further.
    """
    drop, climb = -np.expm1(-rise), np.expm1(width - rise)
    # M1 has the P1-masses of the cells that were passed, times e^loss of the point.
    allowed = M1 = 0.0
    for cell in range(masses.size):
        if 0 < allowed >= depth[cell]:
            break
        depth[cell] = min(depth[cell], allowed)
        allowed += M1 * math.expm1(width[cell]) + masses[cell] * climb[cell]
        M1 = (M1 + masses[cell] * (1 - drop[cell])) * math.exp(width[cell])
        if drop[cell] > 0.0:
            needed = climb[cell] * (masses[cell] - depth[cell] / drop[cell])
            depth[cell + 1] = max(depth[cell + 1], needed)
    allowed = M1 = 0.0
    for cell in range(masses.size - 1, -1, -1):
        if 0 < allowed >= depth[cell + 1]:
            break
        depth[cell + 1] = min(depth[cell + 1], allowed)
        allowed += -M1 * math.expm1(-width[cell]) + masses[cell] * drop[cell]
        M1 = M1 * math.exp(-width[cell]) + masses[cell] * (1 - drop[cell])
        if climb[cell] > 0.0:
            needed = drop[cell] * (masses[cell] - depth[cell + 1] / climb[cell])
            depth[cell] = max(depth[cell], needed)


def _lowered(masses: Floats, depth: Floats, width: Floats) -> Floats | None:
    """The masses of the curve lowered by ``depth`` at each point.

    A point of negative mass is where that is not convex. It is taken out: its mass goes to the
    points left beside it, keeping the masses under P0 and P1, which lowers the curve further. None
    where the topmost point would have to go.
    """
    change = np.diff(depth)
    lowered = masses.copy()
    lowered[:-1] -= change / np.expm1(width)
    lowered[1:] -= change / np.expm1(-width)
    if abs(lowered[-1]) < 16 * UNIT * masses[-1]:  # nothing but rounding
        lowered[-1] = 0.0
    losses = np.r_[0.0, np.cumsum(width)]
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
        rise = math.expm1(min(losses[point] - losses[left], 700.0)) if left >= 0 else 0.0
        share = rise / (rise - math.expm1(losses[point] - losses[right])) if left >= 0 else 1.0
        mass, lowered[point] = float(lowered[point]), 0.0
        for where, part in ((left, 1 - share), (right, share)):
            if where >= 0:
                lowered[where] += part * mass
                wrong.append(where)
        above[left], below[right] = right, left
    return lowered
