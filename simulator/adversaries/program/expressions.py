"""Read expressions, one operation each, in Python's order."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence

from simulator.adversaries.program.fixed import is_pure
from simulator.adversaries.program.forms import CHOSEN, Jump, Pause
from simulator.adversaries.program.scopes import WORDS, Names
from simulator.adversaries.program.sources import FunctionSource

CHANGING = (ast.Yield, ast.YieldFrom, ast.NamedExpr)
"""Expressions after which a variable that was read in the same statement may be another."""

NOT_EVALUATED = (
    *CHANGING, ast.Await, ast.Lambda, ast.Starred
)  # fmt: skip
"""What may change something, or may be changed."""

BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^",
}  # fmt: skip
COMPARED = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
UNARY = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "~", ast.Not: "not"}


def number_type(node: ast.expr) -> type | None:
    """The type of a number that is written down; None of another expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    found = type(node.value) if isinstance(node, ast.Constant) else None
    return found if found in (int, float, bool) else None


class Expressions(Names, ABC):
    """Reads the expressions of a function, and the calls of a user's functions within them."""

    def condition(self, node: ast.expr) -> list[Jump]:
        """Go on where the expression is true; return the jumps where it is false."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            false = self.condition(node.operand)
            true = self.reader.jump(node)
            self.reader.here(*false)
            return [true]
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return [jump for part in node.values for jump in self.condition(part)]
        if isinstance(node, ast.BoolOp):
            done = []
            for part in node.values[:-1]:
                false = self.condition(part)
                done.append(self.reader.jump(part))
                self.reader.here(*false)
            last = self.condition(node.values[-1])
            self.reader.here(*done)
            return last
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return self.chain(node, None)
        return [self.reader.jump(node, self.expression(node))]

    def chain(self, node: ast.Compare, result: str | None) -> list[Jump]:
        """Compare in turn, ``a < b <= c``; return the jumps where it is false."""
        left, false = self.expression(node.left), []
        for sign, part in zip(node.ops, node.comparators):
            left = self.reader.apply("copy", (left,), node)
            right = self.expression(part, listed=isinstance(sign, ast.In | ast.NotIn))
            test = self.reader.apply(COMPARED[type(sign)], (left, right), node, target=result or "")
            false.append(self.reader.jump(node, test))
            left = right
        return false

    def expression(self, node: ast.expr, listed: bool = False) -> str:
        """Read an expression; return the variable that holds its value.

        With ``listed`` a list or a set that is written down may stand for a tuple.
        """
        if listed and isinstance(node, ast.List | ast.Set):
            return self._tuple(node)
        read = getattr(self, f"_{type(node).__name__.lower()}", None)
        if read is None:
            return self.evaluated(node)
        found: str = read(node)
        return found

    def _constant(self, node: ast.Constant) -> str:
        return self.reader.constant(node.value, node)

    def _name(self, node: ast.Name) -> str:
        name = self.name(node)
        return self.reader.apply("copy", (name,), node) if self.copies else name

    def _namedexpr(self, node: ast.NamedExpr) -> str:
        value = self.expression(node.value)
        self.assign(node.target, value)
        return value

    def _tuple(self, node: ast.Tuple | ast.List | ast.Set) -> str:
        return self.reader.apply("tuple", [self.expression(part) for part in node.elts], node)

    def _binop(self, node: ast.BinOp) -> str:
        operation = BINARY.get(type(node.op))
        if operation is None:
            raise self.refuse(node.op)
        operands = self.expression(node.left), self.expression(node.right)
        return self.reader.apply(operation, operands, node)

    def _unaryop(self, node: ast.UnaryOp) -> str:
        return self.reader.apply(UNARY[type(node.op)], (self.expression(node.operand),), node)

    def _compare(self, node: ast.Compare) -> str:
        if len(node.ops) == 1:
            sign = node.ops[0]
            listed = isinstance(sign, ast.In | ast.NotIn)
            operands = self.expression(node.left), self.expression(node.comparators[0], listed)
            return self.reader.apply(COMPARED[type(sign)], operands, node)
        result = self.reader.temporary()
        self.reader.here(*self.chain(node, result))
        return result

    def _boolop(self, node: ast.BoolOp) -> str:
        result, ends = self.reader.temporary(), []
        for part in node.values[:-1]:
            self.reader.apply("copy", (self.expression(part),), part, target=result)
            false = self.reader.jump(part, result)
            if isinstance(node.op, ast.And):
                ends.append(false)
            else:
                ends.append(self.reader.jump(part))
                self.reader.here(false)
        last = node.values[-1]
        self.reader.apply("copy", (self.expression(last),), last, target=result)
        self.reader.here(*ends)
        return result

    def _ifexp(self, node: ast.IfExp, added: bool = False) -> str:
        """One of two values; ``added`` to a variable, a number is not worth a state of its own."""
        result, merges = self.reader.temporary(), self.reader.of_rule or added
        if merges and number_type(node.body) == number_type(node.orelse) is not None:
            result = f"{CHOSEN} {result}"
        otherwise = self.condition(node.test)
        self.reader.apply("copy", (self.expression(node.body),), node, target=result)
        end = self.reader.jump(node)
        self.reader.here(*otherwise)
        self.reader.apply("copy", (self.expression(node.orelse),), node, target=result)
        self.reader.here(end)
        return result

    def _subscript(self, node: ast.Subscript) -> str:
        if isinstance(node.slice, ast.Slice):
            return self.evaluated(node)
        operands = self.expression(node.value), self.expression(node.slice)
        return self.reader.apply("index", operands, node)

    def _attribute(self, node: ast.Attribute) -> str:
        return self.reader.apply("attribute", (self.expression(node.value),), node, node.attr)

    def _yield(self, node: ast.Yield) -> str:
        if node.value is None:
            raise self.refuse(node, "a yield without a challenge")
        target = self.reader.temporary()
        challenge = self.expression(node.value)
        self.reader.add(Pause(target, challenge, self.reader.place(node)))
        return target

    def _yieldfrom(self, node: ast.YieldFrom) -> str:
        if not isinstance(node.value, ast.Call):
            raise self.refuse(node, "yield from something other than a call")
        return self._call(node.value, yields=True)

    def _call(self, node: ast.Call, yields: bool = False) -> str:
        if any(isinstance(each, ast.Starred) for each in node.args) or any(
            each.arg is None for each in node.keywords
        ):
            raise self.refuse(node, "a call with starred arguments")
        function = self.inner_function(node.func) or self.users_function(node.func)
        if yields and function is None:
            raise self.refuse(node, "yield from something other than a generator function")
        callee = "" if function else self.expression(node.func)
        given = [self.expression(each) for each in node.args]
        named = {str(each.arg): self.expression(each.value) for each in node.keywords}
        if function:
            return self.inlined(function, given, named, node, yields)
        operands = (callee, *given, *named.values())
        return self.reader.apply("call", operands, node, tuple(named))

    @abstractmethod
    def inlined(self, function: tuple[FunctionSource, Names | None], given: Sequence[str],
                named: dict[str, str], node: ast.Call, yields: bool) -> str:  # fmt: skip
        """What a user's function does, in the place of its call."""

    def evaluated(self, node: ast.expr) -> str:
        """An expression that Python evaluates, where all of its variables are fixed objects."""
        parts = list(ast.walk(node))
        for part in parts:
            impure = isinstance(part, ast.Call) and not is_pure(self.fixed(part.func))
            if impure or isinstance(part, NOT_EVALUATED):
                raise self.refuse(part, "a call within an expression" if impure else "")
        mentioned = [part for part in parts if isinstance(part, ast.Name)]
        own = {part.id for part in mentioned if isinstance(part.ctx, ast.Store)}
        used = dict.fromkeys(part.id for part in mentioned if part.id not in own)
        names = [name for name in used if name in self.locals]
        operands = [self.variable(name) for name in names]
        try:
            code = compile(ast.Expression(node), self.source.file, "eval", dont_inherit=True)
            others = {name: self.source.value(name) for name in used if name not in names}
            if self.outer is not None and set(others) & set(self.source.code.co_freevars):
                raise self.refuse(node)
        except (SyntaxError, LookupError):
            raise self.refuse(node) from None
        words = WORDS.get(type(node).__name__, type(node).__name__)
        return self.reader.apply("evaluate", operands, node, (code, tuple(names), others, words))

    def assign(self, target: ast.expr, value: str) -> None:
        """Assign to a name, or to several from a tuple."""
        if isinstance(target, ast.Name):
            self.reader.apply("copy", (value,), target, target=self.variable(target.id))
        elif isinstance(target, ast.Tuple | ast.List):
            kept = self.reader.apply("copy", (value,), target)
            for place, part in enumerate(target.elts):
                item = self.reader.apply("unpack", (kept,), target, (place, len(target.elts)))
                self.assign(part, item)
        else:
            raise self.refuse(target)
