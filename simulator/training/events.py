"""Events of an epoch in which a record takes part in a few steps, chosen at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from simulator.foundations.errors import InvalidInput
from simulator.theory.events.sampling import single_round
from simulator.theory.events.tree import (
    EventRounds,
    EventTree,
    RepeatedEvent,
    refuse,
)
from simulator.theory.events.units import PRESENT_OR_NOT, Unit
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.parameters import count
from simulator.training.laws.allocation import MOST_STEPS, allocations


@dataclass(frozen=True)
class RandomAllocationEvent(EventTree):
    """Epochs of an event in ``steps`` steps, each record in ``selected`` of them at random.

    ``random_allocation(gaussian(1.0), 100, epochs=10)``: in each of ten epochs a record takes part
    in one of 100 steps. Which steps, is secret and chosen anew in every epoch. The pair is known
    where a record's value is there, or 0 is, for one round of a mechanism in each step; several
    Gaussians in one step are one Gaussian. Steps may depend on the answers of earlier ones, see
    :class:`~simulator.training.laws.allocation.AllocationLaw`.

    One of t steps has the exact law. k of t is dominated by k independent allocations of one step,
    each in its own block of t/k steps, rounded up for the remainder and down for the others: only
    the upper end is certain. Proofs: simulator/theory/lemmas/random-allocation.md.

    Source: Feldman and Shenfeld 2025, "Privacy amplification by random allocation", for the pair
    and the reduction of k of t; Feldman and Shenfeld 2026, "Efficient Privacy Loss Accounting for
    Subsampling and Random Allocation", for blocks of two sizes.

    >>> from simulator import Account
    >>> from simulator.theory.events import gaussian
    >>> from simulator.training import RandomAllocationEvent
    >>> round(Account(RandomAllocationEvent(gaussian(2.0), steps=2)).delta(0.25).upper, 6)
    0.059804
    """

    event: EventTree
    steps: int
    selected: int = 1
    epochs: int = 1
    kind: ClassVar[str] = "random_allocation"

    def __post_init__(self) -> None:
        self._hold((self.event,))
        for name in ("steps", "selected", "epochs"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if self.steps > MOST_STEPS:
            raise InvalidInput(f"steps must be at most {MOST_STEPS}, not {self.steps}")
        if self.selected > self.steps:
            raise InvalidInput(
                f"a record cannot take part in {self.selected} of {self.steps} steps"
            )

    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """A round for each allocation of one step; raises NotApplicable without a theorem."""
        if self.selected == self.steps:  # in every step
            every = RepeatedEvent(RepeatedEvent(self.event, self.steps), self.epochs)
            yield from every.resolved(unit, path)
            return
        if unit.relation not in PRESENT_OR_NOT or unit.records > 1:
            raise refuse(
                path, self, f"random allocation has a theorem for one record under "
                f"{' and '.join(PRESENT_OR_NOT)} only, not under {unit}"
            )  # fmt: skip
        parts = list(self.event.resolved(unit, f"{path}.event"))
        once = single_round(parts, f"{path}.event", self.event)
        blocks: list[tuple[PrivacyLossLaw | None, int]] = [(None, self.selected)]
        if once.law is not None:
            blocks = [*allocations(once.law, self.steps, self.selected)]
        for law, number in blocks:
            yield replace(
                once,
                law=law,
                # No divergence of a mixture is larger than the largest of its parts.
                guarantees=once.guarantees,
                exact=once.exact and self.selected == 1,
                attained=None,
                where=f"{path} ({self.kind})",
                count=number * self.epochs,
            )


random_allocation = RandomAllocationEvent
