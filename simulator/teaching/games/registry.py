"""The games that are known: files of ``games/library``, entry points, and files of users."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from simulator.adversaries.loading import names_in
from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import added, load_added
from simulator.foundations.validation import text_of
from simulator.foundations.wording import did_you_mean
from simulator.teaching.games import library
from simulator.teaching.games.model import Variant


def names() -> list[str]:
    """The names of the games of this package, then of those that other packages add."""
    return [*own_names(), *(name for name in added("games") if name not in own_names())]


def own_names() -> list[str]:
    """The names of the games of this package, which are its files."""
    return [module.name.replace("_", "-") for module in iter_modules(library.__path__)]


def all_games() -> list[Variant]:
    """The games of this package and of installed ones."""
    return [find(name) for name in names()]


def find(name: str) -> Variant:
    """The game of that name, or the one in a file ``path/to/file.py``; raises InvalidInput."""
    if text_of("the name of a game", name).endswith(".py"):
        found = names_in(name, "a game")
    elif name in own_names():
        found = vars(import_module(f"{library.__name__}.{name.replace('-', '_')}"))
    elif name in added("games"):
        loaded = load_added("games", name)
        found = {"game": loaded} if isinstance(loaded, Variant) else vars(loaded)
    else:
        hint = did_you_mean(name, names()) or f"; there are {', '.join(names())}, or a file's path"
        raise InvalidInput(f"unknown game {name!r}{hint}")
    games = [value for value in found.values() if isinstance(value, Variant)]
    if len(games) != 1:
        raise InvalidInput(
            f"{name} holds {len(games)} games: a file has one, made by "
            "simulator.teaching.games.game"
        )
    return games[0]
