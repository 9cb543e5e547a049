"""Tell two adversaries apart by what they are made of, not by where they live in memory."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from typing import Any

from simulator.adversaries.contract import Rule
from simulator.databases import Database

DEPTH = 6
"""How deep closures are followed."""


def fingerprint(adversary: Callable[..., Any]) -> str:
    """A digest of the adversary's source, its menu and the values it closes over.

    Equal adversaries agree on it across processes and machines. A resumed run is refused when it
    has changed.
    """
    return hashlib.sha256(_describe(adversary, DEPTH).encode()).hexdigest()[:16]


def _describe(value: Any, depth: int) -> str:
    if depth == 0:
        return type(value).__name__
    if isinstance(value, Rule):
        menu = "; ".join(_describe(part, depth - 1) for entry in value.menu for part in entry)
        return f"{value.name} {value.state!r} {menu} {_describe(value.step, depth - 1)}"
    if isinstance(value, Database):
        return repr(sorted((repr(record), count) for record, count in value.records()))
    if inspect.isfunction(value):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return _source(value) + "; ".join(_describe(cell, depth - 1) for cell in cells)
    if isinstance(value, tuple | list):
        return repr([_describe(item, depth - 1) for item in value])
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = function.__code__
        return f"{code.co_code.hex()} {code.co_names} {code.co_consts!r}".split(" at 0x")[0]
