"""Read the source of an adversary into instructions, one operation each, in Python's order.

Control flow becomes jumps, and the calls of a user's functions are replaced by what these do. What
operations mean is not decided here; a construct for which there is no instruction is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any

from simulator.adversaries.program.fixed import AT_ONCE, at_once, is_pure
from simulator.adversaries.program.forms import (
    Apply,
    End,
    Instruction,
    Jump,
    Pause,
    Place,
    Reading,
    Refused,
)
from simulator.adversaries.program.sources import Source, called, source_of
from simulator.identity.origins import is_of_package, is_users

CHANGING = (ast.Yield, ast.YieldFrom, ast.NamedExpr)
"""Expressions after which a variable that was read in the same statement may be another."""

NOT_EVALUATED = (
    *CHANGING, ast.Await, ast.Lambda, ast.Starred
)  # fmt: skip
"""What may change something, or may be changed."""

DEEPEST = 16
"""Calls within calls; a function that calls itself is refused there."""

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
WORDS = {
    "Try": "try", "With": "with", "Match": "match", "Import": "import", "ImportFrom": "import",
    "Delete": "del", "Global": "global", "Nonlocal": "nonlocal", "Starred": "a starred item",
    "Subscript": "an assignment to an item", "Attribute": "an assignment to an attribute",
    "ClassDef": "a class", "Await": "await", "AsyncFunctionDef": "async", "ListComp":
    "a comprehension", "GeneratorExp": "a comprehension", "Slice": "a slice", "List": "a list",
    "Dict": "a dictionary", "Set": "a set", "JoinedStr": "a text with values",
    "Lambda": "a function within a function", "FunctionDef": "a function within a function",
}  # fmt: skip


def read(adversary: Callable[..., Any]) -> Reading:
    """The instructions of a generator adversary; raises Refused."""
    function, before, named = called(adversary)
    source = source_of(function)
    if not source.generates:
        raise Refused(source.file, source.tree.lineno, "this is no generator function")
    reader = Reader(source.file)
    scope = Scope(reader, source, "")
    coins = "the coins"
    scope.bind_arguments([*(reader.constant(each, source.tree) for each in before), coins],
                         {name: reader.constant(each, source.tree) for name, each in named.items()},
                         source.tree)  # fmt: skip
    scope.body(source.tree.body)
    reader.add(End(reader.place(source.tree)))
    name = getattr(adversary, "__name__", type(adversary).__name__)
    return Reading(name, source.file, tuple(reader.instructions), coins)


class Reader:
    """The instructions so far; ``file`` is where the function that is read is written."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.instructions: list[Instruction] = []
        self.count = self.calls = 0

    def place(self, node: ast.AST) -> Place:
        """The file and the line of a node."""
        return self.file, getattr(node, "lineno", 0)

    def add(self, instruction: Instruction) -> None:
        """Append one."""
        self.instructions.append(instruction)

    def temporary(self) -> str:
        """A name that no variable of the adversary has."""
        self.count += 1
        return f"{self.count}"

    def apply(self, operation: str, operands: Sequence[str], node: ast.AST, detail: Any = None,
              target: str = "") -> str:  # fmt: skip
        """Append an operation and return the variable that holds its result."""
        target = target or self.temporary()
        self.add(Apply(target, operation, tuple(operands), self.place(node), detail))
        return target

    def constant(self, value: Any, node: ast.AST) -> str:
        """A variable that holds a fixed object."""
        return self.apply("constant", (), node, value)

    def jump(self, node: ast.AST, test: str = "") -> Jump:
        """Append a jump whose end is set later, by :meth:`here`."""
        jump = Jump(-1, self.place(node), test)
        self.add(jump)
        return jump

    def here(self, *jumps: Jump) -> int:
        """Let jumps end at the next instruction; return its place."""
        for jump in jumps:
            jump.to = len(self.instructions)
        return len(self.instructions)


class Scope:
    """A function that is read: its variables, under names that no other call has."""

    def __init__(self, reader: Reader, source: Source, prefix: str, depth: int = 0,
                 outer: Scope | None = None) -> None:  # fmt: skip
        self.reader, self.source, self.prefix, self.depth = reader, source, prefix, depth
        self.outer = outer
        self.inner: dict[str, Source] = {}
        self.locals = set(source.code.co_varnames) | set(source.code.co_cellvars)
        self.returned, self.copies = "", True
        self.returns: list[Jump] = []
        self.loops: list[tuple[list[Jump], list[Jump]]] = []  # breaks and continues

    def refuse(self, node: ast.AST, construct: str = "") -> Refused:
        """The error of a construct that is not in the closed form."""
        kind = type(node).__name__
        construct = construct or f"{WORDS.get(kind, kind)} is not in the closed form"
        return Refused(self.source.file, getattr(node, "lineno", 0), construct)

    def variable(self, name: str) -> str:
        """The name of a local variable among the instructions."""
        return f"{self.prefix}{name}"

    def bind_arguments(self, given: Sequence[str], named: dict[str, str], node: ast.AST) -> None:
        """Assign the arguments of a call."""
        tree, known = self.source.tree.args, self.source.defaults
        names = [each.arg for each in (*tree.posonlyargs, *tree.args)]
        values = dict(zip(names, given)) | named
        names += [each.arg for each in tree.kwonlyargs]
        if tree.vararg or tree.kwarg or len(given) > len(names) or set(values) - set(names):
            raise self.refuse(node, f"the arguments of {self.source.tree.name}")
        for name in names:
            if name in values:
                self.reader.apply("copy", (values[name],), node, target=self.variable(name))
            elif name in known:
                self.reader.apply("constant", (), node, known[name], self.variable(name))
            else:
                raise self.refuse(node, f"{self.source.tree.name} lacks the argument {name}")

    # --- statements -----------------------------------------------------------------------------

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Read statements in turn."""
        for statement in statements:
            self.copies = any(isinstance(part, CHANGING) for part in ast.walk(statement))
            read = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if read is None:
                raise self.refuse(statement)
            read(statement)

    def _functiondef(self, node: ast.FunctionDef) -> None:
        stored = [
            part
            for part in ast.walk(self.source.tree)
            if isinstance(part, ast.Name)
            and part.id == node.name
            and isinstance(part.ctx, ast.Store)
        ]
        plain = node in self.source.tree.body and node.name not in self.inner and not stored
        try:
            self.inner[node.name] = self.source.inner(node)
        except LookupError:
            plain = False
        if not plain or node.decorator_list:
            raise self.refuse(node)

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expression(node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.expression(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name):
            raise self.refuse(node.target)
        before = self.reader.apply("copy", (self.name(node.target),), node)
        value = self.expression(node.value)
        operation = BINARY.get(type(node.op))
        if operation is None:
            raise self.refuse(node.op)
        self.assign(node.target, self.reader.apply(operation, (before, value), node))

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

    def _if(self, node: ast.If) -> None:
        otherwise = self.condition(node.test)
        self.body(node.body)
        if node.orelse:
            end = self.reader.jump(node)
            self.reader.here(*otherwise)
            self.body(node.orelse)
            self.reader.here(end)
        else:
            self.reader.here(*otherwise)

    def _while(self, node: ast.While) -> None:
        start = self.reader.here()
        over = self.condition(node.test)
        self.loop(node, start, over)

    def _for(self, node: ast.For) -> None:
        reader = self.reader
        over = reader.apply("iterable", (self.iterated(node.iter),), node)
        place = reader.apply("first", (over,), node, target=f"{reader.temporary()} place")
        start = reader.here()
        more = reader.apply("more", (over, place), node)
        end = reader.jump(node, more)
        item = reader.apply("item", (over, place), node)
        reader.apply("next", (over, place), node, target=place)
        self.assign(node.target, item)
        self.loop(node, start, [end])

    def iterated(self, node: ast.expr) -> str:
        """What a loop goes through; an iterator that is made for it alone is a tuple."""
        if isinstance(node, ast.Call) and self.fixed(node.func) in AT_ONCE and not node.keywords:
            called = [self.reader.constant(at_once, node), self.expression(node.func)]
            called += [self.expression(each) for each in node.args]
            return self.reader.apply("call", called, node, ())
        return self.expression(node, listed=True)

    def loop(self, node: ast.While | ast.For, start: int, over: list[Jump]) -> None:
        """Read the body of a loop, which ends by the jumps ``over``."""
        self.loops.append(([], []))
        self.body(node.body)
        breaks, continues = self.loops.pop()
        self.reader.here(*continues)
        self.reader.jump(node).to = start
        self.reader.here(*over)
        self.body(node.orelse)
        self.reader.here(*breaks)

    def _break(self, node: ast.Break) -> None:
        self.loops[-1][0].append(self.reader.jump(node))

    def _continue(self, node: ast.Continue) -> None:
        self.loops[-1][1].append(self.reader.jump(node))

    def _return(self, node: ast.Return) -> None:
        if not self.returned:
            self.reader.add(End(self.reader.place(node)))
            return
        value = self.expression(node.value) if node.value else self.reader.constant(None, node)
        self.reader.apply("copy", (value,), node, target=self.returned)
        self.returns.append(self.reader.jump(node))

    def _raise(self, node: ast.Raise) -> None:
        self.reader.add(End(self.reader.place(node)))

    def _assert(self, node: ast.Assert) -> None:
        failed = self.condition(node.test)
        passed = self.reader.jump(node)
        self.reader.here(*failed)
        self.reader.add(End(self.reader.place(node)))
        self.reader.here(passed)

    # --- conditions -----------------------------------------------------------------------------

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

    # --- expressions ----------------------------------------------------------------------------

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

    def name(self, node: ast.Name) -> str:
        """The variable that a name stands for."""
        if node.id in self.inner:
            raise self.refuse(node, f"the function {node.id} as a value")
        if node.id in self.locals:
            return self.variable(node.id)
        if self.outer is not None:
            return self.outer.name(node)
        try:
            return self.reader.constant(self.source.value(node.id), node)
        except LookupError:
            raise self.refuse(node, f"the name {node.id} stands for nothing") from None

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

    def _ifexp(self, node: ast.IfExp) -> str:
        result = self.reader.temporary()
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

    def inner_function(self, node: ast.expr) -> tuple[Source, Scope] | None:
        """The function that is defined within this one under a name, and where."""
        if not isinstance(node, ast.Name):
            return None
        if node.id in self.inner:
            return self.inner[node.id], self
        known = node.id in self.locals or self.outer is None
        return None if known or self.outer is None else self.outer.inner_function(node)

    def users_function(self, node: ast.expr) -> tuple[Source, None] | None:
        """The user's function that a name, or a name in a module, stands for."""
        found = self.fixed(node)
        if not isinstance(found, FunctionType) or not is_users(found):
            return None
        return source_of(found), None

    def fixed(self, node: ast.expr) -> Any:
        """What a name that is no local variable, or a name in a module, stands for, else None."""
        if isinstance(node, ast.Name) and node.id not in self.locals:
            if self.outer is not None:
                return self.outer.fixed(node)
            try:
                return self.source.value(node.id)
            except LookupError:
                return None
        if isinstance(node, ast.Attribute):
            held = self.fixed(node.value)
            if isinstance(held, ModuleType) or is_of_package(type(held)):
                return getattr(held, node.attr, None)
        return None

    def inlined(self, function: tuple[Source, Scope | None], given: Sequence[str],
                named: dict[str, str], node: ast.Call, yields: bool) -> str:  # fmt: skip
        """What a user's function does, in the place of its call."""
        source, outer = function
        if source.generates != yields:
            raise self.refuse(node, f"a call of the generator {source.tree.name}")
        if source.tree.decorator_list:
            raise self.refuse(node, f"a call of {source.tree.name}, which is decorated")
        if self.depth >= DEEPEST:
            raise self.refuse(node, f"{source.tree.name} calls itself, or calls are nested deeply")
        self.reader.calls += 1
        prefix = f"{source.tree.name} {self.reader.calls} "
        scope = Scope(self.reader, source, prefix, self.depth + 1, outer)
        scope.returned = self.reader.temporary()
        scope.bind_arguments(given, named, node)
        self.reader.file = source.file
        scope.body(source.tree.body)
        self.reader.apply("constant", (), node, None, scope.returned)
        self.reader.file = self.source.file
        self.reader.here(*scope.returns)
        return scope.returned

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
