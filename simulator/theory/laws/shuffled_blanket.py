"""Shuffled reports of one given randomizer: above by the privacy blanket, below by equal others.

Let P and Q be the laws of a report for the two inputs of the changed record. Where the law of a
report is at least min(P, Q) for every input that the others may have, with t = e^epsilon

    delta(epsilon) <= E[(G_1 + ... + G_n)_+]/n,

G_j independent: with m = min(P, Q), G = (P - t Q)/m under m, and 0 with probability 1 - m(all). The
right side rises in Blackwell order of the pair, so any pair that dominates (P, Q) may take its
place: here losses are split onto a grid, and large ones are counted as revealed. Where the reports
of all others have the law m = P, or Q, it is an equality with G = (P - t Q)/m under m, which gives
the lower end: reports are merged into cells of nearly equal loss first.

See ``simulator/theory/lemmas/shuffling-blanket.md``. Source: Balle, Bell, Gascon and Nissim, "The
Privacy Blanket of the Shuffle Model", CRYPTO 2019, Lemma 5.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.foundations.roots import crossing
from simulator.foundations.validation import nonnegative
from simulator.theory.bracket import Bracket
from simulator.theory.laws.above_curve import law_above
from simulator.theory.laws.base import Floats, PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.lattice_sums import LatticeTerms
from simulator.theory.outward import UNIT
from simulator.theory.parameters import count

MOST_REPORTS = 10**8
_CELLS = 600  # of a law's continuous part
_FINE, _FINER = 0.1, 0.02  # steps of the lattices, in deviations of one term
_LONG, _LONGER = 2.5e-5, 8e-6  # and at least so many deviations of the sum
_CAPS = (1.0, 8.0, 64.0)  # times sqrt(n): ratios P/Q above are counted as revealed
_LARGEST = 60.0  # loss of a law without a largest one
_SEARCHED, _LEAST = 2e-4, 1e-9  # of epsilon: relative, and absolute
_REVEALED = 1e-16  # losses beyond this tail are counted as revealed
_WRONG = 2.0**13 * UNIT  # relative error of a mass, of one that is split between near losses too
_POINTS = 1 << 22  # of a lattice; a lower end that needs more is not computed
_FAINT = 1e-3  # of a lower end, what the spread of the terms may cost
_KNOTS, _EVEN, _GROWTH = 8, 80, 1.1  # of a curve: in a deviation, even ones, ratio beyond
_NOTHING, _FLAT = 1e-40, 0.99  # a curve is not followed where it is so low, or falls no more


@dataclass(frozen=True)
class ShuffledBlanket:
    """``reports`` shuffled reports of a randomizer whose pair has the loss of ``law``.

    Raises NotApplicable for a law without accurate cells, or more than 10^8 reports.

    >>> from simulator.theory import LaplaceLaw, ShuffledBlanket
    >>> round(ShuffledBlanket(LaplaceLaw(1.0), 1000).delta(0.1), 6)
    2.5e-05
    """

    law: PrivacyLossLaw
    reports: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "reports", count("reports", self.reports))
        if self.reports > MOST_REPORTS:
            raise NotApplicable(f"more than {MOST_REPORTS:g} reports are too many")
        if not (self.law.has_accurate_cells or self.law.is_discrete):
            raise NotApplicable(f"the cells of {self.law} are not exact")

    @property
    def _directions(self) -> tuple[PrivacyLossLaw, ...]:
        """The laws of both directions; one where they are equal."""
        other = self.law.reversed()
        same = other == self.law or (
            isinstance(other, FiniteLaw)
            and isinstance(self.law, FiniteLaw)
            and np.array_equal(other.losses, self.law.losses)
            and np.allclose(other.log_masses, self.law.log_masses, rtol=0.0, atol=2e-15)
        )
        return (self.law,) if same else (self.law, other)

    def delta_bracket(self, epsilon: float) -> Bracket:
        """Bracket of the largest delta over both directions, at epsilon >= 0.

        The lower end is of others who all have one of the two inputs.
        """
        epsilon = nonnegative("epsilon", epsilon)
        return Bracket(
            max(self._below(law, epsilon) for law in self._directions), self.delta(epsilon)
        )

    def delta(self, epsilon: float) -> float:
        """Upper end of the curve at epsilon >= 0."""
        return max(self._above(law, epsilon) for law in self._directions)

    def epsilon_bracket(self, delta: float) -> Bracket:
        """Bracket of the least epsilon whose delta is at most 0 < delta < 1.

        Raises NotApplicable where no epsilon up to 60 has a bound so small.
        """
        tops, revealed = zip(*((law.support[1], law.infinite_mass) for law in self._directions))
        top = min(_LARGEST, max(tops))
        high = min(
            max(_near(self.delta, delta, law, self.reports) for law in self._directions), top
        )
        while self.delta(high) > delta:
            if high >= top:
                if math.isfinite(max(tops)) and max(revealed) <= delta:
                    break  # the largest loss
                raise NotApplicable(f"no finite epsilon is certified at delta {delta!r}")
            high = min(top, max(_LEAST, high * (1.0 + _SEARCHED)))

        def below(epsilon: float) -> float:
            return max(self._below(law, epsilon, delta) for law in self._directions)

        low = min(high, max(_near(below, delta, law, self.reports) for law in self._directions))
        while low > _LEAST and below(low) <= delta:
            low *= 1.0 - _SEARCHED
        return Bracket(low if low > _LEAST else 0.0, high)

    @cached_property
    def dominating(self) -> tuple[FiniteLaw, float]:
        """A law that dominates both directions, and the relative error of its masses.

        The bound of each direction is the curve of a pair: of what is seen where it is revealed
        who is not drawn from the blanket. So the bound holds for rounds composed, and so does the
        chord between two of its points.
        """
        top = min(_LARGEST, max(law.support[1] for law in self._directions))
        deviation = max(_deviation(law, self.reports) for law in self._directions)
        step = min(top, deviation * _EVEN / _KNOTS) / _EVEN
        knots = [step * i for i in range(_EVEN)] + [min(top, step * _EVEN)]
        heights = [self.delta(knot) for knot in knots]
        while knots[-1] < top and heights[-1] > _NOTHING and heights[-1] < _FLAT * heights[-2]:
            knots.append(min(top, knots[-1] * _GROWTH))
            heights.append(self.delta(knots[-1]))
        return law_above(knots, heights)

    def _above(self, law: PrivacyLossLaw, epsilon: float) -> float:
        if law.support[1] <= 0.0:  # no finite loss counts
            return min(1.0, law.infinite_mass * (1.0 + 1e-9))
        t, best = math.exp(epsilon), 1.0
        for cap in _CAPS:
            losses, masses, revealed = _dominating(law, self.reports, cap)
            values = np.where(losses >= 0.0, np.exp(losses) - t, 1.0 - t * np.exp(-losses))
            step = _step(values, masses, max(_FINE, _LONG * math.sqrt(self.reports)))
            terms = LatticeTerms.spread(values, masses, self.reports, step, _WRONG)
            off = _rounding(values, t, self.reports)
            best = min(best, terms.excess(-off).upper / self.reports + revealed)
            if revealed <= _REVEALED:
                break
        return best

    def _below(self, law: PrivacyLossLaw, epsilon: float, near: float | None = None) -> float:
        """The lower end in one direction; ``near`` is its size, where that is known."""
        return max(self._equal_others(law, epsilon, others, near) for others in (0, 1))

    def _equal_others(
        self, law: PrivacyLossLaw, epsilon: float, others: int, near: float | None
    ) -> float:
        """The lower end where all others have the input of database ``others``."""
        first, second, largest = _cells(law, self.reports)
        if epsilon >= largest:  # what is left out would have a loss below epsilon
            return 0.0
        masses = second if others else first
        kept = masses > 1e-300
        masses, t = masses[kept], math.exp(epsilon)
        values = (first[kept] - t * second[kept]) / masses
        n = self.reports
        step = _step(values, masses, max(_FINER, _LONGER * math.sqrt(n)))
        if float(np.abs(values).max()) > _POINTS * step:
            return 0.0
        terms = LatticeTerms.spread(values, masses, n, step, _WRONG)
        size = terms.excess().lower if near is None else near * n
        if size <= 0.0:
            return 0.0
        # S + X, X the spread onto the lattice: (S + X - b)_+ <= S_+ + (X - b)_+, and X is
        # sub-Gaussian, as each term is spread within one step
        deviation = terms.step * math.sqrt(n) / 2.0
        moved = deviation * math.sqrt(2.0 * math.log(max(2.0, deviation / (_FAINT * size))))
        lost = deviation**2 / moved * math.exp(-((moved / deviation) ** 2) / 2.0)
        moved += _rounding(values, t, n)
        return max(0.0, (terms.excess(moved).lower - lost * (1.0 + 1e-9)) / n)


def _near(
    curve: Callable[[float], float], delta: float, law: PrivacyLossLaw, reports: int
) -> float:
    """The approximate inverse of a decreasing curve, searched from that of a Gaussian sum."""
    log_delta = math.log(delta)

    def excess(epsilon: float) -> float:
        value = curve(epsilon)
        return (math.log(value) if value > 0.0 else -800.0) - log_delta

    if excess(0.0) <= 0.0:
        return 0.0
    low = 0.0
    high = _deviation(law, reports) * math.sqrt(2.0 * max(1.0, -log_delta))
    top = min(_LARGEST, law.support[1])
    while high < top and excess(high) > 0.0:
        low, high = high, 1.5 * high
    if high >= top:
        if excess(top) >= 0.0:
            return top
        high = top
    return crossing(excess, low, high, xtol=_LEAST, rtol=_SEARCHED / 4.0)


def _deviation(law: PrivacyLossLaw, reports: int) -> float:
    """About the deviation of the loss of many reports."""
    losses, masses, _ = _dominating(law, reports)
    return math.sqrt(float(masses @ np.expm1(np.abs(losses)) ** 2) / reports)


def _rounding(values: Floats, t: float, reports: int) -> float:
    """Bound on the rounding of the sum of the values."""
    return 32.0 * UNIT * reports * (2.0 * t + float(np.abs(values).max()))


def _step(values: Floats, masses: Floats, deviations: float) -> float:
    """So many deviations of one term, 1 for a constant; values of no mass are at 0."""
    mean = float(masses @ values)
    rest = max(0.0, 1.0 - float(masses.sum()))
    variance = float(masses @ (values - mean) ** 2) + rest * mean**2
    return deviations * math.sqrt(variance) or 1.0


@lru_cache(maxsize=8)
def _largest_loss(law: PrivacyLossLaw, ratio: float) -> float:
    """The largest loss that is counted: beyond it losses are rare, or the likelihood ``ratio``."""
    top = min(law.support[1], _LARGEST)
    grid = np.linspace(0.0, top, 241)[1:]
    for loss in grid.tolist():
        if law.sf(loss) <= _REVEALED:
            return float(loss)
        if math.exp(loss) > ratio:
            return float(loss)
    return top


@lru_cache(maxsize=8)
def _dominating(
    law: PrivacyLossLaw, reports: int, cap: float = 1.0
) -> tuple[Floats, Floats, float]:
    """Losses on a grid, the smaller masses of the two laws, and what is counted as revealed.

    Losses below the grid are split between its end and minus infinity, where nothing hides.
    """
    largest = _largest_loss(law, max(8.0, cap * math.sqrt(reports)))
    edges = np.linspace(-largest, largest, 2 * (_CELLS // 2) + 1)
    first, second = law.continuous_masses(edges)
    width = np.diff(edges)
    # Q-masses at the upper and lower end with both masses kept
    relative = np.where(second > 0.0, first / np.where(second > 0.0, second, 1.0), 0.0)
    up = np.clip((relative * np.exp(-edges[:-1]) - 1.0) / np.expm1(width), 0.0, 1.0)
    q = np.zeros(edges.size)
    q[1:] += second * up
    q[:-1] += second * (1.0 - up)
    inside = np.abs(law.atom_losses) <= largest * (1.0 + 1e-12)
    low = np.exp(law.atom_log_masses[law.atom_losses < 0.0][~inside[law.atom_losses < 0.0]]).sum()
    low += law.continuous_masses(np.array([-np.inf, -largest]))[0][0]
    q[0] += low * math.exp(largest)
    losses = np.concatenate((edges, law.atom_losses[inside]))
    q = np.concatenate((q, np.exp(law.atom_log_masses - law.atom_losses)[inside]))
    smaller = np.where(losses >= 0.0, q, q * np.exp(losses))
    lost = law.sf(largest * (1.0 + 1e-12)) * (1.0 + 1e-9)
    return losses, smaller, lost


@lru_cache(maxsize=8)
def _cells(law: PrivacyLossLaw, reports: int) -> tuple[Floats, Floats, float]:
    """P- and Q-masses of cells of nearly equal loss up to the largest that counts, and this."""
    largest = _largest_loss(law, max(8.0, math.sqrt(reports)))
    inner = np.linspace(-largest, largest, 2 * (_CELLS // 2) + 1)
    first, second = law.continuous_masses(np.concatenate(([-np.inf], inner)))
    atoms = law.atom_losses <= largest * (1.0 + 1e-12)
    logs = law.atom_log_masses[atoms]
    p, q = np.exp(logs), np.exp(logs - law.atom_losses[atoms])
    first = np.concatenate((first, p, [0.0]))
    return first, np.concatenate((second, q, [law.dual_infinite_mass])), largest
