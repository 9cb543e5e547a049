"""Functions that a user has compiled with numba, compiled anew when what they look up has changed.

numba freezes the globals of a function when it compiles it. A helper that was compiled before one
of them changed would play on with the old value, while its fingerprint shows the new one.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from simulator.identity.anatomy import wrapped
from simulator.identity.fingerprint import Walk
from simulator.identity.origins import home_of, is_users

_COMPILED_AS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
"""Each helper that was seen, with the digest of what it was made of then."""


def renew_compiled(walk: Walk) -> list[str]:
    """Compile anew the compiled helpers that a walk has met, where they may be out of date.

    These are the ones that were made of something else when they were last seen, and the ones that
    were compiled before they were ever seen. Returns the names of those compiled anew. What a
    helper calls comes before it.
    """
    renewed = []
    for value, digest in list(walk.known.values()):
        if not home_of(type(value)).startswith("numba.") or not hasattr(value, "recompile"):
            continue
        function = wrapped(value)
        if not is_users(function):
            continue
        if value.signatures and _COMPILED_AS.get(value) != digest:
            value.recompile()
            renewed.append(function.__qualname__)
        _COMPILED_AS[value] = digest
    return renewed
