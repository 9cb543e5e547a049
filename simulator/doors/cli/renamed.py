"""Commands and options of version 0.1 that have another name: they work until 0.3, with a line."""

from __future__ import annotations

from collections.abc import Sequence

import click

COMMANDS = {"check": "verify", "tail": "estimate-rare"}
"""The old name of a command, and its name."""

OPTIONS = {
    "run": {"--time": "--seconds", "--views": "--keep-views"},
    "bounds": {"--at": "--epsilon"},
    "calibrate": {"--epsilon": "--round-epsilon"},
}
"""Of each command the old names of options, and their names."""


def with_new_names(arguments: Sequence[str]) -> list[str]:
    """The command line's arguments, each old name replaced; a line for each on standard error."""
    if not arguments:
        return []
    typed, *others = arguments
    command = COMMANDS.get(typed, typed)
    if command != typed:
        _say(f"dpcompose {typed}", f"dpcompose {command}")
    renamed = OPTIONS.get(command, {})
    given = {each.partition("=")[0] for each in others}
    if command == "bounds" and not given & {"--round-epsilon", "--sigma", "--event", "--help"}:
        renamed = {**renamed, "--epsilon": "--round-epsilon"}  # it was the mechanism's own
    found = [command]
    for each in others:
        name, sign, value = each.partition("=")
        if name in renamed:
            _say(name, renamed[name])
        found.append(renamed.get(name, name) + sign + value)
    return found


def _say(old: str, new: str) -> None:
    click.echo(f"{old} is now {new}; the old name goes in version 0.3", err=True)
