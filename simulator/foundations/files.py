"""Writing files so that a reader finds the old file or the new one, never half of either."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from simulator.foundations.errors import InvalidInput


@contextmanager
def explained(action: str, path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into one line of :class:`InvalidInput`."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"cannot {action} {path}: {error.strerror or error}") from None


def folder_path(folder: object, what: str = "out") -> Path:
    """The folder that ``what`` names as a path; raises :class:`InvalidInput` where it is none."""
    if not isinstance(folder, str | PathLike):
        raise InvalidInput(f"{what} must be a folder, as text or a path, not {folder!r:.80}")
    text = os.fspath(folder)
    if not text:
        raise InvalidInput(f"{what} must name a folder, not be empty; the working folder is '.'")
    try:
        usable = isinstance(text, str) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise InvalidInput(f"{what} must be a folder's name, and {text!r:.80} can be none")
    return Path(text)


def require_file(path: Path) -> None:
    """Raise :class:`InvalidInput` for what is there and no file: to open a pipe may never end."""
    with explained("read", path):
        if path.exists() and not path.is_file():
            raise InvalidInput(f"{path} is no file; name another folder")


def canonical_json(value: Any, what: str) -> str:
    """Return the one JSON text of ``value``: keys sorted, no spaces, shortest exact floats.

    Raises :class:`InvalidInput` for anything JSON has no exact form for, NaN and infinity too.
    """
    try:
        return json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} cannot be written as JSON: {error}") from None


def write_json(path: str | PathLike[str], value: Any) -> None:
    """Write ``value`` as indented JSON in one step: a temporary file beside, then a rename.

    numpy numbers and arrays are written as numbers and lists. Raises :class:`InvalidInput` for
    values that JSON cannot hold (NaN and infinity too), and when the file cannot be written.
    """
    path = Path(path)
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"cannot write {path}: {error}") from None
    with explained("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, (text + "\n").encode())


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write ``text`` in one step, as ``write_json`` does. Raises :class:`InvalidInput`."""
    path = Path(path)
    with explained("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, text.encode())


def check_writable(folder: str | PathLike[str]) -> None:
    """Make the folder and a file in it, which is gone again: before much work, not after.

    Raises :class:`InvalidInput` where it cannot be written to.
    """
    folder = Path(folder)
    with explained("write into", folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def sync_folder(folder: Path) -> None:
    """Have the system keep a rename in the folder."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _replace(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file that takes the place of ``path`` in one step when all of it is written.

    A link stays, and what it leads to is replaced. Whatever is raised inside leaves what was there.
    Raises OSError, also where ``path`` is a device or a pipe: a rename would put a file there.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is a device or a pipe, and no file")
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files for the owner's eyes only; results are made like any other file.
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
