"""What may be computed while a program is read: what changes nothing and always gives the same."""

from __future__ import annotations

import builtins
import dis
import inspect
import itertools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.identity.keys import frozen_fields, is_fixed
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


CHANGING = frozenset({
    "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF", "STORE_ATTR", "DELETE_ATTR",
    "STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR", "IMPORT_NAME", "LOAD_NAME", "STORE_NAME",
})  # fmt: skip
"""Instructions of Python that may change something outside of a call, or look it up elsewhere."""


def is_settled(value: Any) -> bool:
    """Whether a value means the same in every round: it is fixed, but for plain functions in it.

    A predicate of the user's, in a query, is such a function where it only reads its argument and
    fixed values.
    """
    if is_fixed(value):
        return True
    if isinstance(value, types.FunctionType):
        return _is_plain_function(value, 4)
    if isinstance(value, tuple):
        return all(map(is_settled, value))
    kind: Any = type(value)
    names = frozen_fields(kind)
    return names is not None and all(is_settled(getattr(value, name)) for name in names)


def _is_plain_function(function: types.FunctionType, depth: int) -> bool:
    if is_of_package(function):
        return True
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    held = [*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if depth == 0 or not all(map(is_fixed, held)):
        return False
    codes = [function.__code__]
    for code in codes:  # which grows
        codes += [each for each in code.co_consts if isinstance(each, types.CodeType)]
        for step in dis.get_instructions(code):
            if step.opname in CHANGING:
                return False
            if step.opname != "LOAD_GLOBAL":
                continue
            found = function.__globals__.get(step.argval, vars(builtins).get(step.argval))
            plain = isinstance(found, types.FunctionType) and (
                is_users(found) and _is_plain_function(found, depth - 1)
            )
            if not (plain or found is math or is_pure(found) or (
                not callable(found) and is_fixed(found)
            )):  # fmt: skip
                return False
    return True
