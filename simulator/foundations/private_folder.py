"""A folder of small files that only their owner can write, such as a cache of compiled code."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import open_regular, write_bytes

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def complaint_of(found: os.stat_result) -> str:
    """Why somebody else may have written a file or a folder with this status, or ""."""
    if found.st_uid != os.geteuid():
        return f"it belongs to user {found.st_uid}"
    if found.st_mode & OTHERS_WRITE:
        return f"others can write it (mode {stat.S_IMODE(found.st_mode):o})"
    return ""


class PrivateFolder:
    """Files by name in a folder that is made where it is missing, with mode 700.

    Raises InvalidInput where the folder is a link or no folder, belongs to another user, can be
    written by others, or cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = path.lstat()
        except OSError as error:
            raise InvalidInput(f"cannot use {path}: {error.strerror or error}") from None
        complaint = complaint_of(found)
        if not stat.S_ISDIR(found.st_mode):
            complaint = "it is a link, not a folder"
        if complaint:
            raise InvalidInput(f"cannot use {path}: {complaint}; only its owner may write it")

    def read(self, name: str, most: int) -> bytes | None:
        """The content of a file of at most ``most`` bytes; None where there is none to trust.

        A file that another user has written, or may have, is not read.
        """
        try:
            with open_regular(self.path / name, "rb") as file:
                found = os.fstat(file.fileno())
                if complaint_of(found) or found.st_size > most:
                    return None
                content = file.read(found.st_size + 1)
                os.utime(file.fileno())  # it was used now
        except OSError:
            return None
        return content if len(content) == found.st_size else None

    def write(self, name: str, content: bytes) -> bool:
        """Write a file in one step; return whether that was possible."""
        path = self.path / name
        try:
            write_bytes(path, content)
            path.chmod(0o600)
        except (InvalidInput, OSError):  # a full disk, say
            return False
        return True

    def trim(self, most: int) -> None:
        """Remove the files that were used longest ago until those left have ``most`` bytes."""
        found = []
        for path in self.path.iterdir():
            with suppress(OSError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    found.append((status.st_mtime_ns, status.st_size, path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= most:
                return
            with suppress(OSError):
                path.unlink()
            total -= size
