"""Compiled kernels on disk, so that a kernel is compiled once and not once in each process.

A kernel's name is the digest of all that its machine code depends on: the code in memory of every
function that it calls, with the values that these close over and look up, and of the modules that
write for the compiler; the versions of Python, numba, llvmlite and numpy; numba's settings; the
processor. What no digest covers is not stored.

numba itself writes and reads the code, by ``njit(cache=True)``, of a function whose file stands in
a folder of its own. What it writes there becomes one file, with a checksum, as numba does not look
whether its files are damaged.

Two symbols of one name in one process are one function for the linker, and numba counts the names
of a process from 1: code of two processes could call each other's functions. So the count begins
at a random number, and code with a symbol that this number does not mark is not stored. The counter
is a private name of numba; where another version has none by that name, nothing is stored.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import itertools
import json
import os
import re
import secrets
import shutil
import sys
import tempfile
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.foundations.private_folder import PrivateFolder
from simulator.identity.anatomy import plain
from simulator.identity.fingerprint import Walk
from simulator.identity.origins import home_of, is_users

VARIABLE, OFF = "DPCOMPOSE_CACHE", "off"
"""The environment variable that names the folder, and its value for none."""
MOST, MOST_OF_ONE = 64 << 20, 16 << 20
"""Bytes of all entries and of one."""
FORMAT = "dpcompose kernel 1"
WRITERS = (
    "simulator.adversaries.program.compiling", "simulator.adversaries.program.operations",
    "simulator.engine.compiled.compiling", "simulator.engine.compiled.steps", __name__,
)  # fmt: skip
"""The modules that write for the compiler: what they add to a kernel, no function of it calls."""
FILE, OPEN = "kernel.py", "open-"
"""The file of a kernel's function, and how the folder begins in which it stands while in use."""
_NUMBAS = re.compile(r"kernel\.[\w.-]+\.nb[ic]")
_IRRELEVANT = {
    "CACHE_DIR",
    "CACHE_LOCATOR_CLASSES",
    "NUMBA_NUM_THREADS",
    "NUMBA_DEFAULT_NUM_THREADS",
}
_LOCAL = {"internal", "private", "external", "declare"}


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
    import numba
    import numpy as np

    walk, config = Walk(inside=True), vars(numba.config)
    settings = {n: config[n] for n in sorted(config) if n.isupper() and n not in _IRRELEVANT}
    return _digest((
        FORMAT, sys.version, sys.flags.optimize, numba.__version__, llvmlite.__version__,
        np.__version__, llvm.get_default_triple(), llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(), repr(settings),
        [walk.digest(code) for name in WRITERS for code in _codes(name)],
    ))  # fmt: skip


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


@cache
def mark() -> str | None:
    """The digits that begin the number of every function compiled from now on; None: no marks."""
    from numba.core import bytecode

    identity: Any = getattr(bytecode, "FunctionIdentity", None)
    if not isinstance(getattr(identity, "_unique_ids", None), itertools.count):
        return None
    digits = str(10**19 + secrets.randbelow(9 * 10**19))
    identity._unique_ids = itertools.count(int(digits) * 10**9)
    return digits


def unmarked(code: str, digits: str) -> list[str]:
    """The symbols in a text of LLVM that other code may share, and that the digits do not mark.

    Those of numba's runtime are the same in all code of one version.
    """
    found = re.findall(r"^@(\S+) = (\w+)", code, re.MULTILINE)
    lines = re.findall(r"^define (\w+)[^@\n]*@(\"[^\"]+\"|[\w.$]+)", code, re.MULTILINE)
    found += [(name, linkage) for linkage, name in lines]
    return [
        name for name, linkage in found
        if linkage not in _LOCAL and digits not in name and not name.startswith("NRT_")
    ]  # fmt: skip


_LOADED: dict[str, Any] = {}
_LOCK = threading.RLock()


def kept(
    kernel: Callable[..., Any], name: str | None, try_out: Callable[[Callable[..., Any]], None]
) -> Callable[..., Any]:
    """A kernel with its machine code: from the folder if it is there, compiled and stored if not.

    ``try_out`` calls it on no trials, which compiles it. Without a name it is only compiled.
    """
    folder = store()
    digits = None if name is None or folder is None else mark()
    if name is None or folder is None or digits is None:
        try_out(kernel)
        return kernel
    with _LOCK:
        if name not in _LOADED:
            _LOADED[name] = _from(folder, name, kernel, try_out) or _into(
                folder, name, kernel, try_out, digits
            )
            while len(_LOADED) > 64:
                del _LOADED[next(iter(_LOADED))]
        return _LOADED[name]


def _from(
    folder: PrivateFolder, name: str, kernel: Callable[..., Any], try_out: Callable[..., None]
) -> Any:
    """The entry's kernel, or None where there is no entry or it is damaged."""
    files = unpacked(folder.read(f"{name}.kernel", MOST_OF_ONE), name)
    if files is None:
        return None
    entrance, pycache = entrance_to(kernel, name, folder)
    for each, content in files.items():
        (pycache / each).write_bytes(content)
    try:
        try_out(entrance)
    except Exception:  # of another build of numba, say
        return None
    emptied(pycache)
    return entrance


def _into(
    folder: PrivateFolder,
    name: str,
    kernel: Callable[..., Any],
    try_out: Callable[..., None],
    digits: str,
) -> Any:
    """The kernel, compiled and stored."""
    entrance, pycache = entrance_to(kernel, name, folder)
    try_out(entrance)
    code = "\n".join(entrance.inspect_llvm(each) for each in entrance.signatures)
    if not unmarked(code, digits):
        files = {p.name: p.read_bytes() for p in sorted(pycache.iterdir())}
        folder.write(f"{name}.kernel", packed(files, name))
        folder.trim(MOST)
    emptied(pycache)
    return entrance


def emptied(folder: Path) -> None:
    """Remove the files of a folder."""
    for path in folder.iterdir():
        path.unlink()


def entrance_to(kernel: Callable[..., Any], name: str, folder: PrivateFolder) -> tuple[Any, Path]:
    """A function that calls the kernel, compiled by numba with its cache, and the cache's folder.

    The kernel is a global variable of it, of which numba's cache does not look at the value. Its
    name is in the names of its symbols.
    """
    import numba

    place = Path(tempfile.mkdtemp(prefix=OPEN, dir=folder.path))
    file, pycache = place / FILE, place / "__pycache__"
    file.touch()
    pycache.mkdir(mode=0o700)
    called = f"kernel_{name}"
    code = _call.__code__.replace(
        co_filename=str(file), co_firstlineno=1, co_name=called, co_qualname=called
    )
    function = FunctionType(code, {"__name__": __name__, "kernel": kernel}, called)
    # numba writes there again where it meets other types, so the folder stays as long
    weakref.finalize(function, shutil.rmtree, place, ignore_errors=True)
    # numba warns of code that it cannot keep
    warnings.filterwarnings("ignore", module=re.escape(str(folder.path / OPEN)))
    with _here(numba.config):
        return numba.njit(nogil=True, error_model="numpy", cache=True)(function), pycache


def _call(*arguments):  # type: ignore[no-untyped-def]
    return kernel(*arguments)  # noqa: F821


@contextlib.contextmanager
def _here(config: Any) -> Iterator[None]:
    """Let numba keep its cache beside the file of a function, whatever its settings are."""
    before = {name: getattr(config, name) for name in ("CACHE_DIR", "CACHE_LOCATOR_CLASSES")
              if hasattr(config, name)}  # fmt: skip
    try:
        for name in before:
            setattr(config, name, "")
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)


def packed(files: dict[str, bytes], name: str) -> bytes:
    """One file of several, with its own name and a checksum."""
    body = b"".join(files.values())
    sizes = [[each, len(content)] for each, content in files.items()]
    head = {"format": FORMAT, "name": name, "sha256": hashlib.sha256(body).hexdigest(),
            "files": sizes}  # fmt: skip
    return json.dumps(head).encode() + b"\n" + body


def unpacked(content: bytes | None, name: str) -> dict[str, bytes] | None:
    """The files of an entry; None where it is damaged, or of another name."""
    head, _, body = (content or b"").partition(b"\n")
    try:
        found = json.loads(head)
        if (found["format"], found["name"]) != (FORMAT, name):
            return None
        if found["sha256"] != hashlib.sha256(body).hexdigest():
            return None
        files, start = {}, 0
        for each, size in found["files"]:
            if not _NUMBAS.fullmatch(each):
                return None
            files[each] = body[start : start + size]
            start += size
    except (ValueError, KeyError, TypeError):
        return None
    return files if start == len(body) else None


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:40]
