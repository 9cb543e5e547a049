"""Steps compiled with Python's arithmetic, or not at all.

numba's whole numbers have 64 bits and wrap, and its divisions and its ``math`` return infinity
where Python raises an error. A pass of its compiler, by numba's interface for such passes, puts a
guard beside every operation that may go another way than in Python. The step then returns (what it
returns, whether a guard is unsure); then the trials are played again uncompiled, and Python
decides. A step with a loop raises OverflowError instead, as wrong numbers may never end it; all
others do not, as that would cost more than a round. What would always go another way, such as
numbers of 32 bits, is not compiled.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
from numba.core import ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import InlineClosureLikes
from numba.extending import overload

MOST = 2.0**62
"""Results below this in absolute value, as doubles have them, are exact in 64 bits."""
HALF = 2**61
EXACT = 2.0**53
"""Whole numbers below this in absolute value are doubles."""

Test = Callable[[Any, Any], bool]
"""Whether an operation on two numbers goes as in Python; compiled."""
Guard = Callable[[bool, Any, Any], bool]
"""``guard(unsure, a, b)``: whether some guard was unsure, or the test fails; for compiled code."""


class Unlike(ArithmeticError):
    """Compiled, the step would never compute as in Python."""


def is_whole(kind: Any) -> bool:
    """Whether a type of numba is that of a whole number, or bool."""
    return isinstance(kind, types.Integer | types.Boolean)


def require_doubles(kind: Any, unsigned: bool = False) -> None:
    """Raise Unlike for a number, or an array of numbers, that has not 64 bits.

    ``unsigned`` whole numbers are allowed on demand.
    """
    kind = types.unliteral(getattr(kind, "dtype", kind))
    same = types.int64, types.float64, *((types.uint64,) if unsigned else ())
    if isinstance(kind, types.Number) and kind not in same:
        raise Unlike(f"it computes with numbers of the type {kind}, which Python does not have")


def is_scalar(kind: Any) -> bool:
    """Whether a type of numba is that of a number, or bool."""
    return isinstance(kind, types.Number | types.Boolean)


def guarded(test_for: Callable[[Any, Any], Test | None]) -> Guard:
    """The guard whose test for two types is ``test_for(types)``; None where none is needed."""

    def guard(unsure: bool, a: Any, b: Any) -> bool:
        return unsure

    @overload(guard)
    def typed(unsure, a, b):  # type: ignore[no-untyped-def]
        found = test_for(a, b)
        if found is None:
            return lambda unsure, a, b: unsure
        test = numba.njit(error_model="numpy")(found)
        return lambda unsure, a, b: unsure or not test(a, b)

    return guard


def arithmetic(wholes: Test | None, others: Test | None = None) -> Guard:
    """The guard of an operator: its tests of two whole numbers, and of two that are not both."""

    def test_for(a: Any, b: Any) -> Test | None:
        require_doubles(a)
        require_doubles(b)
        if is_whole(a) and is_whole(b):
            return wholes
        return others if is_scalar(a) and is_scalar(b) else None

    return guarded(test_for)


def _comparison(a: Any, b: Any) -> Test | None:
    require_doubles(a, unsigned=True)
    require_doubles(b, unsigned=True)
    if is_whole(a) and isinstance(b, types.Float):
        return lambda a, b: abs(a + 0.0) < EXACT
    if is_whole(b) and isinstance(a, types.Float):
        return lambda a, b: abs(b + 0.0) < EXACT
    return None


def _extreme(a: Any, b: Any) -> Test | None:
    if is_whole(a) and is_whole(b) and types.unliteral(a) != types.unliteral(b):
        return lambda a, b: abs(a + 0.0) < EXACT and abs(b + 0.0) < EXACT
    return _comparison(a, b)


def _call(result: Any, argument: Any) -> Test | None:
    require_doubles(result)
    if isinstance(result, types.Integer) and isinstance(argument, types.Float):
        return lambda result, argument: abs(argument) < MOST
    return None


def _function(result: Any, argument: Any) -> Test | None:
    if isinstance(result, types.Float):
        return lambda result, argument: (
            math.isfinite(result)
            or math.isnan(argument)
            or (math.isinf(result) and math.isinf(argument))
        )
    if isinstance(result, types.Integer) and is_whole(argument):
        return lambda result, argument: abs(argument + 0.0) < EXACT
    return None


CALL, FUNCTION = guarded(_call), guarded(_function)
COMPARISON, EXTREME = guarded(_comparison), guarded(_extreme)
SUM = arithmetic(lambda a, b: -HALF < a < HALF and -HALF < b < HALF)
PRODUCT = arithmetic(lambda a, b: abs((a + 0.0) * (b + 0.0)) < MOST)
QUOTIENT = arithmetic(
    lambda a, b: abs(a + 0.0) < EXACT and 0.0 < abs(b + 0.0) < EXACT, lambda a, b: b != 0
)
REST = arithmetic(lambda a, b: -HALF < a < HALF and b != 0, lambda a, b: b != 0)
SIGN = arithmetic(lambda a, b: -HALF < a < HALF)
LEFT = arithmetic(lambda a, b: 0 <= b < 62 and abs(a + 0.0) * 2.0**b < MOST)
RIGHT = arithmetic(lambda a, b: 0 <= b < 62)
POWER = arithmetic(
    lambda a, b: b >= 0 and ((-2 <= a <= 2 and b < 62) or abs(a + 0.0) ** (b + 0.0) < EXACT),
    lambda a, b: math.isfinite((a + 0.0) ** (b + 0.0)),
)
OTHERS = arithmetic(None)
GUARDS: dict[Any, Guard] = {
    operator.add: SUM, operator.sub: SUM, operator.mul: PRODUCT, operator.truediv: QUOTIENT,
    operator.floordiv: REST, operator.mod: REST, builtins.divmod: REST, operator.neg: SIGN,
    builtins.abs: SIGN, operator.lshift: LEFT, operator.rshift: RIGHT, operator.pow: POWER,
    builtins.pow: POWER, operator.lt: COMPARISON, operator.le: COMPARISON, operator.gt: COMPARISON,
    operator.ge: COMPARISON, operator.eq: COMPARISON, operator.ne: COMPARISON,
    builtins.min: EXTREME, builtins.max: EXTREME,
}  # fmt: skip
UNLIKE = (builtins.sum, math.gamma, math.lgamma, math.hypot)
"""Functions that numba computes with other roundings."""


def stop(unsure: bool) -> None:
    """Raise OverflowError where a guard is unsure; for compiled code."""


@overload(stop)
def _stop(unsure):  # type: ignore[no-untyped-def]
    def stops(unsure):  # type: ignore[no-untyped-def]
        if unsure:
            raise OverflowError("a step may go another way than in Python")

    return stops


@register_pass(mutates_CFG=False, analysis_only=False)
class PutGuards(FunctionPass):
    """The pass that puts the guards."""

    _name = "put_guards"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Put a guard beside each operation, and what the guards found beside what is returned."""
        blocks = state.func_ir.blocks
        loops = bool(compute_cfg_from_blocks(blocks).loops())
        first = blocks[min(blocks)]
        unsure = first.scope.get_or_define("a guard is unsure", first.loc)
        for block in blocks.values():
            writer = Writer(state.func_ir, unsure, loops)
            if block is first:
                writer.body.append(ir.Assign(ir.Const(False, block.loc), unsure, block.loc))
            for statement in block.body:
                writer.write(statement)
            block.body = writer.body
        return True


class Writer:
    """Writes the statements of a block anew, with the guards between them."""

    def __init__(self, function: Any, unsure: Any, raises: bool) -> None:
        self.function, self.unsure, self.raises = function, unsure, raises
        self.body: list[Any] = []

    def write(self, statement: Any) -> None:
        """Write a statement and its guards."""
        before: list[tuple[Guard, Any, Any]] = []
        after: list[tuple[Guard, Any, Any]] = []
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
            self.find(statement.value, statement.target, before, after)
        if isinstance(statement, ir.Return):
            both = ir.Expr.build_tuple([statement.value, self.unsure], statement.loc)
            statement = ir.Return(self.assigned(both, statement.loc), statement.loc)
        self.put(before, statement.loc)
        self.body.append(statement)
        self.put(after, statement.loc)

    def find(self, e: Any, target: Any, before: list[Any], after: list[Any]) -> None:
        """Collect the guards (guard, value, value) of an expression."""
        if e.op == "binop":
            before.append((GUARDS.get(e.fn, OTHERS), e.lhs, e.rhs))
        elif e.op == "inplace_binop":
            before.append((GUARDS.get(e.immutable_fn, OTHERS), e.lhs, e.rhs))
        elif e.op == "unary":
            before.append((GUARDS.get(e.fn, OTHERS), e.value, e.value))
        elif e.op in ("getitem", "static_getitem", "pair_first"):
            after.append((CALL, target, target))
        elif e.op == "call":
            called = self.named(e.func)
            if called in UNLIKE or (called is builtins.round and len(e.args) > 1):
                raise Unlike(f"line {e.loc.line}: {called.__name__} rounds otherwise in Python")
            if called in GUARDS:
                before += [(GUARDS[called], e.args[0], b) for b in e.args[1:] or e.args]
            after += [(CALL, target, argument) for argument in e.args or [target]]
            if called is builtins.round or getattr(called, "__module__", None) == "math":
                after += [(FUNCTION, target, argument) for argument in e.args]

    def named(self, variable: Any) -> Any:
        """The function that a variable holds; None where that is not constant."""
        try:
            found = self.function.infer_constant(variable)
            hash(found)
        except Exception:  # numba raises many kinds, and a constant need not have a hash
            return None
        return found

    def put(self, guards: list[tuple[Guard, Any, Any]], loc: Any) -> None:
        """Write calls of guards."""
        for guard, a, b in guards:
            called = self.assigned(ir.Global("guard", guard, loc), loc)
            call = ir.Expr.call(called, (self.unsure, a, b), (), loc)
            self.body.append(ir.Assign(call, self.unsure, loc))
            if self.raises:
                called = self.assigned(ir.Global("stop", stop, loc), loc)
                self.assigned(ir.Expr.call(called, (self.unsure,), (), loc), loc)

    def assigned(self, value: Any, loc: Any) -> Any:
        """Write the assignment of a value to a new variable."""
        variable = self.unsure.scope.make_temp(loc)
        self.body.append(ir.Assign(value, variable, loc))
        return variable


KNOWN = (0, 68)
"""The newest version of numba whose passes these are; with a newer one the guards are tried."""


@lru_cache(maxsize=1)
def require_guards() -> None:
    """Raise Unlike where the guards do not work with this version of numba."""
    if numba.version_info[:2] <= KNOWN:
        return
    square = numba.njit(pipeline_class=Checked)(lambda a: a * a)
    if square(3) != (9, False) or not square(2**32)[1]:
        raise Unlike(f"its whole numbers cannot be guarded in numba {numba.__version__}")


class Checked(CompilerBase):
    """numba's compiler, with the guards."""

    def define_pipelines(self) -> list[Any]:
        """Numba's own passes, and the one that puts the guards."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(PutGuards, InlineClosureLikes)
        passes.finalize()
        return [passes]
