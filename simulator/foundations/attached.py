"""The door of Python: a public function names the argument whose kind it cannot take.

Each room's ``__init__`` hands out its names through :func:`attached`, or ends by :func:`furnish`
where it is written out. The public methods of a class are behind the door when the class is handed
out, or a call returns an instance. A call that ends in an error of another kind than this package's
is looked at once more: an argument that is not of the kind that the signature states is named in an
InvalidInput. A call that succeeds passes one wrapper, and the error of a user's function stays its
own.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import lazy_loader

from simulator.foundations.errors import DpcomposeError


def attached(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], Any]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a room, as lazy_loader makes them of a stub.

    Functions are handed out behind the door, and classes with a door before ``__init__``.
    """
    load, listed, names = lazy_loader.attach_stub(package, file)

    def found(name: str) -> Any:
        value = behind_door(load(name), name, package)
        vars(sys.modules[package])[name] = value
        return value

    return found, listed, names


def furnish(room: dict[str, Any]) -> None:
    """Put the public names of a room that is written out, its globals, behind the door."""
    for name in room["__all__"]:
        value = room[name]  # a function that has two public names is one object
        room[name] = behind_door(value, getattr(value, "__name__", name), room["__name__"])


@functools.cache
def _function_behind_door(function: FunctionType, name: str) -> Any:
    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            found = function(*arguments, **named)
        except DpcomposeError:
            raise
        except Exception as error:
            from simulator.foundations.kinds import raise_named  # most programs never fail

            raise_named(name, function, arguments, named, error)
            raise
        # what a list holds is of few kinds, and its first one often the only one
        kind = type(found[0] if type(found) in (list, tuple) and found else found)
        if kind not in _furnished and kind.__module__.startswith("simulator."):
            _furnish_class(kind)
        return found

    return called


_furnished: set[type] = set()


def _furnish_class(kind: type) -> None:
    """Put the public methods of a class of this package, and how it is made, behind the door."""
    _furnished.add(kind)
    for base in kind.__mro__:
        if not base.__module__.startswith("simulator.") or getattr(base, "_is_protocol", False):
            continue
        for name, member in list(vars(base).items()):
            function = member.__func__ if isinstance(member, classmethod) else member
            if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
                continue
            if name == "__init__" or not (name[0] == "_" or inspect.isgeneratorfunction(function)):
                shown = base.__name__ if name == "__init__" else f"{base.__name__}.{name}"
                made = _function_behind_door(function, shown)
                type.__setattr__(base, name, made if function is member else classmethod(made))


def behind_door(value: Any, name: str, room: str = "") -> Any:
    """A public function with the door; a class of this package whose methods are behind it.

    Other values are as they were, and so are generator functions: a caller may ask what they are.
    """
    if isinstance(value, FunctionType) and not inspect.isgeneratorfunction(value):
        if value.__globals__ is globals():  # it is behind the door of another room
            return value
        made = _function_behind_door(value, name)
        if room and made.__module__ == value.__module__:
            made.__module__ = room  # the first room that has it: pickle finds it there
        return made
    if isinstance(value, type) and not issubclass(value, BaseException):
        _furnish_class(value)
    return value
