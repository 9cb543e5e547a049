"""Locks on the folders of runs, and folders on read-only disks."""

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
    """Open a file to append to it, and lock it; None if another process holds the lock.

    It is opened again if it was replaced or removed before it was locked.
    """
    while True:
        with explained("write", path):
            file = open_regular(path, "a+b")
        try:
            if not lock(file, path):
                file.close()
                return None
            same = is_at(file, path)
        except BaseException:
            file.close()
            raise
        if same:
            return file
        file.close()


def is_at(file: BinaryIO, path: Path) -> bool:
    """Whether an open file still stands under a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except OSError:
        return False


def require_in_place(log: BinaryIO, folder: Path) -> None:
    """Raise InvalidInput where a log no longer stands in its folder."""
    if not is_at(log, folder / LOG_NAME):
        raise InvalidInput(
            f"{folder} was moved, removed or replaced during the run: where its {LOG_NAME} is now, "
            "the finished blocks are; move it back, and the same command resumes"
        )


def lock(file: BinaryIO, path: Path) -> bool:
    """Lock a file for this process, and return False if another one holds the lock.

    The kernel releases the lock when the process ends.
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
    """Whether a run's folder exists and cannot be written to."""
    try:
        with open_regular(folder / LOG_NAME, "r+b"):
            return False
    except OSError as error:
        return error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and folder.is_dir()


def made_folders(folder: Path) -> list[Path]:
    """Make a folder and its missing parents; return the new ones, the innermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in missing:
        if path.is_symlink():
            raise OSError(
                errno.ENOENT,
                f"{path} is a link to {os.readlink(path)!r}, which is not there; make that folder, "
                "or remove the link",
            )
    folder.mkdir(parents=True, exist_ok=True)
    return missing
