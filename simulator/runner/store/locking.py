"""Who may write a run's folder: one process at a time, and none where the disk is read-only."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import BinaryIO

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import explained, open_regular
from simulator.runner.store.log import LOG_NAME


def locked(path: Path) -> BinaryIO | None:
    """Open a file to append to it, and hold it; None where another process does.

    One that was replaced or removed in between is another file under the same name: then once
    more.
    """
    while True:
        with explained("write", path):
            file = open_regular(path, "a+b")
        try:
            if not lock(file, path):
                file.close()
                return None
            try:
                same = os.path.samestat(os.fstat(file.fileno()), path.lstat())
            except FileNotFoundError:
                same = False
        except BaseException:
            file.close()
            raise
        if same:
            return file
        file.close()


def lock(file: BinaryIO, path: Path) -> bool:
    """Hold a file for this process; False where another one does.

    The kernel lets go when the process ends, however it ends.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise InvalidInput(
            f"cannot lock {path}: {error.strerror}; name a folder on a file system that has locks"
        ) from None
    return True


def read_only(folder: Path) -> bool:
    """Whether a run's folder is there and nothing can be written to it."""
    try:
        with open_regular(folder / LOG_NAME, "r+b"):
            return False
    except OSError as error:
        return error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and folder.is_dir()


def made_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it; return the new ones, the innermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing
