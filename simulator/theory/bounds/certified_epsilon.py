"""Certain ends of the epsilon of a composition, from every bound and the composed laws."""

from __future__ import annotations

import math
from collections.abc import Iterable

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bounds_for
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.outward import sum_bracket
from simulator.theory.parameters import count, delta_of_question
from simulator.theory.pld.distribution import compose_laws, largest_epsilon

Rounds = Composition | Iterable[tuple[Guarantee | PrivacyLossLaw, int]]
"""The rounds of a composition: guarantees or laws of one round's privacy loss, with their
counts."""

TOLERANCE = 1e-6


def certified_epsilon(rounds: Rounds, delta: float) -> Bracket:
    """Bracket of the least epsilon >= 0 that holds at ``delta`` in both directions.

    For guarantees it encloses the worst case over adaptive adversaries that choose any mechanism
    keeping them; for laws, the composition of these mechanisms on their worst pairs. Infinite where
    no epsilon is enough.

    Raises
    ------
    InvalidInput : ``rounds`` are not pairs or are empty, or a delta outside [0, 1). NotApplicable :
    guarantees without a known lower end, such as Renyi DP; or laws whose loss cannot be composed
    numerically.
    """
    delta = delta_of_question(delta)
    if not isinstance(rounds, Composition):
        parts = _checked(rounds)
        if not all(isinstance(one, Guarantee) for one, _ in parts):
            return _of_laws([(_law(one), times) for one, times in parts], delta)
        rounds = Composition.of(*((one, n) for one, n in parts if isinstance(one, Guarantee)))
    return _of_guarantees(rounds, delta)


def _checked(rounds: Rounds) -> list[tuple[Guarantee | PrivacyLossLaw, int]]:
    """The rounds as a list of pairs; raises InvalidInput for anything else."""
    try:
        pairs = [(one, count("rounds", times)) for one, times in rounds]
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"rounds must be pairs (guarantee or law, how many): {error}") from None
    if not pairs:
        raise InvalidInput("a composition needs at least one round")
    for one, _ in pairs:
        if not isinstance(one, Guarantee | PrivacyLossLaw):
            raise InvalidInput(f"a round is a guarantee or a law, not {one!r}")
    return pairs


def _law(one: Guarantee | PrivacyLossLaw) -> PrivacyLossLaw:
    """The law of a round, or of the worst pair of its family; raises NotApplicable without one."""
    if isinstance(one, PrivacyLossLaw):
        return one
    if one.worst_law is not None:
        return one.worst_law
    raise NotApplicable(f"no single law is the worst of {one}; give the law of the mechanism")


def _of_guarantees(composition: Composition, delta: float) -> Bracket:
    lower, upper, known = 0.0, math.inf, False
    for bound in bounds_for(composition):
        if bound.kind == "approximation":
            continue
        try:
            answer = bound.epsilon(delta)
        except NotApplicable:
            continue
        lower, upper = max(lower, answer.lower), min(upper, answer.upper)
        known |= bound.kind in ("exact", "lower")
    if not known:
        try:
            found = _of_laws([(_law(guarantee), n) for guarantee, n in composition], delta)
        except NotApplicable:
            if lower == 0.0:
                raise NotApplicable(
                    f"no lower end of epsilon is known for {composition} at delta {delta!r}"
                ) from None
        else:
            lower, upper = max(lower, found.lower), min(upper, found.upper)
    return Bracket(lower, upper)


def _of_laws(rounds: list[tuple[PrivacyLossLaw, int]], delta: float) -> Bracket:
    """Bracket of epsilon in the worse direction."""
    if delta == 0.0:
        return _largest_loss(rounds)
    composed = compose_laws(rounds, TOLERANCE)
    return largest_epsilon((composed, composed.reversed()), delta)


def _largest_loss(rounds: list[tuple[PrivacyLossLaw, int]]) -> Bracket:
    """Bracket of epsilon at delta = 0: the sum of the largest losses, in the worse direction."""
    ends = [Bracket(0.0, 0.0)]
    for pairs in (rounds, [(law.reversed(), times) for law, times in rounds]):
        largest = [
            (math.inf if law.infinite_mass > 0.0 else law.support[1], times) for law, times in pairs
        ]
        ends.append(sum_bracket(largest))
    return Bracket.largest(ends)
