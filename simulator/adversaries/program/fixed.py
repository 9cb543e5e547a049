"""What may be computed while a program is read: what changes nothing and always gives the same."""

from __future__ import annotations

import inspect
import itertools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.identity.origins import is_of_package, is_users

PURE = frozenset({
    abs, bool, dict, divmod, enumerate, float, frozenset, int, isinstance, len, list, max, min, pow,
    range, repr, reversed, round, set, sorted, str, sum, tuple, zip,
})  # fmt: skip
"""Functions of Python that change nothing, and whose results depend on their arguments alone."""
PURE_METHODS: dict[type, tuple[str, ...]] = {
    str: ("startswith", "endswith", "lower", "upper", "format", "join", "split", "strip"),
    tuple: ("index", "count"), list: ("index", "count"), dict: ("get", "items", "keys", "values"),
    range: ("index", "count"),
}  # fmt: skip


def is_pure(function: Any) -> bool:
    """Whether a function changes nothing and depends on its arguments alone."""
    if isinstance(function, types.MethodType):
        return is_of_package(function.__func__)
    if isinstance(function, types.BuiltinFunctionType):
        owner = function.__self__
        if isinstance(owner, types.ModuleType):
            return owner is math or function in PURE
        return function.__name__ in PURE_METHODS.get(type(owner), ())
    if isinstance(function, type):
        return is_of_package(function) or function in PURE
    return callable(function) and is_of_package(function)


def is_plain(value: Any) -> bool:
    """Whether operators on an object are not a user's."""
    return not is_users(type(value))


def attribute_of(value: Any, name: str) -> Any:
    """An attribute that is stored, or a method; raises LookupError for what a user computes."""
    if not is_plain(value):
        found = inspect.getattr_static(value, name, None)
        computed = hasattr(type(found), "__get__") and not isinstance(
            found, types.FunctionType | types.MemberDescriptorType | classmethod | staticmethod
        )
        if computed or hasattr(type(value), "__getattr__"):
            raise LookupError(name)
    return getattr(value, name)


def at_once(function: Callable[..., Any], *arguments: Any) -> Any:
    """All that an iterator goes through; of an endless count a range."""
    if function is itertools.count:
        start, step = (*arguments, 0, 1)[:2] if not arguments else (*arguments, 1)[:2]
        return range(start, (1 << 62) * (1 if step > 0 else -1), step)
    return tuple(function(*arguments))


AT_ONCE = (enumerate, reversed, zip, itertools.count)
"""Iterators whose items are known where they are made for one loop."""


def interval(accepts: Callable[[float], Any]) -> tuple[float, float] | None:
    """The least and the largest positive float that ``accepts`` takes without an error.

    The accepted ones are taken for an interval that holds a power of two; None without one.
    """

    def accepted(x: float) -> bool:
        try:
            accepts(x)
        except Exception:
            return False
        return True

    powers = (math.ldexp(1.0, sign * k) for k in range(64) for sign in (1, -1))
    inside = next((x for x in powers if accepted(x)), None)
    if inside is None:
        return None

    def end(inside: float, outside: float) -> float:
        """The last accepted float before one that is not, by halving their places in order."""
        near, far = (int(np.float64(x).view(np.int64)) for x in (inside, outside))
        while abs(far - near) > 1:
            middle = (near + far) // 2
            if accepted(float(np.int64(middle).view(np.float64))):
                near = middle
            else:
                far = middle
        return float(np.int64(near).view(np.float64))

    return end(inside, 0.0), end(inside, math.inf)
