"""Bind scalar functions into one function, compiled or not.

A kernel compiled by numba runs without the interpreter lock, so that threads scale. Uncompiled it
is ordinary Python, for rules that are not in the closed form.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from simulator.adversaries.program.compiling import BEGIN, MOST_WORDS, STEP, STOPPED

Compile = Callable[[Callable[..., Any]], Callable[..., Any]]
Stepping = tuple[Callable[..., Any], Callable[..., Any], Callable[..., tuple[Any, ...]]]
"""``room()`` is memory for a state, ``begin(room, words)`` is the state before a trial, and
``step(state, i, answer, coins)`` is (state, move, parameter, unsure)."""


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


@cache
def step_by_name() -> Stepping:
    """The step that is linked later, whose state is the address of its words."""
    import numba
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    int64, float64 = types.int64, types.float64
    state_type, bits_type = types.CPointer(int64), numba.typeof(np.random.SFC64(0))
    result = types.Tuple((state_type, int64, float64, types.boolean))

    def called(builder, name, made, taken, given):  # type: ignore[no-untyped-def]
        function = builder.module.globals.get(name)
        if function is None:
            function = ir.Function(builder.module, ir.FunctionType(made, taken), name)
        return builder.call(function, given)

    @intrinsic
    def room(context):  # type: ignore[no-untyped-def]
        def allocate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            words = ir.ArrayType(ir.IntType(64), MOST_WORDS)
            with builder.goto_entry_block():
                memory = builder.alloca(words)
            return builder.bitcast(memory, ir.IntType(64).as_pointer())

        return state_type(), allocate

    @intrinsic
    def begin(context, state, words):  # type: ignore[no-untyped-def]
        def call(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            state, words = arguments
            first = context.make_helper(builder, signature.args[1], words).data
            called(builder, BEGIN, ir.VoidType(), [state.type, first.type], [state, first])
            return state

        return state_type(state_type, words), call

    @intrinsic
    def advanced(context, state, i, answer, coins):  # type: ignore[no-untyped-def]
        def call(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            state, i, answer, given = arguments
            whole = context.make_helper(builder, coins, given)
            bits = context.make_helper(builder, bits_type, whole.bit_generator)
            byte = ir.IntType(8).as_pointer()
            made = ir.LiteralStructType([ir.IntType(64), ir.DoubleType()])
            draws = builder.inttoptr(bits.bit_generator, byte)
            taken = [state.type, ir.IntType(64), ir.DoubleType(), byte]
            found = called(builder, STEP, made, taken, [state, i, answer, draws])
            move, parameter = (builder.extract_value(found, place) for place in range(2))
            stopped = builder.icmp_signed("==", move, ir.Constant(move.type, STOPPED))
            return context.make_tuple(builder, result, [state, move, parameter, stopped])

        return result(state_type, int64, float64, coins), call

    return room, begin, advanced


def why(error: Exception) -> str:
    """The line of a numba error that states the cause."""
    lines = [line.strip() for line in str(error).splitlines()]
    informative = [
        line for line in lines if line and not line.startswith(("Failed in", "During:", "-"))
    ]
    return informative[0] if informative else type(error).__name__
