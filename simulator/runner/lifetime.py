"""Worker processes that end with the process that started them, however that one ends."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from typing import Any

from joblib.externals.loky import get_reusable_executor

SECONDS_BETWEEN_LOOKS = 0.25


def bound_to_this_process() -> dict[str, Any]:
    """The options of joblib's process pools by which their workers end with this process.

    Workers hash texts under one seed, this process's where it has one: the order of a set of texts
    is then the same in all of them.
    """
    os.environ.setdefault("PYTHONHASHSEED", "0")
    return {"initializer": end_with, "initargs": (os.getpid(),)}


def end_with(parent: int) -> None:
    """End this worker when ``parent`` has ended; called first in each worker."""
    threading.Thread(target=_wait_for_end_of, args=(parent,), daemon=True).start()


def _wait_for_end_of(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def stop_idle_workers() -> None:
    """Stop joblib's idle workers in a process that multiprocessing has started.

    Such a process waits at its end for its children; idle workers would keep it for minutes.
    """
    if multiprocessing.parent_process() is not None:
        get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)
