"""Values that are computed once per process, also under concurrent calls."""

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
    """Cache a function's values, as ``lru_cache`` does; a second thread waits for the first.

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
