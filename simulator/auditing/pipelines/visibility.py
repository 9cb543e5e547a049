"""Which noisy answers of a run are seen in what it returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import default_rng  # before a recording replaces it

from simulator.auditing.pipelines.releases import Element
from simulator.auditing.pipelines.tape import TapeEvent

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


def ancestors_of(events: Iterable[TapeEvent]) -> dict[int, set[int]]:
    """The events that each event was made of, by number; the events in order."""
    found: dict[int, set[int]] = {}
    for event in events:
        found[event.number] = set(event.parents).union(
            *(found.get(parent, ()) for parent in event.parents)
        )
    return found


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


def with_other_noise(event: TapeEvent, draws: set[int]) -> Any:
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
