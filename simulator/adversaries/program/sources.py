"""The source of a function, where it is the one that plays, and what its free names stand for."""

from __future__ import annotations
import __future__

import ast
import builtins
import functools
import inspect
import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType, MethodType
from typing import Any

from simulator.adversaries.program.forms import NotRead

FUTURE = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag,
    __future__.all_feature_names,
    0,
)


@dataclass(frozen=True)
class FunctionSource:
    """A function, or one that is defined within it: its code and its syntax tree."""

    function: FunctionType
    code: CodeType
    tree: ast.FunctionDef

    @property
    def file(self) -> str:
        """Where it is written."""
        return self.code.co_filename

    @property
    def generates(self) -> bool:
        """Whether it is a generator function."""
        return bool(self.code.co_flags & inspect.CO_GENERATOR)

    @property
    def defaults(self) -> dict[str, Any]:
        """The defaults of its arguments; of an inner function none are known."""
        if self.code is not self.function.__code__:
            return {}
        names = self.code.co_varnames[: self.code.co_argcount]
        values = self.function.__defaults__ or ()
        known = dict(zip(names[len(names) - len(values) :], values))
        return known | (self.function.__kwdefaults__ or {})

    def inner(self, tree: ast.FunctionDef) -> FunctionSource:
        """A function that is defined within this one; raises LookupError."""
        for code in self.code.co_consts:
            if isinstance(code, CodeType) and (
                (code.co_name, code.co_firstlineno) == (tree.name, tree.lineno)
            ):
                return FunctionSource(self.function, code, tree)
        raise LookupError(tree.name)

    def value(self, name: str) -> Any:
        """What a name stands for that is not a local variable; raises LookupError."""
        code, cells = self.function.__code__, self.function.__closure__ or ()
        if name in code.co_freevars:
            try:
                return cells[code.co_freevars.index(name)].cell_contents
            except ValueError:
                raise LookupError(name) from None
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return vars(builtins)[name]


def called(adversary: Callable[..., Any]) -> tuple[FunctionType, tuple[Any, ...], dict[str, Any]]:
    """The function that a call of the adversary runs, and the arguments that go before and by name.

    Raises NotRead where it is no function of Python.
    """
    if isinstance(adversary, FunctionType):
        return adversary, (), {}
    if isinstance(adversary, functools.partial):
        function, before, named = called(adversary.func)
        return function, before + adversary.args, named | adversary.keywords
    method = adversary if isinstance(adversary, MethodType) else type(adversary).__call__
    if isinstance(method, MethodType):
        return called(method.__func__)[0], (method.__self__,), {}
    if isinstance(method, FunctionType):
        return method, (adversary,), {}
    raise NotRead(type(adversary).__name__, 0, "this is no function of Python")


def source_of(function: FunctionType) -> FunctionSource:
    """The source of a function; raises NotRead unless it compiles to the code that plays.

    A file may have been edited since it was imported.
    """
    code = function.__code__
    file = code.co_filename
    if not linecache.getlines(file, function.__globals__):
        # a function that came to a worker by value has kept the file of its module alone
        file = str(function.__globals__.get("__file__") or file)
    for check in (False, True):
        if check:  # what linecache holds may be older than the function
            linecache.checkcache(file)
        text = "".join(linecache.getlines(file, function.__globals__))
        try:
            module, tree = _parsed(text, file, code.co_flags & FUTURE)
        except (SyntaxError, ValueError):
            continue
        if code in _within(module):
            break
    else:
        construct = f"the source of {function.__qualname__} is not there, or was edited"
        raise NotRead(code.co_filename, 0, construct)
    if code.co_name == "<lambda>":
        return FunctionSource(function, code, _lambda_of(code, tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == code.co_firstlineno:
                return FunctionSource(function, code, node)
    raise NotRead(code.co_filename, code.co_firstlineno, f"{code.co_name} is no plain function")


def _lambda_of(code: CodeType, tree: ast.Module) -> ast.FunctionDef:
    """A lambda as a function that returns its expression; raises NotRead."""
    places = [(line, column) for line, _, column, _ in code.co_positions() if line and column]
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    if len(found) > 1:  # several in a line
        found = [
            node
            for node in found
            if places and (node.body.lineno, node.body.col_offset) == min(places)
        ]
    if len(found) != 1:
        raise NotRead(code.co_filename, code.co_firstlineno, "one of several lambdas in a line")
    (node,) = found
    body = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef(name="<lambda>", args=node.args, body=[body], decorator_list=[])
    return ast.copy_location(made, node)


@lru_cache(maxsize=16)
def _parsed(text: str, file: str, flags: int) -> tuple[CodeType, ast.Module]:
    return compile(text, file, "exec", flags, dont_inherit=True), ast.parse(text)


def _within(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _within(constant)
