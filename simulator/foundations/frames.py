"""Named columns of one length: as a data frame of a chosen library, as CSV, as Parquet.

pandas, polars and pyarrow are optional: an installed one is used, else the error names what to
install.
"""

from __future__ import annotations

import csv
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import explained, replacing, require_target

Columns = Mapping[str, NDArray[Any]]

LIBRARIES = ("pandas", "polars", "arrays")
"""The libraries of a frame; the default is the first that is installed, and arrays always are."""
ENDINGS = (".csv", ".parquet")
"""The endings of an exported table's name."""
_ROWS = 1 << 16
_POINTS = {"epsilons": "epsilon", "thresholds": "threshold"}
"""Names of the columns of a band's points: those of estimates at several points."""


class Tabular:
    """An object with columns: its data frames and its files.

    The columns of a dataclass are its fields that are arrays of one dimension; other classes define
    :meth:`columns`. A row has one point, so a band's ``epsilons`` are its column ``epsilon``. Two
    objects of one class with the same values are equal, NaN included; a dataclass takes this
    comparison with ``eq=False``.
    """

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Tabular)
        return holds_same(self.compared(), other.compared())

    __hash__ = None  # type: ignore[assignment]

    def compared(self) -> dict[str, Any]:
        """The values compared by ``==``: all fields except those with ``compare=False``."""
        named = (each.name for each in fields(self) if each.compare)  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in named}

    def columns(self) -> dict[str, NDArray[Any]]:
        """Arrays of shape (rows,) by name, in the order in which they are written."""
        held = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        return {
            _POINTS.get(name, name): value
            for name, value in held.items()
            if isinstance(value, np.ndarray) and value.ndim == 1
        }

    def to_frame(self, library: str | None = None) -> Any:
        """Return the columns as a data frame.

        ``library`` is "pandas", "polars" or "arrays", a dict of arrays; by default the first of
        them that is installed. Raises InvalidInput for one that is not.
        """
        return frame(self.columns(), library)

    def to_csv(self, path: str | PathLike[str]) -> Path:
        """Write the columns as CSV, every float with all digits; return the path.

        An existing file is replaced in one step. Raises InvalidInput where it cannot be written,
        and for a name that ends in .parquet.
        """
        return write_csv(self.columns(), path)

    def to_parquet(self, path: str | PathLike[str]) -> Path:
        """Write the columns as Parquet, in one step; return the path.

        Raises InvalidInput where neither pyarrow nor polars is installed, where it cannot be
        written, and for a name that ends in .csv.
        """
        return write_parquet(self.columns(), path)


def holds_same(one: Any, other: Any) -> bool:
    """Whether two values are equal, with arrays in them; NaN equals NaN."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        numbers = one.dtype.kind in "fc" and other.dtype.kind in "fc"
        return np.array_equal(one, other, equal_nan=numbers)
    if type(one) is not type(other):
        return False
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(holds_same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(holds_same, one, other))
    if is_dataclass(one):
        named = [each.name for each in fields(one) if each.compare]
        return all(holds_same(getattr(one, name), getattr(other, name)) for name in named)
    return bool(one == other or (one != one and other != other))


def frame(columns: Columns, library: str | None = None) -> Any:
    """The columns as a frame of that library, or of the first that is installed."""
    if library is not None and library not in LIBRARIES:
        raise InvalidInput(f"library must be one of {', '.join(LIBRARIES)}, not {library!r}")
    for name in LIBRARIES if library is None else (library,):
        if name == "arrays":
            break
        if (module := _installed(name)) is not None:
            return module.DataFrame(dict(columns))
        if library is not None:
            raise InvalidInput(
                f"{name} is not installed: install it, or choose another library, as "
                'library="arrays"'
            )
    return dict(columns)


def write_csv(columns: Columns, path: str | PathLike[str]) -> Path:
    """Write the names and the rows as CSV; return the path."""
    path = _named(path, ".csv")
    with explained("write", path), replacing(path) as file:
        text = _Encoded(file)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        for rows in _in_pieces(columns):
            writer.writerows(rows)
    return path


def write_parquet(columns: Columns, path: str | PathLike[str]) -> Path:
    """Write Parquet by pyarrow, or by polars; return the path."""
    path = _named(path, ".parquet")
    require_parquet()
    arrow, polars = _installed("pyarrow"), _installed("polars")
    with explained("write", path), replacing(path) as file:
        if arrow is not None:
            importlib.import_module("pyarrow.parquet").write_table(arrow.table(dict(columns)), file)
        else:
            assert polars is not None
            polars.DataFrame(dict(columns)).write_parquet(file)
    return path


def _named(path: str | PathLike[str], ending: str) -> Path:
    """The path; raises InvalidInput for no file name and for another format's ending."""
    if not isinstance(path, str | PathLike) or not path:
        raise InvalidInput(f"name a file to write, as text or a path, not {path!r:.80}")
    found = Path(path)
    if (other := found.suffix.lower()) in ENDINGS and other != ending:
        raise InvalidInput(
            f"{found} ends as another table than what is written: call to_{other[1:]}, or name a "
            f"file that ends in {ending}"
        )
    return found


def require_parquet() -> None:
    """Raise InvalidInput where neither pyarrow nor polars is installed."""
    if _installed("pyarrow") is None and _installed("polars") is None:
        raise InvalidInput(
            "Parquet is written by pyarrow or polars, and neither is installed: install one of "
            "them, or write CSV"
        )


def exportable(path: str | PathLike[str]) -> Path:
    """Return the path; raise InvalidInput unless a table can be written there."""
    found = Path(path)
    if found.suffix not in ENDINGS:
        raise InvalidInput(f"a table ends in one of {', '.join(ENDINGS)}, not {str(path)!r}")
    if not found.parent.is_dir():
        raise InvalidInput(f"no folder {str(found.parent)!r} to write the table in")
    require_target(found)
    if found.suffix == ".parquet":
        require_parquet()
    return found


def export(table: Tabular, path: str | PathLike[str]) -> Path:
    """Write a table in the format that the name ends in: see ENDINGS."""
    path = exportable(path)
    return table.to_parquet(path) if path.suffix == ".parquet" else table.to_csv(path)


def _installed(name: str) -> Any:
    """The module of that name, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _in_pieces(columns: Columns) -> Iterator[Iterator[tuple[Any, ...]]]:
    """The rows as Python values, in pieces to save memory."""
    length = max((len(column) for column in columns.values()), default=0)
    for start in range(0, length, _ROWS):
        pieces = [column[start : start + _ROWS].tolist() for column in columns.values()]
        yield zip(*pieces, strict=True)


class _Encoded:
    """A text file on top of a binary one, for ``csv.writer``."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def write(self, text: str) -> int:
        """Write the text; return the number of bytes."""
        return self.file.write(text.encode())
