"""``specification.json``: the specification of a run, its identity, goal and sessions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import (
    canonical_json,
    require_file,
    write_json,
)
from simulator.foundations.strangers import from_json, read_bytes
from simulator.runner.store.provenance import provenance

MANIFEST_NAME = "specification.json"
_SHOWN = 4
"""How many differences a message has."""
_FORMAT = "fingerprint_format"
"""The member with the version of the digests of code."""


def specification_id(specification: Mapping[str, Any]) -> str:
    """Return the identity of a specification: SHA-256 (hex) of its canonical JSON.

    Two specifications are of the same run exactly if their identities are equal. Raises
    :class:`InvalidInput` for values that JSON cannot hold exactly.
    """
    return hashlib.sha256(canonical_json(specification, "the specification").encode()).hexdigest()


@dataclass(frozen=True)
class Manifest:
    """A specification as plain JSON, with its identity, its goal and its sessions.

    The goal (numbers of trials and of views, which a later session may raise) and the sessions
    (where and when it was played) are not part of the identity.
    """

    content: Mapping[str, Any]
    identity: str
    goal: Mapping[str, int] = field(default_factory=dict)
    sessions: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, content: Mapping[str, Any], goal: Mapping[str, int]) -> Manifest:
        """Return the manifest as it will be read back: tuples become lists."""
        identity = specification_id(content)
        return cls(json.loads(canonical_json(content, "the specification")), identity, dict(goal))


def read_manifest(folder: Path) -> Manifest:
    """Read a run's manifest. Raises :class:`InvalidInput` if it is missing or was changed."""
    path = folder / MANIFEST_NAME
    require_file(path)
    content = read_bytes(path, follow=False)
    try:
        stored = from_json(content, str(path), exact=False)
        _require_form(stored)
        intact = stored["id"] == specification_id(stored["specification"])
        manifest = Manifest(
            dict(stored["specification"]),
            stored["id"],
            {str(name): int(number) for name, number in stored.get("goal", {}).items()},
            tuple(stored["sessions"]),
        )
    except (
        ValueError,  # InvalidInput too
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        MemoryError,
        OverflowError,
    ):
        raise InvalidInput(f"{path} is not a specification; name another folder") from None
    if not intact:
        raise InvalidInput(f"{path} was changed after it was written; name another folder")
    return manifest


def _require_form(stored: Any) -> None:
    """Raise TypeError unless a manifest's members have the types that are written."""
    sessions = stored["sessions"]
    sound = isinstance(stored["specification"], dict) and isinstance(sessions, list)
    for session in sessions if sound else ():
        sound = sound and isinstance(session, dict) and all(
            isinstance(session.get(name, {}), dict) for name in ("versions", "machine")
        )  # fmt: skip
    if not sound:
        raise TypeError("a member of another type")


def require_same(folder: Path, wanted: Manifest, *, has_blocks: bool) -> None:
    """Raise :class:`InvalidInput` if the folder has another run, or a larger goal.

    A new folder has neither.
    """
    if not (folder / MANIFEST_NAME).exists():
        if has_blocks:
            raise InvalidInput(f"{folder} has blocks but no {MANIFEST_NAME}; name another folder")
        return
    stored = read_manifest(folder)
    if stored.identity != wanted.identity:
        differences = differences_between(stored.content, wanted.content)
        raise InvalidInput(
            f"{folder} was made by another specification ({differences}); name another folder"
        )
    lowered = [name for name, number in wanted.goal.items() if number < stored.goal.get(name, 0)]
    if lowered:
        numbers = "; ".join(
            f"{name}: {stored.goal[name]} there, {wanted.goal[name]} here" for name in lowered
        )
        raise InvalidInput(
            f"{folder} goes further already ({numbers}); give as many or more, or name another "
            "folder"
        )


def record_session(folder: Path, wanted: Manifest) -> None:
    """Write the goal and the provenance of this session, if one of them has changed."""
    path = folder / MANIFEST_NAME
    before = read_manifest(folder) if path.exists() else wanted
    here = provenance()
    same_place = before.sessions and before.sessions[-1] | {"time": None} == here | {"time": None}
    if same_place and before.goal == wanted.goal:
        return
    sessions = (*before.sessions, *(() if same_place else (here,)))
    write_manifest(folder, replace(wanted, sessions=sessions))


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a run's manifest, in one step."""
    write_json(
        folder / MANIFEST_NAME,
        {
            "id": manifest.identity,
            "specification": manifest.content,
            "goal": manifest.goal,
            "sessions": list(manifest.sessions),
        },
    )


def differences_between(
    one: Mapping[str, Any], other: Mapping[str, Any], here: str = "there", there: str = "here"
) -> str:
    """Return which keys of two specifications differ, and how: ``seed: 7 there, 8 here``."""
    if one.get(_FORMAT) != other.get(_FORMAT):  # the digests of equal code differ then
        return "by another version of this program, which took code apart otherwise"
    before, after = dict(_leaves(one)), dict(_leaves(other))
    differing = (key for key in before | after if before.get(key) != after.get(key))
    lines = [
        f"{key}: {before.get(key, 'nothing')} {here}, {after.get(key, 'nothing')} {there}"
        for key in sorted(differing)
    ]
    more = [f"{len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "; ".join(lines[:_SHOWN] + more)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every value that is not a mapping, as JSON, with its dotted path."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, canonical_json(value, path)
