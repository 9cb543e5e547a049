"""Worker processes that end with the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from typing import Any

POLL_SECONDS = 0.25
"""Seconds between two checks that the parent is running."""


def bound_to_this_process() -> dict[str, Any]:
    """The options of joblib's process pools whose workers end with this process.

    Also sets PYTHONHASHSEED for the workers, unless it is set: the order of a set of strings is
    then the same in all of them.
    """
    os.environ.setdefault("PYTHONHASHSEED", "0")
    return {"initializer": end_with, "initargs": (os.getpid(),)}


def end_with(parent: int) -> None:
    """End this worker when ``parent`` has ended; called first in each worker."""
    threading.Thread(target=_wait_for_end_of, args=(parent,), daemon=True).start()


def _wait_for_end_of(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os._exit(1)


def stop_idle_workers() -> None:
    """Stop joblib's idle workers in a process that multiprocessing has started.

    At its exit such a process waits for its children, and idle workers last for minutes.
    """
    if multiprocessing.parent_process() is None:
        return
    try:  # its documentation names this function, though it is private to joblib
        from joblib.externals.loky import get_reusable_executor
    except ImportError:  # another version: idle workers end by themselves after some minutes
        return
    get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)
