"""What code looks up when it runs, read off its instructions."""

from __future__ import annotations

import dis
from dataclasses import dataclass
from functools import lru_cache
from numbers import Number
from types import CodeType

UNSEEN = frozenset({
    "open", "fdopen", "read_text", "read_bytes", "load", "loadtxt", "genfromtxt", "fromfile",
    "memmap", "read_csv", "read_table", "read_parquet", "read_json", "read_excel", "from_csv",
    "urlopen", "getenv", "environ", "input", "import_module", "__import__", "reload", "run_path",
    "run_module", "globals", "vars", "eval", "exec", "compile", "modules", "ctypes",
    "_getframe", "currentframe", "get_objects", "get_referrers", "f_locals", "f_globals",
    "__globals__", "__subclasses__",
})  # fmt: skip
"""Names by which code reads what stands outside of the program, or what no name in it leads to."""

SETS = frozenset({"set", "frozenset", "hash"})
_SET_INSTRUCTIONS = frozenset({"BUILD_SET", "SET_ADD"})


@dataclass(frozen=True, order=True)
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
    hashes : whether it makes sets, or goes through one that is written down, or hashes.
    """

    variables: tuple[str, ...]
    attributes: tuple[str, ...]
    imports: tuple[Import, ...]
    hashes: bool

    @property
    def unseen(self) -> tuple[str, ...]:
        """Names through which it reaches what no fingerprint can hold."""
        return tuple(sorted(UNSEEN.intersection(self.variables + self.attributes)))


@lru_cache(maxsize=4096)
def lookups(code: CodeType) -> Lookups:
    """Return what ``code`` looks up."""
    variables: set[str] = set()
    attributes: set[str] = set()
    imports: set[Import] = set()
    hashes = False
    constants: list[object] = [0, None]
    before: object = None
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name == "IMPORT_NAME":
            level, names = constants[-2:]
            imports.add(
                Import(
                    str(instruction.argval),
                    level if isinstance(level, int) else 0,
                    names if isinstance(names, tuple) else (),
                )
            )
        elif instruction.opcode in dis.hasname:
            of_module = name.endswith(("_GLOBAL", "_NAME", "_GLOBALS"))
            (variables if of_module else attributes).add(str(instruction.argval))
        # `x in {"a", "b"}` has such a constant too, and does not go through it
        through = name == "GET_ITER" and isinstance(before, frozenset)
        hashes |= name in _SET_INSTRUCTIONS or (through and not has_steady_hash(before))
        before = None
        if "LOAD" in name and ("CONST" in name or "SMALL_INT" in name):
            before = instruction.argval
            constants.append(before)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            inner = lookups(part)
            variables.update(inner.variables)
            attributes.update(inner.attributes)
            imports.update(inner.imports)
            hashes |= inner.hashes
    hashes |= not SETS.isdisjoint(variables)
    return Lookups(
        tuple(sorted(variables)), tuple(sorted(attributes)), tuple(sorted(imports)), hashes
    )


def has_steady_hash(value: object) -> bool:
    """Whether a value hashes alike in every process: numbers do, and tuples and sets of them."""
    if isinstance(value, tuple | frozenset | set):
        return all(map(has_steady_hash, value))
    return isinstance(value, Number)
