"""The events of one run of a pipeline: recorded on one database, replayed on another.

An event is one use of randomness on data: a draw of noise, an operation on a noisy value, or a call
of a mechanism. In a replay each event returns the answer that was recorded (it is frozen), so that
whatever the pipeline computes from answers alone is the same again.
"""

from __future__ import annotations

import copy
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import default_rng  # before anything replaces it in numpy.random

from simulator.auditing.pipelines.differences import difference
from simulator.foundations.seeds import named_seed

Extreme = Literal["", "low", "high"]
"""Whether coins are drawn, or all come out at one end of their range."""

_MOST_EXTREME = 1000
"""Coins beyond this number are drawn also where the others are extreme, so that loops end."""

_HERE = str(Path(__file__).parent)
_RUNS = str(Path(__file__).with_name("runs.py"))
_IMPORT = "<frozen importlib._bootstrap>"
_NUMPY = str(Path(np.__file__).parent)


@dataclass(frozen=True)
class Declared:
    """What a mechanism declares of itself.

    Attributes
    ----------
    sensitivity : the largest distance of two inputs, in ``metric``; None where none is declared.
    metric : the name of the distance.
    distance : from two inputs to their distance.
    guarantee : what the call promises; None where nothing is promised.
    law : from two inputs to the exact event of the answer, where that is known.
    """

    sensitivity: float | None
    metric: str
    distance: Callable[[Any, Any], float]
    guarantee: Any = None
    law: Callable[[Any, Any], Any] | None = None


@dataclass(frozen=True)
class NoiseTerm:
    """Independent noise on each element of an answer.

    Attributes
    ----------
    kind : the distribution, as ``laplace``.
    scale : its parameter for each element: a scale, a standard deviation, or the p of a geometric.
    draws : the number of the draw behind each element; equal numbers are one and the same draw.
    sign : 1 or -1.
    """

    kind: str
    scale: np.ndarray
    draws: np.ndarray
    sign: int = 1


def gathered(noise: tuple[NoiseTerm, ...]) -> tuple[NoiseTerm, ...]:
    """The terms of a sum, those of the same draws as one: noise minus itself has a scale of 0."""
    found: list[NoiseTerm] = []
    for term in noise:
        for place, each in enumerate(found):
            signed = each.sign * np.asarray(each.scale) + term.sign * np.asarray(term.scale)
            one_sign = bool(np.all(signed >= 0) or np.all(signed <= 0))
            if each.kind == term.kind and one_sign and np.array_equal(each.draws, term.draws):
                sign = 1 if np.all(signed >= 0) else -1
                found[place] = replace(each, scale=np.abs(signed), sign=sign)
                break
        else:
            found.append(term)
    return tuple(found)


@dataclass
class TapeEvent:
    """One use of randomness.

    Attributes
    ----------
    number : its place in the run, from 0.
    kind : ``draw``, ``shift``, ``scale``, ``sum``, ``part``, ``comparison``, ``choice`` or
        ``mechanism``.
    name : of the function that the pipeline called.
    where : the file and line of that call.
    parameters : public arguments, which must not depend on the data.
    inputs : the private input.
    answer : what the pipeline received.
    noise : the noise on the input, for all kinds but ``mechanism``.
    parents : numbers of the events whose answers this one combines.
    operand : what was added, or the factor, as the run had it.
    added : the operand with which the answer was made: in a replay that of the recorded run.
    fresh : whether it is noise that has met no data.
    declared : of a mechanism.
    additions : how often something was added to a draw, where this is merged with the draw.
    fixed : whether it is a draw of a generator that was seeded by a whole number.
    """

    number: int
    kind: str
    name: str
    where: str
    _: KW_ONLY
    parameters: Mapping[str, Any] = field(default_factory=dict)
    inputs: Any = None
    answer: Any = None
    noise: tuple[NoiseTerm, ...] = ()
    parents: tuple[int, ...] = ()
    operand: Any = None
    added: Any = None
    fresh: bool = False
    declared: Declared | None = None
    additions: int = 0
    fixed: bool = False

    def __str__(self) -> str:
        kind = "" if self.kind in ("draw", "mechanism") else f" ({self.kind})"
        return f"call {self.number}, {self.name}{kind} at {self.where}"


class FixedSeed(NamedTuple):
    """A whole number by which the pipeline seeded a generator, where, and the next event."""

    seed: int
    where: str
    number: int


class Diverged(BaseException):
    """A replay differs from the record; a BaseException, so that no pipeline swallows it."""

    def __init__(self, number: int, event: TapeEvent | None, what: str, values: tuple[str, str]):
        super().__init__(what)
        self.number, self.event, self.what, self.values = number, event, what, values


class RunTape:
    """The events of one run.

    Parameters
    ----------
    seed : of all draws, >= 0.
    record : the events of the recorded run, in a replay.
    overrides : answers, by event number, that replace the recorded ones.
    held : numbers of derived events that keep their recorded answer whatever their parents are.
    redraw : numbers of draws that are not frozen but drawn by ``coin_seed``.
    coin_seed : of everything that is not a mechanism's noise.
    extreme : whether coins come out at the low or the high end of their range.
    strict : the places at which what is done to a noisy answer is an event; elsewhere it is a
        computation from an answer, and may mix it with data.
    merged : whether all that is added to a draw, one after the other, is one event with it.
    """

    def __init__(
        self,
        seed: int,
        record: Sequence[TapeEvent] | None = None,
        *,
        overrides: Mapping[int, Any] | None = None,
        held: frozenset[int] = frozenset(),
        redraw: frozenset[int] = frozenset(),
        coin_seed: int | None = None,
        extreme: Extreme = "",
        strict: frozenset[str] = frozenset(),
        merged: bool = False,
    ) -> None:
        self.events: list[TapeEvent] = []
        self.recorded = record
        self.overrides = overrides or {}
        self.held, self.redraw = held, redraw
        self.strict, self.merged = strict, merged
        self.mixed: list[str] = []
        self.coins = 0
        self.coin_places: list[str] = []
        self.seeded: list[FixedSeed] = []
        self.globally_seeded = False
        self._seed = seed
        self._coin_seed = seed if coin_seed is None else coin_seed
        self.extreme = extreme
        self._inside = 0
        self._sources: dict[int, int] = {}
        self.surplus: TapeEvent | None = None
        self.uses = 0
        self.on_use: Callable[[], None] | None = None

    def used(self) -> None:
        """Count a use of noise or of a mechanism."""
        self.uses += 1
        if self.on_use is not None:
            self.on_use()

    @staticmethod
    def is_base(frame: FrameType) -> bool:
        """Whether a frame is the one that calls the pipeline."""
        return frame.f_code.co_filename == _RUNS

    def is_event(self) -> bool:
        """Whether an operation on a noisy answer, here and now, is an event."""
        where = place()
        self.mixed.append(where)
        return where in self.strict

    @property
    def replaying(self) -> bool:
        """Whether answers are those of a recorded run."""
        return self.recorded is not None

    @property
    def listening(self) -> bool:
        """Whether a call is the pipeline's own, not one within a mechanism."""
        return not self._inside

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Within a mechanism: what it calls is not recorded."""
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1

    def note_seed(self, seed: Any) -> None:
        """Write down that a generator is seeded, if it is by a whole number."""
        if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
            self.seeded.append(FixedSeed(int(seed), place(), len(self.events)))

    def recorded_event(self, number: int) -> TapeEvent | None:
        """The event of that number in the recorded run, if there is one."""
        if self.recorded is None or number >= len(self.recorded):
            return None
        return self.recorded[number]

    def next_event(self, kind: str, name: str, **fields: Any) -> TapeEvent:
        """The next event of this run. Raises Diverged where the recorded one differs."""
        event = TapeEvent(len(self.events), kind, name, place(), **fields)
        if self.recorded is not None:
            self._compare(event)
        self.events.append(event)
        if kind in ("draw", "mechanism"):
            self._sources[event.number] = len(self._sources)
        self.used()
        return event

    def settle(self, event: TapeEvent, compute: Callable[[], Any], frozen: bool = True) -> Any:
        """Give the event its answer and return it: recorded, overridden or computed."""
        before = self.recorded_event(event.number)
        if event.number in self.overrides:
            answer = self.overrides[event.number]
        elif before is not None and event.number not in self.redraw and frozen:
            answer = copy.deepcopy(before.answer)
        else:
            answer = compute()
        event.answer = answer
        return copy.deepcopy(answer) if isinstance(answer, np.ndarray) else answer

    def generator(self, number: int) -> np.random.Generator:
        """The generator of the draw of event ``number``: one for each, so that none shifts.

        It is that of the first, second, ... draw or mechanism, whatever else is an event.
        """
        seed = self._coin_seed if number in self.redraw else self._seed
        return default_rng([seed, 1, self._sources.get(number, len(self._sources))])

    def end_of(self, number: int) -> int:
        """The end of its range at which the draw of event ``number`` comes out: -1, 1, or 0."""
        if number not in self.redraw or number >= _MOST_EXTREME:
            return 0
        return {"low": -1, "high": 1, "": 0}[self.extreme]

    def coin(self, name: str) -> tuple[int, Extreme]:
        """The seed of the next coin, and whether it is extreme."""
        number = self.coins
        self.coins += 1
        self.coin_places.append(f"{name} at {place()}")
        extreme: Extreme = self.extreme if number < _MOST_EXTREME else ""
        return named_seed(self._coin_seed, "coin", number), extreme

    def _compare(self, event: TapeEvent) -> None:
        before = self.recorded_event(event.number)
        if before is None and event.kind == "shift":  # of one record more, unless a call follows
            self.surplus = self.surplus or event
            return
        if before is None:
            raise Diverged(event.number, event, "an extra call", ("no further call", str(event)))
        for what in ("name", "kind"):  # not the line: it is not an answer
            one, other = getattr(before, what), getattr(event, what)
            if one != other:
                raise Diverged(event.number, before, "another call", (str(before), str(event)))
        found = difference(before.parameters, event.parameters)
        if found is not None:
            path = re.sub(r"^\['(\w+)'\]", r"\1", found.path)
            raise Diverged(event.number, before, f"argument {path}", found.texts)


_current: ContextVar[RunTape | None] = ContextVar("dpcompose_tape", default=None)


def current() -> RunTape | None:
    """The tape of the pipeline that runs, unless a mechanism is being computed."""
    tape = _current.get()
    return tape if tape is not None and tape.listening else None


def drawing() -> RunTape | None:
    """The tape on which a draw is recorded, made here and now.

    A module that the pipeline imports may draw while it is imported: once in a process, and so in
    the first run alone. That is no draw of the pipeline.
    """
    tape = current()
    return None if tape is None or _importing() else tape


def _importing() -> bool:
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != _RUNS:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


@contextmanager
def running(tape: RunTape) -> Iterator[RunTape]:
    """Record what runs within on this tape."""
    token = _current.set(tape)
    try:
        yield tape
    finally:
        _current.reset(token)


def place() -> str:
    """``FILE:LINE`` of the innermost code that is neither this package's nor numpy's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_HERE, _NUMPY)):
        frame = frame.f_back
    return place_of(frame)


def place_of(frame: FrameType) -> str:
    """``FILE:LINE`` of a frame."""
    return f"{_shown(frame.f_code.co_filename, os.getcwd())}:{frame.f_lineno}"


@cache
def _shown(file: str, here: str) -> str:
    return str(Path(file).relative_to(here) if Path(file).is_relative_to(here) else file)
