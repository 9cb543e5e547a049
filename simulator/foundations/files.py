"""The one door for what is written: aside, then renamed, and through no link.

A reader finds the complete old file or the complete new one. A name that is a symbolic link, a
device, a pipe or a folder is refused, whether a user or a command has chosen it.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from simulator.foundations.errors import InvalidInput


@contextmanager
def explained(action: str, path: Path) -> Iterator[None]:
    """Raise the operating system's errors as :class:`InvalidInput` with a message of one line."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"cannot {action} {path}: {error.strerror or error}") from None


def folder_path(folder: object, what: str = "out", kind: str = "folder") -> Path:
    """The folder as a path; other values raise :class:`InvalidInput`, which names ``what``."""
    if not isinstance(folder, str | PathLike):
        raise InvalidInput(f"{what} must be a {kind}, as text or a path, not {folder!r:.80}")
    text = os.fspath(folder)
    if not text:
        here = "; the working folder is '.'" if kind == "folder" else ""
        raise InvalidInput(f"{what} must name a {kind}, not be empty{here}")
    try:
        usable = isinstance(text, str) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise InvalidInput(f"{what} must be a {kind}'s name, and {text!r:.80} can be none")
    return Path(text)


def require_file(path: Path) -> None:
    """Raise :class:`InvalidInput` for a path that exists and is a link or not a regular file."""
    with explained("read", path):
        if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
            raise InvalidInput(f"{path} is not a regular file; name another folder")


_FLAGS = {
    "rb": os.O_RDONLY,
    "r+b": os.O_RDWR,
    "a+b": os.O_RDWR | os.O_APPEND | os.O_CREAT,
    "x+b": os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL,
}


def open_regular(path: Path, mode: str, *, follow: bool = False) -> BinaryIO:
    """Open a regular file, unbuffered, in a folder that another user may control.

    ``mode`` is "rb", "r+b", "a+b", or "x+b" for a new file that is appended to. A symbolic link in
    the last step of the path is followed only with ``follow``, and a pipe does not block. Raises
    OSError.
    """
    flags = _FLAGS[mode] | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return os.fdopen(descriptor, mode.replace("x", "a"), buffering=0)  # type: ignore[return-value]


def canonical_json(value: Any, what: str) -> str:
    """Return the one JSON text of ``value``: keys sorted, no spaces, shortest exact floats.

    Raises :class:`InvalidInput` for values without an exact form in JSON, NaN and infinity too.
    """
    try:
        return json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} cannot be written as JSON: {error}") from None


def require_target(path: Path) -> None:
    """Raise :class:`InvalidInput` where an output cannot have this name; see :func:`replacing`."""
    with explained("write", path):
        _require_target(path)


def _require_target(path: Path) -> None:
    """Raise OSError for a name that is there and is not a regular file, InvalidInput for none."""
    folder_path(path, "the output", "file")
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is a symbolic link; name the file that it leads to")
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")


def write_json(path: str | PathLike[str], value: Any) -> None:
    """Write ``value`` as indented JSON in one step: a temporary file in the folder, then a rename.

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


def write_bytes(path: str | PathLike[str], content: bytes) -> None:
    """Write ``content`` in one step, as ``write_json`` does. Raises :class:`InvalidInput`."""
    path = Path(path)
    with explained("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, content)


def write_new(path: str | PathLike[str], text: str) -> None:
    """Write a new file in one step. Raises :class:`InvalidInput`, also where it exists already."""
    path = Path(path)
    with explained("write", path):
        try:
            with replacing(path, new=True) as file:
                file.write(text.encode())
        except FileExistsError:
            raise InvalidInput(f"{path} exists already and is kept; name a new file") from None


def check_writable(folder: str | PathLike[str]) -> None:
    """Make the folder and a temporary file in it, to find out before a long run.

    Raises :class:`InvalidInput` where it cannot be written to.
    """
    folder = Path(folder)
    with explained("write into", folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def sync_folder(folder: Path) -> None:
    """Write the folder's entries to disk, so that a rename survives a crash."""
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
def replacing(path: Path, *, new: bool = False) -> Iterator[IO[bytes]]:
    """Yield a file that replaces ``path`` in one step when the block ends.

    With ``new`` nothing is replaced. An error in the block leaves ``path`` as it was. Raises
    OSError, also where ``path`` is a link, a device or a pipe: a rename would put a file there;
    FileExistsError of a ``new`` file.
    """
    if not new:
        _require_target(path)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner may read; results follow the umask.
        Path(temporary).chmod(0o666 & ~_umask())
        if new:
            os.link(temporary, path, follow_symlinks=False)
            Path(temporary).unlink()
        else:
            Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
