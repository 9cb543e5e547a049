"""Processes that end with this one, unless it is ended by SIGKILL."""

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


class Over(RuntimeError):
    """Raised in threads that start a process after :func:`end_all`."""


def begin(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a process in a new session. Raises Over after ``end_all``."""
    with _lock:
        if _over:
            raise Over("interrupted")
        process = subprocess.Popen(command, start_new_session=True, **options)
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
    """Let SIGTERM interrupt like Ctrl-C, so that processes are ended; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
