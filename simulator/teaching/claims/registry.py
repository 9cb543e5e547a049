"""The registry of claims: a check registers its claim by a decorator."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.teaching.claims.model import Check, Claim, Fault, Source, Verdict

LEDGER = "simulator.teaching.claims.ledger"
"""The package of the claims: each module in it registers its own, ``sources`` lists the sources."""

_CLAIMS: dict[str, Claim] = {}


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

    A check that several sources share is not decorated: ``claim(...)(check)`` registers it
    again, where that source's claims stand.

    Raises InvalidInput for an id that is taken, or begins with no source's key.
    """
    caller = sys._getframe(1)
    written = caller.f_globals["__name__"], caller.f_lineno

    def register(check: Check) -> Check:
        if id in _CLAIMS:
            raise InvalidInput(f"two claims have the id {id!r}")
        _CLAIMS[id] = Claim(
            id, _source_of(id), place, statement, expected,
            function=check, wrong=wrong or {}, cannot_be_wrong=cannot_be_wrong, fault=fault,
            given=given or {}, written=written,
        )  # fmt: skip
        return check

    return register


def sources() -> tuple[Source, ...]:
    """Return the documents whose claims are checked, in the order of the ledger."""
    listed: tuple[Source, ...] = importlib.import_module(f"{LEDGER}.sources").SOURCES
    return listed


def _source_of(id: str) -> Source:
    for source in sources():
        if id.startswith(source.key + "-"):
            return source
    raise InvalidInput(f"claim {id!r} begins with no source: {', '.join(s.key for s in sources())}")


@cache
def _load() -> None:
    """Import every module of the ledger once; there is no list of them."""
    ledger = importlib.import_module(LEDGER)
    for module in pkgutil.walk_packages(ledger.__path__, f"{ledger.__name__}."):
        importlib.import_module(module.name)


def all_claims(source: str | None = None) -> tuple[Claim, ...]:
    """Every claim, by source and then in the order of this package; or those of one source.

    The order does not depend on the order of imports.

    Raises InvalidInput for an unknown source.
    """
    _load()
    keys = [entry.key for entry in sources()]
    if source is not None and source not in keys:
        raise InvalidInput(f"unknown source {source!r}; sources are {', '.join(keys)}")
    ordered = sorted(_CLAIMS.values(), key=lambda e: (keys.index(e.source.key), *e.written))
    return tuple(entry for entry in ordered if source in (None, entry.source.key))


def find(id: str) -> Claim:
    """The claim of that id; raises InvalidInput with the nearest ids, or the source's own name."""
    if not isinstance(id, str):
        raise InvalidInput(f"name a claim by its id, as text, not {id!r:.80}")
    _load()
    if id not in _CLAIMS:
        meant = [source.key for source in sources() if id and source.key.startswith(id)]
        if meant:
            raise InvalidInput(f"{id!r} is no claim, but the source {meant[0]} has many")
        begun = [known for known in _CLAIMS if id and known.startswith(id)]
        near = begun[:5] or get_close_matches(id, _CLAIMS, n=3, cutoff=0.3)
        hint = f"did you mean {', '.join(near)}?" if near else "`dpcompose claims` lists them"
        raise InvalidInput(f"unknown claim {id!r}; {hint}")
    return _CLAIMS[id]
