"""The libraries that can be tested, one module each, imported when first used.

A library is one of ``trials/libraries``, or an entry point of the group ``dpcompose.libraries`` in
another package, or the path of a file with a ``LIBRARY``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

import simulator.auditing.libraries as libraries
from simulator.adversaries.loading import names_in
from simulator.auditing.conformance.protocol import Library
from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import added, load_added

MODULES = {
    module.name.replace("_", "-"): module.name for module in iter_modules(libraries.__path__)
}
"""The module in ``trials/libraries`` of each name that ``dpcompose conform`` takes.

They are the files of that folder, listed without importing them.
"""


def names() -> list[str]:
    """The names that are known: those of this package, then those that other packages add."""
    return [*MODULES, *(name for name in added("libraries") if name not in MODULES)]


def find(name: str) -> Library:
    """The library of that name, or of a file ``path/to/adapter.py``.

    Raises InvalidInput for an unknown name, and for what holds no ``LIBRARY``.
    """
    if name.endswith(".py"):
        found = names_in(name, "a LIBRARY").get("LIBRARY")
    elif name in MODULES:
        found = import_module(f"{libraries.__name__}.{MODULES[name]}").LIBRARY
    elif name in added("libraries"):
        found = load_added("libraries", name)
        found = getattr(found, "LIBRARY", found)  # a module, or the library itself
    else:
        raise InvalidInput(
            f"unknown library {name!r}; one of {', '.join(names())}, or path/to/adapter.py"
        )
    if not isinstance(found, Library):
        raise InvalidInput(f"{name} has no LIBRARY, a simulator.auditing.conformance.Library")
    return found


def address(name: str) -> str:
    """What a worker takes: the module of a library, ``added:NAME``, or the whole path of a file."""
    if name.endswith(".py"):
        return str(Path(name).resolve())
    return f"{libraries.__name__}.{MODULES[name]}" if name in MODULES else f"added:{name}"


def at_address(text: str) -> Library:
    """The library at an address, in a worker."""
    if text.endswith(".py"):
        return find(text)
    if text.startswith("added:"):
        return find(text.removeprefix("added:"))
    found: Library = import_module(text).LIBRARY
    return found


def why_absent(library: Library) -> str:
    """Why the library cannot be tested with this interpreter, or ""."""
    missing = [package for package in library.packages if find_spec(package) is None]
    if not missing:
        return ""
    return f"{', '.join(missing)} is not installed; pip install 'dpcompose[{library.extra}]'"
