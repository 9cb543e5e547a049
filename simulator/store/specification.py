"""``specification.json``: what was asked, its identity, and on what it has run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.errors import InvalidInput
from simulator.store.files import canonical_json, explained, write_json
from simulator.store.provenance import provenance

_FILE = "specification.json"
_SHOWN = 4


def specification_id(specification: Mapping[str, Any]) -> str:
    """Return the identity of what is asked: SHA-256 (hex) of its canonical JSON.

    Two specifications are the same run exactly when their identities are equal. Raises
    :class:`InvalidInput` for values that JSON cannot hold exactly.
    """
    return hashlib.sha256(canonical_json(specification, "the specification").encode()).hexdigest()


@dataclass(frozen=True)
class Specification:
    """What is asked, as plain JSON, with its identity and the sessions that worked on it.

    Where and when a run was made is no part of what it is: sessions stand beside the identity.
    """

    content: Mapping[str, Any]
    identity: str
    sessions: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Specification:
        """Return the specification in the form in which it is read back: tuples become lists."""
        identity = specification_id(content)
        return cls(json.loads(canonical_json(content, "the specification")), identity)


def read_specification(folder: Path) -> Specification:
    """Read a run's specification; :class:`InvalidInput` when it is missing or was changed."""
    path = folder / _FILE
    with explained("read", path):
        text = path.read_text(encoding="utf-8")
    try:
        stored = json.loads(text)
        intact = stored["id"] == specification_id(stored["specification"])
        found = Specification(stored["specification"], stored["id"], tuple(stored["sessions"]))
    except (ValueError, KeyError, TypeError):
        raise InvalidInput(f"{path} is no specification; name another folder") from None
    if not intact:
        raise InvalidInput(f"{path} was changed after it was written; name another folder")
    return found


def require_same(folder: Path, asked: Specification, *, has_blocks: bool) -> None:
    """Raise :class:`InvalidInput` when the folder's run is another one; a new folder passes."""
    if not (folder / _FILE).exists():
        if has_blocks:
            raise InvalidInput(f"{folder} has blocks but no {_FILE}; name another folder")
        return
    stored = read_specification(folder)
    if stored.identity != asked.identity:
        differences = _differences(stored.content, asked.content)
        raise InvalidInput(
            f"{folder} was made by another specification ({differences}); name another folder"
        )


def record_session(folder: Path, asked: Specification) -> None:
    """Write down on what this runs, unless the last session ran on just the same."""
    path = folder / _FILE
    before = read_specification(folder).sessions if path.exists() else ()
    here = provenance()
    if before and before[-1] | {"time": None} == here | {"time": None}:
        return
    write_json(
        path,
        {"id": asked.identity, "specification": asked.content, "sessions": [*before, here]},
    )


def _differences(there: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    before, after = dict(_leaves(there)), dict(_leaves(asked))
    differing = (key for key in before | after if before.get(key) != after.get(key))
    told = [
        f"{key}: {before.get(key, 'nothing')} there, {after.get(key, 'nothing')} asked"
        for key in sorted(differing)
    ]
    more = [f"{len(told) - _SHOWN} more"] if len(told) > _SHOWN else []
    return "; ".join(told[:_SHOWN] + more)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every value that is no mapping, as JSON, under its dotted path."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, canonical_json(value, path)
