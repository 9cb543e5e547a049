"""A composition as a sum of terms: of the rounds' losses none is above a cut, one is, or a few.

Losses so large that their mass is a small share of the answer are in no term: a tilt that serves
the answer would give them most of the weight. Where one large loss makes the answer, as of rare
samples, no tilt serves both that loss and the many small ones, and no smoothing that serves the
large ones resolves an epsilon among the small ones. With a cut between them each term has its own
line. More such losses than the terms have together have a small share of the answer, too. What is
in no term is put at infinity on the upper line, and dropped below.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.roots import crossing
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.line_nodes import Atoms
from simulator.theory.laws.quantile import loss_range
from simulator.theory.outward import above, below
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.few_points import CLOSED, Range, points_within
from simulator.theory.pld.saddle_points import Saddles

_TAIL_SHARE, _LEAST_TAIL = 0.05, 1e-290
"""Share of the tolerance for losses put at infinity, and their least mass."""
_RANGES = 3
"""Ranges of a jump."""
_COARSE_THETAS, _MOST_ITEMS = np.logspace(-9, 18, 163), 61
_BEYOND = 10.0
"""A cut between small and large losses, as a multiple of epsilon."""
_MOST_TOGETHER, _MOST_TERMS = 6, 40
"""Most jumps of one term, and most terms."""

Wholes = Sequence[tuple[PrivacyLossLaw, int, Range]]


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
    def coarse(self) -> Saddles:
        """A table of wide steps."""
        return Saddles.of(self.few, thetas=_COARSE_THETAS)

    def log_value_at(self, epsilon: float) -> float:
        """A rough estimate of ln delta."""
        return self.coarse.log_value_at(epsilon) + math.log(self.times)

    def saddles(self, epsilon: float) -> Saddles:
        """A table that is fine around this epsilon."""
        if epsilon not in self._tables:
            self._tables.clear()
            self._tables[epsilon] = self.coarse.finer(self.few, epsilon)
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
        cls,
        parts: CountedLaws,
        log_delta: float,
        tolerance: float,
        *,
        jumps: bool = False,
        among_small: float | None = None,
    ) -> Plan:
        """For a relative width ``tolerance`` of delta; with terms for ``jumps``.

        ``among_small`` is an epsilon that is small in comparison with the largest losses: the cut
        is just above it, and the plan is one without jumps where it would have many terms.
        """
        share = max(_TAIL_SHARE * tolerance * math.exp(max(log_delta, -650.0)), _LEAST_TAIL)
        each = share / parts.rounds
        wholes = [(law, n, _reach(law, each)) for law, n in parts.items]
        low = _any_of([(law.infinite_mass * (1 - 1e-14), n) for law, n, _ in wholes])
        high = _any_of([
            (law.infinite_mass * (1 + 1e-14) + _mass_outside(law, inside), n)
            for law, n, inside in wholes
        ])  # fmt: skip
        slack = math.fsum(n * (law.loss_error + law.shift_error) for law, n in parts.items)
        found = None
        if among_small is not None:
            found = _by_size(wholes, _BEYOND * among_small, share)
        elif jumps:
            found = _with_jumps(wholes, _at_quantiles(wholes, share, each), 1)
        if found is None:
            return cls((JumpTerm(tuple(wholes), is_whole=True),), (low, high), slack)
        terms, more = found
        return cls(terms, (low, high + more), slack)

    @property
    def largest(self) -> float:
        """The largest loss of one round in the first term, of the laws whose losses have an end."""
        ends = (inside[1] for *_, inside in self.terms[0].rounds)
        return max((end for end in ends if math.isfinite(end)), default=0.0)

    def log_value_at(self, epsilon: float) -> float:
        """A rough estimate of ln delta."""
        return float(np.logaddexp.reduce([term.log_value_at(epsilon) for term in self.terms]))

    def decay_at(self, epsilon: float) -> tuple[float, float]:
        """The decay rate of delta, and the spread of the tilted loss, of the first term."""
        saddles = self.terms[0].saddles(epsilon)
        return saddles.theta_at(epsilon), saddles.spread_at(epsilon)

    def epsilon_at(self, log_delta: float, top: float) -> float:
        """About where delta is exp(log_delta)."""
        ends = [float(end) for term in self.terms for end in term.coarse.epsilon[[0, -1]]]
        low, high = max(min(ends), 0.0), min(max(ends), top)
        if not low < high or self.log_value_at(low) <= log_delta:
            return low
        if self.log_value_at(high) >= log_delta:
            return high
        if len(self.terms) == 1:
            return min(max(self.terms[0].coarse.epsilon_at(log_delta), low), high)
        return crossing(lambda e: self.log_value_at(e) - log_delta, low, high, rtol=1e-6)


def _reach(law: PrivacyLossLaw, tail_mass: float) -> Range:
    """The losses with at most that mass on either side, both ends included."""
    if isinstance(law, CLOSED):
        return -math.inf, math.inf
    low, high = loss_range(law, tail_mass, inside=True)
    return below(low), above(high)


def _at_quantiles(wholes: Wholes, share: float, least: float) -> list[list[float]]:
    """Cuts of each law, beyond which the masses fall to ``least``; two jumps have that share."""
    rounds = sum(n for _, n, _ in wholes)
    masses = np.geomspace(math.sqrt(share) / rounds, least, _RANGES + 1)[:-1]
    return [
        [high]
        if isinstance(law, CLOSED)
        else [max(min(loss_range(law, float(mass), inside=True)[1], high), low) for mass in masses]
        for law, _, (low, high) in wholes
    ]


def _by_size(wholes: Wholes, cut: float, share: float) -> tuple[tuple[JumpTerm, ...], float] | None:
    """The terms of as many jumps above a cut as are no small share; None if these are many."""
    cuts, total = [], 0.0
    for law, n, (low, high) in wholes:
        if isinstance(law, CLOSED) or not low < cut < high:
            cuts.append([high])
            continue
        cuts.append(np.geomspace(cut, high, _RANGES + 1)[:-1].tolist())
        total += n * _mass_outside(law, (low, cut))
    jumping = sum(each != [high] for each, (*_, (_, high)) in zip(cuts, wholes))
    for most in range(1, _MOST_TOGETHER + 1):
        if not jumping > 0 or math.comb(jumping + most, most) > _MOST_TERMS:
            return None
        if total ** (most + 1) / math.factorial(most + 1) <= share:
            return _with_jumps(wholes, cuts, most)
    return None


def _with_jumps(
    wholes: Wholes, cuts: list[list[float]], most: int
) -> tuple[tuple[JumpTerm, ...], float]:
    """The terms of no jump and of up to ``most``, and a bound on the mass of more.

    A jump is a loss above a law's first cut; the other ones part the ranges of a single jump. A
    range without mass, as between two atoms, has no term.
    """
    bulk, total, rest = [], 0.0, 0.0
    single: list[tuple[int, Range]] = []
    for place, ((law, n, (low, high)), own) in enumerate(zip(wholes, cuts)):
        bulk.append((law, n, (low, own[0])))
        ranges = [pair for pair in itertools.pairwise((*own, high)) if pair[0] < pair[1]]
        single += [(place, each) for each in ranges if _mass_inside(law, each) > _LEAST_TAIL]
        rest += n * len(ranges) * _LEAST_TAIL
        total += n * _mass_outside(law, (low, own[0]))
    terms = [JumpTerm(tuple(bulk))]
    terms += [_term(bulk, ((place, 1, inside),)) for place, inside in single]
    places = sorted({place for place, _ in single})
    for several in range(2, most + 1):
        for chosen in itertools.combinations_with_replacement(places, several):
            jumps = [(place, chosen.count(place)) for place in sorted(set(chosen))]
            if all(count <= wholes[place][1] for place, count in jumps):
                terms.append(
                    _term(
                        bulk,
                        [
                            (place, count, (bulk[place][2][1], wholes[place][2][1]))
                            for place, count in jumps
                        ],
                    )
                )
    more = total ** (most + 1) / math.factorial(most + 1) * (1 + 1e-9)
    return tuple(terms), rest + (more if len(terms) > 1 else 0.0)


def _term(
    bulk: list[tuple[PrivacyLossLaw, int, Range]], jumps: Sequence[tuple[int, int, Range]]
) -> JumpTerm:
    """The term in which so many rounds of some laws, by their places, jump."""
    rounds, times = bulk.copy(), 1
    for place, count, inside in jumps:
        law, n, usual = rounds[place]
        rounds[place] = (law, n - count, usual)
        rounds.append((law, count, inside))
        times *= math.comb(n, count)
    return JumpTerm(tuple(each for each in rounds if each[1]), times=times)


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
