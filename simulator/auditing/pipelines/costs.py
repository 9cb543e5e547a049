"""What the answers of a run cost: which are visible, what they compose to, and the claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator.auditing.pipelines.promises import Promises, distance_of, promises_of
from simulator.auditing.pipelines.releases import (
    MOVES,
    NOISY,
    Element,
    Spent,
    choice_event,
    elements,
    shared,
    spent,
)
from simulator.auditing.pipelines.reused_noise import reuse_is_possible, reused_noise
from simulator.auditing.pipelines.tape import TapeEvent
from simulator.auditing.pipelines.visibility import (
    NoisyAnswer,
    Visible,
    ancestors_of,
    visible_elements,
)
from simulator.theory.events import EventTree


@dataclass(frozen=True)
class Cost:
    """The cost of some answers: of those that are exactly known, and an upper bound of all.

    ``reused`` is a pair of answers that have the same noise on inputs that moved differently.
    """

    known: Spent
    total: Spent
    answers: tuple[NoisyAnswer, ...]
    reused: tuple[NoisyAnswer, NoisyAnswer] | None = None


def pairs_of(
    one: Sequence[TapeEvent], other: Sequence[TapeEvent]
) -> list[tuple[TapeEvent, TapeEvent]]:
    """The events of both runs, as far as both go."""
    return list(zip(one, other))


def answers_of(pairs: Sequence[tuple[TapeEvent, TapeEvent]]) -> list[NoisyAnswer]:
    """The noisy answers that moved; those that lead to another one are no leaf."""
    ancestors = ancestors_of(one for one, _ in pairs)
    found: dict[int, NoisyAnswer] = {}
    for one, other in pairs:
        up = ancestors[one.number]
        if one.kind not in NOISY:
            continue
        added = one.additions > 0 or other.additions > 0
        relevant = added or (one.kind in MOVES and _moves(one, other))
        if one.kind == "sum" and not added:  # more noise on an answer that moved
            relevant = bool(up & found.keys()) and not all(
                parent in found or ancestors.get(parent, set()) & found.keys()
                for parent in one.parents
            )
        moved = elements(one, other) if relevant else []
        if moved:
            found[one.number] = NoisyAnswer(one, other, moved, ancestors=up)
    for answer in found.values():
        for number in answer.ancestors & found.keys():
            found[number].leaf = False
    return list(found.values())


def _moves(one: TapeEvent, other: TapeEvent) -> bool:
    """Whether this event brings in data that differ."""
    if one.kind == "draw":
        return True
    a, b = np.asarray(one.operand, dtype=float), np.asarray(other.operand, dtype=float)
    return a.shape != b.shape or bool(np.any((a != b) & ~(np.isnan(a) & np.isnan(b))))


def untouched(
    pairs: Sequence[tuple[TapeEvent, TapeEvent]], events: Sequence[TapeEvent]
) -> frozenset[int]:
    """The events in which no noise met data that differ: they can be drawn anew.

    Draws that were converted before they were added to data are among them, and mechanisms that
    were called on equal inputs.
    """
    met: set[int] = set()
    for one, other in pairs:
        if one.declared is None:
            inside = elements(_as_vector(one) if one.kind == "choice" else one, other)
            met |= {draw for each in inside for draw in each.draws}
    free = {one.number for one, other in pairs if one.declared and not distance_of(one, other)}
    for event in events:
        if event.kind in ("draw", "comparison", "choice") and not met & set(draws_of(event)):
            free.add(event.number)
    return frozenset(free)


def cost_of(
    pairs: Sequence[tuple[TapeEvent, TapeEvent]],
    visible: Visible | None,
    wanted: Callable[[Spent], bool],
) -> Cost:
    """The cost of a run on a pair.

    Parameters
    ----------
    pairs : the events of both runs.
    visible : the test of one answer; None to take every last answer as visible.
    wanted : whether a cost is above the claim, so that visibility matters.
    """
    answers = answers_of(pairs)
    promises = promises_of(pairs)
    leaves = [each for each in answers if each.leaf]
    moved = [element for each in leaves for element in each.moved]
    whole = _spent(moved, promises.whole, promises.unknown, promises.revealed)
    known = _spent(moved, promises.reached, revealed=promises.revealed)
    all_of_it = _with_discrete(whole, _apart(pairs, moved), set())
    if visible is None or not (
        all_of_it.unknown or wanted(all_of_it) or reuse_is_possible(answers, pairs, visible)
    ):
        return Cost(known, whole, tuple(leaves))
    return _tested(pairs, answers, promises, visible)


def _apart(
    pairs: Sequence[tuple[TapeEvent, TapeEvent]], moved: Sequence[Element]
) -> list[tuple[TapeEvent, TapeEvent]]:
    """Choices and comparisons that are no computation from the answers that moved.

    Raw data are compared with noise of their own, or one noise is on several scores.
    """
    draws = {draw for each in moved for draw in each.draws}
    return [
        (one, other)
        for one, other in pairs
        if one.kind in ("choice", "comparison")
        and (not draws & set(draws_of(one)) or _repeats(one))
    ]


def draws_of(event: TapeEvent) -> list[int]:
    """The draws in the noise of an event, element by element."""
    return [int(draw) for each in event.noise for draw in np.asarray(each.draws).flat]


def _repeats(choice: TapeEvent) -> bool:
    draws = draws_of(choice)
    return choice.kind == "choice" and len(draws) > len(set(draws))


def _tested(
    pairs: Sequence[tuple[TapeEvent, TapeEvent]],
    answers: list[NoisyAnswer],
    promises: Promises,
    visible: Visible,
) -> Cost:
    """The cost of what the output is seen to depend on."""
    numbers = frozenset(each.one.number for each in answers)
    shown: list[NoisyAnswer] = []
    hidden: list[Element] = []
    for answer in answers:
        seen = visible_elements(answer, numbers, visible)
        if seen:
            shown.append(replace(answer, moved=seen))
        gone = {each.draws for each in seen}
        hidden += [each for each in answer.moved if answer.leaf and each.draws not in gone]
    reused = reused_noise(shown, pairs, numbers, visible)
    moved = _distinct(shown)
    known = _spent(moved, promises.reached, revealed=promises.revealed)
    covered = {each.draws for each in moved}
    rest = [e for e in _of_no_choice(hidden, pairs) if e.draws not in covered]
    whole = _spent([*moved, *rest], promises.whole, promises.unknown, promises.revealed)
    total = _with_discrete(whole, pairs, covered | {each.draws for each in rest})
    return Cost(known, total, tuple(shown), reused)


def _distinct(answers: Sequence[NoisyAnswer]) -> list[Element]:
    """The elements, one of those that have the same noise."""
    found: dict[tuple[int, ...], Element] = {}
    for answer in answers:
        for element in answer.moved:
            found.setdefault(element.draws, element)
    return list(found.values())


def _of_no_choice(
    hidden: Sequence[Element], pairs: Sequence[tuple[TapeEvent, TapeEvent]]
) -> list[Element]:
    """The hidden answers that entered no choice or comparison, which are counted instead."""
    used = set()
    for one, _ in pairs:
        if one.kind in ("choice", "comparison"):
            for noise in one.noise:
                used |= set(np.asarray(noise.draws).ravel().tolist())
    return [each for each in hidden if not set(each.draws) & used]


def _with_discrete(
    known: Spent, pairs: Sequence[tuple[TapeEvent, TapeEvent]], covered: set[tuple[int, ...]]
) -> Spent:
    """The cost with choices and comparisons of answers that are not visible themselves."""
    events, exact, unknown = list(known.events), known.exact, known.unknown
    groups = []
    for one, other in pairs:
        if one.kind not in ("choice", "comparison"):
            continue
        seen = one if one.kind == "comparison" else _as_vector(one)
        inside = elements(seen, other, moved_only=False)
        moved = [each for each in inside if each.shift and each.draws not in covered]
        if not moved:
            continue
        groups.append([draw for each in inside for draw in each.draws])
        if one.kind == "choice":
            event, sharp = choice_event(one, other)
            exact &= sharp
            unknown |= event is None or _repeats(one)
            events += [] if event is None else [(event, 1)]
        else:
            found = spent(moved)
            exact = False
            events += list(found.events)
            unknown |= found.revealed or found.unknown
    return Spent(tuple(events), exact, known.revealed, unknown or shared(groups))


def _as_vector(one: TapeEvent) -> TapeEvent:
    """A choice as the noisy scores among which it chooses."""
    scores = TapeEvent(one.number, "shift", one.name, one.where)
    scores.inputs, scores.noise = one.inputs, one.noise
    scores.answer = np.zeros(np.shape(one.inputs))
    return scores


def _spent(
    moved: Sequence[Element],
    declared: Sequence[EventTree],
    unknown: bool = False,
    revealed: bool = False,
) -> Spent:
    """The cost of noisy numbers, of which equal draws count once, and of declared mechanisms."""
    distinct = {each.draws: each for each in moved}
    found = spent(distinct.values())
    counts: dict[EventTree, int] = dict(found.events)
    for event in declared:
        counts[event] = counts.get(event, 0) + 1
    overlap = shared(distinct)
    return Spent(
        tuple(counts.items()),
        found.exact and not overlap,
        found.revealed or revealed,
        found.unknown or unknown or overlap,
    )
