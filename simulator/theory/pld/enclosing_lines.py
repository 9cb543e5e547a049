"""Lines whose deltas enclose that of any laws, smoothed by a Gaussian of second order.

A law with an exact transform, or with finitely many losses, is on both lines; any other is replaced
by the atoms of :func:`simulator.theory.laws.line_nodes.enclosing_atoms`, which are on no grid, so
that neither the scale of a law nor a steep edge costs anything. Losses so large that their mass is
a small share of the answer are put at infinity on the upper line and dropped on the lower one: a
tilt that serves the answer would give them most of the weight.

*Jumps.* Where one large loss makes the answer, as of rare samples, no tilt serves both that loss
and the many small ones. The composition is then a sum: of the rounds' losses none is above a cut,
or one is, in one of several ranges. Each term has its own line. Two such losses have a small share
of the answer: they are put at infinity, and dropped below.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.roots import crossing
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.line_nodes import Atoms, enclosing_atoms
from simulator.theory.laws.quantile import loss_range
from simulator.theory.laws.sampled_transform import SampledTransform
from simulator.theory.outward import above, below
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.few_points import CLOSED, Range, points_within
from simulator.theory.pld.node_line import ClosedTransform, LineTransform, NodeLine, make_tail
from simulator.theory.pld.saddle_points import Saddles
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
_TAIL_SHARE, _LEAST_TAIL = 0.05, 1e-290
"""Share of the tolerance for losses put at infinity, and their least mass."""
_RANGES = 3
"""Ranges of a jump."""
_COARSE_THETAS, _MOST_ITEMS = np.logspace(-9, 18, 163), 61
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
class JumpTerm:
    """Rounds of laws restricted to losses in (low, high]; the whole counts ``times`` over."""

    rounds: tuple[tuple[PrivacyLossLaw, int, Range], ...]
    times: int = 1
    is_whole: bool = False  # whether nothing but tails is left out

    @cached_property
    def few(self) -> CountedLaws:
        """The same by few points, for estimates."""
        return CountedLaws(
            tuple(
                (points_within(law, inside, self.is_whole), n)
                for law, n, inside in _some(self.rounds)
            )
        )

    @cached_property
    def _coarse(self) -> Saddles:
        return Saddles.of(self.few, thetas=_COARSE_THETAS)

    def log_value_at(self, epsilon: float) -> float:
        """A rough estimate of ln delta."""
        return self._coarse.log_value_at(epsilon) + math.log(self.times)

    def saddles(self, epsilon: float) -> Saddles:
        """A table that is fine around this epsilon."""
        if epsilon not in self._tables:
            self._tables.clear()
            self._tables[epsilon] = self._coarse.finer(self.few, epsilon)
        return self._tables[epsilon]

    @cached_property
    def _tables(self) -> dict[float, Saddles]:
        """The last one."""
        return {}


def _some(
    rounds: tuple[tuple[PrivacyLossLaw, int, Range], ...],
) -> list[tuple[PrivacyLossLaw, int, Range]]:
    """Of each run of similar laws the middle, with all rounds; neighbours are similar."""
    if len(rounds) <= _MOST_ITEMS:
        return list(rounds)
    ends = np.linspace(0, len(rounds), _MOST_ITEMS).astype(int).tolist()
    runs = [rounds[a:b] for a, b in itertools.pairwise(ends)]
    middles = [(run[len(run) // 2], sum(count for _, count, _ in run)) for run in runs]
    return [(law, count, inside) for (law, _, inside), count in middles]


@dataclass(frozen=True)
class Plan:
    """The terms for answers near one delta, and bounds on the mass that is in none.

    ``lost`` is from below and from above, with the infinite losses; ``slack`` bounds the rounding
    of the total loss.
    """

    terms: tuple[JumpTerm, ...]
    lost: tuple[float, float]
    slack: float

    @classmethod
    def of(
        cls, parts: CountedLaws, log_delta: float, tolerance: float, *, jumps: bool = False
    ) -> Plan:
        """For a relative width ``tolerance`` of delta; with terms for ``jumps``."""
        share = max(_TAIL_SHARE * tolerance * math.exp(max(log_delta, -650.0)), _LEAST_TAIL)
        each = share / parts.rounds
        wholes = [(law, n, _reach(law, each)) for law, n in parts.items]
        low = _any_of([(law.infinite_mass * (1 - 1e-14), n) for law, n, _ in wholes])
        high = _any_of([
            (law.infinite_mass * (1 + 1e-14) + _mass_outside(law, inside), n)
            for law, n, inside in wholes
        ])  # fmt: skip
        slack = math.fsum(n * (law.loss_error + law.shift_error) for law, n in parts.items)
        if not jumps:
            return cls((JumpTerm(tuple(wholes), is_whole=True),), (low, high), slack)
        terms, twice = _with_jumps(wholes, math.sqrt(share) / parts.rounds, each)
        return cls(terms, (low, high + twice), slack)

    def log_value_at(self, epsilon: float) -> float:
        """A rough estimate of ln delta."""
        return float(np.logaddexp.reduce([term.log_value_at(epsilon) for term in self.terms]))

    def decay_at(self, epsilon: float) -> tuple[float, float]:
        """The decay rate of delta, and the spread of the tilted loss, of the first term."""
        saddles = self.terms[0].saddles(epsilon)
        return saddles.theta_at(epsilon), saddles.spread_at(epsilon)

    def epsilon_at(self, log_delta: float, top: float) -> float:
        """About where delta is exp(log_delta)."""
        ends = [float(end) for term in self.terms for end in term._coarse.epsilon[[0, -1]]]
        low, high = max(min(ends), 0.0), min(max(ends), top)
        if not low < high or self.log_value_at(low) <= log_delta:
            return low
        if self.log_value_at(high) >= log_delta:
            return high
        if len(self.terms) == 1:
            return min(max(self.terms[0]._coarse.epsilon_at(log_delta), low), high)
        return crossing(lambda e: self.log_value_at(e) - log_delta, low, high, rtol=1e-6)


def _reach(law: PrivacyLossLaw, tail_mass: float) -> Range:
    """The losses with at most that mass on either side, both ends included."""
    if isinstance(law, CLOSED):
        return -math.inf, math.inf
    low, high = loss_range(law, tail_mass, inside=True)
    return below(low), above(high)


def _with_jumps(
    wholes: Sequence[tuple[PrivacyLossLaw, int, Range]], cut_mass: float, least: float
) -> tuple[tuple[JumpTerm, ...], float]:
    """The terms of no jump and of one, and a bound on the mass of two.

    A jump is a loss above a law's cut, beyond which it has ``cut_mass``. A range without mass, as
    between two atoms, has no term.
    """
    masses = np.geomspace(cut_mass, least, _RANGES + 1)[:-1]
    bulk, jumps, total, rest = [], [], 0.0, 0.0
    for law, n, (low, high) in wholes:
        cuts = [high]
        if not isinstance(law, CLOSED):
            cuts = [loss_range(law, float(mass), inside=True)[1] for mass in masses]
            cuts = [max(min(cut, high), low) for cut in cuts]
        bulk.append((law, n, (low, cuts[0])))
        ranges = [pair for pair in itertools.pairwise((*cuts, high)) if pair[0] < pair[1]]
        jumps.append([each for each in ranges if _mass_inside(law, each) > _LEAST_TAIL])
        rest += n * len(ranges) * _LEAST_TAIL
        total += n * _mass_outside(law, (low, cuts[0]))
    terms = [JumpTerm(tuple(bulk))]
    for place, (law, n, _) in enumerate(wholes):
        for inside in jumps[place]:
            others = bulk.copy()
            others[place] = (law, n - 1, others[place][2])
            rounds = (*(each for each in others if each[1]), (law, 1, inside))
            terms.append(JumpTerm(rounds, times=n))
    return tuple(terms), rest + (total**2 / 2 * (1 + 1e-9) if len(terms) > 1 else 0.0)


def _mass_inside(law: PrivacyLossLaw, inside: Range) -> float:
    """An upper bound on the mass of the losses in (low, high]."""
    atoms = np.exp(Atoms.of(law, inside).log_masses).sum()
    return float(atoms + law.continuous_masses(np.array(inside))[0][0]) * (1 + 1e-12)


def _mass_outside(law: PrivacyLossLaw, inside: Range) -> float:
    """An upper bound on the mass of the finite losses that are not in (low, high]."""
    atoms, logs = law.atom_losses, law.atom_log_masses
    out = (atoms > inside[1]) | (atoms <= inside[0])
    low, high = law.support
    smooth = sum(
        float(law.continuous_masses(np.array(ends))[0][0])
        for ends in ((low, inside[0]), (inside[1], high))
        if ends[0] < ends[1]
    )
    return (float(np.exp(logs[out]).sum()) + smooth) * (1 + 1e-12)


def _any_of(masses: list[tuple[float, int]]) -> float:
    """Probability of any of independent events."""
    return -math.expm1(math.fsum(n * math.log1p(-min(p, 1 - 1e-16)) for p, n in masses))


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
