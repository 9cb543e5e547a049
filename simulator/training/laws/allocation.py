"""The law of a mechanism that runs in many steps, with a record in one of them at random."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.theory.laws.base import Floats, PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw, merge_losses
from simulator.theory.laws.quadrature import QuadratureLaw
from simulator.theory.outward import UNIT
from simulator.theory.parameters import count
from simulator.training.laws.convex_sums import ConvexEnd, Resolution
from simulator.training.laws.gathered import GatheredLaw
from simulator.training.laws.ratio_ends import ratio_end

MOST_STEPS = 10**7
"""Beyond, the round-off of that many factors would be seen."""

TAIL = 1e-26
"""Mass of each tail that is gathered: at a delta of 1e-15 that is not seen."""

_COARSE = 2.0**-4.5
"""Spacing for estimates, and the widest."""
_FINEST = 0.002
_PER_STEP = 1 / 3
"""Of a grid's step: with some losses in every cell its lower law is of second order, too."""
_UNDERFLOW = 1e-290
"""More than all masses together that can underflow."""


@dataclass(frozen=True)
class AllocationLaw(QuadratureLaw):
    """A mechanism that runs ``steps`` times, with Alice's record in one run, chosen uniformly.

    ``base`` is the law of a pair (P0, P1) that dominates one run, where D0 lacks Alice's record and
    D1 holds it. Under Q = P0 x ... x P0 the ratio of the pair is the mean U of ``steps``
    independent ratios dP1/dP0: the loss of adding the record is -ln U under Q, and
    :meth:`reversed` (``exchanged``) is that of removing it. Runs may depend on the answers of
    earlier ones.

    No closed form is known. :meth:`ends` encloses the law in convex order; all else is estimated,
    and ``delta`` is an upper end.

    Source: Feldman and Shenfeld 2025, "Privacy amplification by random allocation", for the pair;
    the ends are derived in :mod:`simulator.training.laws.convex_sums`.

    Raises InvalidInput unless ``steps`` is a whole number of at least 1 and at most 10^7.

    >>> from simulator.theory import GaussianLaw
    >>> from simulator.training import AllocationLaw
    >>> round(AllocationLaw(GaussianLaw(0.5), steps=2).delta(0.25), 6)
    0.059018
    """

    base: PrivacyLossLaw
    steps: int
    exchanged: bool = False
    least_tolerance = 5e-5

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", count("steps", self.steps))
        if self.steps > MOST_STEPS:
            raise InvalidInput(f"steps must be at most {MOST_STEPS}, not {self.steps}")

    def ends(self, share: float, tail: float = TAIL) -> tuple[FiniteLaw, FiniteLaw]:
        """Laws whose deltas are at most and at least this law's, at every epsilon, also composed.

        ``share`` is the spacing of their lattices in normal scores: the distance of the ends is of
        second order in it. ``tail`` is the mass that is gathered beyond the lattices.
        """
        resolution = Resolution(max(share, _FINEST), tail)
        lower, upper = (
            _end(self.base, self.steps, resolution, larger=larger) for larger in (False, True)
        )
        return (lower.reversed(), upper.reversed()) if self.exchanged else (lower, upper)

    def enclosed(
        self, step: float, tail_mass: float
    ) -> tuple[PrivacyLossLaw, PrivacyLossLaw] | None:
        share = _FINEST * step / self.least_step
        share = 2.0 ** (math.floor(2 * math.log2(min(max(share, _FINEST), _COARSE))) / 2)
        lower, upper = self.ends(share, min(TAIL, tail_mass))
        return GatheredLaw(lower), GatheredLaw(upper)

    @cached_property
    def least_step(self) -> float:  # type: ignore[override]
        losses, logs = self.points
        masses = np.exp(logs)
        deviation = math.sqrt(float(masses @ (losses - masses @ losses) ** 2))
        return _FINEST / _PER_STEP * deviation

    @property
    def infinite_mass(self) -> float:  # type: ignore[override]
        return self.base.dual_infinite_mass if self.exchanged else self._certain

    @property
    def dual_infinite_mass(self) -> float:  # type: ignore[override]
        return self._certain if self.exchanged else self.base.dual_infinite_mass

    @property
    def _certain(self) -> float:
        """Q's mass of the answers at which every step's ratio is 0."""
        return self.base.infinite_mass**self.steps

    @cached_property
    def simplest(self) -> PrivacyLossLaw:
        base = self.base.simplest
        if self.steps == 1 or base.support == (0.0, 0.0):
            return base.reversed() if self.exchanged else base
        return self

    @property
    def support(self) -> tuple[float, float]:
        low, high = self.base.support
        if self.base.infinite_mass:
            high += math.log(self.steps) * (1.0 + 4 * UNIT)
        return (-high, -low) if self.exchanged else (low, high)

    @property
    def is_discrete(self) -> bool:
        return False

    @property
    def points(self) -> tuple[Floats, Floats]:
        middle = self.ends(_COARSE)[0]
        return middle.losses, middle.log_masses

    def delta(self, epsilon: float) -> float:
        upper = self.ends(_COARSE)[1]
        return min(upper.delta(epsilon - upper.loss_error), 1.0)

    def reversed(self) -> AllocationLaw:
        return replace(self, exchanged=not self.exchanged)

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        return GatheredLaw(self.ends(_COARSE)[0]).continuous_masses(edges)


def allocations(
    base: PrivacyLossLaw, steps: int, selected: int = 1
) -> list[tuple[PrivacyLossLaw, int]]:
    """The laws and numbers of allocations of one step that dominate one of ``selected`` steps.

    There are ``selected`` blocks of the steps, of two sizes at most.
    """
    size, larger = divmod(steps, selected)
    blocks = ((size + 1, larger), (size, selected - larger))
    return [(AllocationLaw(base, each).simplest, count) for each, count in blocks if count]


@lru_cache(maxsize=16)
def _end(base: PrivacyLossLaw, steps: int, resolution: Resolution, *, larger: bool) -> FiniteLaw:
    """One end of the loss of adding the record; the last few are kept."""
    return loss_of(ratio_end(base, resolution, larger=larger).sum_of(steps, resolution))


def loss_of(end: ConvexEnd) -> FiniteLaw:
    """The law of -ln U of the sum, its masses moved outward by their errors."""
    at, masses = end.runs.atoms()
    error = end.mass_error + 2 * end.point_error  # a mass under P is one under Q times a point
    moved = 1.0 + error if end.larger else 1.0 - min(error, 1.0)
    positive = at > 0.0
    at_zero, at_infinity = end.at_zero, end.at_infinity / end.count
    if end.larger:
        at_zero += end.gathered + float(masses[~positive].sum()) + _UNDERFLOW
        at_infinity += _UNDERFLOW * max(float(at[-1]), 1.0)
    at, masses = at[positive], masses[positive]
    losses, logs = math.log(end.count) - np.log(at), np.log(masses) + math.log(moved)
    return FiniteLaw(
        *merge_losses(losses, logs, within=0.0),
        infinite_mass=at_zero * moved,
        dual_infinite_mass=at_infinity * moved,
        loss_error=end.point_error + 8 * UNIT * (1.0 + float(np.abs(losses).max())),
    )
