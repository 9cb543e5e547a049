"""What of its surroundings a program needs: variables that are numbers, and enough memory."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable

from simulator.foundations.errors import InvalidInput

CORES = "LOKY_MAX_CPU_COUNT"
"""The number of workers at most, which joblib reads when it counts cores."""
DATE = "SOURCE_DATE_EPOCH"
"""The date of a picture, which matplotlib reads, though no date is written."""
POOLS = "JOBLIB_MULTIPROCESSING"
"""Whether joblib may start processes, which it reads when it is imported."""

BLAS_THREADS = "OPENBLAS_NUM_THREADS"
"""The number of threads that numpy's linear algebra starts when it is imported."""
LEAST_BYTES = 500 * 10**6
"""The address space in which Python, numpy, scipy and numba load and compile a rule."""


def require_memory() -> None:
    """Raise InvalidInput where the address space is limited to less than numpy and numba load in.

    To be called before numpy is imported. Where there is a limit, OpenBLAS starts no threads, each
    of which reserves memory: without it OpenBLAS interrupts the process, or waits without an end.
    """
    kinds = {"RLIMIT_AS": "ulimit -v", "RLIMIT_DATA": "ulimit -d"}
    for name, command in kinds.items():
        most, _ = resource.getrlimit(getattr(resource, name))
        if most == resource.RLIM_INFINITY:
            continue
        os.environ.setdefault(BLAS_THREADS, "1")
        if most < LEAST_BYTES:
            raise InvalidInput(
                f"the memory of a process is limited to {most // 10**6} MB ({command}), and "
                f"{LEAST_BYTES // 10**6} MB are needed; raise the limit"
            )


def require_whole(names: Iterable[str] = (CORES, DATE, POOLS)) -> None:
    """Raise InvalidInput for a variable that is set and is no whole number."""
    for name in names:
        text = os.environ.get(name, "0")
        try:
            int(text)
        except ValueError:
            raise InvalidInput(
                f"the environment variable {name} must be a whole number, not {text!r:.40}; unset "
                "it, or correct it"
            ) from None
