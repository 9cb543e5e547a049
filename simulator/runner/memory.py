"""How much memory there is for another worker process."""

from __future__ import annotations

import os
from pathlib import Path

WORKER_BYTES = 200 * 10**6
"""What a worker process is given room for: Python with numpy, scipy and numba, and a block."""

_GROUPS = Path("/sys/fs/cgroup")
_LIMITS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)
"""The limit of a container and what is in use of it, in versions 2 and 1 of control groups."""


def available_bytes() -> int | None:
    """Bytes that new processes may take, as the kernel and a container's limit have it.

    None where the system does not say.
    """
    found = [free for free in (_of_machine(), *_of_groups()) if free is not None]
    return max(0, min(found)) if found else None


def affordable(workers: int, at_once: int | None = None) -> int:
    """How many of so many worker processes there is memory for, at least one."""
    free = available_bytes() if at_once is None else at_once
    return workers if free is None else max(1, min(workers, free // WORKER_BYTES))


def _of_machine() -> int | None:
    """What /proc/meminfo calls available, or else the free pages."""
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
    """What the limits of this process's container leave; empty without any."""
    found = []
    for limit, used in _LIMITS:
        try:
            most, now = ((_GROUPS / name).read_text(encoding="ascii") for name in (limit, used))
            found.append(int(most) - int(now))
        except (OSError, ValueError):  # no such version, or a limit of "max"
            continue
    return found
