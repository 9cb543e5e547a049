"""Worker processes that end with the process that started them, however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from typing import Any

_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux's prctl."""

_A_LOOK = 0.5
"""Seconds between two looks at whether the parent is there."""


def bound_to_this_process() -> dict[str, Any]:
    """The options of joblib's process pools by which their workers end with this process.

    Linux kills them when the *thread* ends that started them: for the main one alone that is the
    end of the process, and the workers of another look for themselves.
    """
    by_kernel = threading.current_thread() is threading.main_thread()
    return {"initializer": end_with, "initargs": (os.getpid(), by_kernel)}


def end_with(parent: int, by_kernel: bool) -> None:
    """End this worker when ``parent`` has ended; called first in each worker."""
    if not (by_kernel and _killed_by_kernel()):
        threading.Thread(target=_look_after, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # it has ended meanwhile
        os._exit(1)


def _killed_by_kernel() -> bool:
    """Have the kernel kill this process with its parent; whether it will."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


def _look_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_A_LOOK)
    os._exit(1)
