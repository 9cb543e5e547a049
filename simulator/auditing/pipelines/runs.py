"""Runs of a pipeline on a tape, and what came out."""

from __future__ import annotations

import copy
import inspect
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from simulator.auditing.pipelines.generators import numpy_recorded, recorded_generator
from simulator.auditing.pipelines.libraries import PATCHES
from simulator.auditing.pipelines.tape import Diverged, Extreme, RunTape, running
from simulator.auditing.pipelines.traced import plain
from simulator.foundations.errors import InvalidInput

GENERATOR_NAMES = ("rng", "generator", "random_state", "coins", "prng")
"""Arguments of a pipeline that receive a recorded generator."""


@dataclass(frozen=True)
class RunOutcome:
    """What a run returned, or the error that it raised, as text."""

    returned: Any = None
    raised: str = ""


@dataclass
class TapedRun:
    """A tape, what came out, where it diverged from the record if it did, and how long it took.

    ``seconds`` are of processor time.
    """

    tape: RunTape
    outcome: RunOutcome
    diverged: Diverged | None = None
    seconds: float = 0.0

    def stops_before(self, number: int) -> bool:
        """Whether it differs from the record before event ``number``."""
        early = self.diverged is not None and self.diverged.number < number
        return early or len(self.tape.events) < number


def redrawn(drawn: int) -> Iterable[tuple[int, Extreme]]:
    """Seeds of other coins, and where these come out: at either end, and ``drawn`` at random."""
    yield 1, "low"
    yield 2, "high"
    yield from ((3 + number, "") for number in range(drawn))


@contextmanager
def instrumented(patches: Iterable[str | AbstractContextManager[Any]]) -> Iterator[None]:
    """Within, numpy, Python's ``random`` and the libraries named are recorded.

    Raises InvalidInput for an unknown name, and where a library is not installed.
    """
    with ExitStack() as stack:
        for each in patches:
            if isinstance(each, str):
                if each not in PATCHES:
                    raise InvalidInput(f"no patch {each!r}: there are {', '.join(PATCHES)}")
                each = PATCHES[each]()
            stack.enter_context(each)
        stack.enter_context(numpy_recorded())
        yield


def played(pipeline: Callable[..., Any], database: Any, tape: RunTape) -> TapedRun:
    """Run the pipeline once, on a copy of the database, within :func:`instrumented`."""
    given = copy.deepcopy(database)
    arguments = {name: recorded_generator() for name in generators_of(pipeline)}
    diverged = None
    outcome, began = RunOutcome(), time.process_time()
    with running(tape):
        try:
            outcome = RunOutcome(_finished(pipeline(given, **arguments)))
        except Diverged as error:
            diverged = error
        except Exception as error:  # of the pipeline: an outcome like any other
            outcome = RunOutcome(raised=f"{type(error).__name__}: {error}")
    return TapedRun(tape, outcome, diverged, time.process_time() - began)


def generators_of(pipeline: Callable[..., Any]) -> list[str]:
    """The arguments of a pipeline that receive a generator: by their names, or the second one."""
    try:
        parameters = list(inspect.signature(pipeline).parameters.values())
    except (TypeError, ValueError):
        return []
    named = [p.name for p in parameters[1:] if p.name in GENERATOR_NAMES]
    if named:
        return named
    second = parameters[1:2]
    required = [
        p.name for p in second
        if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]  # fmt: skip
    return required


_MOST_YIELDED = 100_000
"""How many values a generator may yield: an adversary, given by mistake, never ends."""


def _finished(value: Any) -> Any:
    """The result with generators run to their end, and traces removed at the top."""
    if inspect.isgenerator(value):
        value = list(islice(value, _MOST_YIELDED + 1))
        if len(value) > _MOST_YIELDED:
            raise InvalidInput(
                "a pipeline must come to an end; this one yielded more than "
                f"{_MOST_YIELDED:,} values"
            )
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(plain(each) for each in value)
    return plain(value)
