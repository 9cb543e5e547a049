"""A multiset of independent rounds and the transform of their summed loss."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.theory.laws.base import PrivacyLossLaw, RealOrComplex
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.sampled_transform import SampledTransform
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, SampledLaw
from simulator.theory.outward import sum_bracket
from simulator.theory.pld.laplace_batch import LaplaceBatch
from simulator.theory.pld.tail import OneRound

REPRESENTATIVES, _LEAST_REPRESENTATIVES, _MOST_POINTS = 64, 32, 1 << 14
"""Most laws that stand for all; fewer where they have more points together."""
_LOOKED_AT = 32
"""Most laws that the estimate of work counts."""
_FEW_LAWS = 16
"""Most laws whose total variations are added up."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class CountedLaws:
    """Distinct laws with their numbers of rounds; the order does not matter."""

    items: tuple[tuple[PrivacyLossLaw, int], ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[PrivacyLossLaw, int]]) -> CountedLaws:
        """Equal laws merged, in a canonical order, so that composition commutes to the last bit."""
        counts: dict[PrivacyLossLaw, int] = {}
        for law, count in pairs:
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
                raise InvalidInput(f"a count of rounds must be an integer >= 0, got {count!r}")
            if count:
                counts[law] = counts.get(law, 0) + int(count)
        if len(counts) < 2:  # the key of a law may be dear
            return cls(tuple(counts.items()))
        order = sorted(counts.items(), key=lambda item: (type(item[0]).__name__, *_key(item[0])))
        return cls(tuple(order))

    @property
    def rounds(self) -> int:
        """Total number of rounds."""
        return sum(count for _, count in self.items)

    @cached_property
    def infinite_mass(self) -> float:
        """P0-probability of an infinite loss in some round: 1 - prod (1 - p_i)^k_i."""
        with np.errstate(divide="ignore"):  # the mass may be 1
            logs = [count * np.log1p(-law.infinite_mass) for law, count in self.items]
        return abs(float(np.expm1(sum(logs))))

    @cached_property
    def support(self) -> tuple[float, float]:
        """Least and greatest finite total loss, rounded outward."""
        low, high = (
            sum_bracket((law.support[side], count) for law, count in self.items) for side in (0, 1)
        )
        return low.lower - self.loss_error, high.upper + self.loss_error

    @cached_property
    def spread(self) -> float:
        """Root of sum count * size^2, a law's size being its largest loss, or its deviation."""
        return float(np.hypot.reduce([np.sqrt(n) * _size(law) for law, n in self.items]))

    @cached_property
    def total_variation(self) -> float:
        """An upper bound on every delta(epsilon >= 0): the rounds' total variations, 1 for many."""
        if len(self.items) > _FEW_LAWS:
            return 1.0
        error = self.loss_error
        return min(math.fsum(OneRound(law, error).at_most(0.0) * n for law, n in self.items), 1.0)

    @property
    def loss_error(self) -> float:
        """Bound on the error of the total loss and of the logarithms of its masses."""
        return float(sum(law.loss_error * count for law, count in self.items))

    @property
    def work(self) -> int:
        """The approximate number of exponentials per value of the transform on a line.

        Where many laws are multiplied, most values become negligible after some of them.
        """
        sizes = sorted((max(law.atom_losses.size, 1) for law, _ in self.others), reverse=True)
        return sum(sizes[:_LOOKED_AT]) + min(self.laplaces.counts.size, _LOOKED_AT)

    def reversed(self) -> CountedLaws:
        """The exchanged pairs."""
        return CountedLaws.of((law.reversed(), count) for law, count in self.items)

    @cached_property
    def laplaces(self) -> LaplaceBatch:
        """The Laplace laws among them."""
        return LaplaceBatch.of([(a, n) for a, n in self.items if isinstance(a, LaplaceLaw)])

    @cached_property
    def others(self) -> tuple[tuple[PrivacyLossLaw, int], ...]:
        """The laws that are not Laplace laws."""
        return tuple((law, n) for law, n in self.items if not isinstance(law, LaplaceLaw))

    @cached_property
    def approximation(self) -> CountedLaws:
        """Few laws with nearly the same transform, for estimates."""
        few = self.laplaces.approximation()
        if few is self.laplaces:
            return self
        laplaces = ((LaplaceLaw(float(e)), int(n)) for e, n in zip(few.epsilons, few.counts))
        return CountedLaws((*laplaces, *self.others))

    @cached_property
    def representatives(self) -> CountedLaws:
        """At most REPRESENTATIVES laws: of each run of similar ones the middle, with all rounds.

        Neighbours are similar in the canonical order. For estimates: the transform is nearly that
        of all laws.
        """
        if len(self.items) <= _LEAST_REPRESENTATIVES:
            return self
        few = _MOST_POINTS // max(self.items[0][0].points[0].size, 1)
        few = min(max(few, _LEAST_REPRESENTATIVES), REPRESENTATIVES, len(self.items))
        ends = np.linspace(0, len(self.items), few + 1).astype(int).tolist()
        runs = [self.items[a:b] for a, b in itertools.pairwise(ends)]
        return CountedLaws(
            tuple((run[len(run) // 2][0], sum(count for _, count in run)) for run in runs)
        )

    def log_mgf(self, z: RealOrComplex) -> RealOrComplex:
        """Sum of count * psi(z); shape of z."""
        total = np.zeros(np.shape(z), dtype=np.asarray(z).dtype)
        total = total + self.laplaces.log_mgf(z)
        for law, count in self.others:
            total = total + _times(count, law.log_mgf(z))
        return total

    def proven_log_mgf(self, theta: float) -> tuple[float, float]:
        """A tilt of at most ``theta`` >= 0 and an upper bound on psi there; inf if none is proven.

        The tilt is smaller where the transform of a sampled Gaussian is not proven at ``theta``.
        """
        sampled = [SampledTransform.of(law) for law, _ in self.others]
        if any(
            of is None and not law.has_exact_transform for of, (law, _) in zip(sampled, self.others)
        ):
            return theta, math.inf
        theta = min(theta, *(of.largest_tilt for of in sampled if of is not None), math.inf)
        if theta < 0.0:
            return 0.0, math.inf
        at = np.array(theta)
        psi, size = float(self.laplaces.log_mgf(at)), 0.0
        for of, (law, count) in zip(sampled, self.others):
            value, wrong = of.log_value(theta) if of else (float(law.log_mgf(at)), 0.0)
            psi, size = psi + count * (value + wrong), size + count * abs(value)
        return theta, psi + _ROUNDING * (size + abs(psi)) + _ROUNDING


def _size(law: PrivacyLossLaw) -> float:
    largest = max(map(abs, law.support))
    return largest if np.isfinite(largest) else float(np.sqrt(law.variance))


def _times(count: int, psi: RealOrComplex) -> RealOrComplex:
    """Product, also where psi = -inf (a complex product would make nan of it)."""
    if np.iscomplexobj(psi):
        return np.asarray(count * np.maximum(psi.real, -1e300) + 1j * (count * psi.imag))
    return np.asarray(count * psi)


def _key(law: PrivacyLossLaw) -> tuple[float, ...]:
    if isinstance(law, LaplaceLaw):
        return (law.epsilon,)
    if isinstance(law, SampledLaw) and isinstance(law.base, GaussianLaw):
        mu, rate = law.base.mu, law.rate  # first the chi-squared divergence
        exchanged = isinstance(law, PoissonSubsampledLaw) and law.exchanged
        return (rate**2 * math.expm1(min(mu**2, 700.0)), mu, rate, float(exchanged))
    at = law.log_mgf(np.array([0.5, 1.0, 2.0]))
    return (law.infinite_mass, law.dual_infinite_mass, *map(float, at.real))
