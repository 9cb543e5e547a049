"""The rounds of a composition: a multiset of guarantees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.parameters import count


@dataclass(frozen=True)
class Composition:
    """The guarantees of all rounds, with their counts; no bound depends on the order of rounds.

    Made by :meth:`of` or :meth:`repeat`; ``+`` joins two.
    """

    parts: tuple[tuple[Guarantee, int], ...]

    @classmethod
    def of(cls, *parts: tuple[Guarantee | str, int]) -> Composition:
        """``Composition.of((PureDP(0.1), 500), ("pure:0.2", 300))``; raises InvalidInput."""
        counts: Counter[Guarantee] = Counter()
        for guarantee, rounds in parts:
            if isinstance(guarantee, str):
                guarantee = parse_guarantee(guarantee)
            if not isinstance(guarantee, Guarantee):
                raise InvalidInput(f"a round has a guarantee, as PureDP(0.1), not {guarantee!r}")
            counts[guarantee] += count("rounds", rounds)
        if not counts:
            raise InvalidInput("a composition needs at least one round")
        return cls(tuple(sorted(counts.items(), key=lambda part: str(part[0]))))

    @classmethod
    def repeat(cls, guarantee: Guarantee | str, rounds: int) -> Composition:
        """The same guarantee in every one of ``rounds`` rounds."""
        return cls.of((guarantee, rounds))

    def __add__(self, other: Composition) -> Composition:
        return Composition.of(*self.parts, *other.parts)

    def __iter__(self) -> Iterator[tuple[Guarantee, int]]:
        return iter(self.parts)

    def __str__(self) -> str:
        return " + ".join(f"{rounds} x {guarantee}" for guarantee, rounds in self.parts)

    @property
    def rounds(self) -> int:
        """Number of rounds, k."""
        return sum(rounds for _, rounds in self.parts)

    def total(self, amount: Callable[[Guarantee], float]) -> float:
        """Sum of ``amount`` over the rounds."""
        return math.fsum(rounds * amount(guarantee) for guarantee, rounds in self.parts)

    def renyi(self, alpha: float) -> float:
        """Bound on the Renyi divergence of all rounds: the sum (Mironov 2017, Proposition 1)."""
        return self.total(lambda guarantee: guarantee.renyi(alpha))

    def consists_of(self, *kinds: type[Guarantee]) -> bool:
        """Whether every round's guarantee is of one of the given classes."""
        return all(isinstance(guarantee, kinds) for guarantee, _ in self.parts)

    @property
    def core(self) -> Composition:
        """The rounds conditioned on no round revealing its record outright (delta = 0)."""
        return Composition.of(*((guarantee.core, rounds) for guarantee, rounds in self.parts))

    @property
    def log_kept(self) -> float:
        """Natural logarithm of the probability that no round reveals its record outright."""
        return self.total(lambda guarantee: math.log1p(-guarantee.leak))

    @property
    def leaks(self) -> float:
        """The sum of the per-round deltas."""
        return self.total(lambda guarantee: guarantee.leak)
