"""The memory that is free for worker processes."""

from __future__ import annotations

import os
from pathlib import Path

WORKER_BYTES = 200 * 10**6
"""The memory that a worker process is assumed to need: Python, numpy, scipy, numba, and a block."""

_GROUPS = Path("/sys/fs/cgroup")
_LIMITS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)
"""The files of a container's limit and usage, in versions 2 and 1 of control groups."""


def available_bytes() -> int | None:
    """The bytes that are free, by the kernel and by the limits of a container.

    None on a system that does not report it.
    """
    found = [free for free in (_of_machine(), *_of_groups()) if free is not None]
    return max(0, min(found)) if found else None


def affordable(workers: int, at_once: int | None = None) -> int:
    """How many of ``workers`` processes fit into memory, at least one."""
    if workers <= 1:
        return workers
    free = available_bytes() if at_once is None else at_once
    return workers if free is None else max(1, min(workers, free // WORKER_BYTES))


def _of_machine() -> int | None:
    """MemAvailable of /proc/meminfo, or else the free pages."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        (kilobytes,) = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
        return 1024 * int(kilobytes)
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def _of_groups() -> list[int]:
    """The free bytes within each limit of this process's container."""
    found = []
    for limit, used in _LIMITS:
        try:
            most, now = ((_GROUPS / name).read_text(encoding="ascii") for name in (limit, used))
            found.append(int(most) - int(now))
        except (OSError, ValueError):  # no such version, or a limit of "max"
            continue
    return found
