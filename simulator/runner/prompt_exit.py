"""Exit within half a second of Ctrl-C, also during a call into C.

Python runs signal handlers between two of its instructions, so a compiled kernel or a long sum of
numpy in the main thread delays them. A watching thread receives the signal at once, and ends the
process if the handler does not. Files on disk stay valid: results are renamed into place, and a
block that is half written is dropped when its run is resumed.

A call that does not release the interpreter lock, as ``sum(range(10**10))``, delays the thread too.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from simulator.foundations.wording import printable

SECONDS_TO_CLEAN_UP = 0.35
"""Seconds from a signal to an immediate exit, in which Python may run its handler and clean up; on
a busy machine the exit takes some more."""
LEAST_SECONDS = 0.1
"""Seconds to clean up after a handler that ran late."""
SIGNAL_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""The signals that end a command, and the words that are printed."""
under_way: list[Callable[[], str]] = []
"""For each running play a function that returns the line on what is stored."""
in_place: list[tuple[Callable[[], str], bool]] = []
"""The lines that stand in place of those of single plays, and whether also where none runs."""
_SHOW_CURSOR = "\r\x1b[K\x1b[?25h"
"""The terminal codes that show the cursor, which a bar hides."""


@contextlib.contextmanager
def within_half_a_second() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the process within half a second, whatever runs inside.

    It applies to the main thread; in other threads it does nothing. Worker processes that still run
    are killed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    handlers = {number: signal.getsignal(number) for number in SIGNAL_WORDS}
    watcher = _Watcher(reader)
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, watcher.wrapped(handler))
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    thread = threading.Thread(target=watcher.watch, daemon=True)
    thread.start()
    try:
        yield
    except BaseException as error:
        # an ordinary exit of the interpreter may take too long
        if watcher.received is not None:
            leave(watcher.received, error)
        raise
    finally:
        watcher.finished.set()
        signal.set_wakeup_fd(before)
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, handler)
        writer.close()  # the thread then reads the end of the stream, and returns


@contextlib.contextmanager
def standing_for_all(line: Callable[[], str], *, always: bool) -> Iterator[None]:
    """Print ``line()`` at an interruption in place of the lines of the plays within.

    A single play's line is not that of a study of many, or of a command that stores nothing. With
    ``always`` it is printed also where no play runs.
    """
    in_place.append((line, always))
    try:
        yield
    except KeyboardInterrupt as error:
        if always or getattr(error, "__notes__", []):
            error.__notes__ = [line()]
        raise
    finally:
        in_place.pop()


class _Watcher:
    """Waits for signals in another thread."""

    def __init__(self, reader: socket.socket) -> None:
        self.reader = reader
        self.finished = threading.Event()
        self.handled = threading.Event()
        self.received: int | None = None
        self.wrappers: list[object] = []

    def wrapped(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """The handler of a signal, which first records that it runs."""

        def recording(number: int, frame: Any) -> Any:
            self.received = number
            self.handled.set()
            return handler(number, frame)

        self.wrappers.append(recording)
        return recording

    def watch(self) -> None:
        """End the process for a signal that is not handled in time."""
        with self.reader:
            while received := self.reader.recv(1):
                number = received[0]
                if number in SIGNAL_WORDS:
                    self._end_in_time(number)

    def _end_in_time(self, number: int) -> None:
        until = time.monotonic() + SECONDS_TO_CLEAN_UP
        while not self.handled.wait(max(until - time.monotonic(), LEAST_SECONDS)):
            if signal.getsignal(number) in self.wrappers:
                leave(number)
            # otherwise the handler is replaced while workers start: see shielded
        if not self.finished.wait(max(until - time.monotonic(), LEAST_SECONDS)):
            leave(number)


def exit_code(number: int) -> int:
    """The exit code of a signal: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + number


def interrupted(number: int, error: BaseException | None = None) -> str:
    """The line for a signal and what is stored, from the notes of its exception if there is one."""
    if error is None:
        notes = [line() for line in under_way]
    else:  # an interruption, or an error raised from it
        notes = getattr(error, "__notes__", []) or getattr(error.__cause__, "__notes__", [])
    if in_place and (notes or in_place[0][1]):
        notes = [in_place[0][0]()]
    return printable("; ".join([SIGNAL_WORDS[signal.Signals(number)], *notes]))


def leave(number: int, error: BaseException | None = None) -> NoReturn:
    """End the process and its workers at once for a signal, with one line."""
    start = _SHOW_CURSOR if os.isatty(2) else ""
    try:
        os.write(2, f"{start}{interrupted(number, error)}\n".encode())
        for worker in multiprocessing.active_children():
            worker.kill()
    finally:
        os._exit(exit_code(number))
