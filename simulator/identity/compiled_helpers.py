"""Functions that a user has compiled with numba, compiled anew when what they look up has changed.

numba freezes the globals of a function when it compiles it. A helper that was compiled before one
of them changed would play on with the old value, while its fingerprint shows the new one.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from simulator.identity.code import compiled_function
from simulator.identity.fingerprint import Walk
from simulator.identity.origins import is_own_function

_COMPILED_AS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
"""Each helper that was seen, with the digest of what it was made of then."""


def renew_compiled(walk: Walk) -> list[str]:
    """Compile anew the compiled helpers that a walk has met, where they may be out of date.

    These are the ones that were made of something else when they were last seen, and the ones that
    were compiled before they were ever seen. Returns the names of those compiled anew. What a
    helper calls comes before it.
    """
    renewed = []
    for value, words in list(walk.known.values()):
        if not _is_helper(value):
            continue
        if value.signatures and _COMPILED_AS.get(value) != words:
            value.recompile()
            renewed.append(value.py_func.__qualname__)
        _COMPILED_AS[value] = words
    return renewed


def _is_helper(value: Any) -> bool:
    """Whether it is a function of the user's that numba compiles."""
    function = compiled_function(value)
    return function is not None and hasattr(value, "recompile") and is_own_function(function)
