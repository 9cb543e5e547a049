"""The ledger: every claim registers itself where its check is written."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

import simulator.claims
from simulator.claims.model import Check, Claim, Source, Verdict
from simulator.claims.sources import SOURCES
from simulator.errors import InvalidInput

_LEDGER: dict[str, Claim] = {}


def claim(
    id: str,
    source: Source,
    place: str,
    statement: str,
    expected: Verdict,
    *,
    wrong: Mapping[str, Any] | None = None,
    cannot_be_wrong: str = "",
    slip: bool = False,
) -> Callable[[Check], Check]:
    """Register the decorated check as the check of one claim; see :class:`Claim`.

    Raises InvalidInput for an id that is taken.
    """

    def register(check: Check) -> Check:
        if id in _LEDGER:
            raise InvalidInput(f"two claims have the id {id!r}")
        _LEDGER[id] = Claim(
            id, source, place, statement, expected,
            check=check, wrong=wrong or {}, cannot_be_wrong=cannot_be_wrong, slip=slip,
        )  # fmt: skip
        return check

    return register


@cache
def _load() -> None:
    """Import every module of this package once: a new module of claims needs no list."""
    for module in pkgutil.walk_packages(simulator.claims.__path__, "simulator.claims."):
        importlib.import_module(module.name)


def all_claims(source: str | None = None) -> tuple[Claim, ...]:
    """Every claim, by source and then as it stands in this package; or those of one source.

    The order does not depend on which module happened to be imported first.

    Raises InvalidInput for an unknown source.
    """
    _load()
    keys = [entry.key for entry in SOURCES]
    if source is not None and source not in keys:
        raise InvalidInput(f"unknown source {source!r}; sources are {', '.join(keys)}")
    ordered = sorted(_LEDGER.values(), key=lambda e: (keys.index(e.source.key), *_written(e)))
    return tuple(entry for entry in ordered if source in (None, entry.source.key))


def _written(entry: Claim) -> tuple[str, int]:
    """The module and the line of a claim's check."""
    return entry.check.__module__, entry.check.__code__.co_firstlineno


def find(id: str) -> Claim:
    """The claim of that id; raises InvalidInput with the nearest ids."""
    _load()
    if id not in _LEDGER:
        near = get_close_matches(id, _LEDGER, n=3, cutoff=0.3)
        hint = f"did you mean {', '.join(near)}?" if near else "`dpcompose claims` lists them"
        raise InvalidInput(f"unknown claim {id!r}; {hint}")
    return _LEDGER[id]
