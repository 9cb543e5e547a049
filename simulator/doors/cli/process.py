"""The process of a command: its signals, its streams, and its end.

Ctrl-C and SIGTERM end a command as KeyboardInterrupt, which frees what it holds. Where that is
lost, in a callback of some library, or where a second signal comes, it ends at once: a stored
run loses nothing but the blocks in flight, and workers die with their parent.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import NoReturn, TextIO

from simulator.foundations.uninterrupted import under_way
from simulator.runner.prompt_exit import SAID, leave


class Stopped(KeyboardInterrupt):
    """A signal to end; like Ctrl-C it is not caught as an Exception."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def take_over() -> None:
    """Own the process: its signals, and streams that can be written to whatever they are.

    File descriptor 1 becomes standard error, so that nothing that a user's code, a worker or a
    library in C prints comes between the results; :data:`sys.stdout` alone leads there.
    """
    for descriptor in range(3):  # where one is closed, the next file opened would take its place
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if descriptor else os.O_RDONLY)
            if descriptor == 1:
                sys.stdout = None
    if sys.stderr is None:
        sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115
    if sys.stdout is not None:
        encoding, results = sys.stdout.encoding, os.dup(1)
        sys.stdout = open(results, "w", encoding=encoding, errors="backslashreplace")  # noqa: SIM115
        vars(sys)["__stdout__"] = sys.stdout  # the terminal's width is read from it
    os.dup2(2, 1)
    for number in SAID:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _Answer())
    sys.unraisablehook = _unraisable
    # the trackers of a pool that was left at once say how many semaphores they clean up
    sys.warnoptions.append("ignore:resource_tracker:UserWarning")


class _Answer:
    """Answers the first signal by an exception, the second by leaving at once."""

    def __init__(self) -> None:
        self.signalled = False

    def __call__(self, number: int, _: FrameType | None) -> None:
        if self.signalled:
            leave(number)
        self.signalled = True
        raise Stopped(number)


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Leave where a signal's exception was raised in a callback, which swallows it."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        leave(getattr(lost.exc_value, "number", signal.SIGINT))
    sys.__unraisablehook__(lost)


def end(code: int) -> NoReturn:
    """End the process, signals ignored; at once where an interrupted compiler is at work."""
    for number in SAID:
        signal.signal(number, signal.SIG_IGN)
    if under_way():
        sys.stderr.flush()
        os._exit(code)
    if not _a_file_was_run():  # what a user's file holds open is written by the last collection
        gc.freeze()  # which would take a compiler apart, for some tenths of a second
    sys.exit(code)


def _a_file_was_run() -> bool:
    loading = sys.modules.get("simulator.adversaries.loading")  # --help does not wait for it
    return loading is not None and loading.any_file_was_run()


def write_out(text: str, stream: TextIO | None, complain: Callable[[str], int]) -> int:
    """Write a command's results; return 0, or what ``complain`` returns where that fails.

    A reader that has closed its end, as ``| head`` does, is no error.
    """
    if not text:
        return 0
    if stream is None:
        return complain("cannot write to standard output: it is closed")
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _discard(stream)
    except OSError as error:
        _discard(stream)
        return complain(f"cannot write to standard output: {error.strerror}")
    return 0


def _discard(stream: TextIO) -> None:
    """Give what a stream still holds a place to go: at exit Python would try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def own_fault(error: BaseException) -> str:
    """Print where an error of dpcompose itself arose; return its line."""
    traceback.print_exception(error)
    return f"a fault of dpcompose itself, {type(error).__name__}, which the lines above locate"
