"""Guarantees of epochs in which records take part in steps chosen at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.pure import kept
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.theory.outward import UNIT, above
from simulator.theory.parameters import count, positive
from simulator.theory.pld.distribution import compose_laws
from simulator.training.laws.allocation import MOST_STEPS, allocations

Laws = Sequence[tuple[PrivacyLossLaw, int]]


@dataclass(frozen=True)
class RandomAllocationDP(Guarantee):
    """An epoch of ``steps`` Gaussian sums, each record in ``selected`` of them; add or remove one.

    Noise ``sigma`` at sensitivity 1. Which steps hold the record is secret and uniform.
    ``hockey_stick`` is a certified upper end, in the worse direction: of the law of one step of
    many, or of ``selected`` independent allocations of one step, each in a block of the steps. The
    other notions are those of as many steps at public places, as a divergence of a mixture is at
    most the largest of its parts.

    Source: Feldman and Shenfeld 2025, see :class:`simulator.theory.events.RandomAllocationEvent`.

    >>> from simulator.training import RandomAllocationDP
    >>> str(RandomAllocationDP(sigma=2.0, steps=8))
    'random-allocation:2.0,8.0,1.0'
    """

    sigma: float
    steps: int
    selected: int = 1
    kind: ClassVar[str] = "random-allocation"

    def __post_init__(self) -> None:
        self._set("sigma", positive("sigma", self.sigma))
        self._set("steps", count("steps", self.steps))
        self._set("selected", count("selected", self.selected))
        if self.selected > self.steps:
            raise InvalidInput(
                f"a record cannot take part in {self.selected} of {self.steps} steps"
            )

    def admits(self, other: Guarantee) -> bool:
        """Whether ``other`` allocates the same steps with at least this noise."""
        if isinstance(other, RandomAllocationDP):
            same = (other.steps, other.selected) == (self.steps, self.selected)
            return same and within(self.sigma, other.sigma)
        return other.pure_epsilon == 0.0

    @property
    def blocks(self) -> Laws:
        """The laws of allocations of one step whose composition dominates an epoch, adding."""
        # Of more steps the mean is smaller in convex order.
        steps = min(self.steps, MOST_STEPS * self.selected)
        return allocations(GaussianLaw(above(1.0 / self.sigma)), steps, self.selected)

    @property
    def adding_law(self) -> PrivacyLossLaw | None:
        """That of one allocation, where every record is in one step."""
        return self.blocks[0][0] if self.selected == 1 else None

    def _hockey_stick(self, epsilon: float) -> float:
        public = gaussian_delta(self.gdp_mu, epsilon)
        if self.selected == self.steps:
            return public
        return min(public, _upper_delta(self.blocks, epsilon))

    @property
    def zcdp_rho(self) -> float:
        """mu^2 / 2, with mu as below."""
        return kept(self.gdp_mu, self.gdp_mu**2 / 2.0)

    @property
    def gdp_mu(self) -> float:
        """That of ``selected`` steps at public places."""
        return math.sqrt(self.selected) / self.sigma


def _upper_delta(rounds: Laws, epsilon: float) -> float:
    """A certified upper end of delta, in the worse direction; 1 where there is none."""
    exchanged = [(law.reversed(), count) for law, count in rounds]
    try:
        return max(compose_laws(each, _WIDTH).delta(epsilon).upper for each in (rounds, exchanged))
    except NotApplicable:
        return 1.0


_WIDTH = 1e-3
_MOST_STEPS = 10**7


@dataclass(frozen=True)
class BallsInBinsDP(Guarantee):
    """Training by Gaussian sums, each record in one bin of every epoch; add or remove one.

    Step i is of bin i mod ``bins``. The noise is C^{-1} z, with independent z of ``sigma`` at
    sensitivity 1, and C_il = ``coefficients[i - l]``, lower triangular. Which bin holds the record
    is secret and uniform. A record's terms may depend on the answers (Denisov and others 2022,
    Theorem 2.1). ``hockey_stick`` is an upper bound: with independent noise a certified end, of one
    of ``bins`` steps with the noise of a whole bin; with correlated noise that of the longest bin,
    were it public.

    >>> from simulator.training import BallsInBinsDP
    >>> str(BallsInBinsDP(sigma=2.0, bins=4, epochs=2))
    'balls-in-bins:2.0,4.0,2.0,1.0'
    """

    sigma: float
    bins: int
    epochs: int
    coefficients: tuple[float, ...] = (1.0,)
    kind: ClassVar[str] = "balls-in-bins"

    def __post_init__(self) -> None:
        self._set("sigma", positive("sigma", self.sigma))
        self._set("bins", count("bins", self.bins))
        self._set("epochs", count("epochs", self.epochs))
        found = np.asarray(self.coefficients, dtype=float)
        if found.ndim != 1 or not found.size or not np.isfinite(found).all() or found[0] <= 0.0:
            raise InvalidInput(
                "coefficients of correlated noise are finite numbers, at least one, the first of "
                f"them above 0, not {self.coefficients!r}"
            )
        steps = self.bins * self.epochs
        if len(found) > steps or steps > _MOST_STEPS:
            raise InvalidInput(
                f"there are {steps} steps, which must be at least as many as the {len(found)} "
                f"coefficients, and at most {_MOST_STEPS}"
            )
        self._set("coefficients", tuple(found.tolist()))

    def __str__(self) -> str:
        numbers = (self.sigma, self.bins, self.epochs, *self.coefficients)
        return f"{self.kind}:{','.join(repr(float(number)) for number in numbers)}"

    def admits(self, other: Guarantee) -> bool:
        """Whether ``other`` has the same bins and coefficients with at least this noise."""
        if isinstance(other, BallsInBinsDP):
            mine, others = ((one.bins, one.epochs, one.coefficients) for one in (self, other))
            return mine == others and within(self.sigma, other.sigma)
        return other.pure_epsilon == 0.0

    def _hockey_stick(self, epsilon: float) -> float:
        public = gaussian_delta(self.gdp_mu, epsilon)
        if any(self.coefficients[1:]) or self.bins == 1:
            return public
        # The bins have no step in common: their means are orthogonal.
        whole = GaussianLaw(above(self.gdp_mu * (1.0 + 8 * UNIT)))
        return min(public, _upper_delta(allocations(whole, self.bins), epsilon))

    @property
    def zcdp_rho(self) -> float:
        """mu^2 / 2, with mu as below."""
        return kept(self.gdp_mu, self.gdp_mu**2 / 2.0)

    @cached_property
    def _longest(self) -> float:
        """Largest norm of C times a record's terms, of norm 1 and any signs: of the first bin."""
        first = (np.arange(self.bins * self.epochs) % self.bins == 0).astype(float)
        reach = np.zeros(len(first))
        for lag, coefficient in enumerate(self.coefficients):
            reach[lag:] += abs(coefficient) * first[: len(first) - lag]
        return math.sqrt(float(reach @ reach))

    @property
    def gdp_mu(self) -> float:
        """That of the longest bin at a public place."""
        return self._longest / self.sigma
