"""Values that are made once in a process, however many threads ask for one at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

Arguments = TypeVarTuple("Arguments")
Value = TypeVar("Value")


def made_once(
    maxsize: int,
) -> Callable[[Callable[[*Arguments], Value]], Callable[[*Arguments], Value]]:
    """Keep what a function returned, as ``lru_cache``; a second thread waits for the first.

    ``lru_cache`` alone would let each thread of a worker compile the same rule.
    """

    def decorate(function: Callable[[*Arguments], Value]) -> Callable[[*Arguments], Value]:
        kept = lru_cache(maxsize=maxsize)(function)
        making = threading.RLock()

        @wraps(function)
        def once(*arguments: *Arguments) -> Value:
            with making:
                return kept(*arguments)

        return once

    return decorate
