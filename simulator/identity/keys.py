"""Keys under which values are kept, and whether what follows from a value can be kept at all."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from enum import Enum
from functools import cache
from types import FunctionType
from typing import Any

from simulator.identity.fingerprint import Walk
from simulator.identity.origins import is_of_package

_PLAIN = frozenset({float, int, str, bool, bytes, type(None)})


@dataclass(frozen=True, slots=True)
class Unchanging:
    """A user's function whose value depends on its arguments alone, as its author states."""

    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        """The function's value."""
        return self.function(*arguments)


def key_of(value: Any) -> Hashable:
    """Something hashable that is equal for equal values: the value itself, or a digest of it."""
    try:
        hash(value)
    except TypeError:
        return Walk().digest(value)
    found: Hashable = value
    return found


@cache
def frozen_fields(kind: Any) -> tuple[str, ...] | None:
    """The names of a frozen dataclass's fields; None for another class."""
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        return None
    return tuple(part.name for part in fields(kind))


def is_fixed(value: Any) -> bool:
    """Whether a value means the same in every round, so that what follows from it can be kept.

    Numbers, texts and values whose class hashes them by what they hold are fixed; so are tuples and
    frozen dataclasses of fixed values. A user's function is not: it may read a variable that
    changes, unless its author states that it does not (:class:`Unchanging`). Neither is what is
    hashed by its address, or as its base class hashes: it may be altered, or hold more than the
    hash shows.
    """
    kind: Any = type(value)
    if kind in _PLAIN or kind is Unchanging or isinstance(value, Enum):
        return True
    if isinstance(value, tuple | frozenset):
        return all(map(is_fixed, value))
    names = frozen_fields(kind)
    if names is not None:
        return all([is_fixed(getattr(value, name)) for name in names])
    if callable(value):
        return kind is FunctionType and is_of_package(value)
    return vars(kind).get("__hash__") not in (None, object.__hash__)
