"""What single lines of a pipeline cost, and what all of it composes to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from simulator.foundations.errors import DpcomposeError
from simulator.theory.bracket import Bracket
from simulator.trials.pipelines.costs import Cost, NoisyAnswer, account_of, answers_of, distance_of
from simulator.trials.pipelines.releases import law
from simulator.trials.pipelines.tape import TapeEvent


def shifts_of(pairs: Sequence[tuple[TapeEvent, TapeEvent]]) -> list[tuple[int, tuple[float, ...]]]:
    """How far each noisy answer and each mechanism's input moved."""
    found = [
        (answer.one.number, tuple(round(abs(each.relative), 6) for each in answer.moved))
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
