"""Compiled kernels on disk, so that a kernel is compiled once and not once in each process.

A kernel's name is the digest of all that its machine code depends on: the code in memory of every
function that it calls, with the values that these close over and look up, and of the modules that
write for the compiler; the versions of Python, numba, llvmlite and numpy; numba's settings; the
processor. What no digest covers is not stored.

The code is loaded without numba, see :mod:`.machine_code`. A kernel that cannot be is compiled in
every process.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import FunctionType
from typing import Any

from simulator.engine.compiled.compiling import numba_callable
from simulator.engine.compiled.functions_of_c import NotStored
from simulator.engine.compiled.machine_code import Code, Loaded, code_of, words_of
from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import open_regular
from simulator.foundations.private_folder import PrivateFolder
from simulator.identity.anatomy import plain
from simulator.identity.fingerprint import Walk
from simulator.identity.origins import home_of, is_users

VARIABLE, OFF = "DPCOMPOSE_CACHE", "off"
"""The environment variable that names the folder, and its value for none."""
MOST, MOST_OF_ONE = 64 << 20, 16 << 20
"""Bytes of all entries and of one."""
FORMAT = "dpcompose kernel 2"
WRITERS = (
    "simulator.adversaries.program.compiling", "simulator.adversaries.program.operations",
    "simulator.engine.compiled.compiling", "simulator.engine.compiled.entry",
    "simulator.engine.compiled.functions_of_c", "simulator.engine.compiled.machine_code",
    "simulator.engine.compiled.steps", __name__,
)  # fmt: skip
"""The modules that write for the compiler: what they add to a kernel, no function of it calls."""
_SETTINGS = ".numba_config.yaml"
"""The file of settings that numba reads in the current folder, besides environment variables."""
_IRRELEVANT = {"NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES", "NUMBA_NUM_THREADS"}


def store() -> PrivateFolder | None:
    """The folder of compiled kernels; None where there is none.

    Raises InvalidInput where the environment variable names a folder that cannot be used.
    """
    named = os.environ.get(VARIABLE, "")
    if named == OFF:
        return None
    if named:
        return PrivateFolder(Path(named).absolute())
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        if not caches.is_absolute():
            caches = Path.home() / ".cache"
        return PrivateFolder(caches / "dpcompose")
    except (InvalidInput, RuntimeError):  # there is no home, say
        return None


def is_stored(find_name: Callable[[], str | None]) -> bool:
    """Whether there is an entry of a kernel, whose name is found only where there are entries."""
    folder = store()
    if folder is None or not any(folder.path.glob("*.kernel")):
        return False
    name = find_name()
    return name is not None and (folder.path / f"{name}.kernel").is_file()


def name_of(**parts: Any) -> str | None:
    """The digest of a kernel that is bound from these values; None where no digest covers them."""
    walk = Walk(inside=True)
    digests = [(name, walk.digest(value, name)) for name, value in parts.items()]
    if walk.not_covered or any(touches_numba(value) for value, _ in walk.known.values()):
        return None
    return _digest((digests, surroundings()))


def touches_numba(value: Any) -> bool:
    """Whether a value is an object of numba, or a user's function whose module holds one.

    The options of a compiled function, and what is registered with numba, are in no digest.
    """
    if home_of(type(value)).startswith("numba."):
        return True
    return (
        isinstance(value, FunctionType)
        and is_users(value)
        and any(
            home_of(each).partition(".")[0] == "numba"
            or home_of(type(each)).partition(".")[0] == "numba"
            for each in list(value.__globals__.values())
        )
    )


@cache
def surroundings() -> str:
    """The digest of the compiler: its version and settings, the processor, our code for it."""
    import llvmlite
    import llvmlite.binding as llvm
    import numpy as np

    walk = Walk(inside=True)
    named = {n: value for n, value in sorted(os.environ.items())
             if n.startswith("NUMBA_") and n not in _IRRELEVANT}  # fmt: skip
    return _digest((
        FORMAT, sys.version, sys.flags.optimize, version("numba"), llvmlite.__version__,
        np.__version__, llvm.get_default_triple(), llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(), named,
        _settings_here(),
        [walk.digest(code) for name in WRITERS for code in _codes(name)],
    ))  # fmt: skip


def _settings_here() -> bytes:
    """The settings of the current folder, for which numba looks."""
    try:
        with open_regular(Path(_SETTINGS), "rb") as file:
            return file.read(MOST_OF_ONE)
    except (InvalidInput, OSError):
        return b""


def _codes(name: str) -> Iterator[Any]:
    """The code of the functions of a module, and its plain values."""
    held = vars(importlib.import_module(name))
    for each in sorted(held):
        value = held[each]
        members = vars(value).values() if isinstance(value, type) else (value,)
        for member in members if home_of(value) == name else ():
            if isinstance(member, FunctionType):
                yield member.__code__
        if plain(value) is not None and not each.startswith("__"):
            yield each, value


_LOADED: dict[str, Loaded] = {}
_LOCK = threading.RLock()


class StoredKernel:
    """A kernel that is loaded from the folder when it is first called, compiled if it is not there.

    What cannot be stored numba calls.
    """

    def __init__(
        self, make: Callable[[], Callable[..., Any]], name: str, folder: PrivateFolder
    ) -> None:
        self._make, self._name, self._folder = make, name, folder
        self._loaded: dict[Any, Loaded] = {}
        self._by_numba: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """What the kernel returns."""
        if self._by_numba is None:
            try:
                kinds, words = words_of(arguments)
                loaded = self._loaded.get(kinds)
                if loaded is None:
                    loaded = self._loaded[kinds] = self._load(repr(kinds), arguments)
                return loaded(words)
            except NotStored:
                self._by_numba = numba_callable(self._make())
        return self._by_numba(*arguments)

    def _load(self, kinds: str, arguments: tuple[Any, ...]) -> Loaded:
        """The code for arguments of such kinds, which is in the folder afterwards."""
        name = _digest((self._name, kinds))
        with _LOCK:
            if name not in _LOADED:
                _LOADED[name] = _from(self._folder, name) or _into(
                    self._folder, name, self._make(), arguments
                )
                while len(_LOADED) > 64:
                    del _LOADED[next(iter(_LOADED))]
            return _LOADED[name]


def kept(make: Callable[[], Callable[..., Any]], name: str | None) -> Callable[..., Any]:
    """A kernel that ``make`` binds for numba, from the folder if it is there and stored if not.

    Without a name it is only compiled. Its first call loads or compiles it.
    """
    folder = store()
    if name is None or folder is None:
        return numba_callable(make())
    return StoredKernel(make, name, folder)


def _from(folder: PrivateFolder, name: str) -> Loaded | None:
    """The entry's code, or None where there is no entry or it is damaged."""
    code = unpacked(folder.read(f"{name}.kernel", MOST_OF_ONE), name)
    try:
        return None if code is None else Loaded(code)
    except NotStored:  # a library of C that has changed, say
        return None


def _into(
    folder: PrivateFolder, name: str, kernel: Callable[..., Any], arguments: tuple[Any, ...]
) -> Loaded:
    """The kernel's code, compiled and stored."""
    code = code_of(kernel, arguments)
    folder.write(f"{name}.kernel", packed(code, name))
    folder.trim(MOST)
    return Loaded(code)


def packed(code: Code, name: str) -> bytes:
    """Machine code as a file, with its name and a checksum."""
    head = {"format": FORMAT, "name": name, "symbol": code.symbol, "needs": code.needs}
    return _head(head, code.machine) + code.machine


def unpacked(content: bytes | None, name: str) -> Code | None:
    """The machine code of a file; None where it is damaged, or of another name."""
    line, _, machine = (content or b"").partition(b"\n")
    try:
        head = json.loads(line)
        del head["sha256"]
        if line + b"\n" != _head(head, machine) or (head["format"], head["name"]) != (FORMAT, name):
            return None
        return Code(head["symbol"], tuple(head["needs"]), machine)
    except (ValueError, KeyError, TypeError):
        return None


def _head(head: dict[str, Any], machine: bytes) -> bytes:
    """The first line of a file, with a checksum of all of it."""
    checksum = hashlib.sha256(json.dumps(head).encode() + machine).hexdigest()
    return json.dumps(head | {"sha256": checksum}).encode() + b"\n"


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:40]
