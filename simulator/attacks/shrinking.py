"""The shortest counterexample: fewest rounds, roundest parameters, fewest rules."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.attacks.leads import Lead
from simulator.attacks.measuring import MeasuredDelta
from simulator.attacks.plans import STOP, AttackPlan
from simulator.attacks.searching import AdversarySearch
from simulator.attacks.spaces import Menu
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.worst.menu_parsing import entries

_CLEAR = 1.05
"""How many times what is promised a shorter counterexample gets, at least."""
_DIGITS = (1, 2)


def shortest_of(
    search: AdversarySearch, plan: AttackPlan, lead: Lead
) -> tuple[AttackPlan, MeasuredDelta] | None:
    """A plan that breaks the claim with fewer rounds and rounder parameters, and what it gets.

    Each step keeps a value of the search that is clearly above the promise; the last one of which a
    short plan breaks the claim counts. None if there is none.
    """
    goal = search.claim.delta * _CLEAR if search.claim.delta else 1e-12
    steps = [lead]
    for shorter in (_fewer_rounds, _fewer_options, _rounder, _fewer_rounds):
        steps.append(shorter(search, steps[-1], plan, goal))
    looked_at: list[Lead] = []
    for each in reversed(steps):
        if each in looked_at or each.delta.lower <= goal:
            continue
        looked_at.append(each)
        found, measured = search.settled(
            search.plan_of(each, enough=goal), f"shortest {len(looked_at)}"
        )
        if measured.delta.lower > search.claim.delta and not measured.exact:
            measured = search.measured(found, "the shortest")  # of several one was chosen
        if measured.delta.lower > search.claim.delta:
            return found, measured
        if search.left < 0.0:
            break
    return None


def _look(search: AdversarySearch, menu: Menu, lead: Lead, rounds: int | None) -> Lead | None:
    if search.left < 0.0:
        return None
    return search.look(menu, lead.experiment, 0.05 * search.seconds, rounds or lead.rounds)


def _fewer_options(search: AdversarySearch, lead: Lead, plan: AttackPlan, goal: float) -> Lead:
    """The lead with the options alone that the plan asks, or with one of them."""
    used = [plan.options[move].label for move in sorted({r.move for r in plan.rules} - {STOP})]
    for labels in ([each] for each in used[::-1]):
        found = _of_labels(search, labels, lead, goal)
        if found is not None:
            return found
    return _of_labels(search, used, lead, goal) or lead


def _of_labels(search: AdversarySearch, labels: list[str], lead: Lead, goal: float) -> Lead | None:
    try:
        menu = entries(",".join(labels), search.claim.relation)
    except InvalidInput:
        return None
    found = _look(search, menu, lead, None)
    return found if found is not None and found.delta.lower > goal else None


def _rounder(search: AdversarySearch, lead: Lead, plan: AttackPlan, goal: float) -> Lead:
    """The lead with the parameters of its menu rounded to one digit, or to two."""
    names = [entry.name for entry in lead.menu]
    for texts in _rounded(names):
        found = _of_labels(search, texts, lead, goal)
        if found is not None:
            return found
    return lead


def _rounded(names: list[str]) -> Iterator[list[str]]:
    for digits in _DIGITS:
        texts = []
        for name in names:
            kind, _, numbers = name.partition(":")
            try:
                values = [float(number) for number in numbers.split(",")]
            except ValueError:
                return
            texts.append(f"{kind}:{','.join(f'{value:.{digits}g}' for value in values)}")
        if texts == names:
            return
        yield texts


def _fewer_rounds(search: AdversarySearch, lead: Lead, plan: AttackPlan, goal: float) -> Lead:
    """The lead with the fewest rounds whose value is above the goal, by bisection."""
    low, high, best = 0, lead.rounds, lead
    while high - low > 1:
        middle = (low + high) // 2
        try:
            found = _look(search, lead.menu, lead, middle)
        except NotApplicable:
            break
        if found is None:
            break
        if found.delta.lower > goal:
            high, best = middle, found
        else:
            low = middle
    return best
