"""Calls of public functions and classes with values of wrong kinds and extreme numbers."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import FunctionType
from typing import Any

import numpy as np

from simulator import Composition, Database, Laplace, PureDP, counting_query, simulate
from simulator.auditing import PrivacyViolation
from simulator.errors import DpcomposeError
from simulator.theory import ApproxDP, SumFilter, parse_filter
from tests.helpers.public import NAMESPACES

LINES = 1


class Odd:
    """An object without anything."""


COUNT = counting_query("alice")
BOTH = Database({"alice": 1, "bob": 2})
USUAL: list[Any] = [
    PureDP(0.2), "pure:0.2", Laplace(COUNT, 0.1), COUNT, BOTH, BOTH.remove("alice"),
    "press-when-ahead", SumFilter(1.0), Composition.repeat(PureDP(0.1), 5), 0.5, 1e-6, 3, 10,
    [0.1, 0.2], (1, 2), np.linspace(0, 1, 4), [PureDP(0.1)], ["a"], lambda *values: 0.0,
]  # fmt: skip
STRANGE: list[Any] = [
    None, True, False, 0, -1, 1, 2**63, 10**400, -(10**30), 0.0, -0.0, 5e-324, 1e308, -1e308,
    math.inf, -math.inf, math.nan, "", "x", "junk:1,2", "\0", "pure:nan", "é\ud800", b"bytes", b"",
    [], [None], [[]], (), {}, {"a": 1}, {1: 2}, set(), object(), Odd(), Odd, int, len,
    np.zeros(0), np.zeros((2, 3)), np.array(["a"]), np.array([None]), np.array(1, dtype=object),
    np.float32(1.5), np.int64(3), complex(1, 2), range(3), Exception("x"), "a" * 10_000,
    [math.nan, 1.0], [1e308, 1e308], np.array([math.inf]), np.datetime64("2020-01-01"),
    slice(0, 1), ..., NotImplemented,
]  # fmt: skip
BY_KIND: dict[str, list[Any]] = {
    "float": [0.1, 0.5, 1.0, 1e-6, 2.0], "int": [1, 2, 3], "str": ["a", "pure:0.1", "laplace:0.1"],
    "Guarantee": [PureDP(0.1), ApproxDP(0.1, 1e-6), "pure:.1"],
    "Composition": [Composition.repeat(PureDP(0.1), 3)], "Database": [BOTH, BOTH.remove("alice")],
    "Query": [COUNT], "Array": [np.linspace(-1, 1, 5), [0.1, 0.3, -0.2]], "Callable": [abs],
}  # fmt: skip


@dataclass(frozen=True)
class Leak:
    """A call that ended in another error than the package's own."""

    name: str
    error: str

    def __str__(self) -> str:
        return f"{self.name}: {self.error}"


def public_calls() -> dict[str, Callable[..., Any]]:
    """What can be called of the public rooms, each once, by its name."""
    found: dict[str, Callable[..., Any]] = {}
    for room in ("simulator", *NAMESPACES):
        home = importlib.import_module(room)
        for name in home.__all__:
            value = getattr(home, name)
            if callable(value) and _is_called(value) and value not in found.values():
                found[f"{room}.{name}"] = value
    return found


def _is_called(value: Any) -> bool:
    special = isinstance(value, type) and issubclass(value, Enum | BaseException)
    return not (inspect.isabstract(value) or special or getattr(value, "_is_protocol", False))


def public_methods(made: Iterable[Any]) -> dict[str, Callable[..., Any]]:
    """The public methods of some objects of this package, by their names.

    Generator methods stay as they are, as generator functions do.
    """
    found: dict[str, Callable[..., Any]] = {}
    for each in made:
        kind = type(each)
        if not kind.__module__.startswith("simulator."):
            continue
        for name in dir(kind):
            static = inspect.getattr_static(kind, name)
            function = static.__func__ if isinstance(static, classmethod) else static
            if (
                name[0] != "_"
                and isinstance(function, FunctionType)
                and function.__module__.startswith("simulator.")
                and not inspect.isgeneratorfunction(inspect.unwrap(function))
            ):
                found[f"{kind.__name__}.{name}"] = getattr(each, name)
    return found


def usual_objects() -> list[Any]:
    """A result, what it has, a running filter, and values of other public classes."""
    result = simulate("press-when-ahead", PureDP(0.2), 3, 50, jobs=1, progress=False, keep_views=3)
    running = parse_filter("rogers:1,1e-5").fresh()
    return [result, result.views[0], result.epsilon(0.1), running, running.spec, *USUAL]


def returned_objects(seed: int) -> list[Any]:
    """One object of each class that random calls of what is public return."""
    draw = random.Random(seed)
    made: list[Any] = []
    for call in public_calls().values():
        for _ in range(3):
            positional, by_name = _arguments(draw, call)
            with contextlib.suppress(Exception):
                found = call(*positional, **by_name)
                made += found[:1] if isinstance(found, list | tuple) else [found]
    return list({type(each): each for each in reversed(made)}.values())


def leaks(
    count: int, seed: int, named: str = "", among: Mapping[str, Callable[..., Any]] | None = None
) -> Iterator[Leak]:
    """Make random calls; yield those that end in an error of another kind, or of several lines."""
    draw = random.Random(seed)
    among = public_calls() if among is None else among
    callables = {name: call for name, call in among.items() if named in name}
    for _ in range(count):
        name = draw.choice(list(callables))
        if leak := _tried(draw, name, callables[name]):
            yield leak


def _tried(draw: random.Random, name: str, call: Callable[..., Any]) -> Leak | None:
    positional, by_name = _arguments(draw, call)
    try:
        inspect.signature(call).bind(*positional, **by_name)
    except TypeError:
        return None
    try:
        found = call(*positional, **by_name)
        if inspect.isgenerator(found):
            next(found, None)
        else:
            repr(found)
    except PrivacyViolation:  # a verdict, of several lines
        return None
    except DpcomposeError as error:
        said = str(error).splitlines()
        return None if len(said) == LINES else Leak(name, f"a message of {len(said)} lines")
    except Exception as error:
        return Leak(name, f"{type(error).__name__}: {error!s:.80}")
    return None


def _arguments(draw: random.Random, call: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]]:
    positional: list[Any] = []
    by_name: dict[str, Any] = {}
    for each in inspect.signature(call).parameters.values():
        if each.kind is each.VAR_POSITIONAL and not by_name:
            positional += [_value(draw, each) for _ in range(draw.randrange(3))]
        elif each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL) or (
            each.default is not each.empty and draw.random() < 0.6
        ):
            continue
        elif each.kind is each.POSITIONAL_ONLY:
            positional.append(_value(draw, each))
        else:
            by_name[each.name] = _value(draw, each)
    return positional, by_name


def _value(draw: random.Random, parameter: inspect.Parameter) -> Any:
    chance = draw.random()
    if chance < 0.45:
        return draw.choice(STRANGE)
    if parameter.name in ("rounds", "trials", "k"):
        return draw.choice([1, 2, 5])
    fitting = [each for kind, each in BY_KIND.items() if kind in str(parameter.annotation)]
    return draw.choice(fitting[0] if fitting and chance > 0.6 else USUAL)
