"""The progress of long computations, reported as stages to a display, if there is one.

A computation writes ``with stage("grid 3", total=rounds) as advance: ... advance()``. The display
is set for the time of a call by :func:`shown_by`. A started thread has no display.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Advance = Callable[..., None]
"""Called with the number of steps done since the last call; 1 without an argument."""


class Display(Protocol):
    """Shows nested stages."""

    def begin(self, name: str, total: float | None) -> Any:
        """Start a stage; without a ``total`` its length is unknown."""

    def advance(self, stage: Any, by: float = 1.0) -> None:
        """Add ``by`` steps to the stage."""

    def end(self, stage: Any) -> None:
        """End the stage, completed or not."""


_display: ContextVar[Display | None] = ContextVar("display", default=None)


def display() -> Display | None:
    """The current display, or None."""
    return _display.get()


@contextlib.contextmanager
def shown_by(display: Display | None) -> Iterator[None]:
    """Show the stages of the block on ``display``; with None they are not shown."""
    before = _display.set(display)
    try:
        yield
    finally:
        _display.reset(before)


@contextlib.contextmanager
def stage(name: str, total: float | None = None) -> Iterator[Advance]:
    """Report a stage of ``total`` steps; yields the function that counts them."""
    shown = _display.get()
    if shown is None:
        yield _ignored
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


def _ignored(by: float = 1.0) -> None:
    """Do nothing: there is no display."""
