"""Whose code a class, a function or a module is: the user's own, or installed.

Installed code (this package, the standard library, what a package manager has put in place) is
known by its name and version. All other code may change between two runs, and is taken apart.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from types import FunctionType, ModuleType
from typing import Any

RECORDED = {"simulator", "numpy", "scipy", "numba", "joblib"} | set(sys.stdlib_module_names)
"""Packages whose versions a stored result records beside its identity."""

_HEAP_TYPE, _IMMUTABLE = 1 << 9, 1 << 8  # of a class that Python code has made, the first alone


def _installed_folders() -> Iterator[str]:
    yield os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for name in ("stdlib", "platstdlib", "purelib", "platlib"):
        yield sysconfig.get_path(name)
    yield from getattr(site, "getsitepackages", list)()
    yield site.getusersitepackages()


_INSTALLED = tuple(
    sorted({os.path.join(end(folder), "") for folder in _installed_folders()
            for end in (os.path.abspath, os.path.realpath)})
)  # fmt: skip


@lru_cache(maxsize=4096)
def is_installed_file(path: str) -> bool:
    """Whether a source file is installed, or part of the interpreter."""
    return path.startswith("<frozen ") or os.path.abspath(path).startswith(_INSTALLED)


def is_own_module(module: ModuleType) -> bool:
    """Whether a module is the user's."""
    if module.__name__ in sys.builtin_module_names:
        return False
    file = getattr(module, "__file__", None)
    files = [file] if isinstance(file, str) else list(getattr(module, "__path__", ()))
    return not files or not all(is_installed_file(str(each)) for each in files)


def is_own_function(function: FunctionType) -> bool:
    """Whether a function is the user's, by the file it was compiled from.

    Code compiled from a string belongs to the module whose names it looks up.
    """
    file = function.__code__.co_filename
    if file.startswith("<") and not file.startswith("<frozen "):
        module = sys.modules.get(str(function.__globals__.get("__name__")))
        return module is None or is_own_module(module)
    return not is_installed_file(file)


def is_own_class(kind: type) -> bool:
    """Whether a class is the user's; what it says of its module counts only if found there."""
    module = sys.modules.get(str(kind.__module__))
    if module is None or is_own_module(module):
        return True
    return is_written_in_python(kind) and not is_found_by_name(kind)


def is_written_in_python(kind: type) -> bool:
    """Whether Python code has made a class, as far as its flags show."""
    return kind.__flags__ & (_HEAP_TYPE | _IMMUTABLE) == _HEAP_TYPE


def is_own(value: type | FunctionType) -> bool:
    """Whether a class or a function is the user's."""
    return is_own_class(value) if isinstance(value, type) else is_own_function(value)


def is_found_by_name(value: Any) -> bool:
    """Whether a class's or a function's module holds it under its name."""
    found: Any = sys.modules.get(str(getattr(value, "__module__", None)))
    for part in str(getattr(value, "__qualname__", "")).split("."):
        found = getattr(found, part, None)
    return found is value


def name_of(value: Any) -> str:
    """Module and name of a class or function, with the version of a package not recorded."""
    module = getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", type(value).__name__)
    return f"{module}.{name}{_version(str(module).partition('.')[0])}"


@lru_cache(maxsize=256)
def _version(package: str) -> str:
    if package in RECORDED or package == "None":
        return ""
    try:
        return f" {version(package)}"
    except (PackageNotFoundError, ValueError):
        return ""
