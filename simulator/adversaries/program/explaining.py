"""An adversary's program in words: its menu, its states and its moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import shorten
from typing import Any

from simulator.adversaries.program.forms import Branch, Machine, MenuEntry, NotRead, Slot, Wait
from simulator.adversaries.program.machine import check_challenges, machine_of
from simulator.adversaries.program.reading import read

MOST_SHOWN, FEW, WIDEST = 12, 4, 110
"""Menu entries that are listed, those that a line names, and characters of one."""


def explained(adversary: Callable[..., Any]) -> list[str]:
    """Lines on the program of an adversary, or on why it has none."""
    try:
        machine = machine_of(read(adversary))
        check_challenges(machine)
    except NotRead as refused:
        return [f"It plays in Python, as its source is not in the closed form: {refused}"]
    first = f"{machine.name} is a program: it plays compiled in large games, with equal draws"
    return [first, *_lines(machine)]


def _lines(machine: Machine) -> Iterator[str]:
    yield "Menu:"
    for number, entry in enumerate(machine.menu[:MOST_SHOWN]):
        yield f"  {number}: {shorten(_shown(entry), WIDEST, placeholder=' ...')}"
    if len(machine.menu) > MOST_SHOWN:
        yield f"  and {len(machine.menu) - MOST_SHOWN} more"
    yield "States, and the menu entries that each may send:"
    states: dict[int, None] = {0: None}
    for wait in machine.waits:
        states.setdefault(wait.resume)
    after = {wait.resume: wait for wait in machine.waits}
    for state in states:
        entries = {wait.entry for wait in _next_waits(machine, state)}
        sent = sorted(each for each in entries if not isinstance(each, Slot))
        if len(sent) < len(entries):
            sent = list(range(len(machine.menu)))
        ends = _may_stop(machine, state)
        listed = " or ".join(map(str, sent)) if len(sent) <= FEW else f"one of {len(sent)} entries"
        moves = f"sends {listed}" if sent else "sends nothing"
        if ends:
            moves += ", or stops"
        yield f"  {_place(machine, state, after.get(state))}: {moves}"


def _place(machine: Machine, state: int, wait: Wait | None) -> str:
    if wait is None:
        return "at first"
    file, line = machine.segments[state].place
    kept = dict.fromkeys(
        f"{slot.name} ({slot.kind})" for slot in wait.live if not slot.name[0].isdigit()
    )
    keeps = f", keeping {', '.join(kept)}" if kept else ""
    return f"after the round in line {line} of {file}{keeps}"


def _shown(entry: MenuEntry) -> str:
    made = entry.mechanism
    if not isinstance(made, tuple):
        return repr(made)
    kind, fixed = made
    arguments = [f"{name}={value!r}" for name, value in fixed]
    return f"{kind.__name__}({', '.join([*arguments, f'{kind.parameter_name}=computed'])})"


def _reached(machine: Machine, state: int) -> list[int]:
    found = [state]
    for number in found:  # which grows
        end = machine.segments[number].end
        next_ = (end.then, end.otherwise) if isinstance(end, Branch) else (end,)
        found += [each for each in next_ if isinstance(each, int) and each not in found]
    return found


def _next_waits(machine: Machine, state: int) -> list[Wait]:
    ends = [machine.segments[number].end for number in _reached(machine, state)]
    return [end for end in ends if isinstance(end, Wait)]


def _may_stop(machine: Machine, state: int) -> bool:
    return any(machine.segments[number].end is None for number in _reached(machine, state))
