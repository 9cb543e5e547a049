"""What of its surroundings a program needs: variables that are numbers, and enough memory."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from simulator.foundations.errors import InvalidInput

CORES = "LOKY_MAX_CPU_COUNT"
"""The number of workers at most, which joblib reads when it counts cores."""
DATE = "SOURCE_DATE_EPOCH"
"""The date of a picture, which matplotlib reads, though no date is written."""
POOLS = "JOBLIB_MULTIPROCESSING"
"""Whether joblib may start processes, which it reads when it is imported."""

_LAST_SECOND = 253402300799
"""The end of the year 9999, after which Python has no date."""
STARTS = "JOBLIB_START_METHOD"
"""How joblib starts processes, which it reads when it is imported."""
PICKLER = "LOKY_PICKLER"
"""The module by which joblib sends values to processes."""

_SETTINGS = ("matplotlibrc", ".numba_config.yaml")
_MOST_SETTINGS = 1 << 20

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


def require_usable() -> None:
    """Raise InvalidInput for surroundings in which no command would work, or one would wait.

    matplotlib and numba read settings from the current folder: a pipe there blocks, a device has no
    end.
    """
    require_whole()
    if method := os.environ.get(STARTS, "").strip():
        from multiprocessing import get_all_start_methods  # slow, and few programs set it

        if method not in (methods := get_all_start_methods()):
            raise _unusable(STARTS, f"one of {', '.join(methods)}", method)
    if module := os.environ.get(PICKLER):
        package = module.partition(".")[0]
        if not (package.isidentifier() and find_spec(package)):
            raise _unusable(PICKLER, "a module that is installed", module)
    for path in map(Path, filter(None, (*_SETTINGS, os.environ.get("MATPLOTLIBRC")))):
        for each in (path, path / "matplotlibrc"):
            if not each.exists() or each.is_dir():
                continue
            if not each.is_file() or each.stat().st_size > _MOST_SETTINGS:
                raise InvalidInput(
                    f"{each} is no regular file of at most {_MOST_SETTINGS >> 20} MB, and settings "
                    "would be read from it; move it away"
                )


def require_whole(names: Iterable[str] = (CORES, DATE, POOLS)) -> None:
    """Raise InvalidInput for a variable that is set and is no whole number, or no date."""
    for name in names:
        text = os.environ.get(name, "0")
        try:
            number = int(text)
        except ValueError:
            raise _unusable(name, "a whole number", text) from None
        if name == DATE and not 0 <= number <= _LAST_SECOND:
            raise _unusable(name, f"seconds since 1970, up to {_LAST_SECOND}", text)


def _unusable(name: str, wanted: str, text: str) -> InvalidInput:
    return InvalidInput(
        f"the environment variable {name} must be {wanted}, not {text!r:.40}; unset it, or "
        "correct it"
    )
