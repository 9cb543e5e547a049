"""The record of a result, and what it says of the result today."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal

from experiments.results import digests
from experiments.results.digests import DIGITS
from experiments.results.listed import Listed, listed
from simulator.foundations.files import explained, write_text

FOLDER = "made"
State = Literal["of today", "stale", "edited", "without a record"]
NEEDED: dict[str, type | tuple[type, ...]] = {
    "revision": (str, NoneType), "machine": dict, "versions": dict, "time": str,
    "seconds": (int, float), "processor_seconds": (int, float), "load": (int, float),
}  # fmt: skip
BY_HAND = {"results/truths/README.md"}
USERS = "results/runs/"
"""Runs of a user, which are of no result."""
OPENING = "Made at "
"""The first line of every page begins with it."""


@dataclass(frozen=True)
class Record:
    """What a result was made from.

    Attributes
    ----------
    command : what Python ran.
    files : the digest of each file that it wrote.
    read : of each file that was read, the digests of its bytes and of its meaning.
    made : revision, machine, versions, time, seconds, processor_seconds, load.
    """

    command: tuple[str, ...]
    files: dict[str, str]
    read: dict[str, tuple[str, str]]
    made: dict[str, Any]

    def write(self, name: str) -> None:
        """Write the record of a result."""
        content = asdict(self) | {"read": {key: " ".join(pair) for key, pair in self.read.items()}}
        text = json.dumps(content | {"whole": whole(content)}, indent=1)
        write_text(path_of(name), text + "\n")


def whole(content: dict[str, Any]) -> str:
    """The digest of a record: one that a merge has put together of two is none."""
    return digests.digest(json.dumps(content, sort_keys=True).encode())


def path_of(name: str) -> Path:
    """The file of a record."""
    return digests.ROOT / "results" / FOLDER / f"{name}.json"


def record_of(name: str) -> Record | None:
    """The stored record of a result, or None where there is none that can be read."""
    try:
        found = json.loads(path_of(name).read_text(encoding="utf-8"))
        if found.pop("whole") != whole(found):
            return None
        pairs = {key: (text[:DIGITS], text[DIGITS + 1 :]) for key, text in found["read"].items()}
        record = Record(tuple(found["command"]), dict(found["files"]), pairs, dict(found["made"]))
        typed = all(isinstance(record.made[each], kind) for each, kind in NEEDED.items())
        return record if pairs and typed else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


@dataclass(frozen=True)
class Status:
    """Whether a result is of today's code, and which files say that it is not."""

    result: Listed
    state: State
    because: tuple[str, ...]
    record: Record | None


def status(result: Listed) -> Status:
    """Compare a result with its record."""
    record = record_of(result.name)
    if record is None:
        return Status(result, "without a record", (), None)
    there = {name: digests.of_bytes(name) for name in {*record.files, *result.written()}}
    edited = sorted(name for name, found in there.items() if found != record.files.get(name))
    if edited:
        return Status(result, "edited", tuple(edited), record)
    changed = [name for name, stored in record.read.items() if differs(name, stored)]
    if record.command != result.command:
        changed.insert(0, "its command")
    changed[:0] = [f"the result {name}" for name in stale_before(result)]
    return Status(result, "stale" if changed else "of today", tuple(changed), record)


def stale_before(result: Listed) -> list[str]:
    """The results that have to be made before this one and are not of today."""
    return [name for name in result.after if status(listed()[name]).state != "of today"]


def differs(name: str, stored: tuple[str, str]) -> bool:
    """Whether a file that was read means something else than when it was read."""
    of_bytes, of_meaning = stored
    if digests.is_hidden(name):
        return True
    return digests.of_bytes(name) != of_bytes and digests.of_meaning(name) != of_meaning


def noted_in(log: Path) -> dict[str, set[str]]:
    """Each file and folder in a log of what was read, with its states when it was.

    Raises InvalidInput where there is no log.
    """
    with explained("read", log):
        fields = os.fsdecode(log.read_bytes()).split("\0")
    found: dict[str, set[str]] = {}
    for name, state in zip(fields[::2], fields[1::2]):
        found.setdefault(name, set()).add(state)
    return found


def read_by(noted: Mapping[str, set[str]], result: Listed, written: Iterable[str]) -> list[str]:
    """The files and folders, by their names within the project, that a result depends on."""
    names, root = {"pyproject.toml"}, os.path.join(digests.ROOT, "")
    for path in noted:
        name = path.removeprefix(root)
        parts = name.split("/")
        if name == path or parts[0] in ("build", "dist") or parts[0].startswith("."):
            continue
        if not name.endswith("/") or (parts[0] != "results" and "__pycache__" not in parts):
            names.add(name)
    apart = (f"results/{FOLDER}/", *result.ignores)
    return sorted(name for name in names - set(written) if not name.startswith(apart))


def opening(made: dict[str, Any]) -> str:
    """The first line of a page: made at, on, in."""
    machine, versions = made["machine"], made["versions"]
    minutes = made["processor_seconds"] / 60
    used = f"{minutes:.0f} min" if minutes >= 2 else f"{made['processor_seconds']:.0f} s"
    return (
        f"{OPENING}{revision_of(made)} on {made['time'][:10]}, in {used} of processor "
        f"time, on {machine['cores']} cores of {machine['processor']}, Python "
        f"{versions['python']}, numpy {versions['numpy']}, scipy {versions['scipy']}."
    )


def revision_of(made: dict[str, Any]) -> str:
    """The revision in short, and whether the package differed from it."""
    commit, changes, _ = str(made["revision"] or "no known revision").partition("+changes")
    return (commit[:12] if made["revision"] else commit) + changes


def stamped(page: str, line: str) -> str:
    """A page with a first line that says when it was made, in place of an earlier one."""
    return f"{line}\n\n{unstamped(page)}"


def unstamped(page: str) -> str:
    """A page without its first line, where that says when it was made."""
    return page.partition("\n\n")[2] if page.startswith(OPENING) else page


def strays() -> list[str]:
    """Files in ``results/`` that no result writes."""
    known = BY_HAND | {name for each in listed().values() for name in each.written()}
    known |= {f"results/{FOLDER}/{name}.json" for name in listed()}
    found = (path for path in (digests.ROOT / "results").rglob("*") if path.is_file())
    names = {path.relative_to(digests.ROOT).as_posix() for path in found if path.name[0] != "."}
    return sorted(name for name in names - known if not name.startswith(USERS))
