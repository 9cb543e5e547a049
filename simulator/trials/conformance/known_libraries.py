"""The libraries that can be tested, one module each, imported when first used."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

import simulator.trials.libraries as libraries
from simulator.foundations.errors import InvalidInput
from simulator.trials.conformance.protocol import Library

MODULES = {
    module.name.replace("_", "-"): module.name for module in iter_modules(libraries.__path__)
}
"""The module in ``trials/libraries`` of each name that ``dpcompose conform`` takes.

They are the files of that folder, listed without importing them.
"""


def find(name: str) -> Library:
    """The library of that name. Raises InvalidInput for an unknown one."""
    if name not in MODULES:
        raise InvalidInput(f"unknown library {name!r}; one of {', '.join(MODULES)}")
    found: Library = import_module(f"simulator.trials.libraries.{MODULES[name]}").LIBRARY
    return found


def why_absent(library: Library) -> str:
    """Why the library cannot be tested with this interpreter, or ""."""
    missing = [package for package in library.packages if find_spec(package) is None]
    if not missing:
        return ""
    return f"{', '.join(missing)} is not installed; pip install 'dpcompose[{library.extra}]'"
