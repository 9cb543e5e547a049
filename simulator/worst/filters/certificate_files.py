"""Certificates of filters in files: read as text, as filters, and checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import explained, open_regular
from simulator.foundations.validation import numeral
from simulator.worst.filters import certificate_check, certificates, planned_check, sampled_check
from simulator.worst.filters.certified import COSTS_ONLY, CertifiedFilter
from simulator.worst.filters.planned import PlannedFilter
from simulator.worst.filters.planned_text import planned_of
from simulator.worst.filters.sampled import SampledFilter, sampled_of

MOST_BYTES = 1 << 24
CHECKS: dict[str, Callable[[str], float]] = {
    each.NAME: each.check for each in (certificate_check, sampled_check, planned_check)
}
"""The checker of each kind of certificate, by its name in the file."""


def check_certificate(text: str) -> float:
    """The delta that a certificate's text proves, by the checker of its kind.

    Raises Refused of :mod:`simulator.worst.filters.certificate_check` where it proves nothing.
    """
    try:
        name = json.loads(text)["dpcompose"]
    except (ValueError, KeyError, TypeError, RecursionError):
        name = None
    return CHECKS.get(name if isinstance(name, str) else "", certificate_check.check)(text)


def read_certificate(path: str | PathLike[str]) -> str:
    """The text of a certificate file. Raises InvalidInput where it cannot be read."""
    with explained("read", Path(path)), open_regular(Path(path), "rb") as file:
        content = file.read(MOST_BYTES + 1)
    try:
        if content is None or len(content) > MOST_BYTES:
            raise ValueError
        return content.decode()
    except ValueError:
        raise InvalidInput(f"{path} is not a certificate of a filter") from None


def read_certified(
    path: str | PathLike[str],
) -> CertifiedFilter | SampledFilter | PlannedFilter:
    """The filter of a certificate file; its numbers are checked when its promise is used.

    Raises InvalidInput for a file that is no certificate, or that was changed.
    """
    text = read_certificate(path)
    made: CertifiedFilter | SampledFilter | PlannedFilter
    try:
        stored = json.loads(text, object_pairs_hook=certificate_check.members)
        if stored["dpcompose"] == sampled_check.NAME:
            made = sampled_of(stored)
        elif stored["dpcompose"] == planned_check.NAME:
            made = planned_of(stored)
        else:
            made = CertifiedFilter(
                *(stored[name] for name in ("epsilon", "delta", "rounds_delta")),
                **{name: stored[name] for name in ("largest", "order", "unit", "units")},
                reserve=stored["reserve_units"],
            )
        if stored["digest"] != certificate_check.digest_of(stored):
            raise ValueError
        if certificates.numbers_of(made.certificate()) != certificates.numbers_of(stored):
            raise ValueError
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise InvalidInput(f"{path} is not a certificate of a filter, or it was changed") from None
    return made


def parse_certified(values: str) -> CertifiedFilter | SampledFilter | PlannedFilter:
    """Read a certificate's file, or the numbers that ``str()`` writes after ``certified:``.

    Raises InvalidInput on anything else.
    """
    if values.endswith(".json"):
        return read_certified(values)
    *numbers, last = values.split(",")
    basic = last != COSTS_ONLY
    try:
        found = [numeral(value) for value in (numbers if not basic else [*numbers, last])]
        epsilon, delta, rounds_delta, largest, unit, units, reserve, order = found
    except ValueError:
        raise InvalidInput(
            f"certified:{values} is neither certified:FILE.json nor what str() writes of a filter"
        ) from None
    return CertifiedFilter(
        epsilon,
        delta,
        rounds_delta,
        largest=largest,
        unit=unit,
        units=int(units) if units == units // 1 else units,  # type: ignore[arg-type]
        reserve=reserve,
        order=order,
        basic=basic,
    )
