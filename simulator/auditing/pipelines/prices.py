"""What single lines of a pipeline cost, what all of it composes to, and the claim."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from simulator.auditing.audits.against_claim import claim_points
from simulator.auditing.pipelines.costs import Cost, answers_of
from simulator.auditing.pipelines.promises import SLACK, distance_of
from simulator.auditing.pipelines.releases import Element, Spent, law
from simulator.auditing.pipelines.tape import TapeEvent
from simulator.auditing.pipelines.visibility import NoisyAnswer
from simulator.foundations.errors import DpcomposeError
from simulator.theory.bracket import Bracket
from simulator.theory.events import Account
from simulator.theory.guarantees.interface import Guarantee

_ONE_SIDED = {"exponential", "geometric"}
"""Noise that is never negative, so that a secret sign protects what it does not."""


def _way(element: Element) -> float:
    """1 where the direction of a move matters, else its sign."""
    return 1.0 if _ONE_SIDED.intersection(element.kinds) else math.copysign(1.0, element.relative)


def shifts_of(pairs: Sequence[tuple[TapeEvent, TapeEvent]]) -> list[tuple[int, tuple[float, ...]]]:
    """How far each noisy answer and each mechanism's input moved; of one-sided noise which way."""
    found = [
        (answer.one.number, tuple(round(_way(each) * each.relative, 6) for each in answer.moved))
        for answer in answers_of(pairs)
    ]
    found += [
        (one.number, (round(distance_of(one, two), 6),)) for one, two in pairs if one.declared
    ]
    return sorted(found)


def priced(
    answers: Iterable[NoisyAnswer], pairs: Sequence[tuple[TapeEvent, TapeEvent]]
) -> list[tuple[TapeEvent, float]]:
    """Events with a rough epsilon each, to find the most expensive line."""
    found = []
    for answer in answers:
        price = 0.0
        for element in answer.moved:
            each = law(element)
            epsilon = getattr(each.event, "epsilon", None)
            price += each.mu or (float(epsilon) if epsilon is not None else math.inf)
        found.append((answer.one, price))
    for one, other in pairs:
        if one.declared is not None and distance_of(one, other) > 0.0:
            promise: Any = one.declared.guarantee
            found.append((one, float(getattr(promise, "epsilon", 1.0))))
    return found


def epsilon_of(cost: Cost, delta: float) -> Bracket | None:
    """Certified ends of the composed epsilon of the pair."""
    spent = cost.total
    if spent.revealed:
        return Bracket(math.inf, math.inf)
    if spent.unknown:
        return None
    if not spent.events:
        return Bracket(0.0, 0.0)
    try:
        found = account_of(spent).epsilon(delta)
    except DpcomposeError:
        return None
    return found if spent.exact else replace(found, lower=0.0)


def account_of(cost: Spent) -> Account:
    """The account of a cost in which no input is revealed."""
    account = Account()
    for event, count in cost.events:
        account = account.then(event, count)
    return account


def above_claim(cost: Spent, claimed: Guarantee) -> tuple[float, Bracket, float] | None:
    """A point at which a cost exceeds a claim: epsilon, the composed delta, the claimed one.

    The claimed delta is NaN where the composed one may be too small for a double: Gaussian noise
    against a pure claim.
    """
    if cost.revealed:
        points = claim_points(claimed)
        return float(points[0][0]), Bracket(1.0, 1.0), float(points[1][0])
    if not cost.events:
        return None
    if claimed.kind == "pure" and any(event.kind == "gaussian" for event, _ in cost.events):
        return float(claim_points(claimed)[0][0]), Bracket(0.0, 1.0), math.nan
    account = account_of(cost)
    for epsilon, delta in zip(*claim_points(claimed)):
        at = float(epsilon) * (1.0 + SLACK) + 1e-12
        try:
            found = account.delta(at)
        except DpcomposeError:  # beyond the range of the accountant
            continue
        lower = found.lower if account.exact else found.upper
        if lower > float(delta) * (1.0 + SLACK):
            return float(epsilon), found, float(delta)
    return None
