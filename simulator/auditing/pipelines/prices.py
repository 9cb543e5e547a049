"""What single lines of a pipeline cost, what all of it composes to, and the claim."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from simulator.auditing.audits.against_claim import claim_points
from simulator.auditing.pipelines.costs import Cost, answers_of
from simulator.auditing.pipelines.promises import SLACK, distance_of
from simulator.auditing.pipelines.releases import Element, Spent, law
from simulator.auditing.pipelines.tape import TapeEvent
from simulator.auditing.pipelines.visibility import NoisyAnswer
from simulator.foundations.errors import DpcomposeError
from simulator.foundations.wording import count_of
from simulator.theory.bracket import Bracket
from simulator.theory.events import Account, EventTree
from simulator.theory.guarantees.interface import Guarantee

_ONE_SIDED = {"exponential", "geometric"}
"""Noise that is never negative, so that a secret sign protects what it does not."""


LIKELY, DOUBT = 0.6, 1e-4
"""The least probability of an output that comes out in most of some draws, and the probability with
which one that is hidden is taken for a leak."""
FEWEST, MOST = 32, 512
"""Draws: more take too long."""


def draws_needed(claimed: Guarantee | None) -> int:
    """How many draws tell a leak from what a pipeline that keeps the claim hides; 0 beyond MOST.

    What has probability p on one database has at least (p - delta) e^-epsilon on the other. Without
    a claim it is taken to be pure:1.
    """
    points = ([1.0], [0.0]) if claimed is None else claim_points(claimed)
    least = max((LIKELY - d) * math.exp(-e) for e, d in zip(*points))
    count = math.log(DOUBT) / math.log1p(-least) if least > 0.0 else math.inf
    return max(FEWEST, math.ceil(count)) if count <= MOST else 0


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


def most_expensive(
    cost: Cost, pairs: Sequence[tuple[TapeEvent, TapeEvent]]
) -> tuple[TapeEvent | None, str]:
    """The line that costs most, by the sum of its epsilons, and how many calls it made."""
    by_line: dict[str, list[float]] = {}
    events: dict[str, TapeEvent] = {}
    for each, epsilon in priced(cost.answers, pairs):
        by_line.setdefault(each.where, []).append(epsilon)
        events.setdefault(each.where, each)
    if not by_line:
        return None, ""
    worst = max(by_line, key=lambda line: sum(by_line[line]))
    return events[worst], f"; most by {count_of(len(by_line[worst]), 'call')} of this line"


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
        found = account_of(spent.events).epsilon(delta)
    except DpcomposeError:
        return None
    return found if spent.exact else replace(found, lower=0.0)


def account_of(events: Iterable[tuple[EventTree, int]]) -> Account:
    """The account of events, each with how often it occurs."""
    account = Account()
    for event, count in events:
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
    for epsilon, delta in zip(*claim_points(claimed)):
        at = float(epsilon) * (1.0 + SLACK) + 1e-12
        try:
            found, lower = _delta_at(cost.events, at)
        except DpcomposeError:  # beyond the range of the accountant
            continue
        if lower > float(delta) * (1.0 + SLACK):
            return float(epsilon), found, float(delta)
    return None


@lru_cache(maxsize=64)
def _delta_at(events: tuple[tuple[EventTree, int], ...], epsilon: float) -> tuple[Bracket, float]:
    """The composed delta, and its certified lower end; the upper one where no law is exact."""
    account = account_of(events)
    each_alone = ((part.guarantees[0].pure_epsilon, part.count) for part in account.rounds)
    if sum(alone * count for alone, count in each_alone) <= epsilon:  # by basic composition
        return Bracket(0.0, 0.0), 0.0
    found = account.delta(epsilon)
    return found, found.lower if account.exact else found.upper
