"""The CSV file of a study: appended and flushed line by line, and read back."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import explained, write_text
from simulator.foundations.strangers import MOST_OF_A_TABLE, read_bytes, rest_of
from simulator.runner.store.locking import locked
from simulator.studies.points import COLUMNS, Point


class StudyFile:
    """The lines of a study on disk, open for more; one process at a time.

    Attributes
    ----------
    points : the last line of each key, in the order of the file.
    torn : whether a last line was incomplete, as after a power cut; it was cut off.

    Raises InvalidInput for a file that is not a study's, or that another process has open.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.suffix != ".csv":
            raise InvalidInput(f"a study is kept in a .csv file, not in {self.path}")
        with explained("write", self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        file = locked(self.path)
        if file is None:
            raise InvalidInput(
                f"another process collects into {self.path}: wait for it, or name another file"
            )
        self._file = file
        try:
            self._file.seek(0)
            content = rest_of(self._file, self.path, MOST_OF_A_TABLE)
            whole = content[: content.rfind(b"\n") + 1]
            self.torn = whole != content
            self.points = {point.key: point for point in read_points(whole, self.path)}
            header = whole.partition(b"\n")[0].decode("utf-8-sig").rstrip("\r").replace('"', "")
            if whole and header != ",".join(COLUMNS):
                raise InvalidInput(
                    f"the columns of {self.path} are not in their order: load it with Study.load, "
                    "write it to another file, and name that"
                )
            with explained("write", self.path):
                self._file.truncate(len(whole))
                if not whole:
                    self._write(_line(dict(zip(COLUMNS, COLUMNS))))
        except BaseException:
            self._file.close()
            raise

    def append(self, points: Iterable[Point]) -> None:
        """Write lines to the disk; they count from now on."""
        new = list(points)
        with explained("write", self.path):
            self._write("".join(_line(point.row()) for point in new))
        self.points |= {point.key: point for point in new}

    def _write(self, text: str) -> None:
        before = os.fstat(self._file.fileno()).st_size
        try:
            left = memoryview(text.encode())
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(before)  # a full disk: no part of a line stays
            raise

    def settle(self, order: Iterable[tuple[str, str, int]]) -> None:
        """Rewrite the file in one step with one line per key, these keys last, in this order."""
        write_points(self.path, in_order(self.points, order))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()


def in_order(
    points: dict[tuple[str, str, int], Point], order: Iterable[tuple[str, str, int]]
) -> list[Point]:
    """The points with these keys last, so that they are the latest; the others as they come."""
    last = dict.fromkeys(key for key in order if key in points)
    return [points[key] for key in (*(key for key in points if key not in last), *last)]


def read_points(content: bytes, path: Path) -> list[Point]:
    """The points of a file's content; raises InvalidInput with the number of a bad line."""
    try:
        text = content.decode("utf-8-sig")  # a spreadsheet begins a file with a mark
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not a study: it is no text") from None
    if not text:
        return []
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    found = []
    try:
        if rows.fieldnames is None or not set(COLUMNS) <= set(rows.fieldnames):
            raise InvalidInput(f"{path} is not a study: its first line is not that of one")
        for row in rows:
            if not any(row.values()):
                continue  # an empty row of a spreadsheet
            try:
                found.append(Point.of_row(row))
            except InvalidInput as error:
                raise InvalidInput(f"{path}, line {rows.line_num}: {error}") from None
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {rows.line_num}: {error}") from None
    return found


def load_points(path: str | PathLike[str]) -> list[Point]:
    """The last point of each key in a study's file; an incomplete last line is left out."""
    path = Path(path)
    content = read_bytes(path, MOST_OF_A_TABLE)
    points = read_points(content[: content.rfind(b"\n") + 1], path)
    return list({point.key: point for point in points}.values())


def write_points(path: str | PathLike[str], points: Iterable[Point]) -> None:
    """Write a study's file in one step."""
    header = _line(dict(zip(COLUMNS, COLUMNS)))
    write_text(path, header + "".join(_line(point.row()) for point in points))


def _line(row: dict[str, str]) -> str:
    text = io.StringIO()
    csv.DictWriter(text, COLUMNS, lineterminator="\n").writerow(row)
    return text.getvalue()
