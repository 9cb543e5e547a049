"""The ledger: every claim registers itself where its check is written."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from simulator.claims.model import Check, Claim, Fault, Source, Verdict
from simulator.claims.sources import SOURCES
from simulator.foundations.errors import InvalidInput

_LEDGER: dict[str, Claim] = {}


def claim(
    id: str,
    place: str,
    statement: str,
    expected: Verdict,
    *,
    wrong: Mapping[str, Any] | None = None,
    cannot_be_wrong: str = "",
    fault: Fault = Fault.SUBSTANCE,
    given: Mapping[str, Any] | None = None,
) -> Callable[[Check], Check]:
    """Register the decorated check as the check of one claim; see :class:`Claim`.

    A check that several sources share is no decorated function: ``claim(...)(check)`` registers it
    again, where that source's claims stand.

    Raises InvalidInput for an id that is taken, or begins with no source's key.
    """
    caller = sys._getframe(1)
    written = caller.f_globals["__name__"], caller.f_lineno

    def register(check: Check) -> Check:
        if id in _LEDGER:
            raise InvalidInput(f"two claims have the id {id!r}")
        _LEDGER[id] = Claim(
            id, _source_of(id), place, statement, expected,
            function=check, wrong=wrong or {}, cannot_be_wrong=cannot_be_wrong, fault=fault,
            given=given or {}, written=written,
        )  # fmt: skip
        return check

    return register


def _source_of(id: str) -> Source:
    for source in SOURCES:
        if id.startswith(source.key + "-"):
            return source
    raise InvalidInput(f"claim {id!r} begins with no source: {', '.join(s.key for s in SOURCES)}")


@cache
def _load() -> None:
    """Import every module of the ledger once: a new module of claims needs no list."""
    ledger = importlib.import_module("simulator.claims.ledger")
    for module in pkgutil.walk_packages(ledger.__path__, f"{ledger.__name__}."):
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
    ordered = sorted(_LEDGER.values(), key=lambda e: (keys.index(e.source.key), *e.written))
    return tuple(entry for entry in ordered if source in (None, entry.source.key))


def find(id: str) -> Claim:
    """The claim of that id; raises InvalidInput with the nearest ids, or the source's own name."""
    if not isinstance(id, str):
        raise InvalidInput(f"name a claim by its id, as text, not {id!r:.80}")
    _load()
    if id not in _LEDGER:
        meant = [source.key for source in SOURCES if id and source.key.startswith(id)]
        if meant:
            raise InvalidInput(f'{id!r} is no claim; source="{meant[0]}" has many')
        begun = [known for known in _LEDGER if id and known.startswith(id)]
        near = begun[:5] or get_close_matches(id, _LEDGER, n=3, cutoff=0.3)
        hint = f"did you mean {', '.join(near)}?" if near else "`dpcompose claims` lists them"
        raise InvalidInput(f"unknown claim {id!r}; {hint}")
    return _LEDGER[id]
