"""Ctrl-C while a call into C does not return: gone within half a second all the same.

Python answers a signal between two of its own instructions, so a compiled kernel or a long sum of
numpy in the main thread holds it back. A thread that looks on is told of the signal at once, and
ends the process if nothing else has. What is on disk is whole: results are renamed into place, and
a block that is half written is dropped when its run is resumed.

Only a call that keeps the interpreter lock all the while, as ``sum(range(10**10))``, stays unheard.
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

LEAVING = 0.35
"""Seconds from a signal on in which Python may answer it and put in order what is to be; a machine
with much to do needs some more to end a process."""
A_MOMENT = 0.1
"""Seconds that it has in any case for putting in order, after an answer that was held back."""
SAID = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""The signals that end a command, and its one line."""
under_way: list[Callable[[], str]] = []
"""For each play under way what makes its line on what is kept, should the process end now."""
_SHOW_CURSOR = "\r\x1b[K\x1b[?25h"  # a bar hides it


@contextlib.contextmanager
def within_half_a_second() -> Iterator[None]:
    """Let Ctrl-C end the process soon, whatever is called inside.

    For a program's main thread; in any other nothing is changed. Worker processes that nobody has
    stopped by then are killed: with their parent gone they have nobody to play for.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    answers = {number: signal.getsignal(number) for number in SAID}
    lookout = _Lookout(ours)
    for number, answer in answers.items():
        if callable(answer):
            signal.signal(number, lookout.answering(answer))
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    thread = threading.Thread(target=lookout.watch, daemon=True)
    thread.start()
    try:
        yield
    except BaseException as error:
        # taking the interpreter down may take longer than all else
        if lookout.heard is not None:
            leave(lookout.heard, error)
        raise
    finally:
        lookout.over.set()
        signal.set_wakeup_fd(before)
        for number, answer in answers.items():
            if callable(answer):
                signal.signal(number, answer)
        theirs.close()  # the thread reads its end, and ends


class _Lookout:
    """Waits for signals beside the main thread."""

    def __init__(self, ours: socket.socket) -> None:
        self.ours = ours
        self.over = threading.Event()
        self.answered = threading.Event()
        self.heard: int | None = None
        self.own: list[object] = []

    def answering(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        """The answer to a signal, which says first that it was heard."""

        def answered(number: int, frame: Any) -> Any:
            self.heard = number
            self.answered.set()
            return answer(number, frame)

        self.own.append(answered)
        return answered

    def watch(self) -> None:
        """End the process for a signal that is not answered in time."""
        with self.ours:
            while received := self.ours.recv(1):
                number = received[0]
                if number in SAID:
                    self._see_off(number)

    def _see_off(self, number: int) -> None:
        until = time.monotonic() + LEAVING
        while not self.answered.wait(max(until - time.monotonic(), A_MOMENT)):
            if signal.getsignal(number) in self.own:
                leave(number)
            # somebody holds it back on purpose, while workers start
        if not self.over.wait(max(until - time.monotonic(), A_MOMENT)):
            leave(number)


def exit_code(number: int) -> int:
    """What a shell calls the end by a signal: 130 after Ctrl-C, 143 after SIGTERM."""
    return 128 + number


def interrupted(number: int, error: BaseException | None = None) -> str:
    """The line for a signal and what is kept: by the notes of the error that it became, if any."""
    if error is None:
        notes = [line() for line in under_way]
    else:  # an interruption, or what was raised from it
        notes = getattr(error, "__notes__", []) or getattr(error.__cause__, "__notes__", [])
    return printable("; ".join([SAID[signal.Signals(number)], *notes]))


def leave(number: int, error: BaseException | None = None) -> NoReturn:
    """End the process here and now for a signal, with one line, and its workers with it."""
    start = _SHOW_CURSOR if os.isatty(2) else ""
    try:
        os.write(2, f"{start}{interrupted(number, error)}\n".encode())
        for worker in multiprocessing.active_children():
            worker.kill()
    finally:
        os._exit(exit_code(number))
