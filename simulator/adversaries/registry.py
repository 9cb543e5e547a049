"""The library of adversaries by name: each is made for a family and a number of rounds."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import scipy

from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import added, is_of_a_shelf, is_there, load_added
from simulator.foundations.validation import whole
from simulator.identity.origins import is_of_package
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP

Factory = Callable[[Guarantee, int], Callable[..., Any]]


@dataclass(frozen=True)
class LibraryEntry:
    """An adversary of the library.

    Attributes
    ----------
    name : as written on the command line.
    about : a paragraph on what it does and why.
    make : ``make(family, rounds)`` returns a Rule or a generator function whose mechanisms all
        belong to the family. Raises InvalidInput for a family that it does not play in.
    families : the only kinds of family that it plays in; empty where there are no such limits.
    """

    name: str
    about: str
    make: Factory
    families: tuple[type[Guarantee], ...] = ()

    def plays_in(self, family: Guarantee) -> bool:
        """Whether it can be made for the family: of its kind, with mechanisms that it plays."""
        try:
            self.make(family, 1)
        except InvalidInput:
            return False
        return True

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return self.about.partition("\n")[0]


class OfLibrary(functools.partial):  # type: ignore[type-arg]
    """A generator adversary of this package, which is pickled as what it was made from."""

    name: str
    made_from: tuple[str, Guarantee, int]

    def __new__(
        cls, adversary: Callable[..., Any], name: str, family: Guarantee, rounds: int
    ) -> OfLibrary:
        """A call of the adversary under its name in the library."""
        self = super().__new__(cls, adversary)
        self.name, self.made_from = name, (name, family, rounds)
        return self

    def __reduce__(self) -> Any:
        return make, self.made_from


_ENTRIES: dict[str, LibraryEntry] = {}


def library(name: str, *families: type[Guarantee]) -> Callable[[Factory], Factory]:
    """Register a factory under ``name``; its docstring is the paragraph about it.

    ``families`` are the only kinds of family that it plays in, where there are some.
    """

    def register(make: Factory) -> Factory:
        @functools.wraps(make)
        def checked(family: Guarantee, rounds: int) -> Callable[..., Any]:
            if families and not isinstance(family, families):
                raise InvalidInput(
                    f"{name} plays in families of the kind "
                    f"{' or '.join(kind.kind for kind in families)} alone, not in {family}"
                )
            made = make(family, rounds)
            if isinstance(made, FunctionType) and is_of_package(make):
                return OfLibrary(made, name, family, rounds)
            return made

        text = "\n".join(line.strip() for line in (make.__doc__ or "").strip().splitlines())
        _ENTRIES[name] = LibraryEntry(name, text, checked, families)
        return make

    return register


def entries() -> tuple[LibraryEntry, ...]:
    """Every adversary by name: of the library, and of the entry points dpcompose.adversaries.

    An entry point is a factory ``make(family, rounds)`` with a docstring, which may be decorated by
    ``library``, or a LibraryEntry. The library's own names win.

    >>> from simulator.adversaries import entries
    >>> "press-when-ahead" in [entry.name for entry in entries()]
    True
    """
    _load_library()
    outside = {
        name: _added(name)
        for name, point in added("adversaries").items()
        if name not in _ENTRIES and (is_there(point.module) or not is_of_a_shelf(point.module))
    }
    return tuple(entry for _, entry in sorted((_ENTRIES | outside).items()))


def _load_library() -> None:
    package = importlib.import_module("simulator.adversaries.library")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


def _added(name: str) -> LibraryEntry:
    """The adversary of another package; one that cannot be loaded says so where it is used."""
    try:
        found = load_added("adversaries", name)
    except InvalidInput as error:
        return _unloaded(name, str(error))
    if name in _ENTRIES:  # registered by ``library`` when its module was imported
        return _ENTRIES[name]
    if isinstance(found, LibraryEntry):
        return found
    if not callable(found):
        raise InvalidInput(f"the entry point {name!r} must be a factory make(family, rounds)")
    text = inspect.cleandoc(found.__doc__ or "(without a description)")
    return LibraryEntry(name, text, found)


def _unloaded(name: str, reason: str) -> LibraryEntry:
    def refused(family: Guarantee, rounds: int) -> Any:
        raise InvalidInput(reason)

    return LibraryEntry(name, reason, refused)


def make(name: str, family: Guarantee, rounds: int) -> Callable[..., Any]:
    """Make the library's adversary ``name`` for a family and a number of rounds.

    Raises InvalidInput, with the nearest names, when there is none.

    >>> import numpy as np
    >>> from simulator import PureDP
    >>> from simulator.adversaries import make
    >>> adversary = make("fixed-worst-case", PureDP(0.2), rounds=10)
    >>> database_0, database_1, mechanism = next(adversary(np.random.default_rng(0)))
    >>> mechanism.guarantee()
    PureDP(epsilon=0.2)
    """
    whole("rounds", rounds)
    _load_library()
    if name not in _ENTRIES and name in added("adversaries"):
        return _added(name).make(family, rounds)
    if name not in _ENTRIES:
        known = [entry.name for entry in entries()]
        near = difflib.get_close_matches(name.replace("_", "-"), known, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
        raise InvalidInput(f"no adversary {name!r}; {hint} (your own: path/to/file.py:function)")
    return _ENTRIES[name].make(family, rounds)


LARGEST_BUDGET = 1e6
"""The largest epsilon searched; a larger one gives practically no privacy."""


def pure_budget(family: Guarantee) -> float:
    """The largest epsilon such that every epsilon-DP mechanism belongs to ``family``.

    At most :data:`LARGEST_BUDGET` where the family does not state it. Raises InvalidInput where
    there is none above 1e-9.
    """
    stated = family.core.pure_epsilon
    if 0.0 < stated < float("inf") and PureDP(stated).implies(family):
        return stated
    if not PureDP(1e-9).implies(family):
        raise InvalidInput(f"no purely private mechanism belongs to {family}")
    high = 1e-9
    while PureDP(2.0 * high).implies(family):
        high *= 2.0
        if high > LARGEST_BUDGET:
            return LARGEST_BUDGET
    edge = scipy.optimize.bisect(
        lambda e: 1.0 if PureDP(e).implies(family) else -1.0, high, 2.0 * high
    )
    return float(edge) * (1.0 - 1e-9)
