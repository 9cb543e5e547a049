"""Whose a class, a function or a module is: of this package, installed, or the user's.

Installed code (this package, the standard library, what a package manager has put in place) is
known by its name and version. All other code may change between two runs.
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

PACKAGE = __name__.partition(".")[0]
RECORDED = {PACKAGE, "numpy", "scipy", "numba", "joblib"} | set(sys.stdlib_module_names)
"""Packages whose versions a stored result records beside its identity."""


def _installed_folders() -> Iterator[str]:
    for name in ("stdlib", "platstdlib", "purelib", "platlib"):
        yield sysconfig.get_path(name)
    yield from getattr(site, "getsitepackages", list)()
    yield site.getusersitepackages()


_INSTALLED = tuple(
    sorted({os.path.join(end(folder), "") for folder in _installed_folders()
            for end in (os.path.abspath, os.path.realpath)})
)  # fmt: skip


def home_of(value: Any) -> str:
    """The name of the module that a class or a function was written in, or of a module itself.

    Of a function it is the module whose names it looks up: a decorator may set ``__module__``.
    """
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, FunctionType):
        return str(value.__globals__.get("__name__"))
    return str(getattr(value, "__module__", None))


def is_of_package(value: Any) -> bool:
    """Whether a class, a function or a module is of this package."""
    return home_of(value).partition(".")[0] == PACKAGE


def is_users(value: Any) -> bool:
    """Whether a class, a function or a module is the user's: neither of this package nor installed.

    What was written in a notebook, or compiled from a string, is the user's. So is what a worker
    process was sent of a script, though its own ``__main__`` is installed.
    """
    name = home_of(value)
    if name == "__main__":
        return True
    if name.partition(".")[0] in sys.stdlib_module_names or is_of_package(value):
        return False
    module = value if isinstance(value, ModuleType) else sys.modules.get(name)
    file = getattr(module, "__file__", None)
    files = [file] if file else list(getattr(module, "__path__", ()))
    return not files or not all(_is_installed(str(each)) for each in files)


@lru_cache(maxsize=4096)
def _is_installed(path: str) -> bool:
    return os.path.abspath(path).startswith(_INSTALLED)


def is_found_by_name(value: Any) -> bool:
    """Whether a function's module holds it under its name, as it holds no closure."""
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
