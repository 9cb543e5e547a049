"""Who may write a run's folder: one process at a time, and none where the disk is read-only."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import BinaryIO

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import explained
from simulator.runner.store.log import LOG_NAME


def locked(folder: Path) -> BinaryIO | None:
    """Open the log to write it, and hold it; None where another process does.

    A log that was written anew in between is another file under the same name: then once more.
    """
    path = folder / LOG_NAME
    while True:
        with explained("write", path):
            log = open(path, "a+b", buffering=0)  # noqa: SIM115
        try:
            if not lock(log, folder):
                log.close()
                return None
            with explained("read", path):
                same = os.path.samestat(os.fstat(log.fileno()), path.stat())
        except BaseException:
            log.close()
            raise
        if same:
            return log
        log.close()


def lock(log: BinaryIO, folder: Path) -> bool:
    """Hold the log for this process; False where another one does.

    The kernel lets go when the process ends, however it ends.
    """
    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise InvalidInput(
            f"cannot lock {folder / LOG_NAME}: {error.strerror}; name a folder on a file system "
            "that has locks"
        ) from None
    return True


def read_only(folder: Path) -> bool:
    """Whether a run's folder is there and nothing can be written to it."""
    try:
        with open(folder / LOG_NAME, "r+b"):
            return False
    except OSError as error:
        return error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and folder.is_dir()


def made_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it; return the new ones, the innermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing
