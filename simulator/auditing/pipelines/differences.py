"""The first place in which two values differ: numbers, arrays, containers, tables, objects."""

from __future__ import annotations

import random
import types
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

_DEEPEST = 12
_MOST = 50
"""Most differences of one array."""

_OPAQUE = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type,
    np.random.Generator, np.random.RandomState, random.Random,
)  # fmt: skip
"""Values that are not compared: code, and generators."""


@dataclass(frozen=True)
class ValueGap:
    """Where two values differ, and both values there as texts."""

    path: str
    texts: tuple[str, str]


def difference(one: Any, other: Any) -> ValueGap | None:
    """The first difference of two values, or None; see :func:`differences`."""
    return next(differences(one, other), None)


def differences(one: Any, other: Any, path: str = "", depth: int = 0) -> Iterator[ValueGap]:
    """Where two values differ; NaN equals NaN, and bits decide.

    An object without an equality of its own is compared by its attributes; code and generators are
    not compared.
    """
    if one is other or depth > _DEEPEST or isinstance(one, _OPAQUE):
        return
    if hasattr(one, "to_dict") and hasattr(one, "columns") and hasattr(other, "columns"):
        # a DataFrame, of whatever library
        yield from differences(list(one.columns), list(other.columns), f"{path}.columns", depth + 1)
        yield from _of_arrays(np.asarray(one), np.asarray(other), path, depth)
    elif _is_array(one) or _is_array(other):
        yield from _of_arrays(one, other, path, depth)
    elif type(one) is not type(other):
        yield _differ(path, one, other)
    elif isinstance(one, Mapping):
        yield from _of_mappings(one, other, path, depth)
    elif isinstance(one, Set):
        if one != other:
            yield _differ(path, sorted(map(repr, one)), sorted(map(repr, other)))
    elif isinstance(one, Sequence) and not isinstance(one, str | bytes | bytearray):
        if len(one) != len(other):
            yield _differ(f"len({path or 'value'})", len(one), len(other))
            return
        for i, (a, b) in enumerate(zip(one, other)):
            yield from differences(a, b, f"{path}[{i}]", depth + 1)
    else:
        yield from _of_others(one, other, path, depth)


def _of_mappings(one: Any, other: Any, path: str, depth: int) -> Iterator[ValueGap]:
    if list(one) != list(other):
        yield _differ(f"keys of {path or 'value'}", list(one), list(other))
    for key, value in one.items():
        if key in other:
            yield from differences(value, other[key], f"{path}[{key!r}]", depth + 1)


def _of_arrays(one: Any, other: Any, path: str, depth: int) -> Iterator[ValueGap]:
    try:
        a, b = _numbers(one), _numbers(other)
    except Exception:  # of a library's array
        if repr(one) != repr(other):
            yield _differ(path, one, other)
        return
    if a.shape != b.shape:
        yield _differ(f"shape of {path or 'value'}", a.shape, b.shape)
    elif a.dtype == object or b.dtype == object:
        yield from differences(a.tolist(), b.tolist(), path, depth + 1)
    else:
        unequal = (a != b) & ~((a != a) & (b != b))
        for place in np.argwhere(unequal)[:_MOST]:
            index = tuple(place.tolist())
            shown = f"[{', '.join(map(str, index))}]" if index else ""
            yield _differ(f"{path}{shown}", a[index].item(), b[index].item())


def _of_others(one: Any, other: Any, path: str, depth: int) -> Iterator[ValueGap]:
    if type(one).__eq__ is object.__eq__:
        if hasattr(one, "__dict__"):
            for name, value in vars(one).items():
                if name not in vars(other):
                    yield _differ(f"{path}.{name}", value, "absent")
                else:
                    yield from differences(value, vars(other)[name], f"{path}.{name}", depth + 1)
        return
    try:
        same = bool(one == other) or bool(one != one and other != other)
    except Exception:  # an equality of a user's class
        return
    if not same:
        yield _differ(path, one, other)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) or (
        hasattr(value, "__array__") and hasattr(value, "shape")
    )


def _numbers(value: Any) -> np.ndarray:
    """The numbers of an array of any library; a tensor of torch may have a gradient."""
    return np.asarray(value.detach() if callable(getattr(value, "detach", None)) else value)


def _differ(path: str, one: Any, other: Any) -> ValueGap:
    return ValueGap(path or "value", (f"{one!r:.120}", f"{other!r:.120}"))


def path_of(found: ValueGap) -> str:
    """The path of a difference of outcomes, in words."""
    return found.path.replace("['returned']", "returned").replace("['raised']", "the error")


def covered(path: str, others: set[str]) -> bool:
    """Whether a difference lies where others are, or within."""
    bare = path.removeprefix("shape of ").removeprefix("len(").removeprefix("keys of ").rstrip(")")
    return any(path == other or bare.startswith(other) or bare in other for other in others)
