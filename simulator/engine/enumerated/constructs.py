"""What a step may contain to be run on numbers that are not known.

An :class:`~simulator.engine.enumerated.unknown_numbers.Unknown` number can hide neither its type
nor its identity, and a step that catches exceptions hides what the number refuses. So a step is run
on one only where its code, and that of the functions it calls, is on a list: arithmetic,
comparisons, branches, loops, tuples, and a few functions. Anything else is found here and named.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

INSTRUCTIONS = frozenset(
    """
    BINARY_OP BINARY_SLICE BINARY_SUBSCR BUILD_CONST_KEY_MAP BUILD_LIST BUILD_MAP BUILD_SET
    BUILD_SLICE BUILD_TUPLE CALL CALL_FUNCTION_EX CALL_INTRINSIC_1 CALL_KW COMPARE_OP CONTAINS_OP
    COPY COPY_FREE_VARS DELETE_FAST DICT_MERGE END_FOR EXTENDED_ARG FOR_ITER GET_ITER JUMP_BACKWARD
    JUMP_FORWARD JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP KW_NAMES LIST_APPEND LIST_EXTEND
    LIST_TO_TUPLE LOAD_ATTR LOAD_CLOSURE LOAD_CONST LOAD_DEREF LOAD_FAST LOAD_FAST_AND_CLEAR
    LOAD_FAST_BORROW LOAD_FAST_BORROW_LOAD_FAST_BORROW LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST
    LOAD_GLOBAL LOAD_METHOD LOAD_SMALL_INT MAKE_CELL MAKE_FUNCTION MAP_ADD NOP NOT_TAKEN POP_ITER
    POP_JUMP_BACKWARD_IF_FALSE POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_FORWARD_IF_FALSE
    POP_JUMP_FORWARD_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_IF_TRUE POP_TOP PRECALL PUSH_NULL RERAISE
    RESUME RETURN_CONST RETURN_GENERATOR RETURN_VALUE SET_ADD SET_FUNCTION_ATTRIBUTE SET_UPDATE
    STORE_DEREF STORE_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST SWAP TO_BOOL UNARY_INVERT
    UNARY_NEGATIVE UNARY_NOT UNARY_POSITIVE UNPACK_EX UNPACK_SEQUENCE YIELD_VALUE
    """.split()  # noqa: SIM905
)
"""Instructions of Python 3.11 to 3.14 that a step may consist of."""

SAID = {
    "IS_OP": "`is`",
    "PUSH_EXC_INFO": "`try` or `with`",
    "FORMAT_VALUE": "an f-string",
    "FORMAT_SIMPLE": "an f-string",
    "FORMAT_WITH_SPEC": "an f-string",
    "MATCH_CLASS": "a class pattern",
    "IMPORT_NAME": "`import`",
}
"""The words for some instructions that are not on the list."""

FUNCTIONS = (
    abs, all, any, bool, dict, divmod, enumerate, float, frozenset, int, len, list, max, min, pow,
    range, reversed, round, set, sorted, tuple, zip,
)  # fmt: skip
"""Not ``sum``, which adds floats with more digits than their sums have from Python 3.12 on."""
PLAIN = (
    bool, int, float, complex, str, bytes, type(None), type(...), range, np.float64, np.int64,
    np.bool_,
)  # fmt: skip
CONTAINERS = (tuple, list, set, frozenset, dict)


def unmodelled(step: Callable[..., Any]) -> str:
    """The first use in a step that could show that a number is not known, with its line; or "".

    Functions that it calls are read as well.
    """
    if not isinstance(step, FunctionType):
        return f"the step is a {type(step).__name__}"
    return _StepReading().of_value(step)


class _StepReading:
    """One reading of a step and of all that it reaches; each value is read once."""

    def __init__(self) -> None:
        self.read: dict[int, Any] = {}  # holds the values, so that no other takes their place

    def of_value(self, value: Any) -> str:
        """What is not modelled of a value that a step reaches; "" for plain data."""
        if id(value) in self.read or type(value) in PLAIN or any(value is f for f in FUNCTIONS):
            return ""
        self.read[id(value)] = value
        if isinstance(value, FunctionType):
            return self._of_function(value)
        if type(value) in CONTAINERS:
            return self._of_all((*value, *value.values()) if type(value) is dict else value)
        if (type(value) is np.ndarray and not value.dtype.hasobject) or isinstance(value, np.ufunc):
            return ""
        if isinstance(value, BuiltinFunctionType) and value.__self__ is math:
            return ""
        return str(getattr(value, "__name__", f"a {type(value).__name__}"))

    def _of_all(self, values: Any) -> str:
        return next(filter(None, map(self.of_value, values)), "")

    def _of_function(self, function: FunctionType) -> str:
        cells = zip(function.__code__.co_freevars, function.__closure__ or ())
        outer = {name: cell for name, cell in cells}

        def named(name: str, operation: str) -> Any:
            if operation == "LOAD_GLOBAL":
                return function.__globals__.get(name, getattr(builtins, name, None))
            try:
                return outer[name].cell_contents
            except (KeyError, ValueError):  # of the code around it, or not assigned yet
                return None

        defaults = (function.__defaults__, function.__kwdefaults__)
        return self.of_value(defaults) or self._of_code(function.__code__, named)

    def _of_code(self, code: CodeType, named: Callable[[str, str], Any]) -> str:
        line, holder, held = code.co_firstlineno, None, ""
        for instruction in dis.get_instructions(code):
            operation, argument = instruction.opname, instruction.argval
            value, what = None, "" if operation in INSTRUCTIONS else SAID.get(operation, operation)
            if operation in ("LOAD_ATTR", "LOAD_METHOD"):  # of a module or an object it is read
                value = attribute_of(holder, argument)
                what = argument if argument.startswith("__") else ""
            elif held:
                return said(held, line, code)
            if operation in ("LOAD_GLOBAL", "LOAD_DEREF"):
                value = named(argument, operation)
            line = (instruction.positions and instruction.positions.lineno) or line
            if what:
                return said(what, line, code)
            holder, held = value, self.of_value(value)
        inner = (each for each in code.co_consts if isinstance(each, CodeType))
        return next(filter(None, (self._of_code(each, named) for each in inner)), "")


def attribute_of(holder: Any, name: str) -> Any:
    """What stands in a module or an object under a name; None for plain data."""
    if type(holder) in (*PLAIN, *CONTAINERS, np.ndarray):
        return None
    if isinstance(holder, ModuleType):
        return getattr(holder, name, None)
    found = inspect.getattr_static(holder, name, None)
    return MethodType(found, holder) if isinstance(found, FunctionType) else found


def said(what: str, line: int, code: CodeType) -> str:
    """What was found, with its line unless it has one."""
    return what if " uses " in what else f"line {line} of {code.co_name} uses {what}"
