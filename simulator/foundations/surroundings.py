"""Variables of the environment that libraries read, and would raise a traceback for."""

from __future__ import annotations

import os
from collections.abc import Iterable

from simulator.foundations.errors import InvalidInput

CORES = "LOKY_MAX_CPU_COUNT"
"""The number of workers at most, which joblib reads when it counts cores."""
DATE = "SOURCE_DATE_EPOCH"
"""The date of a picture, which matplotlib reads, though no date is written."""
POOLS = "JOBLIB_MULTIPROCESSING"
"""Whether joblib may start processes, which it reads when it is imported."""


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
