"""Raw data that a pipeline reads after its last use of noise or of a mechanism.

They can go nowhere but past all mechanisms. A value is raw if it differs between two databases
though all answers are the same. Only the pipeline's own code is watched, not what is installed.
"""

from __future__ import annotations

import copy
import dis
import functools
import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, NamedTuple

from simulator.auditing.pipelines.differences import difference
from simulator.auditing.pipelines.tape import RunTape, place_of
from simulator.identity.origins import is_users

MOST = 200
"""Most values that are compared."""
_LOADS = ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF")
_LOCAL = re.compile("LOAD_FAST(?!_AND_CLEAR)|STORE_FAST")
"""The parts of an instruction: newer Pythons join two in one, or give them other endings."""
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_MOVES = ("STORE_ATTR", "STORE_FAST", "RETURN_VALUE")
"""What follows a load that reads nothing of the value yet."""
_BETWEEN = ("CACHE", "PUSH_NULL")
_OLDER = {("LOAD_SMALL_INT", ""): "LOAD_CONST", ("BINARY_OP", "[]"): "BINARY_SUBSCR"}
"""The names of Python 3.11 to 3.13 for instructions of 3.14."""
_NOTHING = object()


class LateReads:
    """The values that a run of a pipeline loads after the tape was used so many times.

    ``found`` has the place, the expression and a copy of each value, in order.
    """

    def __init__(self, tape: RunTape, uses: int) -> None:
        self.tape, self.uses = tape, uses
        self.found: list[tuple[str, str, Any]] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within, the tape's run is watched from its last use on."""
        before = sys.gettrace()
        self.tape.on_use = self._used
        try:
            yield
        finally:
            sys.settrace(before)

    def _used(self) -> None:
        if self.tape.uses < self.uses:
            return
        self.found.clear()
        if self.tape.uses > self.uses:
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not self.tape.is_base(frame):
            self._enter(frame)
            frame = frame.f_back
        sys.settrace(lambda entered, event, argument: self._enter(entered))

    def _enter(self, frame: FrameType) -> Any:
        """The trace function of a frame of the pipeline's own code."""
        module = sys.modules.get(str(frame.f_globals.get("__name__")))
        if module is not None and not is_users(module):
            return None
        frame.f_trace, frame.f_trace_opcodes = self._step, True
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode" and len(self.found) < MOST:
            for load in _loads(frame.f_code).get(frame.f_lasti, ()):
                with self.tape.inside():
                    text, value = _value(frame, *load)
                if value is not _NOTHING:
                    self.found.append((place_of(frame), text, value))
        return self._step

    def first_other(self, other: LateReads) -> str:
        """The first value that is another one in another run, in words; "" if there is none."""
        for (place, text, one), (where, _, two) in zip(self.found, other.found):
            if place != where or difference(one, two) is not None:
                return f"{text} at {place}"
        return ""


@functools.lru_cache(maxsize=256)
def _loads(code: CodeType) -> dict[int, list[tuple[str, tuple[Any, ...], bool]]]:
    """The loads of a code by offset: name, what is taken from the value, and whether its length."""
    found: dict[int, list[tuple[str, tuple[Any, ...], bool]]] = {}
    steps = list(_steps(code))
    for i, step in enumerate(steps):
        if step.opname not in _LOADS:
            continue
        taken: list[Any] = []
        rest = steps[i + 1 :]
        while rest:
            if rest[0].opname in _ATTRIBUTES:
                taken.append(rest[0].argval)
                rest = rest[1:]
            elif [each.opname for each in rest[:2]] == ["LOAD_CONST", "BINARY_SUBSCR"] and not (
                _slices(rest[0].argval)  # a constant in Python 3.14 alone
            ):
                taken.append((rest[0].argval,))
                rest = rest[2:]
            else:
                break
        if rest and rest[0].opname in _MOVES:
            continue
        length = i > 0 and steps[i - 1].opname == "LOAD_GLOBAL" and steps[i - 1].argval == "len"
        found.setdefault(step.offset, []).append((step.argval, tuple(taken), length))
    return found


def _slices(key: Any) -> bool:
    """Whether what stands in brackets is a slice, or has one."""
    return any(isinstance(each, slice) for each in (key if isinstance(key, tuple) else (key,)))


class _Step(NamedTuple):
    """One instruction, or one of two that stand in one place."""

    offset: int
    opname: str
    argval: Any


def _steps(code: CodeType) -> Iterator[_Step]:
    """The instructions of a code, those that are joined one by one."""
    for each in dis.get_instructions(code):
        names = _LOCAL.findall(each.opname)
        values = each.argval if isinstance(each.argval, tuple) else (each.argval,)
        if names and len(names) == len(values):
            yield from (_Step(each.offset, *pair) for pair in zip(names, values))
        elif each.opname not in _BETWEEN:
            name = _OLDER.get((each.opname, each.argrepr)) or _OLDER.get((each.opname, ""))
            yield _Step(each.offset, name or each.opname, each.argval)


def _value(frame: FrameType, name: str, taken: tuple[Any, ...], length: bool) -> tuple[str, Any]:
    """The expression that is loaded and a copy of its value, where it has one."""
    value = frame.f_locals.get(name, _NOTHING)
    text = name
    try:
        for each in taken:
            if isinstance(each, tuple):
                text, value = f"{text}[{each[0]!r}]", value[each[0]]
            elif inspect.isroutine(found := getattr(value, each)):
                if is_users(type(value)):  # its code is watched as well
                    return text, _NOTHING
                break
            else:
                text, value = f"{text}.{each}", found
        value = len(value) if length and not taken else value
        return (f"len({text})" if length else text), copy.deepcopy(value)
    except Exception:  # of a user's class
        return text, _NOTHING
