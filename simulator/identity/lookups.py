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
"""Names by which code hashes values that are not written down in it."""
_GROWS = frozenset({
    "add", "update", "union", "symmetric_difference", "symmetric_difference_update",
})  # fmt: skip
"""Methods by which a set comes to hold what is not written down in it."""


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
    hashes : whether it hashes, or makes or goes through sets that may hold what hashes otherwise in
        another process. A set of numbers that is written down, and does not grow, holds no such.
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
    hashes = makes = False
    constants: list[object] = [0, None]
    loaded: list[object] = []  # the constants loaded just before
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
        makes |= name == "BUILD_SET"
        hashes |= not has_steady_hash(_put_into_a_set(name, instruction.arg or 0, loaded))
        if "LOAD" in name and ("CONST" in name or "SMALL_INT" in name):
            loaded.append(instruction.argval)
            constants.append(instruction.argval)
        else:
            loaded = []
    for part in code.co_consts:
        if isinstance(part, CodeType):
            inner = lookups(part)
            variables.update(inner.variables)
            attributes.update(inner.attributes)
            imports.update(inner.imports)
            hashes |= inner.hashes
    hashes |= makes and not _GROWS.isdisjoint(attributes)
    hashes |= not SETS.isdisjoint(variables)
    return Lookups(
        tuple(sorted(variables)), tuple(sorted(attributes)), tuple(sorted(imports)), hashes
    )


def _put_into_a_set(name: str, count: int, loaded: list[object]) -> tuple[object, ...]:
    """What an instruction puts into a set, or goes through; None for what is not written down.

    ``loaded`` holds the constants loaded just before it. `x in {"a", "b"}` has such a set too,
    and does not go through it.
    """
    if name == "GET_ITER":
        return tuple(each for each in loaded[-1:] if isinstance(each, frozenset))
    if name in ("SET_ADD", "SET_UPDATE"):
        count = 1
    elif name != "BUILD_SET":
        return ()
    return tuple(loaded[-count:]) if 0 < count <= len(loaded) else (None,) * count


def has_steady_hash(value: object) -> bool:
    """Whether a value hashes alike in every process: numbers do, and tuples and sets of them."""
    if isinstance(value, tuple | frozenset | set):
        return all(map(has_steady_hash, value))
    return isinstance(value, Number)
