"""The errors raised on purpose, each with a message of one line.

Everything raised on purpose derives from :class:`DpcomposeError`; the command line prints its
message as one line and exits with its ``exit_code``.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from simulator.foundations.wording import in_short


class DpcomposeError(Exception):
    """Base of every error raised on purpose. The message is one line: what is wrong, what to do."""

    exit_code = 2

    def __str__(self) -> str:
        """The message, on one line: a value in it, such as an array, may have several."""
        return in_short(" ".join(map(str.strip, super().__str__().splitlines())))


class InvalidInput(DpcomposeError, ValueError):
    """A parameter, file or specification is invalid.

    ``argument`` is the parameter's name in Python where the message begins with it: the command
    line names its option instead.
    """

    def __init__(self, message: str = "", *, argument: str = "") -> None:
        super().__init__(message)
        self.argument = argument


class NotApplicable(DpcomposeError, ValueError):
    """A theorem or formula is used outside its conditions; the message says which one fails."""


class Breach(DpcomposeError):
    """An adversary broke the rules of the experiment; names the round, the trial, the values."""


class BrokenPromise(Breach):
    """A mechanism lost more in a round than its guarantee allows; names it, and both numbers."""

    exit_code = 1


class Refusal(DpcomposeError):
    """An estimate would be unreliable (too few hits, one dominating weight); says what to try."""

    exit_code = 3


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


_PICKLED = "<dynamic-code>"
"""The file of functions that cloudpickle has made anew, as in a worker."""


@cache
def _installed() -> tuple[str, ...]:
    """The folders of files that no user has written, and what is no file."""
    return (_PACKAGE, *map(sysconfig.get_path, ("stdlib", "purelib", "platlib")), "<")


def is_a_users(filename: str) -> bool:
    """Whether a file is a user's: not of this package, of another one, or of Python.

    Compiled parts of numpy and others name their source by a path that is not on this machine.
    """
    return not filename.startswith(_installed()) and not filename.endswith((".pyx", ".pxd"))


def message_of(error: BaseException) -> str:
    """What an error says, or that its own code for that raises."""
    try:
        return str(error)
    except Exception as other:
        return f"(its message cannot be made: {type(other).__name__})"


def raised(error: BaseException, called: object = None) -> str:
    """An error of a user's code: its kind, its message, and the last line of theirs that ran.

    ``called`` is the function whose call has failed: where it takes other arguments, no line of it
    ran, and its first one is named.
    """
    said, place = message_of(error), users_place(error)
    code = getattr(called, "__code__", None)
    if code is not None and said.startswith(f"{getattr(called, '__qualname__', '')}() "):
        place = _place(code.co_filename, code.co_firstlineno) or place
    return f"{type(error).__name__}: {said}{place}"


def users_place(error: BaseException) -> str:
    """The last line of a user's that ran before an error, in brackets; or ""."""
    at, step = "", error.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if name == _PICKLED:  # the globals still have the file
            name = step.tb_frame.f_globals.get("__file__", name)
        at = _place(name, step.tb_lineno) or at
        step = step.tb_next
    return at


def _place(filename: str, line: int) -> str:
    """A line of a user's file, in brackets; or ""."""
    return f" ({os.path.basename(filename)}, line {line})" if is_a_users(filename) else ""


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Put the place in front of an error's message; any error of a user's code becomes a Breach."""
    try:
        yield
    except DpcomposeError as error:
        raise type(error)(f"{where}: {error}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Breach(f"{where} raised {raised(error)}") from error
