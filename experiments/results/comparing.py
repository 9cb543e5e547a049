"""What two makings of a result differ in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.results.records import unstamped

NOTHING: dict[str, bytes] = {}


def differences(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """The names of files, keys and columns whose contents differ, each once, in order.

    Of JSON and CSV these are the keys and columns: a time that differs is seen to be one. Revisions
    and days, which are in a file's provenance, are left out.
    """
    found: dict[str, None] = {}
    for name in sorted({*before, *after}):
        if name not in before or name not in after:
            found[f"{name} is new" if name in after else f"{name} is gone"] = None
        elif before[name] != after[name]:
            found |= dict.fromkeys(_within(name, before[name], after[name]))
    return list(found)


def _within(name: str, one: bytes, other: bytes) -> Iterator[str]:
    short, kind = Path(name).name, Path(name).suffix
    try:
        values = [_READERS[kind](each.decode()) for each in (one, other)]
    except (KeyError, ValueError, RecursionError, csv.Error):  # a picture, or a torn file
        yield short
        return
    if kind == ".md":
        yield from [short] * (values[0] != values[1])
    else:
        yield from (f"{short}: {key}" for key in _keys(values[0], values[1], "whole"))


_READERS: dict[str, Callable[[str], Any]] = {
    ".md": unstamped,
    ".json": json.loads,
    ".csv": lambda text: list(csv.DictReader(io.StringIO(text))),
}


def _keys(one: Any, other: Any, key: str) -> Iterator[str]:
    if key == "provenance" or one == other:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            yield from _keys(one.get(name), other.get(name), name)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for first, second in zip(one, other, strict=True):
            yield from _keys(first, second, key)
    else:
        yield key
