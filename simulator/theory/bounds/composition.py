"""The rounds of a composition: a multiset of guarantees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.outward import sum_bracket
from simulator.theory.parameters import count


@dataclass(frozen=True)
class Composition:
    """The guarantees of all rounds, with their counts.

    Made by :meth:`of` or :meth:`repeat`; ``+`` joins two.

    Attributes
    ----------
    parts : each guarantee once, with the number of its rounds.
    in_turn : the rounds in the order in which they were given, or None where that is not known.
        It is not compared: of all bounds, ``any-direction`` alone depends on it.

    >>> from simulator import Composition, PureDP
    >>> composition = Composition.repeat("pure:0.1", 20) + Composition.of((PureDP(0.5), 2))
    >>> print(composition, "has", composition.rounds, "rounds")
    20 x pure:0.1 + 2 x pure:0.5 has 22 rounds
    """

    parts: tuple[tuple[Guarantee, int], ...]
    in_turn: tuple[tuple[Guarantee, int], ...] | None = field(
        default=None, compare=False, repr=False
    )

    @classmethod
    def of(cls, *parts: tuple[Guarantee | str, int]) -> Composition:
        """``Composition.of((PureDP(0.1), 500), ("pure:0.2", 300))``; raises InvalidInput.

        >>> from simulator import Composition, PureDP
        >>> print(Composition.of((PureDP(0.1), 500), ("pure:0.2", 300)))
        500 x pure:0.1 + 300 x pure:0.2
        """
        counts: Counter[Guarantee] = Counter()
        in_turn: list[tuple[Guarantee, int]] = []
        for guarantee, rounds in parts:
            if isinstance(guarantee, str):
                guarantee = parse_guarantee(guarantee)
            if not isinstance(guarantee, Guarantee):
                raise InvalidInput(f"a round has a guarantee, as PureDP(0.1), not {guarantee!r}")
            rounds = count("rounds", rounds)
            counts[guarantee] += rounds
            if in_turn and in_turn[-1][0] == guarantee:
                in_turn[-1] = guarantee, in_turn[-1][1] + rounds
            else:
                in_turn.append((guarantee, rounds))
        if not counts:
            raise InvalidInput("a composition needs at least one round")
        counted = sorted(counts.items(), key=lambda part: str(part[0]))
        return cls(tuple(counted), tuple(in_turn))

    @classmethod
    def repeat(cls, guarantee: Guarantee | str, rounds: int) -> Composition:
        """The same guarantee in every one of ``rounds`` rounds.

        >>> from simulator import Composition
        >>> print(Composition.repeat("pure:0.1", 10))
        10 x pure:0.1
        """
        return cls.of((guarantee, rounds))

    def __add__(self, other: Composition) -> Composition:
        if self.in_turn is None or other.in_turn is None:
            return Composition.of(*self.parts, *other.parts).unordered
        return Composition.of(*self.in_turn, *other.in_turn)

    def __iter__(self) -> Iterator[tuple[Guarantee, int]]:
        return iter(self.parts)

    def __str__(self) -> str:
        return " + ".join(f"{rounds} x {guarantee}" for guarantee, rounds in self.parts)

    @property
    def rounds(self) -> int:
        """Number of rounds, k."""
        return sum(rounds for _, rounds in self.parts)

    def total(self, amount: Callable[[Guarantee], float]) -> float:
        """Sum of ``amount`` over the rounds.

        >>> from simulator import Composition
        >>> Composition.repeat("pure:0.5", 10).total(lambda one: one.pure_epsilon)
        5.0
        """
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
        found = Composition.of(
            *((each.core, rounds) for each, rounds in self.in_turn or self.parts)
        )
        return found if self.in_turn else found.unordered

    @property
    def unordered(self) -> Composition:
        """The same rounds in an order that is not known."""
        return replace(self, in_turn=None)

    @property
    def log_kept(self) -> float:
        """Natural logarithm of the probability that no round reveals its record outright."""
        return self.total(lambda guarantee: math.log1p(-guarantee.leak))

    @property
    def leaks(self) -> float:
        """The sum of the per-round deltas."""
        return self.total(lambda guarantee: guarantee.leak)

    @property
    def largest_leak(self) -> float:
        """The sum of the per-round deltas, rounded up where it is no double."""
        return sum_bracket((each.leak, count) for each, count in self.parts).upper
