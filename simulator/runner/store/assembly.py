"""Write the folder of a run in one step: it appears complete, or not at all."""

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
    """Raise InvalidInput unless the path does not exist, or is an empty folder."""
    if folder.name in ("", ".."):
        raise InvalidInput(f"out must be the path of a new folder, not {os.fspath(folder)!r}")
    with explained("look into", folder):
        if folder.is_symlink() or (
            folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))
        ):
            raise InvalidInput(f"{folder} exists already; name a new folder")


def assemble(folder: Path, manifest: Manifest, records: Iterable[bytes]) -> list[str]:
    """Write the folder of a run from encoded records, and return notices.

    It is made under a name that begins with a dot, read back, and renamed, so a part of it never
    has its final name. A lock file is held meanwhile. Folders that a killed process left are
    removed, with a notice for each. Raises InvalidInput if the folder exists, if another process is
    writing it, or if it cannot be written.
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
    """Hold the lock of a new folder; raise InvalidInput if another process does."""
    path = folder.parent / f".{folder.name}.lock"
    held = locked(path)
    if held is None:
        raise InvalidInput(f"another process is making {folder}; wait for it")
    with held:
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # while the lock is held: see locked


def _assembled(folder: Path, manifest: Manifest, records: Iterable[bytes]) -> None:
    """Write the folder under another name, read its log back, and rename it."""
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
                    f"{folder} was not written completely: it has {len(store.locations())} of "
                    f"{written} records; check the disk and merge again"
                )
        beside.replace(folder)
        sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _beside(folder: Path) -> Iterator[Path]:
    """The unfinished folders of other processes; only those with our files alone."""
    pattern = re.compile(rf"\.{re.escape(folder.name)}\.[0-9]+")
    for path in sorted(folder.parent.iterdir()):
        if pattern.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            ours = re.compile(rf"{re.escape(LOG_NAME)}|\.?{re.escape(MANIFEST_NAME)}(\..*)?")
            if all(ours.fullmatch(each.name) for each in path.iterdir()):
                yield path


def _removed(beside: Path) -> str:
    """Remove an unfinished folder, and return a notice."""
    shutil.rmtree(beside)
    return f"removed {beside}, which a killed process had begun"
