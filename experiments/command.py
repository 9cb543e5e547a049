"""The installed command ``dpcompose``, found by its entry point."""

from __future__ import annotations

import importlib
from importlib.metadata import EntryPoint, entry_points
from typing import Any


def _entry_point() -> EntryPoint:
    (found,) = entry_points(group="console_scripts", name="dpcompose")
    return found


def main(arguments: list[str]) -> None:
    """Run the command in this process, and raise SystemExit with its exit code."""
    _entry_point().load()(arguments)


def group() -> Any:
    """The click group of all commands."""
    return importlib.import_module(_entry_point().module).group
