"""A whole run's folder in one step: there is none, or all of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from simulator.errors import InvalidInput
from simulator.store.condensing import write_all
from simulator.store.files import explained, sync_folder
from simulator.store.log import LOG_NAME, opening
from simulator.store.manifest import Manifest, write_manifest


def require_new(folder: Path) -> None:
    """Raise InvalidInput unless there is nothing of that name, or an empty folder."""
    with explained("look into", folder):
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise InvalidInput(f"{folder} exists already; name a new folder")


def assemble(folder: Path, manifest: Manifest, records: Iterable[bytes]) -> None:
    """Write the folder of a run from records as they lie in a log.

    It is made beside, under a name that begins with a dot, and renamed: whatever happens, there is
    no part of it under its own name. Raises InvalidInput where the folder exists already, and
    where it cannot be written.
    """
    require_new(folder)
    beside = folder.parent / f".{folder.name}.{os.getpid()}"
    with explained("write", folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(beside, ignore_errors=True)  # of a process that was killed long ago
        beside.mkdir()
    try:
        with explained("write", folder), open(beside / LOG_NAME, "xb", buffering=0) as log:
            write_all(log, opening(manifest.identity))
            for record in records:
                write_all(log, record)
            os.fsync(log.fileno())
        write_manifest(beside, manifest)
        with explained("write", folder):
            beside.replace(folder)
            sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
