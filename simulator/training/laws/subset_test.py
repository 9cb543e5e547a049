"""A lower end for a record in some of t steps: a test on the sum of ln(1 - q + q X_j).

The statement and its proof: simulator/theory/lemmas/subset-test.md. Of other ways to choose the
steps only the law of their number is needed, as all steps have one term: P is a mixture of these.
The terms are rounded down to a lattice, under P and Q alike, so the test is valid on any of them,
and its laws are known up to the rounding of the cells' edges, which are moved up for P and down for
Q. The choice of q is made on a coarse lattice; near k/t the test is the best where each step holds
the record with probability q, and a small q makes it a test on the sum of X_j, the best for k = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from simulator.foundations.errors import NotApplicable
from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT

_SHARES = (1.0, 2.0, *(2.0 ** (-i / 2) for i in range(1, 9)), 2.0**-6, 2.0**-8)  # of k/t, for q
_POINTS, _MOST_POINTS, _COARSE = 1 << 18, 1 << 21, 1 << 15
_REACH = 45.0  # sums beyond it are left out, of probability exp(-45) under Q
_FAR = 9.0  # deviations of a step's sum that are kept
_MOST_STEPS = 10_000
_SEEN = 1e-13
"""Numbers of steps that are less likely are left out; ten times the rounding of the others."""


Tails = tuple[Floats, Floats]


@dataclass(frozen=True)
class ParticipationTest:
    """The divergences that a test reaches against a record in some of so many Gaussian steps.

    Attributes
    ----------
    least, shares : of the steps that hold it, there are ``least + i`` with probability at least
        ``shares[i]``, in whatever places.
    """

    sigma: float
    steps: int
    least: int
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.steps > _MOST_STEPS:
            raise NotApplicable(f"more than {_MOST_STEPS} steps are not tested")

    def delta(self, epsilon: float) -> float:
        """Lower end of delta at ``epsilon`` >= 0, that a record's removal reaches."""
        return self._best(lambda ends: _delta_at(ends, epsilon))

    def epsilon(self, delta: float) -> float:
        """Lower end of epsilon at 0 < ``delta`` < 1."""
        return self._best(lambda ends: _epsilon_at(ends, delta))

    def _best(self, reached: Callable[[Tails], float]) -> float:
        mean = self.least + float(np.arange(len(self.shares)) @ self.shares) / sum(self.shares)
        if not mean > 0.0:
            return 0.0

        def rough(q: float) -> float:
            try:
                return reached(_tails(self, q, _COARSE))
            except NotApplicable:
                return -1.0

        q = max((min(s * mean / self.steps, 1.0 - 2.0**-20) for s in _SHARES), key=rough)
        return reached(_tails(self, q))


def _delta_at(tails: Tails, epsilon: float) -> float:
    with_record, without = tails
    return max(float((with_record - math.exp(epsilon) * without).max()), 0.0)


def _epsilon_at(tails: Tails, delta: float) -> float:
    gain = tails[0] - delta
    seen = (gain > 0.0) & (tails[1] > 0.0)
    return max(math.log(float((gain[seen] / tails[1][seen]).max())), 0.0) if seen.any() else 0.0


def separated_test(sigma: float, rate: float, apart: int, rounds: int) -> ParticipationTest:
    """The test against a record in rounds at least ``apart`` rounds from each other, at random.

    A record that may take part does so with probability ``rate``, and then not in the next
    ``apart - 1`` rounds. It takes part n times or more where, without these, it does so n times in
    rounds - (n - 1)(apart - 1) independent rounds.
    """
    places = rounds - (apart - 1) * np.arange(-(-rounds // apart) + 1)
    number = np.arange(places.size)
    more = np.asarray(scipy.stats.binom.sf(number, np.maximum(places, 0), rate))
    shares = np.r_[1.0, more[:-1]] - more
    used = np.nonzero(shares > _SEEN)[0]
    kept = shares[used[0] : used[-1] + 1] - _SEEN / 10
    return ParticipationTest(sigma, rounds, int(used[0]), tuple(np.maximum(kept, 0.0).tolist()))


class SubsetTest(ParticipationTest):
    """The divergences that a test reaches against ``selected`` of ``steps`` Gaussian steps.

    >>> from simulator.training.laws.subset_test import SubsetTest
    >>> 1.7 < SubsetTest(1.0, steps=100, selected=3).epsilon(1e-5) < 1.77
    True
    """

    def __init__(self, sigma: float, steps: int, selected: int) -> None:
        super().__init__(sigma, steps, selected, (1.0,))


@lru_cache(maxsize=16)
def _tails(test: ParticipationTest, q: float, coarse: int = 0) -> Tails:
    """P(A) rounded down and Q(A) rounded up, at all thresholds; on so many points if ``coarse``."""
    sigma, steps, least, shares = test.sigma, test.steps, test.least, test.shares
    shift, start = 1.0 / sigma, math.log1p(-q)
    reach = _REACH - steps * start
    points = coarse or max(_POINTS, 1 << math.ceil(math.log2(steps * reach)))
    cell = reach / points
    most = least + len(shares) - 1
    if points > _MOST_POINTS:
        raise NotApplicable(f"{most} of {steps} steps are too many for the test's lattice")
    log_held = float(np.logaddexp(start, math.log(q) + shift**2))  # of E exp(term) where held
    wrapped = math.exp(min(0.0, -_REACH + most * log_held))
    beyond = math.exp(min(-_REACH + 2 * steps * cell, 0.0)) + steps * float(
        scipy.special.ndtr(-_FAR)
    )
    empty, held = (_masses(shift, q, cell, mean=mean, moved=1.0) for mean in (0.0, shift))
    above = _masses(shift, q, cell, mean=0.0, moved=-1.0)
    if max(empty.size, held.size, above.size) > points:
        raise NotApplicable(f"a noise of {sigma:g} is too small for the test's lattice")
    with_record, off = _tail_of_sum(empty, held, steps, least=least, shares=shares, points=points)
    without, off_without = _tail_of_sum(above, above, steps, least=0, shares=(1.0,), points=points)
    return (
        with_record * (1.0 - 1e-9) - off - wrapped,
        np.maximum(without, 0.0) * (1.0 + 1e-9) + off_without + beyond,
    )


def _masses(shift: float, q: float, cell: float, *, mean: float, moved: float) -> Floats:
    """The law of a step's term less its least value, by cells, where Z is N(mean, 1).

    Edges are moved up or down by more than their rounding, and than that of the normal law.
    """
    largest = math.log1p(q / (1.0 - q) * math.exp(shift * (_FAR + mean) - shift**2 / 2.0))
    size = math.ceil(largest / cell)
    if size > _MOST_POINTS:
        raise NotApplicable(f"a noise of {1.0 / shift:g} is too small for the test's lattice")
    with np.errstate(divide="ignore"):
        edges = np.log(np.expm1(cell * np.arange(size + 1)) * (1.0 - q) / q)
    z = (edges + shift**2 / 2.0) / shift - mean
    rounding = (np.abs(edges[1:]) + shift**2 + _REACH) / shift + np.abs(z[1:]) + 1.0
    z[1:] += moved * 64.0 * UNIT * rounding
    # on the right of the middle from the other side, which keeps the digits of small masses
    left = np.diff(scipy.special.ndtr(z))
    return np.where(z[1:] > 0.0, -np.diff(scipy.special.ndtr(-z)), left)


def _tail_of_sum(
    empty: Floats, held: Floats, steps: int, *, least: int, shares: tuple[float, ...], points: int
) -> tuple[Floats, float]:
    """The tails of a sum of independent terms at all places, and a bound on their round-off.

    A mixture, by ``shares``, of least + i terms with masses ``held`` and the others ``empty``.
    """
    unit = 8.0 * math.log2(points) * UNIT
    terms = [scipy.fft.rfft(masses, points) for masses in (empty, held)]
    spectrum = _mixed(terms[0], terms[1], steps, least, shares)
    sizes = [np.abs(term) + unit for term in terms]
    moved = _mixed(sizes[0], sizes[1], steps, least, shares)
    size = np.abs(spectrum)
    exact = _mixed(sizes[0] - unit, sizes[1] - unit, steps, least, shares)
    wrong = moved - exact + 64.0 * UNIT * (steps + len(shares)) * moved
    noise = math.sqrt(2.0) * float(np.linalg.norm(wrong) + unit * np.linalg.norm(size))
    sums = scipy.fft.irfft(spectrum, points)
    return np.cumsum(sums[::-1])[::-1], noise * (1.0 + 1e-6) + 1e-9 * unit


def _mixed(
    empty: np.ndarray, held: np.ndarray, steps: int, least: int, shares: tuple[float, ...]
) -> np.ndarray:
    """Sum over i of shares[i] held^(least + i) empty^(steps - least - i), by Horner's rule."""
    total = np.full_like(held, shares[-1])
    power = np.ones_like(empty)
    for share in shares[-2::-1]:
        power *= empty
        total *= held
        total += share * power
    total *= held**least
    total *= empty ** (steps - least - len(shares) + 1)
    return total
