"""Lines whose deltas enclose that of any laws, smoothed by a Gaussian of second order.

A law with an exact transform, or with finitely many losses, is on both lines; any other is replaced
by the atoms of :func:`simulator.theory.laws.line_nodes.enclosing_atoms`, which are on no grid, so
that neither the scale of a law nor a steep edge costs anything. The composition is a sum of the
terms of :mod:`simulator.theory.pld.jump_terms`; what is in none of them is put at infinity on the
upper line, and dropped on the lower one.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.line_nodes import Atoms, enclosing_atoms
from simulator.theory.laws.sampled_transform import SampledTransform
from simulator.theory.pld.few_points import CLOSED, Range
from simulator.theory.pld.jump_terms import JumpTerm, Plan
from simulator.theory.pld.node_line import ClosedTransform, LineTransform, NodeLine, make_tail
from simulator.theory.pld.smoothed_tail import (
    SmoothedTail,
    choose_window,
    log_chernoff_constant,
    points_needed,
)
from simulator.theory.pld.tail import SlopedBracket

_CUTOFF = 8.8
_SHARE = 1e-3
"""Share of the tolerance for what is folded in, and for a term that is bounded only."""
_FIRST_CELLS, _MOST_CELLS = 256, 1 << 15
_CELLS_SHARE = 0.2
"""Share of the tolerance that the cells may have."""
_MOST_POINTS, _WORK = 1 << 18, 1 << 21
"""Most points of a line, and most of a line times its laws."""
_MOST_ATOMS = 1 << 13
"""Most losses of a finite law that is not gathered in cells."""
_CLOSE = 1e-2
"""Most weight of a law's tails, in all rounds, for its exact transform to be used."""


@dataclass(frozen=True)
class BoundedTail:
    """A term by Chernoff's bound: at most exp(log_bound - theta epsilon)."""

    theta: float
    log_bound: float

    def at(self, epsilon: float) -> SlopedBracket:
        """The bracket of its delta, from 0 on."""
        exponent = self.log_bound - self.theta * epsilon
        return SlopedBracket(0.0, math.exp(min(exponent + 1e-12 * (1 + abs(exponent)), 0.0)))


@dataclass(frozen=True)
class SummedTail:
    """Terms with their factors, and the mass at infinity; ``slack`` bounds the errors of losses.

    One end of delta: from below, or ``is_upper``. The other end of a bracket is 1 or 0.
    """

    terms: tuple[tuple[SmoothedTail | BoundedTail, int], ...]
    lost: float
    slack: float
    size: int
    reach: float
    _: KW_ONLY
    is_upper: bool

    def at(self, epsilon: float) -> SlopedBracket:
        """Bracket of the delta of all, of which one end is sought."""
        moved = epsilon - self.slack if self.is_upper else epsilon + self.slack
        found = [(tail.at(moved), times) for tail, times in self.terms]
        slope = math.fsum(times * one.slope for one, times in found)
        if self.is_upper:
            high = math.fsum(times * one.upper for one, times in found) * (1 + 1e-14)
            high += self.lost * (1 + 1e-14)
            return SlopedBracket(0.0, min(high, 1.0), slope=slope)
        low = math.fsum(times * one.lower for one, times in found) * (1 - 1e-14)
        low += self.lost * (1 - 1e-14)
        return SlopedBracket(min(max(low, 0.0), 1.0), 1.0, slope=slope)


def bounded_tails(plan: Plan, epsilon: float) -> SummedTail:
    """The tail above delta by Chernoff's bound, without an integral, for use near ``epsilon``."""
    made = []
    for term in plan.terms:
        theta = term.saddles(epsilon).theta_at(epsilon)
        made.append((_bounded(term, theta, omega=0.0), term.times))
    return SummedTail(tuple(made), plan.lost[1], plan.slack, 0, 1.0, is_upper=True)


def _bounded(term: JumpTerm, theta: float, omega: float) -> BoundedTail:
    high = _line(term, theta, (theta, theta), omega, _FIRST_CELLS)[1]
    return BoundedTail(theta, math.fsum(high.log_scale) + log_chernoff_constant(theta))


def enclosing_tails(
    plan: Plan,
    epsilon: float,
    log_value: float,
    tolerance: float,
    *,
    only_above: bool = False,
) -> tuple[SummedTail, SummedTail] | None:
    """The tails below and above delta near ``epsilon``, of about that relative width.

    ``log_value`` is about ln delta. None where that would be too much work. With ``only_above``
    the first one is not certain.
    """
    made: list[tuple[SmoothedTail | BoundedTail, SmoothedTail | BoundedTail, int]] = []
    for term in plan.terms:
        log_term = log_value - math.log(term.times)
        found = _term_tails(term, epsilon, log_term, tolerance, only_above=only_above)
        if found is None:
            return None
        made.append((*found, term.times))
    size = sum(one.size for one, _, _ in made if isinstance(one, SmoothedTail))
    reach = min((one.reach for one, _, _ in made if isinstance(one, SmoothedTail)), default=1.0)
    lows = tuple((one, times) for one, _, times in made)
    highs = tuple((one, times) for _, one, times in made)
    return (
        SummedTail(lows, plan.lost[0], plan.slack, size, reach, is_upper=False),
        SummedTail(highs, plan.lost[1], plan.slack, size, reach, is_upper=True),
    )


def _term_tails(
    term: JumpTerm, epsilon: float, log_value: float, tolerance: float, *, only_above: bool
) -> tuple[SmoothedTail | BoundedTail, SmoothedTail | BoundedTail] | None:
    saddles = term.saddles(epsilon)
    theta = saddles.theta_at(epsilon)
    log_small = log_value + math.log(_SHARE * tolerance)
    gain = min(1 / (theta * (1 + theta)), max(saddles.spread_at(epsilon), 1e-300))
    # In a term that is a small share of the whole, a larger relative error is as good.
    share = tolerance * math.exp(min(max(log_value - saddles.log_value_at(epsilon), 0.0), 20.0))
    smoothing = min(math.sqrt(0.5 * min(share, 1.0) * gain), 0.5 / (1 + theta))
    omega = _CUTOFF / smoothing
    if not term.is_whole:  # else it is the answer
        tail = _bounded(term, theta, omega)
        if tail.log_bound - theta * epsilon < log_small:
            return tail, tail
    window = choose_window(
        term.few, epsilon, theta, smoothing, log_value, folded=_SHARE * tolerance
    )
    tilts = theta, max(theta, window.theta_above)
    cells = _FIRST_CELLS
    while True:
        low, high = _line(term, theta, tilts, omega, cells)
        same = all(one is other for (one, _), (other, _) in zip(low.items, high.items))
        gap = 0.0 if same else high.log_scale[0] - low.log_scale[0]
        excess = gap / (_CELLS_SHARE * share)
        if excess <= 1.0 or cells >= _MOST_CELLS:
            break
        cells = min(int(cells * min(max(1.1 * math.sqrt(excess), 1.25), 16.0)), _MOST_CELLS)
    made = []
    for line in (high,) if same or only_above else (low, high):
        folding = line.folding(window, epsilon, log_small, smoothing)
        points = points_needed(folding.period, omega)
        if points > _MOST_POINTS or points * len(line.items) > _WORK:
            return None
        made.append(make_tail(line, epsilon, folding, points=points, smoothing=smoothing))
    return made[0], made[-1]


def _line(
    term: JumpTerm, theta: float, tilts: Range, omega: float, cells: int
) -> tuple[NodeLine, NodeLine]:
    """The lower and the upper line of a term."""
    pairs = [
        (_enclosing(law, n, inside, tilts=tilts, omega=omega, cells=cells, exact=term.is_whole), n)
        for law, n, inside in term.rounds
    ]
    low, high = (NodeLine(tuple((pair[i], n) for pair, n in pairs), theta) for i in (0, 1))
    return low, high


def _enclosing(
    law: PrivacyLossLaw,
    count: int,
    inside: Range,
    *,
    tilts: Range,
    omega: float,
    cells: int,
    exact: bool,
) -> tuple[LineTransform, LineTransform]:
    """Transforms of a lower and of an upper law of the losses inside."""
    if isinstance(law, CLOSED):
        closed = ClosedTransform(law)
        return closed, closed
    if law.is_discrete and law.atom_losses.size <= _MOST_ATOMS:
        atoms = Atoms.of(law, inside)
        return atoms, atoms
    sampled = SampledTransform.of(law) if exact else None
    if sampled is not None and _serves(sampled, count, inside, tilts, omega):
        return sampled, sampled
    return enclosing_atoms(law, inside, tilts[0], cells)


def _serves(one: SampledTransform, count: int, inside: Range, tilts: Range, omega: float) -> bool:
    """Whether few nodes are enough, and the losses outside have little of their weight."""
    if not one.can_be_tilted(tilts[1]) or one.nodes_needed(tilts[0], omega) > _MOST_ATOMS:
        return False
    for theta in tilts:
        nodes = one.nodes(theta)
        outside = (nodes.losses > inside[1]) | (nodes.losses < inside[0])
        if count * float(nodes.weights[outside].sum()) > _CLOSE:
            return False
    return True
