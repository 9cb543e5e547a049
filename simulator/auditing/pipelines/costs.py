"""What the answers of a run cost: which are visible, what they compose to, and the claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import default_rng  # before a recording replaces it

from simulator.auditing.pipelines.promises import Promises, distance_of, promises_of
from simulator.auditing.pipelines.releases import (
    MOVES,
    NOISY,
    Element,
    Spent,
    choice_event,
    elements,
    same_shift,
    shared,
    spent,
)
from simulator.auditing.pipelines.tape import TapeEvent
from simulator.theory.events import EventTree

_TESTED = 12
"""Most elements of an array whose visibility is tested."""

Visible = Callable[[Mapping[int, Any], frozenset[int]], bool]
"""Whether other answers change the output: (answers by event number, events that are held)."""


@dataclass
class NoisyAnswer:
    """A noisy answer that moved, or a choice or comparison of such."""

    one: TapeEvent
    other: TapeEvent
    moved: list[Element]
    leaf: bool = True
    ancestors: set[int] = field(default_factory=set)


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
    ancestors: dict[int, set[int]] = {}
    found: dict[int, NoisyAnswer] = {}
    for one, other in pairs:
        up = set(one.parents)
        for parent in one.parents:
            up |= ancestors.get(parent, set())
        ancestors[one.number] = up
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
        all_of_it.unknown or wanted(all_of_it) or _reuse_is_possible(answers, pairs, visible)
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
            shown.append(NoisyAnswer(answer.one, answer.other, seen, answer.leaf))
        gone = {each.draws for each in seen}
        hidden += [each for each in answer.moved if answer.leaf and each.draws not in gone]
    reused = _reused(shown) or _bare_noise(shown, pairs, numbers, visible)
    moved = _distinct(shown)
    known = _spent(moved, promises.reached, revealed=promises.revealed)
    covered = {each.draws for each in moved}
    rest = [e for e in _of_no_choice(hidden, pairs) if e.draws not in covered]
    whole = _spent([*moved, *rest], promises.whole, promises.unknown, promises.revealed)
    total = _with_discrete(whole, pairs, covered | {each.draws for each in rest})
    return Cost(known, total, tuple(shown), reused)


def visible_elements(
    answer: NoisyAnswer, numbers: frozenset[int], visible: Visible
) -> list[Element]:
    """The elements of an answer on which the output depends, each by itself."""
    event = answer.one
    value = np.asarray(event.answer)
    held = numbers - {event.number}
    places = [each.place for each in answer.moved]
    rng = default_rng(len(places))
    tested = places if len(places) <= _TESTED else list(rng.choice(places, _TESTED, replace=False))
    scale = _size(event)
    seen = set()
    for place in tested:
        if all(
            visible({event.number: _perturbed(value, int(place), step, scale)}, held)
            for step in (1, -1, 2)
        ):
            seen.add(int(place))
    if len(tested) < len(places):
        seen = set(places) if len(seen) == len(tested) else seen
    return [e for place, e in zip(places, answer.moved) if place in seen]


def _perturbed(value: np.ndarray, place: int, step: int, scale: float) -> Any:
    changed = value.copy()
    flat = changed.reshape(-1)
    whole = np.issubdtype(value.dtype, np.integer)
    flat[place] = flat[place] + (step if whole else step * 1e-3 * scale)
    return changed if changed.ndim else changed[()].item()


def changed_answer(event: TapeEvent, step: int) -> Any:
    """The answer with each element changed by so many thousandths of the noise's scale."""
    value: Any = np.asarray(event.answer)
    for place in range(value.size):
        value = np.asarray(_perturbed(value, place, step, _size(event)))
    return value if value.ndim else value[()].item()


def _with_other_noise(event: TapeEvent, draws: set[int]) -> Any:
    """The answer of an event, changed in the elements that have one of these draws."""
    value: Any = np.asarray(event.answer)
    scale = _size(event)
    for place in range(value.size):
        noise = (
            np.broadcast_to(each.draws, value.shape).reshape(-1)[place] for each in event.noise
        )
        if draws.intersection(noise):
            value = np.asarray(_perturbed(value, place, 1, scale))
    return value if value.ndim else value[()].item()


def _size(event: TapeEvent) -> float:
    scales = [float(np.max(each.scale)) for each in event.noise if np.size(each.scale)]
    finite = [each for each in scales if math.isfinite(each) and each > 0.0]
    return max(finite, default=1.0)


def _distinct(answers: Sequence[NoisyAnswer]) -> list[Element]:
    """The elements, one of those that have the same noise."""
    found: dict[tuple[int, ...], Element] = {}
    for answer in answers:
        for element in answer.moved:
            found.setdefault(element.draws, element)
    return list(found.values())


def _reused(answers: Sequence[NoisyAnswer]) -> tuple[NoisyAnswer, NoisyAnswer] | None:
    """Two visible answers, or one, with one noise on inputs that moved differently."""
    found: dict[tuple[int, ...], tuple[NoisyAnswer, Element]] = {}
    for answer in answers:
        for element in answer.moved:
            first = found.setdefault(element.draws, (answer, element))
            if not same_shift(first[1], element):
                return first[0], answer
    return None


def _reuse_is_possible(
    answers: Sequence[NoisyAnswer], pairs: Sequence[tuple[TapeEvent, TapeEvent]], visible: Visible
) -> bool:
    """Whether one draw is in two answers, or the output depends on what is below an answer."""
    if not answers:
        return False
    if any(not each.leaf for each in answers):
        return True
    groups = [
        {draw for element in each.moved for draw in element.draws} for each in answers if each.leaf
    ]
    inner = [len(each.moved) != len({e.draws for e in each.moved}) for each in answers]
    if shared(map(tuple, groups)) or any(inner):
        return True
    numbers = frozenset(each.one.number for each in answers)
    below = set().union(*(each.ancestors for each in answers)) - numbers
    draws = {draw for each in answers for element in each.moved for draw in element.draws}
    changes = {
        one.number: _with_other_noise(one, draws)
        for one, other in pairs
        if one.kind in NOISY
        and one.number not in numbers
        and (one.number in below or _stood_still(one, other, draws))
    }
    return bool(changes) and visible(changes, numbers)


def _stood_still(one: TapeEvent, other: TapeEvent, draws: set[int]) -> bool:
    """Whether an answer has some of these draws on data that did not move."""
    return any(
        not each.shift and draws.intersection(each.draws)
        for each in elements(one, other, moved_only=False)
    )


def _bare_noise(
    shown: Sequence[NoisyAnswer],
    pairs: Sequence[tuple[TapeEvent, TapeEvent]],
    numbers: frozenset[int],
    visible: Visible,
) -> tuple[NoisyAnswer, NoisyAnswer] | None:
    """A visible answer whose noise is also seen bare, or on data that did not move."""
    events = {one.number: (one, other) for one, other in pairs}
    for answer in shown:
        above = _ancestors(answer.one.number, events)
        draws = {draw for element in answer.moved for draw in element.draws}
        for number, (one, other) in events.items():
            if number in numbers or one.kind not in NOISY:
                continue
            if number not in above and not _stood_still(one, other, draws):
                continue
            changed = _with_other_noise(one, draws)
            if visible({number: changed}, numbers):
                return NoisyAnswer(one, other, []), answer
    return None


def _ancestors(number: int, events: dict[int, tuple[TapeEvent, TapeEvent]]) -> set[int]:
    up = set(events[number][0].parents)
    for parent in list(up):
        up |= _ancestors(parent, events)
    return up


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
