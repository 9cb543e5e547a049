"""Worker processes that end with the process that started them, however that one ends."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from multiprocessing import util
from typing import Any

from joblib.externals.loky import reusable_executor

_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux's prctl."""

_A_LOOK = 0.5
"""Seconds between two looks at whether the parent is there."""


_inherited: list[Any] = []
"""Pools of the process that this one was forked from; kept, for letting go would stop them."""
_stopping: set[int] = set()


def in_a_process_of_a_program() -> None:
    """Have joblib's own pool be this process's alone, and end with it, where another forked it.

    A fork takes the pool of its parent for its own and waits for it; and a process that
    multiprocessing has started waits at its end for workers that have nothing to do, minutes long.
    """
    if multiprocessing.parent_process() is None:
        return
    pool = reusable_executor._executor
    manager = getattr(pool, "_executor_manager_thread", None)
    if manager is not None and not manager.is_alive():  # no thread lives on in a fork
        _inherited.append(pool)
        reusable_executor._executor = None
    if os.getpid() not in _stopping:
        _stopping.add(os.getpid())
        util.Finalize(None, _stop_pool, exitpriority=0)


def _stop_pool() -> None:
    pool = reusable_executor._executor
    if pool is not None and pool not in _inherited:
        pool.shutdown(wait=True, kill_workers=True)


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
