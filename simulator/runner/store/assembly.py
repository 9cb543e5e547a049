"""A whole run's folder in one step: there is none, or all of it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import explained, open_regular, sync_folder
from simulator.runner.store.condensing import write_all
from simulator.runner.store.folder import RunStore
from simulator.runner.store.locking import locked, made_folders
from simulator.runner.store.log import LOG_NAME, opening
from simulator.runner.store.manifest import MANIFEST_NAME, Manifest, write_manifest


def require_new(folder: Path) -> None:
    """Raise InvalidInput unless there is nothing of that name, or an empty folder."""
    if folder.name in ("", ".."):
        raise InvalidInput(f"out must name a new folder, not be {os.fspath(folder)!r}")
    with explained("look into", folder):
        if folder.is_symlink() or (
            folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))
        ):
            raise InvalidInput(f"{folder} exists already; name a new folder")


def assemble(folder: Path, manifest: Manifest, records: Iterable[bytes]) -> list[str]:
    """Write the folder of a run from records as they lie in a log.

    It is made beside, under a name that begins with a dot, read back, and renamed: whatever
    happens, there is no part of it under its own name. A lock beside is held from before the first
    file is made to the end. What a process left beside that was killed is removed; a line for each
    is returned. Raises InvalidInput where the folder exists already, where another process is
    making it, and where it cannot be written.
    """
    require_new(folder)
    with explained("write", folder):
        made = made_folders(folder.parent)
    try:
        with _held(folder), explained("write", folder):
            require_new(folder)  # another process may have made it before this one held the lock
            lines = [_removed(path) for path in _beside(folder)]
            _assembled(folder, manifest, records)
    except BaseException:
        for path in made:
            with suppress(OSError):
                path.rmdir()
        raise
    return lines


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold the right to make a folder; raise InvalidInput where another process does."""
    path = folder.parent / f".{folder.name}.lock"
    held = locked(path)
    if held is None:
        raise InvalidInput(f"another process is making {folder}; wait for it")
    with held:
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # while it is held: see locked


def _assembled(folder: Path, manifest: Manifest, records: Iterable[bytes]) -> None:
    """Make the folder beside, read its log back, and rename it."""
    beside = folder.parent / f".{folder.name}.{os.getpid()}"
    beside.mkdir()
    try:
        with open_regular(beside / LOG_NAME, "x+b") as log:
            write_all(log, opening(manifest.identity))
            written = 0
            for record in records:
                write_all(log, record)
                written += 1
            os.fsync(log.fileno())
        write_manifest(beside, manifest)
        with RunStore.load(beside) as store:
            if store.dropped or len(store.locations()) != written:
                raise InvalidInput(
                    f"{folder} was not written whole: of {written} records "
                    f"{len(store.locations())} are there; see to the disk and merge again"
                )
        beside.replace(folder)
        sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _beside(folder: Path) -> Iterator[Path]:
    """Folders that processes have begun, to be renamed to this one; what else lies there is not."""
    pattern = re.compile(rf"\.{re.escape(folder.name)}\.[0-9]+")
    for path in sorted(folder.parent.iterdir()):
        if pattern.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            ours = re.compile(rf"{re.escape(LOG_NAME)}|\.?{re.escape(MANIFEST_NAME)}(\..*)?")
            if all(ours.fullmatch(each.name) for each in path.iterdir()):
                yield path


def _removed(beside: Path) -> str:
    """Remove what a killed process left, and return a line that says so."""
    shutil.rmtree(beside)
    return f"removed {beside}, which a process had begun that was killed"
