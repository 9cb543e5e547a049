"""The one door to other processes: nothing of the current folder is on their path.

Python puts the current folder at the head of the path of ``python -m`` and ``python -c``, as pools
of workers are started, and a file ``joblib.py`` in it would run. Processes of :func:`begin` end
with this one, unless it is ended by SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from typing import Any

_lock = threading.Lock()
_running: set[subprocess.Popen[bytes]] = set()
_over = False

_SAFE = "PYTHONSAFEPATH"
_guards = 0
_before: str | None = None


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Keep the current folder off the path of every Python that is started meanwhile.

    A pool of workers is started, and later filled up, by joblib or by the standard library, which
    take no option of Python, but hand on the environment.
    """
    global _guards, _before
    with _lock:
        if not _guards:
            _before = os.environ.get(_SAFE)
            os.environ[_SAFE] = "1"
        _guards += 1
    try:
        yield
    finally:
        with _lock:
            _guards -= 1
            if not _guards:
                if _before is None:
                    os.environ.pop(_SAFE, None)
                else:
                    os.environ[_SAFE] = _before


def printed(command: Sequence[str], seconds: float) -> str:
    """What a short command prints, without the last line's end; raises OSError where it fails."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=True)
    except (subprocess.SubprocessError, UnicodeDecodeError) as error:
        raise OSError(str(error)) from None
    return run.stdout.strip()


class Over(RuntimeError):
    """Raised in threads that start a process after :func:`end_all`."""


def begin(python: str, arguments: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a Python in a new session. Raises Over after ``end_all``."""
    with _lock:
        if _over:
            raise Over("interrupted")
        process = subprocess.Popen([python, "-P", *arguments], start_new_session=True, **options)
        _running.add(process)
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children, if it still runs."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # its own session, so its pid is the group's
    process.wait()
    with _lock:
        _running.discard(process)


def end_all() -> None:
    """End all processes; no other can be started afterwards."""
    global _over
    with _lock:
        _over, left = True, list(_running)
    for process in left:
        end(process)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM interrupt like Ctrl-C, so that processes are ended; in the main thread only.

    A handler that is set already, as that of the command line, stays.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
