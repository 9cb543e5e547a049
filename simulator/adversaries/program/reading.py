"""Read the source of an adversary into instructions.

Control flow becomes jumps, and the calls of a user's functions are replaced by what these do. What
operations mean is not decided here; a construct for which there is no instruction is refused.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

from simulator.adversaries.contract import Rule, name_of
from simulator.adversaries.program.expressions import BINARY, CHANGING, Expressions
from simulator.adversaries.program.fixed import AT_ONCE, at_once
from simulator.adversaries.program.forms import End, Jump, Listing, NotRead, Pause
from simulator.adversaries.program.scopes import Names, Reader
from simulator.adversaries.program.sources import FunctionSource, called, source_of

DEEPEST = 16
"""Calls within calls; a function that calls itself is refused there."""


def read(adversary: Callable[..., Any]) -> Listing:
    """The instructions of an adversary, a generator or a rule; raises NotRead."""
    if isinstance(adversary, Rule):
        return _read_rule(adversary)
    function, before, named = called(adversary)
    source = source_of(function)
    if not source.generates:
        raise NotRead(source.file, source.tree.lineno, "this is no generator function")
    reader = Reader(source.file)
    scope = Scope(reader, source, "")
    coins = "the coins"
    scope.bind_arguments([*(reader.constant(each, source.tree) for each in before), coins],
                         {name: reader.constant(each, source.tree) for name, each in named.items()},
                         source.tree)  # fmt: skip
    scope.body(source.tree.body)
    reader.add(End(reader.place(source.tree)))
    return Listing(name_of(adversary), source.file, tuple(reader.instructions), coins)


def _read_rule(rule: Rule) -> Listing:
    """``while True: state, *move = step(state, round, answer, coins); answer = yield move``."""
    function, before, named = called(rule.step)
    source = source_of(function)
    node = source.tree
    if source.generates:
        raise NotRead(source.file, node.lineno, "this step is a generator function")
    reader = Reader(source.file, of_rule=True)
    reader.apply("constant", (), node, rule.state, "state")
    reader.apply("constant", (), node, math.nan, "answer")
    start, coins = reader.here(), "the coins"
    reader.apply("round", (), node, target="round")
    scope = Scope(reader, source, "step ")
    scope.returned = reader.temporary()
    scope.bind_arguments(
        [*(reader.constant(each, node) for each in before), "state", "round", "answer", coins],
        {name: reader.constant(each, node) for name, each in named.items()},
        node,
    )
    scope.body(node.body)
    reader.apply("constant", (), node, None, scope.returned)
    reader.here(*scope.returns)
    first = reader.constant(0, node)
    reader.apply("index", (scope.returned, first), node, target="state")
    reader.add(Pause("answer", scope.returned, reader.place(node)))
    reader.jump(node).to = start
    return Listing(rule.name, source.file, tuple(reader.instructions), coins, rule.menu)


class Scope(Expressions):
    """Reads the statements of a function."""

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
        if isinstance(node.value, ast.IfExp):
            value = self._ifexp(node.value, added=True)
        else:
            value = self.expression(node.value)
        operation = BINARY.get(type(node.op))
        if operation is None:
            raise self.refuse(node.op)
        after = self.reader.apply(operation, (before, value), node, f"{operation}=")
        self.assign(node.target, after)

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

    def inlined(self, function: tuple[FunctionSource, Names | None], given: Sequence[str],
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
