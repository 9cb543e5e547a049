"""Bind scalar functions into one function, compiled or not.

A kernel compiled by numba runs without the interpreter lock, so that threads scale. Uncompiled it
is ordinary Python, for rules that numba cannot compile.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from simulator.adversaries.program.operations import float_power, integer_between
from simulator.engine.compiled.functions_of_c import POWER, of_c

Compile = Callable[[Callable[..., Any]], Callable[..., Any]]


OPTIONS: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True,
}  # fmt: skip
"""No interpreter lock, IEEE division, no fast-math; and nothing for calls by Python, which takes as
long to compile as the function."""


def numba_compile(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with numba, to be called by compiled functions."""
    import numba  # takes a second to import, and generator adversaries do not need it

    return numba.njit(**OPTIONS)(function)


def numba_inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with numba, inlined: a call with a generator argument costs a reference count."""
    import numba

    return numba.njit(**OPTIONS, forceinline=True)(function)


def numba_callable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with numba, to be called by Python."""
    import numba

    def called(*arguments):  # type: ignore[no-untyped-def]
        return function(*arguments)

    return numba.njit(nogil=True, error_model="numpy")(called)


@cache
def make_callable(*functions: Callable[..., Any]) -> None:
    """Let compiled functions call these functions of Python, which are compiled there."""
    from numba.extending import register_jitable

    for function in functions:
        {float_power: _call_pow_of_c, integer_between: _draw_integers}.get(
            function, partial(register_jitable, function)
        )()


def _call_pow_of_c() -> None:
    """Let compiled functions call C's pow where they call ``float_power``."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, overload

    of_c(POWER)

    @intrinsic
    def power_of_c(context, x, y):  # type: ignore[no-untyped-def]
        def call(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            double = context.get_value_type(types.float64)
            power = builder.module.globals.get(POWER)
            if power is None:
                power = ir.Function(builder.module, ir.FunctionType(double, [double] * 2), POWER)
            return builder.call(power, arguments)

        return types.float64(types.float64, types.float64), call

    @overload(float_power)
    def of_floats(x, y):  # type: ignore[no-untyped-def]
        def power(x, y):  # type: ignore[no-untyped-def]
            return power_of_c(x, y)

        return power


def _draw_integers() -> None:
    """Let compiled functions draw whole numbers as numpy does; numba makes an array for each.

    Source: Lemire 2019, Fast random integer generation in an interval, Algorithm 5.
    """
    import numba
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, overload

    bits_of, words, mask = (
        numba.typeof(np.random.SFC64(0)),
        np.uint64(1 << 32),
        np.uint64(2**32 - 1),
    )

    @intrinsic
    def next_word(context, coins):  # type: ignore[no-untyped-def]
        def draw(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            whole = context.make_helper(builder, coins, arguments[0])
            bits = context.make_helper(builder, bits_of, whole.bit_generator)
            kind = ir.FunctionType(ir.IntType(32), [bits.state.type])
            function = builder.inttoptr(bits.fnptr_next_uint32, kind.as_pointer())
            return builder.zext(builder.call(function, [bits.state]), ir.IntType(64))

        return types.uint64(coins), draw

    @overload(integer_between)
    def of_coins(coins, low, high):  # type: ignore[no-untyped-def]
        def drawn(coins, low, high):  # type: ignore[no-untyped-def]
            width = np.uint64(high - low)
            if width == np.uint64(1):
                return np.int64(low)
            product = next_word(coins) * width
            rest = product & mask
            if rest < width:
                least = (words - width) % width
                while rest < least:
                    product = next_word(coins) * width
                    rest = product & mask
            return np.int64(low) + np.int64(product >> np.uint64(32))

        return drawn


def numba_is_installed() -> bool:
    """Whether numba is installed; without it everything runs uncompiled."""
    return importlib.util.find_spec("numba") is not None


def uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return function


def dispatch(functions: Sequence[Callable[..., Any]], compile_: Compile) -> Callable[..., Any]:
    """A function ``f(kind, *arguments)`` that calls ``functions[kind](*arguments)``.

    It is a chain of comparisons, so that LLVM can inline every kind; a call that is not inlined
    takes longer than a round.
    """
    if compile_ is numba_compile:
        compile_ = numba_inline
    first = compile_(functions[0])
    if len(functions) == 1:

        def only(kind, *arguments):  # type: ignore[no-untyped-def]
            return first(*arguments)

        return compile_(only)

    others = dispatch(functions[1:], compile_)

    def choose(kind, *arguments):  # type: ignore[no-untyped-def]
        if kind == 0:
            return first(*arguments)
        return others(kind - 1, *arguments)

    return compile_(choose)


def unowned(compile_: Compile) -> Callable[..., Any]:
    """A function of a table that returns an array of the same memory without an owner.

    Taking a row of an ordinary array changes the owner's reference count, which takes several times
    as long as a round. The caller keeps the table alive.
    """
    if compile_ is not numba_compile:
        return uncompiled(lambda table: table)
    from llvmlite import ir
    from numba.extending import intrinsic

    @intrinsic
    def borrow(context, table):  # type: ignore[no-untyped-def]
        def without_owner(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            array = context.make_helper(builder, table, arguments[0])
            array.meminfo = ir.Constant(array.meminfo.type, None)
            array.parent = ir.Constant(array.parent.type, None)
            return array._getvalue()

        return table(table), without_owner

    return borrow


def why(error: Exception) -> str:
    """The line of a numba error that states the cause."""
    lines = [line.strip() for line in str(error).splitlines()]
    informative = [
        line for line in lines if line and not line.startswith(("Failed in", "During:", "-"))
    ]
    return informative[0] if informative else type(error).__name__
