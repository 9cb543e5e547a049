"""Bounds by dominating pairs: the pair that dominates each round's family, composed."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from operator import attrgetter
from typing import ClassVar

from simulator.foundations.errors import NotApplicable
from simulator.theory.bounds.base import SAME_PAIR, Bound, unlike
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.menu_recursion import Menu, Stages, menu_delta, menu_epsilon
from simulator.theory.bounds.renyi import RDPCanonneKamathSteinke
from simulator.theory.bracket import Bracket, Kind
from simulator.theory.guarantees.dominated import DominatedFamily
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.pld.distribution import (
    PLD,
    compose_laws,
    grid_tolerance,
    largest_delta,
    largest_epsilon,
)

_SOURCE = "Zhu, Dong and Wang 2022, Theorem 10"
_NEAR = 1e-6  # relative distance of ends that no recursion narrows


class DominatingPairs(Bound):
    """The composition of the rounds' worst pairs: each dominates its family and belongs to it."""

    name = "dominating-pairs"
    source = _SOURCE
    kind: ClassVar[Kind] = "exact"

    def _why_not(self, core: Composition) -> str | None:
        why = "every round must be of a family with a worst pair, unlike {}"
        reason = unlike(core, lambda guarantee: guarantee.worst_law is not None, why)
        if reason or any(isinstance(guarantee, DominatedFamily) for guarantee, _ in core):
            return reason
        return "no round is of a family given by its pair; others have bounds of their own"

    def _composed(self, core: Composition) -> tuple[PLD, ...]:
        return (_composition(core, _worst),)

    def _delta_answer(self, core: Composition, epsilon: float) -> Bracket:
        if math.isinf(epsilon):
            lost = max(one.laws.infinite_mass for one in self._composed(core))
            return Bracket.stated(self.kind, lost, (lost, lost), ceiling=1.0)
        return self._answer(largest_delta(self._composed(core), epsilon), ceiling=1.0)

    def _epsilon_answer(self, core: Composition, delta: float) -> Bracket:
        found = largest_epsilon(self._composed(core), delta)
        if math.isinf(found.upper):
            raise NotApplicable(f"{self.name}: no finite epsilon is certified at delta {delta!r}")
        return self._answer(found, ceiling=math.inf)

    def _answer(self, largest: Bracket, ceiling: float) -> Bracket:
        """The bracket, stated as this bound's kind."""
        value = largest.lower if self.kind == "lower" else largest.upper
        return Bracket.stated(self.kind, value, largest, ceiling=ceiling)


class BothDirections(DominatingPairs):
    """The composition of pairs that dominate each round's family in both directions at once."""

    name = "dominating-both-directions"
    kind = "upper"

    def _why_not(self, core: Composition) -> str | None:
        why = "every round must be of a family with a dominating pair, unlike {}"
        reason = unlike(core, lambda guarantee: guarantee.dominating_law is not None, why)
        if reason or any(guarantee.worst_law is None for guarantee, _ in core):
            return reason
        return "every round's family has a worst pair"

    def _composed(self, core: Composition) -> tuple[PLD, ...]:
        return (_composition(core, _dominating),)


class OneDirection(DominatingPairs):
    """The same database holds the record in every round: the worse of both directions.

    A lower end for the family, whose adversary may exchange the databases; see AnyDirection.
    """

    name = "one-direction"
    source = "Zhu, Dong and Wang 2022, Theorem 11 (attained on one record)"
    kind = "lower"
    adversary = SAME_PAIR

    def why_not(self, composition: Composition) -> str | None:
        """The condition that fails: a delta that leaks has no pair, or one of both directions."""
        return unlike(
            composition,
            lambda guarantee: not (isinstance(guarantee, DominatedFamily) and guarantee.leak > 0.0),
            "no pair is known that reveals the record with the delta of {}",
        ) or super().why_not(composition)

    def _why_not(self, core: Composition) -> str | None:
        return BothDirections()._why_not(core)

    def _composed(self, core: Composition) -> tuple[PLD, ...]:
        return _composition(core, _attained), _composition(core, _attained_reversed)


class AnyDirection(Bound):
    """The adversary chooses in every round anew which database holds the record.

    The best choice after each loss, by backward recursion over both pairs, with both ends. Rounds
    of several noises and rates are played in the order in which the composition has them.
    """

    name = "any-direction"
    source = "Zhu, Dong and Wang 2022, Theorem 11, in each round as they come (recursion; enclosed)"
    kind: ClassVar[Kind] = "exact"
    costly = True

    def _why_not(self, core: Composition) -> str | None:
        if all(guarantee.worst_law is not None for guarantee, _ in core):
            return "every round's family has a worst pair"
        if reason := unlike(
            core,
            lambda each: each.worst_law is not None or isinstance(each, SubsampledGaussianDP),
            "every round must be Gaussian noise on a Poisson sample, or have a worst pair, "
            "unlike {}",
        ):
            return reason
        if core.in_turn is None and len(core.parts) > 1:
            return "the value depends on the order of the rounds, and several kinds alternate"
        return None

    def _stages(self, core: Composition) -> Stages:
        stages: list[tuple[Menu, int]] = []
        for guarantee, rounds in core.in_turn or core.parts:
            law = _attained(guarantee)
            assert law is not None  # the condition was checked
            reverse = () if guarantee.worst_law is not None else (law.reversed(),)
            stages.append(((law, *reverse), rounds))
        return tuple(stages)

    def _delta_answer(self, core: Composition, epsilon: float) -> Bracket:
        if math.isinf(epsilon):
            return Bracket(0.0, 0.0)
        return self._enclosed(
            core,
            largest_delta(OneDirection()._composed(core), epsilon),
            lambda bound: bound._delta_answer(core, epsilon),
            lambda: menu_delta(self._stages(core), epsilon),
        )

    def _epsilon_answer(self, core: Composition, delta: float) -> Bracket:
        return self._enclosed(
            core,
            largest_epsilon(OneDirection()._composed(core), delta),
            lambda bound: bound._epsilon_answer(core, delta),
            lambda: menu_epsilon(self._stages(core), delta),
        )

    def _enclosed(
        self,
        core: Composition,
        one_way: Bracket,
        answer: Callable[[Bound], Bracket],
        recursion: Callable[[], Bracket],
    ) -> Bracket:
        """What all answers leave: who keeps to one direction gets no more, no bound gives less.

        The recursion is left out where their ends are next to each other. Raises its NotApplicable
        where there is no other upper end.
        """
        if core.rounds == 1:
            return one_way
        found = Bracket(one_way.lower, math.inf)
        for bound in (BothDirections(), RDPCanonneKamathSteinke()):
            with suppress(NotApplicable):
                if bound.why_not(core) is None:
                    found = found.meet(answer(bound))
        if math.isinf(found.upper):
            return found.meet(recursion())
        if found.width > _NEAR * found.upper:
            with suppress(NotApplicable):
                found = found.meet(recursion())
        return found


_worst, _dominating = attrgetter("worst_law"), attrgetter("dominating_law")


def _attained(guarantee: Guarantee) -> PrivacyLossLaw | None:
    if isinstance(guarantee, DominatedFamily):
        return guarantee.attained_law
    return guarantee.worst_law


def _attained_reversed(guarantee: Guarantee) -> PrivacyLossLaw | None:
    law = _attained(guarantee)
    return None if law is None else law.reversed()


@lru_cache(maxsize=16)
def _composition(core: Composition, law_of: Callable[[Guarantee], PrivacyLossLaw | None]) -> PLD:
    laws = []
    for guarantee, count in core:
        law = law_of(guarantee)
        assert law is not None  # the condition was checked
        laws.append((law, count))
    return compose_laws(laws, grid_tolerance(law for law, _ in laws))
