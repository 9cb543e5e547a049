"""The privacy loss distribution of a composition, and what it certifies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.stored import LAWS
from simulator.theory.outward import below
from simulator.theory.pld.bracket import Bracket
from simulator.theory.pld.certified_tail import OneRound
from simulator.theory.pld.composition_query import CompositionQuery
from simulator.theory.pld.discretise import discretise
from simulator.theory.pld.rounds import Parts
from simulator.theory.pld.windowed_query import WindowedQuery
from simulator.theory.stored import JsonNode, members_of, written

#: Cells a law without closed transform is cut into when no step is given.
_DEFAULT_CELLS = 1000

#: Laws whose total variation is a small part of the work of composing them.
_FEW_LAWS = 16


@dataclass(frozen=True)
class PLD:
    """Privacy loss distribution of independent rounds; a value, composed lazily.

    ``optimistic`` and ``pessimistic`` hold the rounds; they are the same object when every law
    is exact, and differ only where a law had to be discretised. Rounds are kept as a multiset, so
    composition is associative and commutative to the last bit. ``tolerance`` is the relative
    width that brackets aim at; they are certified whatever it is.
    """

    optimistic: Parts
    pessimistic: Parts
    tolerance: float = 2e-7

    def __post_init__(self) -> None:
        if not 1e-12 <= self.tolerance <= 1:
            raise InvalidInput(f"tolerance= must be in [1e-12, 1], got {self.tolerance!r}")

    @classmethod
    def from_law(
        cls, law: PrivacyLossLaw, step: float | None = None, tolerance: float = 2e-7
    ) -> PLD:
        """One round. With ``step`` (nats) the law is discretised, otherwise only if it must be.

        Raises InvalidInput when the grid of that step would not fit memory.
        """
        law = law.simplest
        if step is None and (law.has_exact_transform or law.has_accurate_cells):
            parts = Parts.of([(law, 1)])
            return cls(parts, parts, tolerance)
        if step is None:
            low, high = law.support
            if not np.isfinite(high - low):
                raise InvalidInput("a law of unbounded loss without a transform needs a step")
            step = (high - low) / _DEFAULT_CELLS
        pair = discretise(law, step)
        return cls(Parts.of([(pair.optimistic, 1)]), Parts.of([(pair.pessimistic, 1)]), tolerance)

    @classmethod
    def nothing(cls, tolerance: float = 2e-7) -> PLD:
        """No round at all: the neutral element of composition."""
        return cls(Parts(()), Parts(()), tolerance)

    @property
    def rounds(self) -> int:
        """How many rounds are composed."""
        return self.optimistic.rounds

    def compose(self, other: PLD) -> PLD:
        """Rounds of both, independently (the optimum of an adversary that does not adapt)."""
        optimistic = Parts.of(self.optimistic.items + other.optimistic.items)
        exact = self.optimistic is self.pessimistic and other.optimistic is other.pessimistic
        pessimistic = Parts.of(self.pessimistic.items + other.pessimistic.items)
        tolerance = max(self.tolerance, other.tolerance)
        return PLD(optimistic, optimistic if exact else pessimistic, tolerance)

    def self_compose(self, rounds: int) -> PLD:
        """``rounds`` independent copies."""
        optimistic = _repeated(self.optimistic, rounds)
        exact = self.optimistic is self.pessimistic
        pessimistic = optimistic if exact else _repeated(self.pessimistic, rounds)
        return PLD(optimistic, pessimistic, self.tolerance)

    def reversed(self) -> PLD:
        """The exchanged pair, which is experiment 1."""
        optimistic = self.optimistic.reversed()
        exact = self.optimistic is self.pessimistic
        pessimistic = optimistic if exact else self.pessimistic.reversed()
        return PLD(optimistic, pessimistic, self.tolerance)

    def delta(self, epsilon: float) -> Bracket:
        """Certified bracket of the hockey-stick divergence at any finite epsilon."""
        epsilon = finite("epsilon", epsilon)
        found = self._joined([query.delta(epsilon) for query in self._queries])
        # What is left to 1 may be smaller than any rounding: no lower end is 1 itself.
        return Bracket(min(found.lower, below(1.0)), found.upper)

    def epsilon(self, delta: float) -> Bracket:
        """Certified bracket of the least epsilon >= 0 with hockey-stick divergence <= delta.

        Infinite where more than ``delta`` sits at infinite loss. Raises InvalidInput outside
        0 < delta < 1 (and below 1e-300, where doubles end).
        """
        delta = finite("delta", delta)
        if not 1e-300 <= delta < 1:
            raise InvalidInput(f"delta must be in [1e-300, 1), got {delta!r}")
        if self._never_exceeds(delta):
            return Bracket(0.0, 0.0)
        return self._joined([query.epsilon(delta) for query in self._queries])

    def _never_exceeds(self, delta: float) -> bool:
        """Whether the total variations of the rounds, which add up at most, are below delta.

        Where records are sampled delta(.) may stay just below its target over hundreds of epsilons.
        """
        parts = self.pessimistic
        if len(parts.items) > _FEW_LAWS:
            return False
        one_round = [(OneRound(law, parts.loss_error).at(0.0).upper, n) for law, n in parts.items]
        return sum(upper * count for upper, count in one_round) <= delta * (1 - 1e-13)

    def to_json(self) -> str:
        """One line of JSON: the law of every round and how often it is used, floats exact.

        :meth:`from_json` makes an equal PLD of it, which gives the same answers to the last bit.
        """
        content: dict[str, object] = {"tolerance": self.tolerance}
        content["rounds"] = _listed(self.optimistic)
        if self.optimistic is not self.pessimistic:
            content["pessimistic"] = _listed(self.pessimistic)
        return written("pld", content)

    @classmethod
    def from_json(cls, text: str) -> PLD:
        """Inverse of :meth:`to_json`; raises InvalidInput with the path of what is wrong."""
        found = members_of(text, "pld", ("tolerance", "rounds"))
        optimistic = _of_list(found["rounds"])
        other = found.get("pessimistic")
        pessimistic = optimistic if other is None else _of_list(other)
        return cls(optimistic, pessimistic, found["tolerance"].number())

    @cached_property
    def _queries(self) -> list[CompositionQuery | WindowedQuery]:
        exact = self.optimistic is self.pessimistic
        sides = [self.optimistic] if exact else [self.optimistic, self.pessimistic]
        return [_query(parts, self.tolerance) for parts in sides]

    @staticmethod
    def _joined(sides: list[Bracket]) -> Bracket:
        """The lower end of the optimistic side, the upper end of the pessimistic one."""
        return Bracket(sides[0].lower, sides[-1].upper)


def _listed(parts: Parts) -> list[dict[str, object]]:
    return [{"count": count, "law": LAWS.write(law)} for law, count in parts.items]


def _of_list(node: JsonNode) -> Parts:
    """The rounds in the canonical order, whatever theirs in the document."""
    pairs = []
    for item in node.items():
        entry = item.members()
        if set(entry) != {"count", "law"}:
            item.complain(f"needs a count and a law, and nothing else; it has {sorted(entry)}")
        pairs.append((LAWS.read(entry["law"]), entry["count"].whole()))
    try:
        return Parts.of(pairs)
    except InvalidInput as error:
        node.complain(str(error))


def _repeated(parts: Parts, rounds: int) -> Parts:
    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 0:
        raise InvalidInput(f"rounds must be an integer >= 0, got {rounds!r}")
    return Parts.of((law, count * int(rounds)) for law, count in parts.items)


def _query(parts: Parts, tolerance: float) -> CompositionQuery | WindowedQuery:
    """The engine that these rounds need; a single one has its own curve."""
    if parts.rounds > 1 and not all(law.has_exact_transform for law, _ in parts.items):
        return WindowedQuery(parts, tolerance)
    return CompositionQuery(parts, tolerance)


def compose_laws(rounds: Iterable[tuple[PrivacyLossLaw, int]], tolerance: float = 2e-7) -> PLD:
    """Composition of ``count`` rounds of each law, without adaptivity between them."""
    pairs = Parts.of((law.simplest, count) for law, count in rounds).items
    exact = all(law.has_exact_transform for law, _ in pairs)
    if exact or all(law.has_accurate_cells for law, _ in pairs):
        parts = Parts(pairs)
        return PLD(parts, parts, tolerance)
    total = PLD.nothing(tolerance)
    for law, count in pairs:
        total = total.compose(PLD.from_law(law, tolerance=tolerance).self_compose(count))
    return total
