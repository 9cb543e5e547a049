"""Tasks from a TOML file, from a Python file, and from texts such as ``10..10000``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from simulator.adversaries.loading import names_in
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.strangers import read_toml
from simulator.foundations.wording import did_you_mean
from simulator.studies.tasks import Task, grid

PRODUCT = ("adversary", "family", "rounds")
"""The keys of a task that may be lists: every combination is a task."""
KEYS = (*PRODUCT, "quantity", "seed", "relation", "filter", "experiments", "metadata")
STOP = ("trials", "width", "hits", "decide", "confidence")
MOST_TASKS = 100_000


def read_tasks(path: Path) -> tuple[list[Task], dict[str, Any]]:
    """The tasks of a file, and the settings in its table ``[stop]``.

    A TOML file has tables ``[[task]]``; a Python file has ``tasks``, a list or a function that
    returns one. Raises InvalidInput with the position of what is wrong.
    """
    return from_toml(path) if path.suffix == ".toml" else (from_python(path), {})


def from_toml(path: Path) -> tuple[list[Task], dict[str, Any]]:
    """The tasks and the settings of a TOML file."""
    found = read_toml(path)
    _require_known(found, ("task", "stop"), str(path))
    stop, tables = found.get("stop", {}), found.get("task", [])
    if not isinstance(stop, dict) or not isinstance(tables, list) or not tables:
        raise InvalidInput(f"{path}: a study has tables [[task]], and at most one [stop]")
    _require_known(stop, STOP, f"{path}, [stop]")
    tasks: list[Task] = []
    for number, table in enumerate(tables, 1):
        where = f"{path}, task {number}"
        try:
            own = tasks_of(table, path.parent, where)
            for task in own:
                _ = task.game  # raises for an unknown adversary or family
        except DpcomposeError as error:
            text = str(error)
            raise InvalidInput(text if text.startswith(where) else f"{where}: {text}") from None
        tasks += own
    return tasks, stop


def tasks_of(table: Any, folder: Path, where: str) -> list[Task]:
    """The tasks of one table: every combination of its lists; files lie beside ``folder``."""
    if not isinstance(table, Mapping):
        raise InvalidInput(f"{where} is not a table")
    _require_known(table, KEYS, where)
    if missing := [key for key in (*PRODUCT, "quantity") if key not in table]:
        raise InvalidInput(f"{where} has no {missing[0]!r}")
    others = {key: value for key, value in table.items() if key not in (*PRODUCT, "quantity")}
    for key in ("adversary", "family", "quantity"):
        if not all(isinstance(each, str) for each in several(table[key])):
            raise InvalidInput(f"{where}: {key!r} must be a text, or a list of texts")
    adversaries = [beside(text, folder) for text in several(table["adversary"])]
    rounds = [k for each in several(table["rounds"]) for k in rounds_of(each)]
    return grid(adversaries, several(table["family"]), rounds, several(table["quantity"]), **others)


def from_python(path: Path) -> list[Task]:
    """The tasks that a Python file defines as ``tasks``."""
    names = names_in(str(path), "tasks")
    if "tasks" not in names:
        raise InvalidInput(f"{path} has no tasks: set tasks = [Task(...), ...]")
    tasks = names["tasks"]() if callable(names["tasks"]) else names["tasks"]
    if not isinstance(tasks, Iterable):
        raise InvalidInput(f"{path}: tasks must be a list of Task, not {tasks!r:.60}")
    listed = list(tasks)
    for place, task in enumerate(listed):
        if not isinstance(task, Task):
            raise InvalidInput(f"{path}: tasks[{place}] must be a Task, not {task!r:.60}")
    return listed


def several(value: Any) -> list[Any]:
    """The items of a list, or the value alone."""
    return list(value) if isinstance(value, list | tuple) else [value]


def beside(adversary: str, folder: Path) -> str:
    """An adversary's text, with the path of its file from ``folder``."""
    path, colon, function = adversary.rpartition(":")
    if not colon or not path.endswith(".py") or Path(path).is_absolute():
        return adversary
    return f"{folder / path}:{function}"


def rounds_of(text: str | int) -> list[int]:
    """The numbers of rounds of a text: ``100``, ``10..900`` (1, 2, 5 by decades), ``10..50:10``.

    Raises InvalidInput for another text.
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return [text]
    found = re.fullmatch(r"(\d{1,9})(?:\.\.(\d{1,9})(?::(\d{1,9}))?)?", str(text).strip())
    if found is None:
        raise InvalidInput(f"{text!r} are no rounds; write 100, 10..10000 or 10..50:10")
    first = int(found[1])
    if found[2] is None:
        return [first]
    last, step = int(found[2]), found[3]
    if last < first or step == "0":
        raise InvalidInput(f"{text!r} are no rounds: write the smaller number first, and a step")
    if step is not None:
        chosen = range(first, last + 1, int(step))
        if len(chosen) > MOST_TASKS:
            raise InvalidInput(f"{text!r} are {len(chosen)} tasks: use a larger step")
        return list(chosen)
    ladder = [digit * 10**power for power in range(10) for digit in (1, 2, 5)]
    return sorted({first, last, *(k for k in ladder if first < k < last)})


def _require_known(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    names = tuple(known)
    for key in table:
        if key not in names:
            hint = did_you_mean(key, names) or f"; there are {', '.join(names)}"
            raise InvalidInput(f"{where}: no key {key!r}{hint}")
