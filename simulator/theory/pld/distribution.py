"""The privacy loss distribution of a composition."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import finite, listed
from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.stored import LAWS
from simulator.theory.outward import below
from simulator.theory.pld.composition_query import CompositionQuery
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.enclosed_query import EnclosedQuery
from simulator.theory.pld.lines_query import LinesQuery
from simulator.theory.stored import JsonNode, members_of, written

_ON_LINES, _MANY_ATOMS = 1e-7, 256
"""The least tolerance, and the number of losses, from which finite laws are composed on lines."""
_ON_A_GRID, _MANY_ON_A_GRID, _MANY_LAWS = 1e-6, 1e-4, 32
"""Tolerances of compositions on lines, the second for more distinct laws than the number."""


def grid_tolerance(laws: Iterable[PrivacyLossLaw]) -> float:
    """The relative width that brackets aim at by default, on lines or a grid: 1e-6 or 1e-4.

    A composition of 2,000 distinct laws then takes a minute instead of an hour; rounds of sampled
    Gaussians on a line reach more, sooner.
    """
    different = set(laws)
    aim = _MANY_ON_A_GRID if len(different) > _MANY_LAWS else _ON_A_GRID
    return max(aim, *(law.least_tolerance for law in different), 0.0)


@dataclass(frozen=True)
class PLD:
    """Privacy loss distribution of independent rounds; a value, composed lazily.

    ``laws`` are kept as a multiset, so composition is associative and commutative to the last bit.
    ``tolerance`` is the relative width that brackets aim at; they are certified at any tolerance.

    >>> from simulator.theory import PLD, GaussianLaw
    >>> pld = PLD.from_law(GaussianLaw(0.1)).self_compose(100)
    >>> round(pld.delta(1.0).value, 6), round(pld.epsilon(1e-6).value, 4)
    (0.126937, 4.8866)
    """

    laws: CountedLaws
    tolerance: float = 2e-7

    def __post_init__(self) -> None:
        if not 1e-12 <= self.tolerance <= 1:
            raise InvalidInput(
                f"tolerance must be in [1e-12, 1], not {self.tolerance!r}", argument="tolerance"
            )

    @classmethod
    def from_law(cls, law: PrivacyLossLaw, tolerance: float = 2e-7) -> PLD:
        """One round."""
        return cls(CountedLaws.of([(law.simplest, 1)]), tolerance)

    @classmethod
    def nothing(cls, tolerance: float = 2e-7) -> PLD:
        """No round at all: the neutral element of composition."""
        return cls(CountedLaws(()), tolerance)

    @property
    def rounds(self) -> int:
        """How many rounds are composed."""
        return self.laws.rounds

    def compose(self, other: PLD) -> PLD:
        """The composition of both, independent (the worst case without adaptivity)."""
        laws = CountedLaws.of(self.laws.items + other.laws.items)
        return PLD(laws, max(self.tolerance, other.tolerance))

    def self_compose(self, rounds: int) -> PLD:
        """``rounds`` independent copies."""
        if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 0:
            raise InvalidInput(f"rounds must be an integer >= 0, got {rounds!r}")
        repeated = ((law, count * int(rounds)) for law, count in self.laws.items)
        return PLD(CountedLaws.of(repeated), self.tolerance)

    @classmethod
    def of(cls, rounds: Iterable[tuple[PrivacyLossLaw, int]], tolerance: float = 2e-7) -> PLD:
        """Composition of ``count`` rounds of each law that shares nothing with an earlier one."""
        return cls(_counted(rounds), tolerance)

    def reversed(self) -> PLD:
        """The exchanged pair, which is experiment 1."""
        return _composed(self.laws.reversed(), self.tolerance)

    def delta(self, epsilon: float) -> Bracket:
        """Certified bracket of the hockey-stick divergence at any finite epsilon.

        Raises NotApplicable where the total loss is too widely or too narrowly spread.
        """
        found = self._delta(finite("epsilon", epsilon))
        # 1 - delta may be below rounding, so no lower end is 1 itself.
        return Bracket(min(found.lower, below(1.0)), found.upper)

    def _at_most(self, epsilon: float) -> float:
        """An upper end of delta(epsilon) that takes no composition; 1 where there is none."""
        inside = 0.0 <= epsilon < self.laws.support[1]
        if not (inside and isinstance(self._query, LinesQuery)):
            return 1.0
        return self._query.at_most(epsilon)

    def _delta(self, epsilon: float) -> Bracket:
        if epsilon < 0:  # delta(E) of (P0, P1) = 1 - e^E + e^E delta(-E) of (P1, P0)
            dual, factor = self._exchanged._delta(-epsilon), math.exp(epsilon)
            rest = -math.expm1(epsilon)
            return _widened(rest + factor * dual.lower, rest + factor * dual.upper)
        if epsilon >= self.laws.support[1] or self.laws.infinite_mass >= 1.0:
            return _widened(self.laws.infinite_mass, self.laws.infinite_mass)
        return self._query.delta(epsilon)

    def epsilon(self, delta: float) -> Bracket:
        """Certified bracket of the least epsilon >= 0 with hockey-stick divergence <= delta.

        Infinite where the mass at infinite loss exceeds ``delta``. Raises InvalidInput unless
        1e-300 <= delta < 1, NotApplicable as :meth:`delta`.
        """
        delta = finite("delta", delta)
        if not 1e-300 <= delta < 1:
            raise InvalidInput(f"delta must be in [1e-300, 1), got {delta!r}")
        if self._never_exceeds(delta):
            return Bracket(0.0, 0.0)
        if delta < self.laws.infinite_mass * (1 - 1e-13):
            return Bracket(math.inf, math.inf)
        found = self._query.epsilon(delta)
        if found.lower == 0.0 < found.upper and self._query.delta(0.0).upper <= delta:
            return Bracket(0.0, 0.0)
        return found

    def _never_exceeds(self, delta: float) -> bool:
        """Whether the sum of the rounds' total variations, which bounds delta(0), is below delta.

        Then epsilon is 0; for sampled records the search for it may be long.
        """
        return self.laws.total_variation <= delta * (1 - 1e-13)

    def is_enough(self, epsilon: float, delta: float) -> bool:
        """Whether delta(epsilon) is certainly at most ``delta``, found sooner than by an answer.

        It is False where that is not certain from a bound and one coarse integral. Raises
        NotApplicable as :meth:`delta`.

        >>> from simulator.theory import PLD, GaussianLaw, PoissonSubsampledLaw
        >>> pld = PLD.from_law(PoissonSubsampledLaw(GaussianLaw(1.0), 0.01)).self_compose(1000)
        >>> print(pld.epsilon(1e-6))
        between 1.5890887 and 1.5890888
        >>> pld.is_enough(1.6, 1e-6), pld.is_enough(1.5, 1e-6)
        (True, False)
        """
        if not 0.0 <= epsilon < self.laws.support[1]:
            return self.delta(epsilon).upper <= delta
        return isinstance(self._query, LinesQuery) and self._query.is_enough(epsilon, delta)

    def to_json(self) -> str:
        """One line of JSON: the law of every round and how often it is used, floats exact.

        :meth:`from_json` makes an equal PLD, with the same brackets to the last bit.
        """
        rounds = [{"count": count, "law": LAWS.write(law)} for law, count in self.laws.items]
        return written("pld", {"tolerance": self.tolerance, "rounds": rounds})

    @classmethod
    def from_json(cls, text: str) -> PLD:
        """Inverse of :meth:`to_json`; raises InvalidInput with the path of what is wrong."""
        found = members_of(text, "pld", ("tolerance", "rounds"))
        if "pessimistic" in found:
            found["pessimistic"].complain("laws that enclose another one are no longer read")
        return cls(_of_list(found["rounds"]), found["tolerance"].number())

    @cached_property
    def _exchanged(self) -> PLD:
        return self.reversed()

    @cached_property
    def _query(self) -> CompositionQuery | LinesQuery | EnclosedQuery:
        """The engine for these laws."""
        laws = [law for law, _ in self.laws.items]
        if any(law.least_tolerance for law in laws):
            return EnclosedQuery(self.laws, self.tolerance)
        exact = all(law.has_exact_transform for law in laws)
        if not all(law.has_exact_transform or law.has_accurate_cells for law in laws):
            raise NotApplicable("a law is composed by its exact transform, or by accurate cells")
        if exact and self.tolerance >= _ON_LINES and self.rounds > 1:
            exact = max(law.atom_losses.size for law in laws) <= _MANY_ATOMS
        engine = CompositionQuery if exact or self.rounds <= 1 else LinesQuery
        return engine(self.laws, self.tolerance)


def largest_delta(plds: Iterable[PLD], epsilon: float) -> Bracket:
    """Bracket of the largest delta(epsilon) of several distributions, such as both directions.

    One whose Chernoff bound is below the largest so far is not composed.
    """
    bounds = sorted(((pld._at_most(epsilon), pld) for pld in plds), key=lambda pair: -pair[0])
    found: list[Bracket] = []
    for at_most, pld in bounds:
        if not found or at_most > max(bracket.lower for bracket in found):
            found.append(pld.delta(epsilon))
    return Bracket.largest(found)


def largest_epsilon(plds: Iterable[PLD], delta: float) -> Bracket:
    """Bracket of the largest epsilon(delta) of several distributions, such as both directions.

    That of the largest losses is first; one for which its lower end is enough is not composed.
    """
    found: list[Bracket] = []
    for pld in sorted(plds, key=lambda pld: -pld.laws.support[1]):
        least = max((bracket.lower for bracket in found), default=0.0)
        if not (0.0 < least < math.inf and pld.is_enough(least, delta)):
            found.append(pld.epsilon(delta))
    return Bracket.largest(found)


def _widened(lower: float, upper: float) -> Bracket:
    """A bracket widened by the rounding of the last few operations."""
    return Bracket(max(lower * (1 - 1e-14), 0.0), min(upper * (1 + 1e-14), 1.0))


def _of_list(node: JsonNode) -> CountedLaws:
    """The rounds of a document, in the canonical order."""
    pairs = []
    for item in node.items():
        entry = item.members()
        if set(entry) != {"count", "law"}:
            item.complain(f"needs a count and a law, and nothing else; it has {sorted(entry)}")
        pairs.append((LAWS.read(entry["law"]), entry["count"].whole()))
    try:
        return CountedLaws.of(pairs)
    except InvalidInput as error:
        node.complain(str(error))


def _counted(rounds: Iterable[tuple[PrivacyLossLaw, int]]) -> CountedLaws:
    """The laws with their numbers; raises InvalidInput for what is no pair of them."""
    pairs = listed("rounds", rounds)
    for each in pairs:
        if not isinstance(each, tuple | list) or len(each) != 2:
            raise InvalidInput(f"rounds are pairs of a law and a number, not {each!r:.80}")
    return CountedLaws.of((law.simplest, count) for law, count in pairs)


def compose_laws(rounds: Iterable[tuple[PrivacyLossLaw, int]], tolerance: float = 2e-7) -> PLD:
    """Composition of ``count`` rounds of each law, without adaptivity between them.

    The last few are kept, with what they have computed; :meth:`PLD.of` composes anew.

    >>> from simulator.theory import GaussianLaw, LaplaceLaw, compose_laws
    >>> pld = compose_laws([(GaussianLaw(0.1), 10), (LaplaceLaw(0.1), 10)])
    >>> pld.rounds, round(pld.epsilon(1e-6).value, 4)
    (20, 1.9012)
    """
    return _composed(_counted(rounds), tolerance)


_composed = lru_cache(maxsize=4)(PLD)
