"""A run's folder: open it, resume it, append to it, read it back."""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from simulator.errors import InvalidInput
from simulator.store.files import explained
from simulator.store.log import OPENING_SIZE, Block, Location, Scan, decode, encode, opening, scan
from simulator.store.manifest import Manifest, read_manifest, record_session, require_same

_LOG = "blocks.log"
_SHOWN = 4

Stored = tuple[int, int, dict[str, NDArray[Any]], dict[str, Any]]
"""(experiment, block, arrays, meta)"""


class RunStore:
    """The blocks of one run. Made by :meth:`open` or :meth:`load`; closes as a context manager.

    One process writes at a time, which a lock on the log ensures, and within it one thread.
    """

    def __init__(self, folder: Path, run: str, log: BinaryIO, found: Scan, writable: bool) -> None:
        self.folder = folder
        self._run = run
        self._log = log
        self._end = found.end
        self._writable = writable
        # of two records of one block the later one counts: it was played when the goal was raised
        self._locations = {(each.experiment, each.block): each for each in found.found}
        self.dropped = _damage(folder / _LOG, found)
        """One line on what a damaged log has lost; empty when it was whole."""

    @classmethod
    def open(
        cls,
        folder: str | PathLike[str],
        specification: Mapping[str, Any],
        goal: Mapping[str, int] | None = None,
    ) -> RunStore:
        """Create the run's folder, or resume the run that is in it.

        ``goal`` holds whole numbers that say how far the run goes; a later session may raise
        them, and none may lower them. A torn end of the log is cut off; every whole block is
        kept, and ``dropped`` says what was not. Raises :class:`InvalidInput`, and changes
        nothing, when the folder was made by another specification (it names the keys that
        differ) or goes further, when its log belongs to another run, when another process is
        writing there, and when it cannot be written.
        """
        folder = Path(folder)
        wanted = Manifest.of(specification, goal or {})
        with explained("create", folder):
            folder.mkdir(parents=True, exist_ok=True)
        with explained("write", folder / _LOG):
            log = open(folder / _LOG, "a+b", buffering=0)  # noqa: SIM115
        try:
            _lock(log, folder)
            require_same(folder, wanted, has_blocks=os.fstat(log.fileno()).st_size > OPENING_SIZE)
            found = _scanned(folder / _LOG, wanted.identity)
            with explained("write", folder / _LOG):
                found = _mended(log, found, wanted.identity)
            record_session(folder, wanted)
        except BaseException:
            log.close()
            raise
        return cls(folder, wanted.identity, log, found, writable=True)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> RunStore:
        """Open a run to read it, without a lock and without changing anything."""
        folder = Path(folder)
        run = read_manifest(folder).identity
        found = _scanned(folder / _LOG, run)
        with explained("read", folder / _LOG):
            log = open(folder / _LOG, "rb", buffering=0)  # noqa: SIM115
        return cls(folder, run, log, found, writable=False)

    def specification(self) -> dict[str, Any]:
        """The specification as it was written down when the run began."""
        return dict(read_manifest(self.folder).content)

    def goal(self) -> dict[str, int]:
        """Return how far the run goes."""
        return dict(read_manifest(self.folder).goal)

    def sessions(self) -> list[dict[str, Any]]:
        """Return on what it ran: one :func:`provenance` for each setting it was run in."""
        return list(read_manifest(self.folder).sessions)

    def done(self) -> set[tuple[int, int]]:
        """Return the (experiment, block) pairs that are stored whole."""
        return set(self._locations)

    def outgrow(self, experiment: int, block: int) -> None:
        """Pass over a stored block that is too short for the goal; it may be appended again."""
        del self._locations[experiment, block]

    def append(
        self,
        experiment: int,
        block: int,
        arrays: Mapping[str, NDArray[Any]],
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Store one finished block, on disk before this returns.

        Raises :class:`InvalidInput` for a block that is stored already, for contents that are not
        numbers, and when the disk refuses; what was stored before stays.
        """
        if not self._writable:
            raise InvalidInput(f"{self.folder} was loaded for reading; open it to append")
        if (experiment, block) in self._locations:
            raise InvalidInput(f"experiment {experiment}, block {block} is stored already")
        record = encode(self._run, Block(int(experiment), int(block), arrays, meta or {}))
        self._write(record)
        location = Location(self._end, self._end + len(record), experiment, block)
        self._locations[experiment, block] = location
        self._end = location.stop

    def read(self) -> Iterator[Stored]:
        """Yield every block in order of experiment and block, whatever order they finished in."""
        for key in sorted(self._locations):
            location = self._locations[key]
            with explained("read", self.folder / _LOG):
                record = _bytes_at(self._log.fileno(), location.start, location.stop)
            block = decode(self._run, record)
            yield block.experiment, block.block, dict(block.arrays), dict(block.meta)

    def close(self) -> None:
        """Release the lock and the file."""
        self._log.close()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _write(self, record: bytes) -> None:
        remaining = memoryview(record)
        try:
            with explained("append to", self.folder / _LOG):
                while remaining:
                    remaining = remaining[self._log.write(remaining) :]
                os.fsync(self._log.fileno())
        except BaseException:
            # Leave no half record behind, be it for a full disk or for Ctrl-C.
            with suppress(OSError):
                os.ftruncate(self._log.fileno(), self._end)
            raise


def _lock(log: BinaryIO, folder: Path) -> None:
    """Hold the log for this process; the kernel lets go when the process ends, however it ends."""
    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InvalidInput(
            f"another process is writing {folder}; wait for it, or name another folder"
        ) from None


def _bytes_at(descriptor: int, start: int, stop: int) -> bytes:
    """Read a range of a file; one call of the system reads 2 GB at most."""
    pieces = []
    while start < stop and (piece := os.pread(descriptor, stop - start, start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _scanned(path: Path, run: str) -> Scan:
    with explained("read", path), path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return Scan((), (), 0)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return scan(data, run)
            except InvalidInput as error:
                raise InvalidInput(f"{path} is {error}") from None


def _mended(log: BinaryIO, found: Scan, run: str) -> Scan:
    """Cut off what follows the last whole record, and give a new log its opening line."""
    os.ftruncate(log.fileno(), found.end)
    if found.end == 0:
        log.write(opening(run))
        os.fsync(log.fileno())
        return Scan(found.found, found.gaps, OPENING_SIZE)
    return found


def _damage(path: Path, found: Scan) -> str:
    if not found.gaps:
        return ""
    lost = sum(stop - start for start, stop in found.gaps)
    where = ", ".join(f"{start} to {stop}" for start, stop in found.gaps[:_SHOWN])
    more = f" and {len(found.gaps) - _SHOWN} more places" if len(found.gaps) > _SHOWN else ""
    return (
        f"{path} is damaged: dropped {lost} bytes that hold no whole block "
        f"(bytes {where}{more}), kept {len(found.found)} whole blocks"
    )
