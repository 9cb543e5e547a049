"""Odometers of the literature for pure rounds, each as one formula of sums.

Their formulas were not available to us in full and are written from memory. The proofs of the line
and of the doubling are given here, and the search :func:`simulator.worst.worst_odometer` holds each
one against the worst adversary of a menu. All are cut off at basic composition, the sum of
epsilons, which no loss of pure rounds passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from simulator.foundations.errors import NotApplicable
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.renyi_divergence import pure_renyi

ORDERS = tuple(1.0 + 1.25**k for k in range(-6, 24))
"""Of the Renyi odometer."""


@dataclass(frozen=True)
class Sums:
    """What the formulas are made of: sums over the rounds so far.

    Attributes
    ----------
    epsilons, squares : of epsilon and of epsilon^2.
    drift : of epsilon (e^epsilon - 1) / 2.
    divergences : of the Renyi divergences of ``ORDERS``.
    """

    epsilons: float = 0.0
    squares: float = 0.0
    drift: float = 0.0
    divergences: tuple[float, ...] = (0.0,) * len(ORDERS)

    def plus(self, epsilon: float) -> Sums:
        """With one more round."""
        more = zip(self.divergences, ORDERS)
        return Sums(
            self.epsilons + epsilon,
            self.squares + epsilon * epsilon,
            self.drift + epsilon * math.expm1(epsilon) / 2.0,
            tuple(spent + pure_renyi(epsilon, order) for spent, order in more),
        )


Formula = Callable[[Sums, float], float]
"""The reading of sums at the announced delta."""


@dataclass(frozen=True)
class FormulaOdometer:
    """An odometer of pure rounds that reads a formula of sums.

    Attributes
    ----------
    delta : the delta that it announces, in (0, 1).
    formula : its reading; the sum of epsilons where that is less.
    """

    delta: float
    formula: Formula

    def fresh(self) -> RunningFormula:
        """An odometer at zero."""
        return RunningFormula(self)


class RunningFormula:
    """A formula's odometer in use."""

    def __init__(self, spec: FormulaOdometer) -> None:
        self.spec, self.sums = spec, Sums()

    def spend(self, guarantee: Guarantee) -> None:
        """Account for a pure round. Raises NotApplicable for another one."""
        epsilon = guarantee.core.pure_epsilon
        if not math.isfinite(epsilon) or guarantee.leak:
            raise NotApplicable(f"this odometer accounts for pure rounds, not {guarantee}")
        self.sums = self.sums.plus(epsilon)

    @property
    def epsilon(self) -> float:
        """The reading."""
        return min(self.sums.epsilons, self.spec.formula(self.sums, self.spec.delta))

    @property
    def delta(self) -> float:
        """The delta that is announced."""
        return self.spec.delta


def line(tuned: float) -> Formula:
    """The boundary that is a straight line in the squares, tightest at ``tuned`` squares.

    Whitehouse, Ramdas, Rogers and Wu 2023, filter odometer. With M the loss minus half the squares
    Q, exp(x M - x^2 Q / 2) is a supermartingale, so M <= ln(1/delta) / x + x Q / 2 at all times,
    but for a probability of delta; x is best at ``tuned``. The reading adds Q / 2.
    """

    def reading(sums: Sums, delta: float) -> float:
        x = math.sqrt(-2.0 * math.log(delta) / tuned)
        return -math.log(delta) / x + (x + 1.0) * sums.squares / 2.0

    return reading


def stitched(least: float) -> Formula:
    """The boundary at the rate of the iterated logarithm, for squares from ``least`` on.

    Whitehouse, Ramdas, Rogers and Wu 2023, stitched odometer, after Howard, Ramdas, McAuliffe and
    Sekhon 2021, equation 2: 1.7 sqrt(Q (ln ln(2 Q / least) + 0.72 ln(5.2 / delta))).
    """

    def reading(sums: Sums, delta: float) -> float:
        if sums.squares < least:
            return math.inf
        growth = math.log(math.log(2.0 * sums.squares / least)) + 0.72 * math.log(5.2 / delta)
        return 1.7 * math.sqrt(sums.squares * growth) + sums.squares / 2.0

    return reading


def doubling(first: float) -> Formula:
    """The Renyi odometer: filters of budgets that double, of which the first that suffices is read.

    Lecuyer 2021. Of each order the f-th filter, f = 1, 2, ..., has a budget of order * first 2^f,
    and delta / (2 f^2 m) of the delta, with m orders; these add up to less than delta. Where the
    play ends within the f-th budget of an order, its view is the view of that filter.
    """

    def reading(sums: Sums, delta: float) -> float:
        found = math.inf
        for spent, order in zip(sums.divergences, ORDERS):
            f = max(1, math.ceil(math.log2(max(spent / (order * first), 1e-300)) - 1e-12))
            share = delta / (2.0 * f * f * len(ORDERS))
            budget = order * first * 2.0**f
            found = min(found, budget - math.log(share) / (order - 1.0))
        return found

    return reading


def rogers(records: int) -> Formula:
    """The first odometer, of databases of so many records.

    Rogers, Roth, Ullman and Vadhan 2016, section 6.
    """

    def reading(sums: Sums, delta: float) -> float:
        squares, log = sums.squares, math.log(records)
        if records**-2.0 <= squares <= 1.0:
            growth = math.log(110.0 * math.e) + 2.0 * math.log(log / delta)
            return sums.drift + 2.0 * math.sqrt(squares * growth)
        spread = 2.0 * (records**-2.0 + squares) * (1.0 + 0.5 * math.log1p(records**2 * squares))
        return sums.drift + math.sqrt(spread * math.log(4.0 * math.log2(records) / delta))

    return reading
