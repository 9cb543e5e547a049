"""The reference: a page for each public room, from its docstrings, and the command line's help."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from experiments.command import group

ROOMS = (
    "simulator",
    "simulator.adversaries",
    "simulator.mechanisms",
    "simulator.data",
    "simulator.data.queries",
    "simulator.theory",
    "simulator.theory.events",
    "simulator.training",
    "simulator.analysis",
    "simulator.analysis.estimation",
    "simulator.worst",
    "simulator.attacks",
    "simulator.auditing",
    "simulator.runner",
    "simulator.teaching.games",
    "simulator.teaching.mechanisms",
    "simulator.studies",
    "simulator.teaching.claims",
    "simulator.errors",
)
"""The public modules: a test compares them with those of the surface."""


def write(source: Path) -> None:
    """Write the reference below ``source``."""
    folder = source / "reference"
    folder.mkdir(parents=True)
    pages = {room: room_page(room) for room in ROOMS}
    pages |= {"commands": commands_page(), "index": index()}
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def index() -> str:
    """The reference's first page."""
    tree = "\n".join(["commands", *ROOMS])
    return f"""# Reference

These pages are made of the docstrings. Public are the names on them and the command `dpcompose`;
everything else may change without notice.

```{{toctree}}
:maxdepth: 1

{tree}
```
"""


def home(name: str, value: Any) -> str:
    """The public room of that name which is nearest to its definition, or the root."""
    module = getattr(value, "__module__", "")
    homes = [
        room
        for room in ROOMS[1:]
        if name in importlib.import_module(room).__all__
        and getattr(importlib.import_module(room), name) is value
    ]
    near = [room for room in homes if module.startswith(room)]
    return max(near or homes or ["simulator"], key=len)


def room_page(room: str) -> str:
    """The page of a public module: its docstring, then each of its names in full."""
    module = importlib.import_module(room)
    names = sorted(name for name in module.__all__ if not name.startswith("__"))
    own = [name for name in names if home(name, getattr(module, name)) == room]
    others = "\n".join(
        f"- {{py:obj}}`{name} <{home(name, getattr(module, name))}.{name}>`: "
        f"in [`{home(name, getattr(module, name))}`]({home(name, getattr(module, name))}.md)"
        for name in names
        if name not in own
    )
    elsewhere = f"\n## Names of other rooms\n\n{others}\n" if others else ""
    listed = ", ".join(f"{{py:obj}}`{name} <{room}.{name}>`" for name in own)
    entries = "\n\n".join(entry(room, name, getattr(module, name)) for name in own)
    return f"""# `{room}`

```{{eval-rst}}
.. automodule:: {room}
   :no-members:
```

## In this room

{listed}

```{{eval-rst}}
{entries}
```
{elsewhere}"""


def entry(room: str, name: str, value: Any) -> str:
    """The directive that documents one name."""
    if inspect.isclass(value):
        bases = "" if value.__bases__ == (object,) else "\n   :show-inheritance:"
        return f".. autoclass:: {room}.{name}\n   :members:{bases}"
    if inspect.isfunction(value):
        return f".. autofunction:: {room}.{name}"
    if isinstance(value, Mapping):
        listed = ", ".join(f"``{key}``" for key in value)
        return f".. py:data:: {room}.{name}\n\n   By name: {listed}."
    return f".. autodata:: {room}.{name}\n   :no-value:"


def commands_page() -> str:
    """The help of every command, as the terminal shows it."""
    texts = []
    commands = group()
    with click.Context(commands, info_name="dpcompose") as above:
        for name in commands.list_commands(above):
            command = commands.get_command(above, name)
            assert command is not None
            with click.Context(command, info_name=name, parent=above, max_content_width=88) as it:
                texts.append(f"## dpcompose {name}\n\n```text\n{command.get_help(it)}\n```\n")
    return (
        "# Commands\n\nEach command has `--help`, and most have `--json`. Exit codes: 0 done, "
        "1 a check failed or a mechanism broke its promise, 2 bad input, 3 an estimate was "
        "refused, 130 interrupted.\n\n" + "\n".join(texts)
    )
