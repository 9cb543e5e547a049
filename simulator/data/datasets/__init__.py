"""Real tables in the package; their sources and licences are in the README of this folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from simulator.data.databases import Database
from simulator.foundations.errors import InvalidInput

_FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Return the names of the tables."""
    return sorted(file.stem for file in _FOLDER.glob("*.csv"))


def path(name: str) -> Path:
    """Return the CSV file of a table; for another name :class:`InvalidInput` lists the names."""
    if name not in names():
        raise InvalidInput(f"no table {name!r}; there are {', '.join(names())}")
    return _FOLDER / f"{name}.csv"


def load(name: str, columns: Iterable[str] | None = None) -> Database:
    """Return a table as a database, one record a row, with the given columns or all of them.

    Raises :class:`InvalidInput` for an unknown table or column.
    """
    return Database.from_csv(path(name), columns)
