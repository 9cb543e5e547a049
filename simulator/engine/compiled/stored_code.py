"""Compiled kernels on disk, so that a kernel is compiled once and not once in each process.

A kernel is stored twice: without the step of an adversary, as LLVM's bitcode, which needs the
compiler of Python for each kind of mechanism once; and linked with a step, as machine code. Its
name is the digest of all that its code depends on: the code in memory of every function that it
calls, with the values that these close over and look up, and of the modules that write for the
compiler; the versions of Python, numba, llvmlite and numpy; numba's settings; the processor; and
the step's assembly. What no digest covers is not stored.

Both are used without numba, see :mod:`.machine_code`.
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

from simulator.engine.compiled.functions_of_c import NotStored
from simulator.engine.compiled.machine_code import (
    Code,
    Loaded,
    compiled,
    linked,
    words_of,
)
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
FORMAT = "dpcompose kernel 3"
WRITERS = (
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


def is_stored(find_name: Callable[[], str | None], step: str) -> bool:
    """Whether a kernel is there, with its step or without it; then numba is not needed.

    Its name is found only where there are entries.
    """
    folder = store()
    if folder is None or not any(folder.path.iterdir()):
        return False
    name = find_name()
    return name is not None and any(
        any(folder.path.glob(f"{_digest((name, text))}.*")) for text in (step, "")
    )


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
_UNLINKED: dict[str, Code] = {}
_LOCK = threading.RLock()
_MOST_KEPT = 64


class StoredKernel:
    """A kernel that is loaded from the folder when it is first called, compiled if it is not there.

    Attributes
    ----------
    make : binds the kernel for numba.
    name : its name without its step; None for one that is only compiled.
    step : the assembly of its step; "" for a kernel without one.
    """

    def __init__(
        self, make: Callable[[], Callable[..., Any]], name: str | None, step: str = ""
    ) -> None:
        self.make, self.name, self.step = make, name, step
        self._folder = None if name is None else store()
        self._loaded: dict[Any, Loaded] = {}

    def __call__(self, *arguments: Any) -> Any:
        """What the kernel returns; raises NotStored."""
        kinds, words = words_of(arguments)
        loaded = self._loaded.get(kinds)
        if loaded is None:
            loaded = self._loaded[kinds] = self._load(repr(kinds), arguments)
        return loaded(words)

    def _load(self, kinds: str, arguments: tuple[Any, ...]) -> Loaded:
        """The code for arguments of such kinds, which is in the folder afterwards."""
        if self.name is None:
            return Loaded(linked(compiled(self.make(), arguments), self.step))
        whole, name = (entry_name(self.name, kinds, step) for step in (self.step, ""))
        with _LOCK:
            if whole not in _LOADED:
                found = loaded_from(self._folder, whole)
                _LOADED[whole] = self._linked(whole, name, arguments) if found is None else found
                _forget(_LOADED)
            return _LOADED[whole]

    def _linked(self, whole: str, name: str, arguments: tuple[Any, ...]) -> Loaded:
        """The code named ``whole``, linked of the kernel ``name`` and its step, and stored."""
        kernel = _UNLINKED.get(name) or code_from(self._folder, name, "bitcode")
        if kernel is None:
            kernel = compiled(self.make(), arguments)
            if self.step and not kernel.foreign:
                self._write(packed(kernel, name), f"{name}.bitcode")
        _UNLINKED[name] = kernel
        _forget(_UNLINKED)
        code = linked(kernel, self.step)
        if not kernel.foreign:
            self._write(packed(code, whole), f"{whole}.kernel")
        return Loaded(code)

    def _write(self, content: bytes, file: str) -> None:
        """Store an entry where there is a folder."""
        if self._folder is not None and len(content) <= MOST_OF_ONE:
            self._folder.write(file, content)
            self._folder.trim(MOST)


def entry_name(name: str, kinds: str, step: str = "") -> str:
    """The name of the code of a kernel for arguments of such kinds, with its step."""
    return f"{_digest((name, step))}.{_digest(kinds)[:8]}"


def _forget(known: dict[str, Any]) -> None:
    """Drop what was found first where there is much."""
    while len(known) > _MOST_KEPT:
        del known[next(iter(known))]


def loaded_from(folder: PrivateFolder | None, name: str) -> Loaded | None:
    """The entry's machine code, or None where there is none that can be loaded."""
    code = code_from(folder, name, "kernel")
    try:
        return None if code is None else Loaded(code)
    except NotStored:  # a library of C that has changed, say
        return None


def code_from(folder: PrivateFolder | None, name: str, kind: str) -> Code | None:
    """The entry's code, or None where there is no entry or it is damaged."""
    if folder is None:
        return None
    return unpacked(folder.read(f"{name}.{kind}", MOST_OF_ONE), name)


def packed(code: Code, name: str) -> bytes:
    """Code as a file, with its name and a checksum."""
    head = {"format": FORMAT, "name": name, "symbol": code.symbol, "needs": code.needs}
    return _head(head, code.code) + code.code


def unpacked(content: bytes | None, name: str) -> Code | None:
    """The code of a file; None where it is damaged, or of another name."""
    line, _, code = (content or b"").partition(b"\n")
    try:
        head = json.loads(line)
        del head["sha256"]
        if line + b"\n" != _head(head, code) or (head["format"], head["name"]) != (FORMAT, name):
            return None
        return Code(head["symbol"], tuple(head["needs"]), code)
    except (ValueError, KeyError, TypeError):
        return None


def _head(head: dict[str, Any], machine: bytes) -> bytes:
    """The first line of a file, with a checksum of all of it."""
    checksum = hashlib.sha256(json.dumps(head).encode() + machine).hexdigest()
    return json.dumps(head | {"sha256": checksum}).encode() + b"\n"


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:40]
