"""Tables of records from a CSV file; ambiguous cells are refused."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from simulator.foundations.errors import InvalidInput
from simulator.foundations.strangers import MOST_OF_A_TABLE, read_text
from simulator.foundations.wording import count_of

Cell = float | str


class Record(tuple[Cell, ...]):
    """One row of a table: a tuple whose fields can also be read by column name.

    ``record["mean radius"]``, ``record.diagnosis`` and ``record[0]`` all work (a column called
    ``count`` or ``index``, which every tuple has, only in brackets). Two records are equal when
    their values are, as tuples are.
    """

    __slots__ = ()
    columns: ClassVar[tuple[str, ...]] = ()

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self._position(key) if isinstance(key, str) else key)

    def __getattr__(self, name: str) -> Cell:
        raise AttributeError(f"a record of {list(self.columns)} has no column {name!r}")

    def _position(self, column: str) -> int:
        if column not in self.columns:
            raise InvalidInput(f"no column {column!r}; there are {', '.join(self.columns)}")
        return self.columns.index(column)

    def __reduce__(self) -> tuple[Any, ...]:
        # The class is made at run time, so a worker process makes it from its columns.
        return _restored, (self.columns, tuple(self))

    def __repr__(self) -> str:
        return f"({', '.join(f'{name}={cell!r}' for name, cell in zip(self.columns, self))})"


@cache
def record_type(columns: tuple[str, ...]) -> type[Record]:
    """Return the class of records with these columns; the same class for the same columns."""
    fields = {
        name: property(partial(_cell, place=place))
        for place, name in enumerate(columns)
        if not hasattr(Record, name)
    }
    return type("Record", (Record,), {"__slots__": (), "columns": columns} | fields)


def _cell(record: Record, place: int) -> Cell:
    return tuple.__getitem__(record, place)


def _restored(columns: tuple[str, ...], cells: tuple[Cell, ...]) -> Record:
    return record_type(columns)(cells)


def read_csv(
    path: str | PathLike[str],
    columns: Iterable[str] | None = None,
    *,
    numeric: Iterable[str] = (),
    text: Iterable[str] = (),
) -> list[Record]:
    """Read the rows of a CSV file (UTF-8, comma-separated, with a header line).

    ``columns`` are those to keep, in this order; all of them when None. A column whose cells are
    all finite numbers is read as floats, one without any number as text. A column that mixes the
    two is refused, since a mistyped number would otherwise become text: name it in ``text`` to read
    it as text. ``numeric`` names columns in which every cell must be a number.

    Raises :class:`InvalidInput` for a file that is missing or not a CSV file, missing columns (it
    lists the present ones), a cell that is not a number (it names row and column), or no rows.
    """
    path = Path(path)
    header, rows = _parsed(path)
    wanted = _wanted(columns)
    names = header if wanted is None else wanted
    _require_columns(path, header, [*names, *numeric, *text])
    if not rows:
        raise InvalidInput(f"{path} has a header but no rows")
    must_be_numeric, must_be_text = frozenset(numeric), frozenset(text)
    read: list[Sequence[Cell]] = []
    for name in names:
        cells = [row[header.index(name)] for _, row in rows]
        if name in must_be_text:
            read.append(cells)
        else:
            read.append(_typed(path, name, cells, [n for n, _ in rows], name in must_be_numeric))
    make = record_type(tuple(names))
    return [make(cells) for cells in zip(*read)]


def _wanted(columns: Iterable[str] | None) -> list[str] | None:
    if columns is None:
        return None
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise InvalidInput("columns is empty: name at least one column, or leave it out for all")
    if len(set(names)) < len(names):
        raise InvalidInput(f"columns names one column twice: {', '.join(names)}")
    return names


def _parsed(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header, and each row with the number of the line on which it ends."""
    text = read_text(path, MOST_OF_A_TABLE)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = [name.strip() for name in next(reader, [])]
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise InvalidInput(f"{path} is not a CSV file: {error}") from None
    if not header:
        raise InvalidInput(f"{path} is empty: a header line and at least one row are needed")
    if len(set(header)) < len(header):
        raise InvalidInput(f"{path} has two columns of one name: {', '.join(header)}")
    for line, row in rows:
        if len(row) != len(header):
            cells, columns = count_of(len(row), "cell"), count_of(len(header), "column")
            raise InvalidInput(f"{path}, line {line}: {cells} under {columns}")
    return header, rows


def _require_columns(path: Path, header: Sequence[str], names: Iterable[str]) -> None:
    missing = [name for name in dict.fromkeys(names) if name not in header]
    if missing:
        raise InvalidInput(
            f"{path} has no column {', '.join(map(repr, missing))}; it has {', '.join(header)}"
        )


def _typed(
    path: Path, name: str, cells: list[str], lines: list[int], must_be_numeric: bool
) -> Sequence[Cell]:
    numbers = [_number(cell) for cell in cells]
    if not must_be_numeric and all(number is None for number in numbers):
        return cells
    for number, cell, line in zip(numbers, cells, lines):
        if number is None:
            or_text = "" if must_be_numeric else f", or read the column as text=[{name!r}]"
            raise InvalidInput(
                f"{path}, line {line}, column {name!r}: {cell!r} is not a finite number; correct "
                f"it{or_text}"
            )
    return [number for number in numbers if number is not None]


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    # Python's literals allow 1_000, which in a data file is probably a mistake.
    return number if math.isfinite(number) and "_" not in cell else None
