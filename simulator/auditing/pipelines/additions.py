"""Data added to noise one after the other, and whether the sums in between are seen.

A loop that adds each record to a noise makes as many additions as there are records. Where nothing
depends on the sums in between, the noise and all that is added to it are one answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.auditing.pipelines.differences import differences
from simulator.auditing.pipelines.tape import TapeEvent
from simulator.auditing.pipelines.visibility import changed_answer

STEPS = (1, -1, 2, 10**6, -(10**6))
"""Changes of the sums in between that are tried, in thousandths of the noise."""


def chains(events: Sequence[TapeEvent]) -> list[list[int]] | None:
    """Each draw to which several numbers are added, with the additions in order.

    None where the sum in between enters something else as well.
    """
    children: dict[int, list[TapeEvent]] = {}
    for event in events:
        for parent in event.parents:
            children.setdefault(parent, []).append(event)
    found = []
    for event in events:
        if event.kind != "draw" and not (event.kind in ("scale", "sum") and event.fresh):
            continue
        chain = [event.number]
        while [each.kind for each in children.get(chain[-1], [])] == ["shift"]:
            chain.append(children[chain[-1]][0].number)
        if any(each.kind == "shift" for each in children.get(chain[-1], [])):
            return None
        if len(chain) > 1:
            found.append(chain)
    return found


def unseen(trial: Any) -> bool:
    """Whether on both databases nothing depends on the sums in between."""
    for which in (0, 1):
        first = trial._play(which)
        found = chains(first.tape.events)
        if found is None:
            return False
        between = [number for chain in found for number in chain[:-1]]
        last = frozenset(chain[-1] for chain in found)
        for step in STEPS:
            changed: Mapping[int, Any] = {
                number: changed_answer(first.tape.events[number], step) for number in between
            }
            run = trial._play(which, first.tape.events, overrides=changed, held=last)
            if run.diverged is not None:
                return False
            if next(differences(vars(first.outcome), vars(run.outcome)), None) is not None:
                return False
    return True
