"""The process of a command: its signal handlers, its streams, and its exit.

Ctrl-C and SIGTERM raise KeyboardInterrupt, so that the command releases its resources. If a library
swallows the exception, or a second signal arrives, the process exits at once: a stored run loses
only the blocks in flight, and the workers exit with their parent.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import logging
import os
import signal
import sys
import traceback
import warnings
from types import FrameType
from typing import NoReturn, TextIO

from simulator.doors.cli.output import note
from simulator.foundations.errors import is_a_users
from simulator.foundations.uninterrupted import under_way
from simulator.foundations.wording import printable
from simulator.runner.prompt_exit import SIGNAL_WORDS, leave


class Stopped(KeyboardInterrupt):
    """SIGINT or SIGTERM, whose number is ``number``."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def set_up() -> None:
    """Set the signal handlers, and streams that can be written to even if they were closed.

    File descriptor 1 becomes standard error, so that what a user's code, a worker or a library in C
    prints is not mixed with the results; only :data:`sys.stdout` writes to the original one.
    """
    for descriptor in range(3):  # the next file opened would get the number of a closed one
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
    os.environ["MPLBACKEND"] = "Agg"  # a notebook's is not there, and no window is opened
    atexit.register(_flush_files)  # the first to register is the last to run
    for number in SIGNAL_WORDS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _Handler())
    sys.unraisablehook = _unraisable
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it names the fonts that it misses
    if not sys.warnoptions:  # -W and PYTHONWARNINGS show all
        warnings.showwarning = show_warning
    # after an immediate exit the trackers of a pool warn of the semaphores that they clean up
    sys.warnoptions.append("ignore:resource_tracker:UserWarning")


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    *_: object,
    **__: object,
) -> None:
    """Print a warning of a user's code, or of this package, as one line; no other library's.

    A library that warns of a number in our own code says nothing that a user can act on.
    """
    is_ours = category.__module__.startswith("simulator.")
    if is_ours or is_a_users(filename):
        where = "" if is_ours else f" ({filename}, line {lineno})"
        note(f"warning: {message}{where}")


class _Handler:
    """Raises an exception at the first signal, and exits at the second."""

    def __init__(self) -> None:
        self.signalled = False

    def __call__(self, number: int, _: FrameType | None) -> None:
        if self.signalled:
            leave(number)
        self.signalled = True
        raise Stopped(number)


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Exit if the exception of a signal was raised in a callback, which swallows it."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        leave(getattr(lost.exc_value, "number", signal.SIGINT))
    sys.__unraisablehook__(lost)


def end(code: int) -> NoReturn:
    """Exit with signals ignored; without cleaning up if a compiler is still running."""
    for number in SIGNAL_WORDS:
        signal.signal(number, signal.SIG_IGN)
    if under_way():
        sys.stderr.flush()
        os._exit(code)
    gc.freeze()  # the last garbage collection would spend some tenths of a second on the compiler
    sys.exit(code)


def _flush_files() -> None:
    """Write what the files that a user's code left open still hold.

    A garbage collection would not always do so: it may close a file before the buffer above it.
    """
    loading = sys.modules.get("simulator.adversaries.loading")  # not imported by --help
    if loading is None or not loading.any_file_was_run():
        return
    gc.unfreeze()  # frozen objects are not listed
    for kind in (io.TextIOWrapper, io.BufferedWriter):
        # by its type: isinstance reads the class of what a weak proxy stands for, which may be gone
        for file in (o for o in gc.get_objects() if issubclass(type(o), kind) and not o.closed):
            with contextlib.suppress(OSError, ValueError):  # it may be closed below, or a full disk
                file.flush()
    gc.freeze()


def write_out(text: str, stream: TextIO | None) -> str:
    """Write a command's results, and return an error message, or "" if there was none.

    A reader that has closed its end, as ``| head`` does, is no error.
    """
    if not text:
        return ""
    if stream is None:
        return "cannot write to standard output: it is closed"
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _discard(stream)
    except OSError as error:
        _discard(stream)
        return f"cannot write to standard output: {error.strerror}"
    return ""


def _discard(stream: TextIO) -> None:
    """Discard what a stream still holds: at exit Python would try to write it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def internal_error(error: BaseException) -> str:
    """Print the traceback of an error of dpcompose itself, and return its message."""
    print(printable("".join(traceback.format_exception(error))), end="", file=sys.stderr)
    return f"a fault of dpcompose itself, {type(error).__name__}; the traceback is above"
