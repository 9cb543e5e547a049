"""The typed operations of a program as functions of known numbers, in Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simulator.adversaries.program.forms import ArrayTable, Do
from simulator.adversaries.program.operations import DRAWS, TYPED


class Ends(Exception):
    """The program stops here."""


def numbers_of(do: Do) -> Sequence[Any]:
    """The numbers of an operation's table."""
    return do.table.values.tolist() if isinstance(do.table, ArrayTable) else do.table


def on_known(do: Do) -> Callable[..., Any]:
    """The operation as a function of numbers, in Python; it raises Ends where it stops.

    Of a draw only the conditions of its arguments are left.
    """
    draw = do.operation.partition("coins.")[2]
    typed = DRAWS[draw][2] if draw else TYPED[do.operation, do.base]
    table = numbers_of(do)
    words: dict[str, Any] = {f"t{i}": each for i, each in enumerate(table[:2])}
    operands = "ab"[: len(do.operands)]
    before, text, after = (
        each.format(*"ab", r="r", t="table", **words)
        for each in (typed.before, "None" if draw else typed.text, typed.after)
    )
    source = f"def f({', '.join(operands)}):\n"
    if before:
        source += f" if {before}: raise Ends\n"
    source += f" try: r = {text}\n except (ArithmeticError, ValueError): raise Ends from None\n"
    if after and not draw:
        source += f" if {after}: raise Ends\n"
    namespace: dict[str, Any] = {"math": math, "np": np, "Ends": Ends, "table": table}
    namespace |= {"nan": math.nan, "inf": math.inf}
    exec(source + " return r\n", namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def key_of_state(state: Any) -> Any:
    """A key that differs where a program can tell: for 0.0 and -0.0, and for 1, 1.0 and True."""
    if isinstance(state, tuple):
        return tuple(map(key_of_state, state))
    if state != state:
        return "nan"
    return type(state), "-0.0" if state == 0 and math.copysign(1.0, state) < 0.0 else state
