"""What other installed packages add: entry points of the groups ``dpcompose.KIND``.

A package names an object of its own in its metadata; it is imported when its name is first used,
and then runs with the user's rights, as any import does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Literal

from simulator.foundations.errors import InvalidInput

Kind = Literal[
    "adversaries",
    "bounds",
    "commands",
    "events",
    "families",
    "filters",
    "games",
    "laws",
    "libraries",
    "likelihoods",
    "mechanisms",
    "pytest",
    "searches",
]
"""What can be added: each is the group ``dpcompose.KIND``. The shelves of this package use them."""


@cache
def added(kind: Kind) -> dict[str, EntryPoint]:
    """The entry points of a kind, by name; of two with one name the first one found counts."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"dpcompose.{kind}"):
        found.setdefault(point.name, point)
    return found


def is_of_a_shelf(module: str) -> bool:
    """Whether a module is of this package, whose shelves may be taken away."""
    return module.startswith("simulator.")


def is_there(module: str) -> bool:
    """Whether a module can be found: a shelf's is gone where the shelf was taken away."""
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


def load_added(kind: Kind, name: str) -> Any:
    """The object that an entry point names.

    Raises InvalidInput, with the package and the reason, where it cannot be imported.
    """
    return _loaded(kind, added(kind)[name])


def load_named(kind: Kind, own: Mapping[str, str], name: str) -> Any:
    """The object of that name: at ``own[name]``, as ``module:object``, or of an entry point.

    A name of ``own`` is not replaced by an entry point. Raises as :func:`load_added`.
    """
    if name in own:
        return _loaded(kind, EntryPoint(name, own[name], f"dpcompose.{kind}"))
    return load_added(kind, name)


def refuse_file(kind: Kind, name: str, in_python: str) -> None:
    """Raise InvalidInput if a name is that of a file; it says what to do in Python instead."""
    if name.endswith(".py"):
        one = {"families": "a family"}.get(kind, f"a {kind[:-1]}")
        raise InvalidInput(
            f"{one} is not loaded from a file ({name}): in Python {in_python}, or name it in the "
            f"entry points dpcompose.{kind} of a package of yours"
        )


def _loaded(kind: Kind, point: EntryPoint) -> Any:
    try:
        return point.load()
    except ModuleNotFoundError as error:
        raise _unloadable(kind, point, f"{error.name} is not installed") from error
    except Exception as error:  # code of another package
        raise _unloadable(kind, point, f"{type(error).__name__}: {error}") from error


def _unloadable(kind: Kind, point: EntryPoint, why: str) -> InvalidInput:
    package = f" of {point.dist.name}" if point.dist is not None else ""
    return InvalidInput(
        f"the entry point {point.name!r} of dpcompose.{kind}{package} cannot be loaded: {why}"
    )


class Added(Mapping[str, Any]):
    """What there is of one kind by name: ``own``, and what other packages add.

    What another package adds is imported when it is looked up.
    """

    def __init__(self, kind: Kind, own: Mapping[str, Any] | None = None) -> None:
        self.kind = kind
        self.own = own or {}

    def __getitem__(self, name: str) -> Any:
        if name in self.own:
            return self.own[name]
        if name not in added(self.kind):
            raise KeyError(name)
        return load_added(self.kind, name)

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in added(self.kind)

    def __iter__(self) -> Iterator[str]:
        return iter({**self.own, **added(self.kind)})

    def __len__(self) -> int:
        return len({*self.own, *added(self.kind)})
