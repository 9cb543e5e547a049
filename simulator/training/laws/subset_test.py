"""A lower end for a record in some of t steps: a test on the sum of ln(1 - q + q X_j).

A record is in a uniform set of k of t Gaussian steps. With Z_j the noisy sum of step j over sigma,
a = 1 / sigma and X_j = exp(a Z_j - a^2 / 2), the likelihood ratio of the answer is the elementary
symmetric polynomial of degree k in X over its value at 1. Any event A gives

    delta(epsilon) >= P(A) - exp(epsilon) Q(A),

and A = {sum_j ln(1 - q + q X_j) >= s} is nearly the best for some q near k/t, as it is the best
where each step holds the record with probability q. Under Q the Z_j are N(0, 1); under P, by
symmetry, the first k of them are N(a, 1). So both probabilities are tails of a sum of independent
terms. Of other ways to choose the steps only the law of their number is needed, as all steps have
one term: P is a mixture of these. The test's terms are rounded down to a lattice, under P and Q
alike, so its laws are known up to the rounding of the cells' edges, which are moved up for P and
down for Q. Sums start at t ln(1 - q), so nothing wraps from below; Q(sum > r) <= exp(-r), as the
mean of the product of the 1 - q + q X_j is 1. The round-off of the transforms is bounded in the
2-norm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from simulator.foundations.errors import NotApplicable
from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT

_SHARES = (0.5, 0.7, 1.0)  # of k/t, for q
_POINTS, _MOST_POINTS = 1 << 18, 1 << 21
_REACH = 45.0  # sums beyond it are left out, of probability exp(-45) under Q
_FAR = 9.0  # deviations of a step's sum that are kept
_MOST_STEPS = 10_000
_SEEN = 1e-13
"""Numbers of steps that are less likely are left out; ten times the rounding of the others."""


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
        found = 0.0
        for with_record, without in self._tails:
            gain = with_record - math.exp(epsilon) * without
            found = max(found, float(gain.max()))
        return found

    def epsilon(self, delta: float) -> float:
        """Lower end of epsilon at 0 < ``delta`` < 1."""
        found = 0.0
        for with_record, without in self._tails:
            gain = with_record - delta
            seen = gain > 0.0
            if seen.any():
                ratio = gain[seen] / without[seen]
                found = max(found, math.log(float(ratio.max())))
        return found

    @property
    def _tails(self) -> Iterator[tuple[Floats, Floats]]:
        """P(A) rounded down and Q(A) rounded up, at all thresholds, for each q."""
        mean = self.least + float(np.arange(len(self.shares)) @ self.shares) / sum(self.shares)
        for share in _SHARES if mean > 0.0 else ():
            q = min(share * mean / self.steps, 1.0 - 2.0**-20)
            yield _tails(self.sigma, self.steps, self.least, self.shares, q)


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


@lru_cache(maxsize=3)
def _tails(
    sigma: float, steps: int, least: int, shares: tuple[float, ...], q: float
) -> tuple[Floats, Floats]:
    shift, start = 1.0 / sigma, math.log1p(-q)
    reach = _REACH - steps * start
    points = max(_POINTS, 1 << math.ceil(math.log2(steps * reach)))
    cell = reach / points
    most = least + len(shares) - 1
    if points > _MOST_POINTS:
        raise NotApplicable(f"{most} of {steps} steps are too many for the test's lattice")
    log_held = float(np.logaddexp(start, math.log(q) + shift**2))  # of E exp(term) where held
    wrapped = math.exp(min(0.0, -_REACH + most * log_held))
    beyond = math.exp(-_REACH + 2 * steps * cell) + steps * float(scipy.special.ndtr(-_FAR))
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
