"""What code looks up when it runs, read off its instructions."""

from __future__ import annotations

import dis
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

READS = frozenset({
    "open", "fdopen", "read_text", "read_bytes", "load", "loadtxt", "genfromtxt", "fromfile",
    "memmap",
    "read_csv", "read_table", "read_parquet", "read_json", "read_excel", "from_csv", "urlopen",
    "getenv", "environ", "input", "import_module", "__import__", "reload", "run_path",
    "run_module",
})  # fmt: skip
"""Names by which code reads what stands outside of the program, or imports by a computed name."""

REFLECTS = frozenset({
    "_getframe", "currentframe", "get_objects", "get_referrers", "get_referents", "modules",
    "settrace", "setprofile", "f_back", "f_locals", "f_globals", "gi_frame", "cr_frame",
    "tb_frame", "__subclasses__", "__builtins__", "eval", "exec", "compile", "ctypes",
})  # fmt: skip
"""Names by which code reaches what no name in it leads to."""

WHOLE_MODULE = frozenset({
    "globals", "vars", "dir", "eval", "exec", "modules", "__globals__", "f_globals",
})  # fmt: skip
"""Names by which code may reach every name of its own module."""


@dataclass(frozen=True)
class Import:
    """One import statement inside of a function: the module, its level, the names taken from it."""

    module: str
    level: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class Lookups:
    """What code looks up, the functions inside of it included, each sorted.

    Attributes
    ----------
    variables : names of its module or of the builtins.
    attributes : names looked up in other objects.
    imports : its import statements.
    """

    variables: tuple[str, ...]
    attributes: tuple[str, ...]
    imports: tuple[Import, ...]

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Names through which it reaches what no fingerprint can hold."""
        return tuple(sorted((READS | REFLECTS).intersection(self.variables + self.attributes)))

    @property
    def whole_module(self) -> bool:
        """Whether it may reach every name of its own module."""
        return not WHOLE_MODULE.isdisjoint(self.variables + self.attributes)


@lru_cache(maxsize=4096)
def lookups(code: CodeType) -> Lookups:
    """Return what ``code`` looks up."""
    variables: set[str] = set()
    attributes: set[str] = set()
    imports: set[Import] = set()
    constants: list[object] = [0, None]
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            level, names = constants[-2:]
            imports.add(
                Import(
                    str(instruction.argval),
                    level if isinstance(level, int) else 0,
                    names if isinstance(names, tuple) else (),
                )
            )
        elif instruction.opcode in dis.hasname:
            of_module = instruction.opname.endswith(("_GLOBAL", "_NAME", "_GLOBALS"))
            (variables if of_module else attributes).add(str(instruction.argval))
        if "LOAD" in instruction.opname and ("CONST" in instruction.opname or
                                             "SMALL_INT" in instruction.opname):  # fmt: skip
            constants.append(instruction.argval)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            inner = lookups(part)
            variables.update(inner.variables)
            attributes.update(inner.attributes)
            imports.update(inner.imports)
    ordered = sorted(imports, key=lambda each: (each.module, each.level, each.names))
    return Lookups(tuple(sorted(variables)), tuple(sorted(attributes)), tuple(ordered))
