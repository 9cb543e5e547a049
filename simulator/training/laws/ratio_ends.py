"""The two ends, in convex order, of the likelihood ratio of one step.

With V = dP/dQ under Q, a cell [a, b) has Q's mass q and P's mass p, and p is the first moment of V
on it. Larger: q moves to a and b, the mean is kept. Smaller: q moves to the cell's mean p/q. The
tails beyond all cells are gathered, see :mod:`simulator.training.laws.convex_sums`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.theory.laws.base import Floats, PrivacyLossLaw
from simulator.theory.laws.quantile import loss_range
from simulator.theory.outward import UNIT
from simulator.training.laws.convex_sums import ConvexEnd, Resolution, Spacing, spacing_of
from simulator.training.laws.dyadic_runs import LatticeRun, Runs

_FIRST_CELLS, _HALVINGS = 2000, 20
_LARGEST_LOSS = 600.0
_ROOM = 1e-9
"""By which ranges are wider, relatively, so that atoms are inside."""
_UNDERFLOW = 1e-290
"""A mass below it has lost digits."""


def ratio_end(law: PrivacyLossLaw, resolution: Resolution, *, larger: bool) -> ConvexEnd:
    """The end of V = dP1/dP0 under P0, for the law of the loss ln dP0/dP1.

    Raises NotApplicable for a law without accurate cells, and for losses above 600.
    """
    if not (law.is_discrete or law.has_accurate_cells):
        raise NotApplicable("the masses of this law on cells are not known accurately")
    low, high = _reach(law, resolution.tail)
    if max(-low, high) > _LARGEST_LOSS:
        raise NotApplicable(
            f"a loss of {max(-low, high):.3g} in one step is too large to be allocated at random: "
            f"at most {_LARGEST_LOSS:g}"
        )
    cells = _first_cells(law, low, high)
    spacing = spacing_of(*cells.atoms(), resolution)
    inner = cells.edges[1:-1]
    before, behind = np.searchsorted(inner, spacing.low), np.searchsorted(inner, spacing.high)
    exponents, places = _dyadic_cells(spacing, cells.edges[before], cells.edges[behind + 1])
    starts = np.ldexp(places.astype(float), exponents)
    edges = np.append(starts, np.ldexp(float(places[-1] + 1), exponents[-1]))
    cells = _Cells.of(law, -np.log(edges)[::-1])
    build = _larger if larger else _smaller
    # Errors of masses and, by the error of the mean of a cell, of points.
    mass_error = cells.error + 2 * law.loss_error
    losses = 8 * UNIT * (1.0 + float(np.abs(np.log(edges)).max())) + 2 * law.loss_error
    return replace(
        build(cells, exponents, places, law),
        mass_error=mass_error,
        point_error=2 * mass_error + losses,
    )


def _reach(law: PrivacyLossLaw, tail: float) -> tuple[float, float]:
    """The losses beyond which there is at most ``tail`` of P0 and of P1."""
    exchanged = loss_range(law.reversed(), tail)
    direct = loss_range(law, tail)
    low, high = min(direct[0], -exchanged[1]), max(direct[1], -exchanged[0])
    room = _ROOM * (1.0 + abs(low) + abs(high))
    return low - room, high + room


class _Cells:
    """Masses (n,) of V under Q and P on the cells between ascending edges.

    ``outer`` are both masses outside of all cells, together.
    """

    def __init__(self, edges: Floats, under_q: Floats, under_p: Floats) -> None:
        self.edges = edges
        self.under_q, self.under_p = under_q[1:-1], under_p[1:-1]
        self.outer = float(under_q[0] + under_q[-1]), float(under_p[0] + under_p[-1])

    @classmethod
    def of(cls, law: PrivacyLossLaw, losses: Floats) -> _Cells:
        """The cells of V = exp(-loss) between ascending losses, atoms included."""
        bounds = np.r_[-np.inf, losses, np.inf]
        under_q, under_p = (each.copy() for each in law.continuous_masses(bounds))
        at = np.searchsorted(losses, law.atom_losses, side="left")
        logs = law.atom_log_masses
        np.add.at(under_q, at, np.exp(logs))
        np.add.at(under_p, at, np.exp(logs - law.atom_losses))
        return cls(np.exp(-losses[::-1]), under_q[::-1], under_p[::-1])

    def atoms(self) -> tuple[Floats, Floats]:
        """About where V is: the mean of each cell, and its mass under Q."""
        kept = (self.under_q > _UNDERFLOW) & (self.under_p > _UNDERFLOW)
        return (self.under_p / np.where(kept, self.under_q, 1.0))[kept], self.under_q[kept]

    @property
    def error(self) -> float:
        """Bound on the relative error of the masses: a few roundings of their exponents."""
        kept = (self.under_q > _UNDERFLOW) & (self.under_p > _UNDERFLOW)
        size = np.abs(np.log(self.under_q[kept])) + np.abs(np.log(self.under_p[kept]))
        return 4 * UNIT * (64 + 2 * float(size.max(initial=0.0)))


def _first_cells(law: PrivacyLossLaw, low: float, high: float) -> _Cells:
    """Cells of equal width, halved where they have much of Q's or P's mass."""
    losses = np.linspace(low, high, _FIRST_CELLS + 1)
    for _ in range(_HALVINGS):
        cells = _Cells.of(law, losses)
        heavy = np.maximum(cells.under_q, cells.under_p)[::-1] * _FIRST_CELLS > 1.0
        if not heavy.any():
            break
        losses = np.sort(np.r_[losses, (losses[:-1] + losses[1:])[heavy] / 2])
    return cells


def _dyadic_cells(spacing: Spacing, low: float, high: float) -> tuple[Floats, Floats]:
    """Exponents and places of cells [place, place + 1) 2^exponent that cover low to high.

    Each cell is at most as wide as ``spacing`` at its middle.
    """
    exponent = math.frexp(high)[1]
    places = np.zeros(1, dtype=np.int64)
    widths, found = [], []
    while places.size:
        starts = np.ldexp(places.astype(float), exponent)
        width = 2.0**exponent
        inside = (starts + width > low) & (starts <= high)
        places, starts = places[inside], starts[inside]
        wide = (spacing.at(starts + width / 2) < exponent) | (starts < low / 2)
        found.append(places[~wide])
        widths.append(np.full(found[-1].size, exponent))
        places = places[wide]
        places = np.sort(np.r_[2 * places, 2 * places + 1])
        exponent -= 1
    exponents, all_places = np.concatenate(widths), np.concatenate(found)
    order = np.argsort(np.ldexp(all_places.astype(float), exponents))
    return exponents[order], all_places[order]


def _smaller(cells: _Cells, exponents: Floats, places: Floats, law: PrivacyLossLaw) -> ConvexEnd:
    # A mass that underflows is left out, which lowers both divergences.
    kept = (cells.under_q > _UNDERFLOW) & (cells.under_p > _UNDERFLOW)
    starts, width = cells.edges[:-1], np.diff(cells.edges)
    moments = np.clip(cells.under_p - starts * cells.under_q, 0.0, width * cells.under_q)
    runs = Runs()
    for w in np.unique(exponents[kept]).tolist():
        here = kept & (exponents == w)
        first, index = _index(places[here])
        masses, about = np.zeros(index[-1] + 1), np.zeros(index[-1] + 1)
        masses[index], about[index] = cells.under_q[here], moments[here]
        runs.put(w, LatticeRun(first, masses, about))
    return ConvexEnd(runs, False, at_zero=law.infinite_mass, at_infinity=law.dual_infinite_mass)


def _larger(cells: _Cells, exponents: Floats, places: Floats, law: PrivacyLossLaw) -> ConvexEnd:
    kept = cells.under_q > _UNDERFLOW
    starts, width = cells.edges[:-1], np.diff(cells.edges)
    share = (cells.under_p - starts * cells.under_q) / width
    raised = np.clip(share, 0.0, cells.under_q)
    runs = Runs()
    for w in np.unique(exponents[kept]).tolist():
        here = kept & (exponents == w)
        first, index = _index(places[here])
        masses = np.zeros(index[-1] + 2)
        masses[index] += (cells.under_q - raised)[here]
        masses[index + 1] += raised[here]
        runs.put(w, LatticeRun(first, masses))
    lost = ~kept
    return ConvexEnd(
        runs,
        True,
        at_zero=law.infinite_mass,
        gathered=float(cells.under_q[lost].sum()) + cells.outer[0],
        at_infinity=law.dual_infinite_mass + float(cells.under_p[lost].sum()) + cells.outer[1],
    )


def _index(places: Floats) -> tuple[int, Floats]:
    first = int(places[0])
    return first, (places - first).astype(np.int64)
