"""Menus that are tried where none is given, and the two experiments of a menu."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from simulator.attacks.claims import AttackedClaim
from simulator.data.databases import Relation
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw
from simulator.worst.menu import Entry, FixedEntry, FreeEntry
from simulator.worst.menu_parsing import entries

Menu = tuple[Entry, ...]

_SINGLE = (0.2, 0.1, 0.05, 0.5, 1.0, 0.02)
_PAIRS = ((0.025, 0.2), (0.05, 0.2), (0.02, 0.1), (0.05, 0.5), (0.1, 1.0), (0.01, 0.1))
_MULTIPLES = ((0.05, 4), (0.02, 10), (0.1, 5))
_FINE = ((0.007, 28), (0.01, 20))
"""Multiples that take a minute to search."""
_SIGMAS = (2.0, 5.0, 10.0)
_SAMPLED = ((1.0, 0.05), (2.0, 0.1), (1.0, 0.2))
_PARTS = 12
"""Values of a free parameter that a search over fixed ones tries."""


def _responses(sizes: Sequence[float]) -> str:
    return ",".join(f"randomized-response:{size:.6g}" for size in sizes)


def default_menus(claim: AttackedClaim, *, fine: bool) -> Iterator[str]:
    """Yield menus in the scale of a claim, the quickest first; ``fine`` ones take a minute."""
    unit = min(max(claim.largest, 1e-3), 20.0)
    for size in _SINGLE:
        yield _responses([size * unit])
    for sigma in _SIGMAS:
        yield f"gaussian:{sigma / unit:.6g}"
    for sigma, rate in _SAMPLED:
        yield f"subsampled-gaussian:{sigma},{rate}"
    if claim.delta > 0.0:
        yield f"approx:{0.1 * unit:.6g},{claim.delta / 4:.6g}"
    for size in (0.1, 0.3):
        yield f"laplace:{size * unit:.6g}"
    for pair in _PAIRS:
        yield _responses([size * unit for size in pair])
    for step, count in _MULTIPLES:
        yield _responses([step * unit * (i + 1) for i in range(count)])
    for step, count in _FINE if fine else ():
        yield _responses([step * unit * (i + 1) for i in range(count)])


def menus_of(menu: object, relation: Relation, *, alone: bool) -> list[Menu]:
    """The menu, and where a parameter is free its fixed values, coarse and on fine multiples.

    ``alone`` : whether each entry is a menu of its own, too. The menu itself is the last.
    """
    own = entries(menu, relation)  # type: ignore[arg-type]
    if alone and len(own) > 1 and not any(isinstance(entry, FreeEntry) for entry in own):
        return [*((entry,) for entry in own), own]
    if not any(isinstance(entry, FreeEntry) for entry in own):
        return [own]
    found = []
    for parts in (2, 4, _PARTS, 28):
        fixed: list[Entry] = []
        for entry in own:
            if isinstance(entry, FreeEntry):
                kind = entry.name.partition(":")[0]
                step = entry.high / parts
                sizes = [step * (i + 1) for i in range(parts) if step * (i + 1) >= entry.low]
                text = ",".join(f"{kind}:{size:.9g}" for size in sizes)
                fixed += entries(text, relation)
            else:
                fixed.append(entry)
        found.append(tuple(fixed))
    return [*found, own]


def experiments_of(menu: Menu) -> tuple[int, ...]:
    """(0,) where exchanging the databases leaves the laws of the menu as they are, else (0, 1)."""
    laws = [entry.law for entry in menu if isinstance(entry, FixedEntry)]
    left = list(laws)
    for law in laws:
        place = next((i for i, each in enumerate(left) if _same(each, law.reversed())), None)
        if place is None:
            return (0, 1)
        del left[place]
    return (0,)


def _same(one: PrivacyLossLaw, other: PrivacyLossLaw) -> bool:
    """Whether two laws are equal, finite ones up to rounding."""
    if not isinstance(one, FiniteLaw) or not isinstance(other, FiniteLaw):
        return type(one) is type(other) and bool(one == other)
    if one.losses.shape != other.losses.shape:
        return False
    first, second = np.argsort(one.losses), np.argsort(other.losses)
    masses = (
        (one.infinite_mass, other.infinite_mass),
        (one.dual_infinite_mass, other.dual_infinite_mass),
    )
    return (
        np.allclose(one.losses[first], other.losses[second], rtol=1e-12, atol=1e-15)
        and np.allclose(one.log_masses[first], other.log_masses[second], rtol=0.0, atol=1e-12)
        and all(math.isclose(a, b, rel_tol=1e-12) for a, b in masses)
    )
