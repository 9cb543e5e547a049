"""Noise that is seen twice, on data that moved differently: their difference has no noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simulator.auditing.pipelines.releases import NOISY, Element, elements, same_shift, shared
from simulator.auditing.pipelines.tape import TapeEvent
from simulator.auditing.pipelines.visibility import (
    NoisyAnswer,
    Visible,
    ancestors_of,
    changed_answer,
    with_other_noise,
)


def reused_noise(
    shown: Sequence[NoisyAnswer],
    pairs: Sequence[tuple[TapeEvent, TapeEvent]],
    numbers: frozenset[int],
    visible: Visible,
) -> tuple[NoisyAnswer, NoisyAnswer] | None:
    """Two answers, or one, that are seen with the same noise; None if there are none.

    Parameters
    ----------
    shown : the answers that are visible, of the events with these ``numbers`` that moved.
    """
    return (
        _reused(shown)
        or _bare_noise(shown, pairs, numbers, visible)
        or _compared(shown, pairs, numbers, visible)
    )


def _reused(answers: Sequence[NoisyAnswer]) -> tuple[NoisyAnswer, NoisyAnswer] | None:
    """Two visible answers, or one, with one noise on inputs that moved differently."""
    found: dict[tuple[int, ...], tuple[NoisyAnswer, Element]] = {}
    for answer in answers:
        for element in answer.moved:
            first = found.setdefault(element.draws, (answer, element))
            if not same_shift(first[1], element):
                return first[0], answer
    return None


def reuse_is_possible(
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
    if shared(map(tuple, groups)) or any(inner) or any(_contrary(answers, pairs)):
        return True
    numbers = frozenset(each.one.number for each in answers)
    below = set().union(*(each.ancestors for each in answers)) - numbers
    draws = {draw for each in answers for element in each.moved for draw in element.draws}
    changes = {
        one.number: with_other_noise(one, draws)
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
        above = answer.ancestors
        draws = {draw for element in answer.moved for draw in element.draws}
        for number, (one, other) in events.items():
            if number in numbers or one.kind not in NOISY:
                continue
            if number not in above and not _stood_still(one, other, draws):
                continue
            changed = with_other_noise(one, draws)
            if visible({number: changed}, numbers):
                return NoisyAnswer(one, other, []), answer
    return None


def _compared(
    shown: Sequence[NoisyAnswer],
    pairs: Sequence[tuple[TapeEvent, TapeEvent]],
    numbers: frozenset[int],
    visible: Visible,
) -> tuple[NoisyAnswer, NoisyAnswer] | None:
    """A visible answer from which raw data were taken, where what is left decides the output.

    What is left has the answer's noise on data that moved otherwise. It is compared with a bound,
    which a small change does not cross.
    """
    for (one, other), answer in _contrary(shown, pairs):
        if one.kind == "comparison":
            changes = [np.logical_not(one.answer)]
        else:
            changes = [changed_answer(one, 1000 * scales) for scales in (1, -1, 4, -4)]
        if any(visible({one.number: each}, numbers - {one.number}) for each in changes):
            return NoisyAnswer(one, other, []), answer
    return None


def _contrary(
    answers: Sequence[NoisyAnswer], pairs: Sequence[tuple[TapeEvent, TapeEvent]]
) -> Iterator[tuple[tuple[TapeEvent, TapeEvent], NoisyAnswer]]:
    """What was made of an answer with the same noise, on data that moved otherwise."""
    found = ancestors_of(one for one, _ in pairs) if answers else {}
    for one, other in pairs:
        if one.kind not in ("shift", "comparison"):
            continue
        above = found.get(one.number, set())
        made = {each.draws: each for each in elements(one, other, moved_only=False)}
        for answer in answers:
            if answer.one.number in above and any(
                each.draws in made and not same_shift(each, made[each.draws])
                for each in answer.moved
            ):
                yield (one, other), answer
