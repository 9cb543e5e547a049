"""The instructions that are read so far, and the names of the function that is being read."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

from simulator.adversaries.program.forms import Apply, Instruction, Jump, NotRead, Place
from simulator.adversaries.program.sources import FunctionSource, source_of
from simulator.identity.origins import is_of_package, is_users

WORDS = {
    "Try": "try", "With": "with", "Match": "match", "Import": "import", "ImportFrom": "import",
    "Delete": "del", "Global": "global", "Nonlocal": "nonlocal", "Starred": "a starred item",
    "Subscript": "an assignment to an item", "Attribute": "an assignment to an attribute",
    "ClassDef": "a class", "Await": "await", "AsyncFunctionDef": "async", "ListComp":
    "a comprehension", "GeneratorExp": "a comprehension", "Slice": "a slice", "List": "a list",
    "Dict": "a dictionary", "Set": "a set", "JoinedStr": "a formatted text",
    "Lambda": "a function within a function", "FunctionDef": "a function within a function",
}  # fmt: skip


class Reader:
    """The instructions so far; ``file`` is where the function that is read is written.

    ``of_rule`` where it is a step, of which each number may become a move.
    """

    def __init__(self, file: str, of_rule: bool = False) -> None:
        self.file, self.of_rule = file, of_rule
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


class Names:
    """A function that is read: its variables, under names that no other call has."""

    def __init__(self, reader: Reader, source: FunctionSource, prefix: str, depth: int = 0,
                 outer: Names | None = None) -> None:  # fmt: skip
        self.reader, self.source, self.prefix, self.depth = reader, source, prefix, depth
        self.outer = outer
        self.inner: dict[str, FunctionSource] = {}
        self.locals = set(source.code.co_varnames) | set(source.code.co_cellvars)
        self.returned, self.copies = "", True
        self.returns: list[Jump] = []
        self.loops: list[tuple[list[Jump], list[Jump]]] = []  # breaks and continues

    def refuse(self, node: ast.AST, construct: str = "") -> NotRead:
        """The error of a construct that is not in the closed form."""
        kind = type(node).__name__
        construct = construct or f"{WORDS.get(kind, kind)} is not in the closed form"
        return NotRead(self.source.file, getattr(node, "lineno", 0), construct)

    def variable(self, name: str) -> str:
        """The name of a local variable among the instructions."""
        return f"{self.prefix}{name}"

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

    def inner_function(self, node: ast.expr) -> tuple[FunctionSource, Names] | None:
        """The function that is defined within this one under a name, and where."""
        if not isinstance(node, ast.Name):
            return None
        if node.id in self.inner:
            return self.inner[node.id], self
        known = node.id in self.locals or self.outer is None
        return None if known or self.outer is None else self.outer.inner_function(node)

    def users_function(self, node: ast.expr) -> tuple[FunctionSource, None] | None:
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
