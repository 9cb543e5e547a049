"""Certified searches for the worst adversary, which an installed package adds.

The shelf :mod:`simulator.worst` is one: its entry points of ``dpcompose.searches`` have the names
of the functions below. Other shelves call these, so that each works without the search: only a call
of it is then refused, in one line.
"""

from __future__ import annotations

from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import Added


def _search(name: str) -> Any:
    searches = Added("searches")
    if name not in searches:
        raise InvalidInput(f"no package with the search {name!r} is installed; it is a shelf")
    return searches[name]


def worst_case(*arguments: Any, **options: Any) -> Any:
    """The worst adversary of a menu: see :func:`simulator.worst.worst_case`."""
    return _search("worst-case")(*arguments, **options)


def worst_case_of_family(family: str, **options: Any) -> Any:
    """The worst adversary of a family: see :func:`simulator.worst.worst_case_of_family`."""
    return _search("worst-case-of-family")(family, **options)


def worst_conversation(*arguments: Any, **options: Any) -> Any:
    """The worst messages to a mechanism: see :func:`simulator.worst.worst_conversation`."""
    return _search("worst-conversation")(*arguments, **options)


def worst_odometer(*arguments: Any, **options: Any) -> Any:
    """The worst adversary who may stop: see :func:`simulator.worst.worst_odometer`."""
    return _search("worst-odometer")(*arguments, **options)


def dominating_law(*arguments: Any, **options: Any) -> Any:
    """A law that dominates an interactive mechanism: see :func:`simulator.worst.dominating_law`."""
    return _search("dominating-law")(*arguments, **options)


def assert_no_adversary(*arguments: Any, **options: Any) -> Any:
    """Fail where a claim is broken: see :func:`simulator.attacks.assert_no_adversary`."""
    __tracebackhide__ = True
    return _search("assert-no-adversary")(*arguments, **options)
