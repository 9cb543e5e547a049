"""Old names of commands and options: they work until 0.3, with a line on standard error."""

from __future__ import annotations

from collections.abc import Sequence

import click

COMMANDS = {
    "check": "verify",
    "run": "simulate",
    "tail": "estimate-rare",
    "worst": "worst-case",
}
"""The name of a command, by its old name."""

OPTIONS = {
    "simulate": {"--time": "--seconds", "--views": "--keep-views"},
    "bounds": {"--at": "--epsilon"},
    "calibrate": {"--epsilon": "--round-epsilon"},
}
"""For each command the names of options, by their old names."""


def with_new_names(arguments: Sequence[str]) -> list[str]:
    """The arguments with old names replaced; prints a line for each on standard error."""
    if not arguments:
        return []
    typed, *others = arguments
    command = COMMANDS.get(typed, typed)
    if command != typed:
        _say(f"dpcompose {typed}", f"dpcompose {command}")
    renamed = OPTIONS.get(command, {})
    given = {each.partition("=")[0] for each in others}
    if command == "bounds" and not given & {"--round-epsilon", "--sigma", "--event", "--help"}:
        renamed = {**renamed, "--epsilon": "--round-epsilon"}  # its meaning in version 0.1
    found = [command]
    for each in others:
        name, sign, value = each.partition("=")
        if name in renamed:
            _say(name, renamed[name])
        found.append(renamed.get(name, name) + sign + value)
    return found


def _say(old: str, new: str) -> None:
    click.echo(f"{old} is now {new}; the old name goes in version 0.3", err=True)
