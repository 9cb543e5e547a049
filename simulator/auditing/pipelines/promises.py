"""What declared mechanisms cost on a pair: their laws, or what they promise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from simulator.auditing.pipelines.tape import TapeEvent
from simulator.theory.events import EventTree, promise

SLACK = 1e-9
"""Relative; the rounding of distances and scales must not break a claim."""


@dataclass(frozen=True)
class Promises:
    """What declared mechanisms promise whose inputs differ.

    Attributes
    ----------
    whole : the laws where they are known, or the promises.
    reached : of these the ones that this pair reaches: laws, and promises at full sensitivity.
    unknown : whether a mechanism promises nothing.
    revealed : whether an answer reveals its input.
    """

    whole: list[EventTree]
    reached: list[EventTree]
    unknown: bool = False
    revealed: bool = False


def promises_of(pairs: Sequence[tuple[TapeEvent, TapeEvent]]) -> Promises:
    """The costs of declared mechanisms whose inputs differ."""
    found = Promises([], [])
    for one, other in pairs:
        distance = 0.0 if one.declared is None else distance_of(one, other)
        if one.declared is None or distance == 0.0:
            continue
        limit = one.declared.sensitivity
        if one.declared.law is not None:
            law = one.declared.law(one.inputs, other.inputs)
            if law is None:
                found = replace(found, revealed=True)
            else:
                found.whole.append(law)
                found.reached.append(law)
        elif one.declared.guarantee is None:
            found = replace(found, unknown=True)
        else:
            found.whole.append(promise(one.declared.guarantee))
            if limit is not None and distance >= limit * (1.0 - SLACK):
                found.reached.append(found.whole[-1])
    return found


def distance_of(one: TapeEvent, other: TapeEvent) -> float:
    """The distance of the inputs of a declared mechanism."""
    assert one.declared is not None
    try:
        return float(one.declared.distance(one.inputs, other.inputs))
    except (TypeError, ValueError):
        return math.inf
