"""What a long computation is doing: told in stages, to whoever shows it, or to nobody.

A room says ``with stage("grid 3", total=rounds) as advance: ... advance()``. Who shows it stands
far above: :func:`shown_by` names it for the time of a call. Threads that are started tell nobody.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Advance = Callable[..., None]
"""Called with how much more is done; without an argument, one."""


class Display(Protocol):
    """Shows stages, one inside of the other."""

    def begin(self, name: str, total: float | None) -> Any:
        """A stage has begun; without a ``total`` nobody knows how long it will take."""

    def advance(self, stage: Any, by: float = 1.0) -> None:
        """So much more of it is done."""

    def end(self, stage: Any) -> None:
        """It is over, or was given up."""


_display: ContextVar[Display | None] = ContextVar("display", default=None)


def display() -> Display | None:
    """Who shows stages now; None for nobody."""
    return _display.get()


@contextlib.contextmanager
def shown_by(display: Display) -> Iterator[None]:
    """Let ``display`` show what is done inside."""
    before = _display.set(display)
    try:
        yield
    finally:
        _display.reset(before)


@contextlib.contextmanager
def stage(name: str, total: float | None = None) -> Iterator[Advance]:
    """Tell that a stage of ``total`` steps is under way; hands out what counts them."""
    shown = _display.get()
    if shown is None:
        yield _to_nobody
        return
    begun = shown.begin(name, total)
    try:
        yield partial(shown.advance, begun)
    finally:
        shown.end(begun)


def in_stages(items: Sequence[Item], name: str) -> Iterator[Item]:
    """The items one by one, each a step of a stage."""
    with stage(name, len(items)) as advance:
        for item in items:
            yield item
            advance()


def _to_nobody(by: float = 1.0) -> None:
    """Nobody looks."""
