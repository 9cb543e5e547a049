"""What a composition bound is: conditions, delta(epsilon), epsilon(delta), and its source."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from simulator.errors import InvalidInput, NotApplicable
from simulator.theory.answers import Answer, Kind
from simulator.theory.bounds.round_deltas import ONE_LEAK, LeakRule
from simulator.theory.composition import Composition
from simulator.theory.guarantees import Guarantee

SMALLEST_DELTA = 1e-300
"""The smallest positive delta that is asked: what is smaller loses its digits."""


class Bound(ABC):
    """One theorem on adaptive composition.

    A subclass states its class attributes and, for the rounds that do not leak outright,
    ``_why_not``, ``_delta`` and ``_epsilon``; the per-round deltas are accounted for here.
    A bound with a certified interval overrides ``_delta_answer`` and ``_epsilon_answer``.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    kind: ClassVar[Kind] = "upper"
    costly: ClassVar[bool] = False  # a sizeable part of a second for every new question
    leak_rule: ClassVar[LeakRule] = ONE_LEAK

    def why_not(self, composition: Composition) -> str | None:
        """The condition that ``composition`` fails, in words; None where the bound applies."""
        return self._why_not(composition.core)

    def on(self, composition: Composition) -> BoundOnComposition:
        """Return the bound applied to one composition, or raise NotApplicable with the reason."""
        reason = self.why_not(composition)
        if reason is not None:
            raise NotApplicable(f"{self.name}: {reason}")
        return BoundOnComposition(self, composition)

    @abstractmethod
    def _why_not(self, core: Composition) -> str | None: ...

    @abstractmethod
    def _delta(self, core: Composition, epsilon: float) -> float: ...

    @abstractmethod
    def _epsilon(self, core: Composition, delta: float) -> float: ...

    def _delta_answer(self, core: Composition, epsilon: float) -> Answer:
        value = min(1.0, max(0.0, self._delta(core, epsilon)))
        return Answer.of_kind(self.kind, value, ceiling=1.0)

    def _epsilon_answer(self, core: Composition, delta: float) -> Answer:
        value = max(0.0, self._epsilon(core, delta))
        return Answer.of_kind(self.kind, value, ceiling=math.inf)


@dataclass(frozen=True)
class BoundOnComposition:
    """A bound applied to a composition that meets its conditions."""

    bound: Bound
    composition: Composition

    @property
    def name(self) -> str:
        """Short name, as in :func:`simulator.theory.bound`."""
        return self.bound.name

    @property
    def kind(self) -> Kind:
        """``upper``, ``exact``, ``lower`` or ``approximation``."""
        return self.bound.kind

    @property
    def source(self) -> str:
        """Paper and theorem."""
        return self.bound.source

    def delta(self, epsilon: float) -> Answer:
        """The delta at an epsilon >= 0 (infinity allowed). Raises InvalidInput otherwise."""
        if not epsilon >= 0.0:
            raise InvalidInput(f"epsilon must be a number >= 0, not {epsilon!r}")
        core = self.bound._delta_answer(self.composition.core, epsilon)
        join = self.bound.leak_rule.join
        value = min(1.0, join(self.composition, core.value))
        upper = min(1.0, join(self.composition, core.upper))
        lower = join(self.composition, core.lower) if core.lower > 0.0 else 0.0
        return Answer(value, lower, upper)

    def epsilon(self, delta: float) -> Answer:
        """Least epsilon >= 0 at a delta in [0, 1).

        Raises InvalidInput on another delta and below 1e-300, and NotApplicable where no epsilon
        is enough, or where the rounds' own deltas leave less than 1e-300 of it.
        """
        if not (delta == 0.0 or SMALLEST_DELTA <= delta < 1.0):
            raise InvalidInput(f"delta must be 0, or in [{SMALLEST_DELTA:g}, 1), not {delta!r}")
        core = self.composition.core
        allowed = self.bound.leak_rule.split(self.composition, delta)
        if 0.0 < allowed < SMALLEST_DELTA:
            raise NotApplicable(
                f"{self.name}: the rounds' own deltas leave only {allowed!r} of delta {delta!r}, "
                f"and at least {SMALLEST_DELTA:g} is needed"
            )
        if allowed > 0.0:
            return self.bound._epsilon_answer(core, allowed)
        largest = core.total(pure_epsilon)
        if self.bound.kind == "approximation" or not math.isfinite(largest):
            raise NotApplicable(f"{self.name}: no finite epsilon holds at delta {delta!r}")
        return Answer.of_kind(self.kind, largest, ceiling=math.inf)


def pure_epsilon(guarantee: Guarantee) -> float:
    """The pure epsilon of a guarantee, as a plain function to sum."""
    return guarantee.pure_epsilon


def needs_pure(core: Composition) -> str | None:
    """Condition shared by the bounds on rounds whose loss is bounded."""
    for guarantee, _ in core:
        if not math.isfinite(guarantee.pure_epsilon):
            return f"every round must have a bounded privacy loss, and {guarantee} does not"
    return None
