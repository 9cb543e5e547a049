"""Events of training in which a record takes part in a few steps, chosen at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
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
from simulator.training.laws.separated_blocks import SeparatedBlockLaw

_LEAST_RATE = 1e-300


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
        once = _round_of(self, self.event, unit, path, "random allocation")
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


@dataclass(frozen=True)
class MinSeparationEvent(EventTree):
    """Rounds of an event on b-min-sep samples: ``apart`` rounds at least between two of a record.

    At the start every record may take part. One that may does so with probability ``rate``, and
    then may not in the next ``apart - 1`` rounds. Noise is independent, and the pair is known where
    a record's value is there, or 0 is. Only upper ends are certain: the law is that of blocks of
    ``apart`` rounds, at each start of which every record may take part. The proof is in
    ``simulator/theory/lemmas/b-min-sep.md``.

    >>> from simulator import Account
    >>> from simulator.theory.events import gaussian
    >>> from simulator.training import min_separation
    >>> round(Account(min_separation(gaussian(2.0), 0.1, apart=2, rounds=4)).epsilon(1e-3).upper, 3)
    0.255
    """

    event: EventTree
    rate: float
    apart: int
    rounds: int
    kind: ClassVar[str] = "min_separation"

    def __post_init__(self) -> None:
        self._hold((self.event,))
        for name in ("apart", "rounds"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if not _LEAST_RATE <= finite("rate", self.rate) <= 1.0:
            raise InvalidInput(
                f"the sampling rate must be between {_LEAST_RATE:g} and 1, not {self.rate!r}"
            )
        if self.rounds > MOST_STEPS:
            raise InvalidInput(f"rounds must be at most {MOST_STEPS}, not {self.rounds}")

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The numbers of rounds of the blocks, with how many there are of each."""
        size = min(self.apart, self.rounds)
        whole, rest = divmod(self.rounds, size)
        return [each for each in ((size, whole), (rest, 1)) if each[0]]

    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """A round for each block; raises NotApplicable without a theorem."""
        once = _round_of(self, self.event, unit, path, "b-min-sep sampling")
        for size, number in self.blocks:
            law = once.law
            yield replace(
                once,
                law=None if law is None else SeparatedBlockLaw(law, size, rate=self.rate).simplest,
                exact=False,
                attained=None,
                where=f"{path} ({self.kind})",
                count=number,
            )


def _round_of(of: EventTree, event: EventTree, unit: Unit, path: str, name: str) -> EventRounds:
    """The round of an event inside another; raises NotApplicable where no theorem has one."""
    if unit.relation not in PRESENT_OR_NOT or unit.records > 1:
        raise refuse(
            path, of, f"{name} has a theorem for one record under {' and '.join(PRESENT_OR_NOT)} "
            f"only, not under {unit}"
        )  # fmt: skip
    return single_round(list(event.resolved(unit, f"{path}.event")), f"{path}.event", event)


random_allocation = RandomAllocationEvent
min_separation = MinSeparationEvent
