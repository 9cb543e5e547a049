"""The command that audits a mechanism again, away from its test."""

from __future__ import annotations

import ast
import inspect
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator.auditing.audits import AuditResult

_FLAGS: dict[str, Callable[[Any], list[str]]] = {
    "bits": lambda value: [] if value else ["--no-bits"],
    "stop_early": lambda value: [] if value else ["--whole-budget"],
    "epsilon": lambda value: [] if value is None else ["--epsilon", repr(float(value))],
    "delta": lambda value: [] if value is None else ["--delta", repr(float(value))],
    "time_limit": lambda value: ["--time-limit", repr(float(value))],
    "seconds": lambda value: ["--seconds", repr(float(value))],
}
"""The options of the audit that the command has, each as its words."""


def command(
    tested: Callable[..., Any],
    result: AuditResult,
    *,
    pairs: Sequence[tuple[Any, Any]],
    length: int | None,
    options: Mapping[str, Any],
) -> list[str]:
    """``dpcompose audit FILE:FUNCTION ...``, or nothing if no command does the same.

    That needs a function of the top level of a file, and inputs that are literals of Python.

    Parameters
    ----------
    tested : the mechanism.
    result : of the audit to repeat.
    pairs : all pairs of inputs that it searched among; or ``length``.
    options : the other options of the audit.
    """
    where = address(tested)
    written = [literal(value) for pair in pairs for value in pair]
    if where is None or None in written or not options.keys() <= _FLAGS.keys():
        return []
    words = ["dpcompose", "audit", where, "--claimed", str(result.claimed)]
    if length is not None:
        words += ["--length", str(length)]
    else:
        for text_0, text_1 in zip(written[::2], written[1::2]):
            words += ["--pair", plainly_quoted(str(text_0)), plainly_quoted(str(text_1))]
    words += ["--samples", str(result.budget), "--confidence", repr(result.confidence)]
    words += ["--seed", str(result.seed)]
    for name, value in options.items():
        words += _FLAGS[name](value)
    return [shlex.join(words)]


def address(tested: Callable[..., Any]) -> str | None:
    """``FILE:FUNCTION`` of a function of the top level of a file, else None."""
    name = getattr(tested, "__qualname__", "")
    module = sys.modules.get(getattr(tested, "__module__", None) or "")
    if not inspect.isfunction(tested) or getattr(module, name, None) is not tested:
        return None
    file = Path(tested.__code__.co_filename)
    if not file.is_file():
        return None
    here = Path.cwd()
    return f"{file.relative_to(here) if file.is_relative_to(here) else file}:{name}"


def literal(value: object) -> str | None:
    """The text that Python reads as ``value``, or None."""
    text = repr(value)
    try:
        same = ast.literal_eval(text) == value
        return text if same is True else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def plainly_quoted(text: str) -> str:
    """A literal with double quotes inside, where it stays the same, for single ones around it."""
    other = text.replace("'", '"')
    try:
        return other if repr(ast.literal_eval(other)) == text else text
    except (ValueError, SyntaxError):
        return text
