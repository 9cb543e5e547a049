"""An adversary of the suite: what plays, and beside it, as data, what its truth is made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from experiments.coverage.entries import Entry
from simulator import PureDP
from simulator.adversaries import Rule
from simulator.theory.filters.interface import Filter
from simulator.theory.guarantees.interface import Guarantee

Gate = Callable[[float, float], tuple[bool, float]]
"""``gate(spent, price) -> (admitted, spent afterwards)``: a filter, written down a second time."""


@dataclass(frozen=True)
class Subject:
    """An adversary with everything that its exact answers need.

    Attributes
    ----------
    name, kind : of the adversary, and of the way it hides its large losses.
    rounds : k.
    family : the class M.
    entries : the menu, with the law of each challenge.
    step : ``step(state, i, answer, coins) -> (state, move)``; the rule itself, or what a generator
        does, written a second time. It tosses at most one coin in a round, by ``coins.random()``.
    state : before round 0.
    coin_cuts : every number that the step compares a coin with. They divide [0, 1] into the
        branches of the coin; the branches' lengths are their probabilities.
    generator : the adversary itself where it is a generator function and not a rule.
    filter, gate : the filter in play, and the same filter for the truth.
    """

    name: str
    kind: str
    rounds: int
    family: Guarantee
    entries: tuple[Entry, ...]
    step: Callable[..., tuple[Any, int]]
    state: Any = 0
    coin_cuts: tuple[float, ...] = ()
    generator: Callable[..., Any] | None = None
    filter: Filter | None = None
    gate: Gate | None = None

    @cached_property
    def player(self) -> Callable[..., Any]:
        """The adversary that ``estimate_rare`` plays."""
        if self.generator is not None:
            return self.generator
        return Rule(self.step, tuple(e.challenge for e in self.entries), self.state, self.name)

    @property
    def is_continuous(self) -> bool:
        """Whether some entry has infinitely many losses."""
        return any(entry.noise is not None for entry in self.entries)

    @cached_property
    def branches(self) -> tuple[tuple[float, float], ...]:
        """(probability, a number of the branch) for every branch of a coin."""
        edges = (0.0, *self.coin_cuts, 1.0)
        return tuple((b - a, 0.5 * (a + b)) for a, b in pairwise(edges))

    def moves(self, state: Any, i: int, answer: float) -> list[tuple[float, Any, int]]:
        """(probability, next state, move) for every branch; one without a coin."""
        found = []
        for probability, number in self.branches:
            coins = ScriptedCoins(number)
            after, move = self.step(state, i, answer, coins)
            if coins.tossed == 0:
                return [(1.0, after, int(move))]
            if coins.tossed > 1:
                raise ValueError(f"{self.name} tosses {coins.tossed} coins in round {i}")
            found.append((probability, after, int(move)))
        return found


class ScriptedCoins:
    """In place of an adversary's coins: returns one number, and counts the calls."""

    def __init__(self, number: float) -> None:
        self.number = number
        self.tossed = 0

    def random(self) -> float:
        """The number of the branch."""
        self.tossed += 1
        return self.number


class Cast:
    """The subjects of one file, in the order of their definition."""

    def __init__(self) -> None:
        self.subjects: list[Subject] = []

    def rule(
        self, kind: str, rounds: int, *entries: Entry, family: Guarantee | None = None, **rest: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Enter the decorated step function; by default its family is that of its dearest entry."""

        def enter(step: Callable[..., Any]) -> Callable[..., Any]:
            self._add(kind, rounds, entries, family, step.__name__, step=step, **rest)
            return step

        return enter

    def generator(
        self,
        kind: str,
        rounds: int,
        *entries: Entry,
        step: Callable[..., Any],
        family: Guarantee | None = None,
        **rest: Any,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Enter the decorated generator function, which does what ``step`` does."""

        def enter(generator: Callable[..., Any]) -> Callable[..., Any]:
            name = generator.__name__
            self._add(kind, rounds, entries, family, name, step=step, generator=generator, **rest)
            return generator

        return enter

    def _add(
        self,
        kind: str,
        rounds: int,
        entries: tuple[Entry, ...],
        family: Guarantee | None,
        name: str,
        **rest: Any,
    ) -> None:
        given = family or PureDP(max(entry.price for entry in entries))
        name = name.replace("_", "-")
        self.subjects.append(Subject(name, kind, rounds, given, entries, **rest))


def sum_gate(budget: float) -> Gate:
    """Admit while the epsilons add up to at most ``budget``."""

    def gate(spent: float, price: float) -> tuple[bool, float]:
        fits = spent + price <= budget * (1.0 + 1e-12)
        return fits, round(spent + price, 12) if fits else spent

    return gate


def square_gate(budget: float, delta: float) -> Gate:
    """Admit while sqrt(2 Q ln(1/delta)) + Q/2 is at most ``budget``, Q the sum of squares."""

    def gate(squares: float, price: float) -> tuple[bool, float]:
        after = squares + price * price
        fits = math.sqrt(2.0 * after * math.log(1.0 / delta)) + after / 2.0 <= budget
        return fits, round(after, 12) if fits else squares

    return gate
