"""The one reader of files that this program has not written: regular, of a size, of a depth.

A pipe, a device or a folder is not read, a link to one neither; nothing blocks, and no file takes
more memory than a multiple of its limit. Every refusal is an :class:`InvalidInput` of one line.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import explained, folder_path, open_regular

MOST = 1 << 26
"""Bytes of a document at most (64 MB): JSON, TOML, a program, a specification."""
MOST_OF_A_TABLE = 1 << 27
"""Bytes of a table at most (128 MB)."""
DEEPEST = 100
"""Levels of lists and objects within each other."""
MOST_OF_AN_ARRAY = 1 << 30
"""Bytes of an array's file at most (1 GB)."""
MOST_OF_A_PROGRAM = 1 << 24
"""Bytes of a Python file at most (16 MB)."""
_MOST_TOML = 1 << 24
"""Bytes of TOML at most (16 MB), which some ten seconds are needed for."""
_NAMED = 100
"""Characters of a name in a message."""


@contextmanager
def opened(
    path: str | PathLike[str], most: int = MOST, *, follow: bool = True
) -> Iterator[BinaryIO]:
    """Open a file to read it; with ``follow`` a link to a regular file will do.

    Raises InvalidInput for a file that is not there, is not regular, or has more than ``most``
    bytes.
    """
    path = folder_path(path, "a file to read", "file")
    with explained("read", path):
        file = open_regular(path, "rb", follow=follow)
    with file:
        require_size(file, path, most)
        yield file


def require_size(file: BinaryIO, path: Path, most: int) -> None:
    """Raise InvalidInput where an open file has more than ``most`` bytes."""
    size = os.fstat(file.fileno()).st_size
    if size > most:
        raise InvalidInput(
            f"{path} has {size / 1e6:,.0f} MB; no more than {most / 1e6:,.0f} MB are read here"
        )


def read_bytes(path: str | PathLike[str], most: int = MOST, *, follow: bool = True) -> bytes:
    """The content of a file; raises as :func:`opened`."""
    with opened(path, most, follow=follow) as file:
        return rest_of(file, Path(path), most)


def rest_of(file: BinaryIO, path: Path, most: int = MOST) -> bytes:
    """What an open file has from its place on; raises InvalidInput above ``most`` bytes.

    A file of the kernel may have any number of bytes, whatever size it states.
    """
    require_size(file, path, most)
    pieces, left = [], most
    with explained("read", path):
        while piece := file.read(min(left + 1, 1 << 24)):
            left -= len(piece)
            if left < 0:
                raise InvalidInput(
                    f"{path} has more than {most / 1e6:,.0f} MB; no more are read here"
                )
            pieces.append(piece)
    return b"".join(pieces)


def read_array(path: str | PathLike[str], most: int = MOST_OF_AN_ARRAY) -> NDArray[Any]:
    """The array of a ``.npy`` file, without objects; raises as :func:`opened`."""
    with opened(path, most) as file:
        try:
            found = np.load(file, allow_pickle=False)
        except (OSError, ValueError, EOFError, MemoryError, RecursionError, SyntaxError, TypeError):
            raise InvalidInput(f"{path}: is not an array of numpy (.npy)") from None
        if not isinstance(found, np.ndarray):
            raise InvalidInput(f"{path}: has several arrays; give a .npy file with one")
    return found


def read_text(path: str | PathLike[str], most: int = MOST, *, follow: bool = True) -> str:
    """The text of a file in UTF-8, with or without a byte-order mark; raises as :func:`opened`."""
    try:
        return read_bytes(path, most, follow=follow).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: is not text in UTF-8") from None


def from_json(text: str | bytes, name: str, *, exact: bool = True) -> Any:
    """The JSON value of a text, which ``name`` names in errors.

    With ``exact`` NaN, infinite numbers and two members of one name are refused. Raises
    InvalidInput where it is not JSON, or has more than DEEPEST levels.
    """
    checks: dict[str, Any] = (
        {"parse_constant": _refuse, "object_pairs_hook": _unique_members} if exact else {}
    )
    try:
        return shallow(json.loads(text, **checks), name)
    except InvalidInput as error:
        raise error if str(error).startswith(name) else InvalidInput(f"{name}: {error}") from None
    except TypeError:
        raise InvalidInput(f"{name}: must be text in JSON, not {text!r:.80}") from None
    except RecursionError:
        raise too_deep(name) from None
    except ValueError as error:
        raise InvalidInput(f"{name}: is not JSON: {error}") from None


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """The tables of a TOML file; raises InvalidInput with the place of what is wrong."""
    text, name = read_text(path, _MOST_TOML), str(path)
    # a key of n parts takes n^2 steps, and no depth of the parser's
    if any(piece.count(".") > DEEPEST for piece in re.split(r"[=,\n]", text)):
        raise too_deep(name)
    try:
        return shallow(tomllib.loads(text), name)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{name}: {error}") from None
    except RecursionError:
        raise too_deep(name) from None
    except (ValueError, OverflowError) as error:  # a date or a number that Python does not have
        raise InvalidInput(f"{name}: is not TOML: {error}") from None


def shallow(value: Any, name: str) -> Any:
    """The value, if no list or object in it is deeper than DEEPEST; raises InvalidInput."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST + 1):
        if not level:
            return value
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [item for items in inner for item in items if isinstance(item, dict | list)]
    raise too_deep(name)


def too_deep(name: str) -> InvalidInput:
    """The error of a document with more than DEEPEST levels."""
    return InvalidInput(f"{name}: is nested more than {DEEPEST} levels deep")


def _refuse(constant: str) -> NoReturn:
    raise InvalidInput(f'{constant} is not JSON; write an infinite number as "inf"')


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InvalidInput(f"the member {name[:_NAMED]!r} appears twice in one object")
        found[name] = value
    return found
