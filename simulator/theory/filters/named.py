"""Filters by name, and their text form. Only the filter that a text names is loaded.

A filter admits or refuses a round before its mechanism runs. The adversary chooses every round's
epsilon and delta adaptively. The whole interaction under a ``proved`` filter keeps (``epsilon``,
``delta``)-differential privacy. A refused round costs nothing, and a cheaper one may still be
admitted after it.
"""

from __future__ import annotations

from typing import Any

from simulator.foundations import grammar
from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import added, load_named, refuse_file
from simulator.foundations.validation import text_of
from simulator.foundations.wording import did_you_mean
from simulator.theory.filters.interface import Filter

FILTERS = {
    "sum": "simulator.theory.filters.sums:SumFilter",
    "rogers": "simulator.theory.filters.advanced:RogersFilter",
    "whitehouse": "simulator.theory.filters.advanced:WhitehouseFilter",
    "zcdp": "simulator.theory.filters.renyi:ZCDPFilter",
    "renyi": "simulator.theory.filters.renyi:RenyiFilter",
    "residue": "simulator.theory.filters.residue:ResidueFilter",
    "natural": "simulator.theory.filters.natural:NaturalFilter",
}
"""Where the filters of (epsilon, delta)-DP rounds are, as ``module:Class``, by name."""

BY_NAME = FILTERS | {
    "gaussian": "simulator.theory.filters.gaussian:GaussianFilter",
    "realised": "simulator.theory.filters.realised:RealisedFilter",
    "clt": "simulator.theory.filters.clt:CLTFilter",
}
"""Those, and the ones of other rounds."""


def filter_names() -> list[str]:
    """The names that :func:`parse_filter` reads, with those of other packages."""
    return [*BY_NAME, *(name for name in added("filters") if name not in BY_NAME)]


def _named(name: str) -> Any:
    if name not in filter_names():
        refuse_file("filters", name, "pass filter= an object of your subclass of Filter")
        near = did_you_mean(name, filter_names())
        others = near or f"; write one of {', '.join(filter_names())}, as sum:1"
        raise InvalidInput(f"unknown filter {name!r}{others}")
    return load_named("filters", BY_NAME, name)


def filter_class(name: str) -> type[Filter]:
    """The class of the filter of that name, of this package or of another one.

    Other packages name theirs in the entry points ``dpcompose.filters``. Raises InvalidInput for
    an unknown name, and for a filter that is read from a text and has no class of its own.
    """
    kind = _named(name)
    if not (isinstance(kind, type) and issubclass(kind, Filter)):
        raise InvalidInput(
            f"the entry point {name!r} must be a subclass of Filter, not {kind!r:.80}"
        )
    return kind


def parse_filter(text: str) -> Filter:
    """The filter of ``NAME:EPSILON[,delta=0][,rounds-delta=0]``, as ``sum:1`` or ``zcdp:1,1e-6``.

    Also the names of the entry points ``dpcompose.filters`` of other packages: subclasses of
    Filter, or functions that make a filter of the text after the colon. Inverse of ``str()``.
    Raises InvalidInput on anything else.

    >>> from simulator.theory import parse_filter
    >>> parse_filter("zcdp:1,1e-6")
    ZCDPFilter(epsilon=1.0, delta=1e-06, rounds_delta=0.0)
    """
    name, _, values = text_of("a filter", text).strip().partition(":")
    kind = _named(name)
    if callable(kind) and not isinstance(kind, type):
        read: Filter = kind(values)
        return read
    return grammar.made(grammar.read_once(text), filter_class(name))
