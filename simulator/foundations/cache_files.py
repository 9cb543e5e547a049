"""Files that only save time: any of them may be missing, and none is trusted that others can write.

What is kept here is unpickled by its reader, and to unpickle is to execute. So nothing is read but
a regular file of this user's, in a folder of this user's, that nobody else may write to; both are
looked at through the descriptors that are read, and no symbolic link is followed to them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MOST_BYTES = 128 << 20
"""How much a cache may hold; what was used longest ago goes first."""

VARIABLE = "DPCOMPOSE_CACHE"
"""The environment variable that names another folder, or switches the cache off."""

_OFF = ("off", "0", "no")
_ENDING = ".bin"
_TEMPORARY = ".part"
_FORGOTTEN = 3600.0  # seconds, after which a half-written file has no writer any more
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def user_folder() -> Path | None:
    """Where this user's cache lives, or None where there shall be none.

    ``DPCOMPOSE_CACHE`` names the folder, or is ``off``; else ``dpcompose`` in ``XDG_CACHE_HOME``,
    else in ``~/.cache``.
    """
    asked = os.environ.get(VARIABLE, "")
    if asked.lower() in _OFF:
        return None
    if asked:
        return Path(asked).absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if base.is_absolute():  # the standard says to pass over a relative one
        return base / "dpcompose"
    home = Path(os.path.expanduser("~"))
    return home / ".cache" / "dpcompose" if home.is_dir() else None


class Cache:
    """A folder of byte strings under names. It never raises: what goes wrong is a miss.

    Any number of processes may use it at once: a file is written whole under another name, and
    then renamed.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder
        self.most_bytes = most_bytes

    def read(self, name: str) -> bytes | None:
        """What was written under ``name``; None where there is nothing, or nothing to trust."""
        with contextlib.suppress(OSError), self._opened(make=False) as folder:
            descriptor = os.open(name + _ENDING, os.O_RDONLY | _AS_IT_IS, dir_fd=folder)
            with os.fdopen(descriptor, "rb") as file:
                if not _is_ours(os.fstat(descriptor), stat.S_ISREG):
                    return None
                content = file.read()
                digest, kept = content[:_DIGEST], content[_DIGEST:]
                if digest != _digest(name, kept):  # torn, or damaged
                    return None
                os.utime(descriptor)  # the time of its last use
                return kept
        return None

    def write(self, name: str, content: bytes) -> bool:
        """Keep ``content`` under ``name``, and return whether that went well."""
        with contextlib.suppress(OSError), self._opened(make=True) as folder:
            made = f"{name}.{secrets.token_hex(8)}{_TEMPORARY}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _AS_IT_IS
            descriptor = os.open(made, flags, 0o600, dir_fd=folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(_digest(name, content) + content)
                os.replace(made, name + _ENDING, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(made, dir_fd=folder)
                raise
            self._make_room(folder)
            return True
        return False

    @contextlib.contextmanager
    def _opened(self, make: bool) -> Iterator[int]:
        """A descriptor of the folder; raises OSError unless it is this user's alone."""
        if not hasattr(os, "geteuid") or os.open not in os.supports_dir_fd:
            raise OSError("this system does not say whose a folder is")
        if make:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                self.folder.mkdir(mode=0o700)
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | _AS_IT_IS)
        try:
            if not _is_ours(os.fstat(folder), stat.S_ISDIR):
                raise PermissionError(f"others may write into {self.folder}")
            yield folder
        finally:
            os.close(folder)

    def _make_room(self, folder: int) -> None:
        """Remove what was used longest ago until the rest is small enough."""
        found = []
        for name in os.listdir(folder):
            if not name.endswith((_ENDING, _TEMPORARY)):
                continue  # not of this cache
            with contextlib.suppress(OSError):  # another process has removed it
                about = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if name.endswith(_ENDING):
                    found.append((about.st_mtime_ns, about.st_size, name))
                elif time.time() - about.st_mtime > _FORGOTTEN:
                    os.unlink(name, dir_fd=folder)
        held = sum(size for _, size, _ in found)
        for _, size, name in sorted(found):
            if held <= self.most_bytes:
                break
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            held -= size


def _is_ours(about: os.stat_result, kind: Callable[[int], bool]) -> bool:
    """Whether it is of that kind, this user's, and not for others to write."""
    mode = about.st_mode
    return kind(mode) and about.st_uid == os.geteuid() and not mode & _OTHERS_WRITE


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


_DIGEST = len(_digest("", b""))
