"""The folder of a run: open, resume, append, read."""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import (
    explained,
    folder_path,
    open_regular,
    require_file,
    sync_folder,
)
from simulator.foundations.wording import count_of
from simulator.runner.store.condensing import Arrays, Combine, stretches, write_all, write_groups
from simulator.runner.store.cover import Cover
from simulator.runner.store.locking import lock, locked, made_folders, read_only, require_in_place
from simulator.runner.store.log import (
    LOG_NAME,
    OPENING_SIZE,
    Block,
    Location,
    Scan,
    Written,
    decode,
    encode,
    opening,
    scan,
)
from simulator.runner.store.manifest import (
    MANIFEST_NAME,
    Manifest,
    read_manifest,
    record_session,
    require_same,
)

_NEW = ".blocks.log.new"
"""The name of a log that is being rewritten."""
_SHOWN = 4
"""How many damaged places a message has."""

REWRITE_AFTER = 1 << 25
"""A log is rewritten, with records added up, when it has grown by so many bytes (32 MB)."""


class RunStore:
    """The stored blocks of one run; made by :meth:`open` or :meth:`load`. A context manager.

    A lock on the log ensures that one process writes at a time; only one of its threads may.
    """

    def __init__(
        self,
        folder: Path,
        run: str,
        log: BinaryIO,
        found: Scan,
        *,
        writable: bool,
        combine: Combine | None = None,
    ) -> None:
        self.folder = folder
        self._run = run
        self._log = log
        self._end = found.end
        self._writable = writable
        self._combine = combine
        self._covers: dict[int, Cover] = {}
        self._locations: dict[tuple[int, int], Location] = {}
        # the later of two records of one block is used: it was played when the goal was raised
        for each in reversed(found.found):
            if not self._cover(each.experiment).meets(each.block, each.block + each.blocks):
                self._place(each)
        self._grown = sum(
            each.stop - each.start for each in found.found if each.adds and each.blocks == 1
        )
        self.dropped = _damage(folder / LOG_NAME, found)
        """A line on what a damaged log has lost, or ""."""

    @classmethod
    def open(
        cls,
        folder: str | PathLike[str],
        specification: Mapping[str, Any],
        goal: Mapping[str, int] | None = None,
        *,
        combine: Combine | None = None,
    ) -> RunStore:
        """Create the run's folder, or resume the run that is in it.

        ``goal`` has the numbers of trials and of views; a later session may raise them, and none
        may lower them. An incomplete last record of the log is cut off; complete ones are kept, and
        ``dropped`` says what was lost. With ``combine``, which must not depend on the grouping,
        records are added up as the log grows (:meth:`condense`). Raises :class:`InvalidInput`,
        without changing the folder, if it has another specification (the message lists the
        differences) or a larger goal, if its log is of another run, if another process is writing,
        or if it cannot be written.
        """
        folder = folder_path(folder)
        wanted = Manifest.of(specification, goal or {})
        for name in (LOG_NAME, MANIFEST_NAME):
            require_file(folder / name)
        if read_only(folder):
            return cls._readable(folder, wanted)
        with explained("create", folder):
            made = made_folders(folder)
        try:
            return cls._opened(folder, wanted, made, combine)
        except BaseException:
            for path in made:  # remove what this call has made
                with suppress(OSError):
                    path.unlink() if path.is_file() else path.rmdir()
            raise

    @classmethod
    def _opened(
        cls, folder: Path, wanted: Manifest, made: list[Path], combine: Combine | None
    ) -> RunStore:
        """Open the log for writing; on an error the caller removes what is in ``made``."""
        with explained("write", folder / LOG_NAME), suppress(FileExistsError):
            (folder / LOG_NAME).touch(exist_ok=False)
            made.insert(0, folder / LOG_NAME)
        log = locked(folder / LOG_NAME)
        if log is None:
            made.clear()  # the other process uses the folder
            raise InvalidInput(
                f"another process is writing {folder}; wait for it, or name another folder"
            )
        try:
            require_same(folder, wanted, has_blocks=os.fstat(log.fileno()).st_size > OPENING_SIZE)
            found = _scanned(log, folder / LOG_NAME, wanted.identity)
            with explained("write", folder / LOG_NAME):
                found = _mended(log, found, wanted.identity)
                (folder / _NEW).unlink(missing_ok=True)  # left by a process that was killed
            if not (folder / MANIFEST_NAME).exists():
                made.insert(0, folder / MANIFEST_NAME)
            record_session(folder, wanted)
            require_in_place(log, folder)
        except BaseException:
            log.close()
            raise
        return cls(folder, wanted.identity, log, found, writable=True, combine=combine)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> RunStore:
        """Open a run to read it, without a lock and without changes."""
        folder = folder_path(folder, "folder")
        run = read_manifest(folder).identity
        with explained("read", folder / LOG_NAME):
            log = open_regular(folder / LOG_NAME, "rb")
        try:
            found = _scanned(log, folder / LOG_NAME, run)
        except BaseException:
            log.close()
            raise
        return cls(folder, run, log, found, writable=False)

    @classmethod
    def _readable(cls, folder: Path, wanted: Manifest) -> RunStore:
        """Open a folder that cannot be written to, to read its run."""
        with explained("read", folder / LOG_NAME):
            has_blocks = (folder / LOG_NAME).stat().st_size > OPENING_SIZE
        require_same(folder, wanted, has_blocks=has_blocks)
        return cls.load(folder)

    def specification(self) -> dict[str, Any]:
        """Return the specification, as written when the run began."""
        return dict(read_manifest(self.folder).content)

    def goal(self) -> dict[str, int]:
        """Return the numbers of trials and of views of the run."""
        return dict(read_manifest(self.folder).goal)

    def sessions(self) -> list[dict[str, Any]]:
        """Return where the run was played: one :func:`provenance` per change of it."""
        return list(read_manifest(self.folder).sessions)

    def done(self) -> set[tuple[int, int]]:
        """Return the (experiment, block) pairs that are stored."""
        return {
            (experiment, block)
            for experiment, covered in self.covered().items()
            for start, stop in covered
            for block in range(start, stop)
        }

    def covered(self) -> dict[int, list[tuple[int, int]]]:
        """Return the stored blocks of each experiment as stretches [start, stop)."""
        return {b: list(cover) for b, cover in sorted(self._covers.items())}

    def count(self) -> int:
        """Return how many blocks are stored, of both experiments together."""
        return sum(stop - start for covered in self._covers.values() for start, stop in covered)

    def holds(self, experiment: int, block: int) -> bool:
        """Return whether a block is stored."""
        return block in self._cover(experiment)

    def outgrow(self, experiment: int, block: int) -> None:
        """Ignore the record that begins with that block, because it is too short for the goal.

        Its blocks may be appended again.
        """
        location = self._locations.pop((experiment, block))
        self._cover(experiment).remove(block, block + location.blocks)

    def append(
        self,
        experiment: int,
        block: int,
        arrays: Arrays,
        meta: Mapping[str, Any] | None = None,
        *,
        blocks: int = 1,
        adds: bool = False,
    ) -> None:
        """Store one finished block, or an aligned stretch of ``blocks``, and flush it to disk.

        ``adds`` says that it may be added to others. Raises :class:`InvalidInput` for a block that
        is stored already, for arrays that are not numbers, and for errors of the disk; the stored
        blocks are not changed; and, after the block is stored, where the folder has moved.
        """
        if not self._writable:
            raise InvalidInput(
                f"{self.folder} cannot be written to, and lacks blocks of this run; name "
                "another folder"
            )
        if self._cover(experiment).meets(block, block + blocks):
            raise InvalidInput(f"experiment {experiment}, block {block} is stored already")
        made = Block(int(experiment), int(block), arrays, meta or {}, blocks=blocks, adds=adds)
        record = encode(self._run, made)
        self._write(record)
        self._place(
            Location(
                self._end, self._end + len(record), made.experiment, made.block,
                blocks=blocks, adds=adds,
            )
        )  # fmt: skip
        self._end += len(record)
        self._grown += len(record) if adds else 0
        require_in_place(self._log, self.folder)
        if self._combine is not None and self._grown > max(REWRITE_AFTER, self._end // 3):
            self.condense()

    def read(self) -> Iterator[Block]:
        """Yield every record, in order of experiment and block."""
        for location in self.locations():
            yield self.record(location)

    def locations(self) -> list[Location]:
        """Return the locations of the records, in order of experiment and block."""
        return [self._locations[key] for key in sorted(self._locations)]

    def record(self, location: Location) -> Block:
        """Return one record."""
        return decode(self._run, self.encoded(location))

    def encoded(self, location: Location) -> bytes:
        """Return the bytes of one record."""
        with explained("read", self.folder / LOG_NAME):
            return _bytes_at(self._log.fileno(), location.start, location.stop)

    def condense(self) -> None:
        """Rewrite the log with records added up, without damaged records and unused ones.

        A stretch is added up if it is complete and aligned, and does not begin with block 0: the
        blocks after block 0 then have at most two records per power of two. The new log replaces
        the old one in one step. If the disk reports an error, the old one remains.
        """
        self._grown = 0
        combine = self._combine
        if combine is None:
            raise InvalidInput(f"{self.folder} was opened without a function that adds up records")
        groups = [
            group
            for experiment in sorted(self._covers)
            for group in stretches(
                [self._locations[key] for key in sorted(self._locations) if key[0] == experiment]
            )
        ]
        path = self.folder / _NEW
        try:
            path.unlink(missing_ok=True)
            log = open_regular(path, "x+b")
        except OSError:
            return
        try:
            lock(log, path)  # a new file, which no other process has open
            placed = write_groups(log, self._run, groups, self.encoded, combine)
            os.fsync(log.fileno())
            path.replace(self.folder / LOG_NAME)
        except BaseException as error:
            log.close()
            with suppress(OSError):
                path.unlink()
            if isinstance(error, OSError):
                return
            raise
        sync_folder(self.folder)
        self._log.close()
        self._log, self._end = log, placed[-1].stop if placed else OPENING_SIZE
        self._locations = {(each.experiment, each.block): each for each in placed}

    def close(self) -> None:
        """Release the lock and the file."""
        self._log.close()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _cover(self, experiment: int) -> Cover:
        return self._covers.setdefault(experiment, Cover())

    def _place(self, location: Location) -> None:
        self._locations[location.experiment, location.block] = location
        self._cover(location.experiment).add(location.block, location.block + location.blocks)

    def _write(self, record: bytes) -> None:
        try:
            with explained("append to", self.folder / LOG_NAME):
                write_all(self._log, record)
                os.fsync(self._log.fileno())
        except BaseException:
            # remove an incomplete record, after a full disk or Ctrl-C
            with suppress(OSError):
                os.ftruncate(self._log.fileno(), self._end)
            raise


def _bytes_at(descriptor: int, start: int, stop: int) -> bytes:
    """Read a range of a file, in several calls: one returns 2 GB at most."""
    pieces = []
    while start < stop and (piece := os.pread(descriptor, stop - start, start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _scanned(log: BinaryIO, path: Path, run: str) -> Scan:
    with explained("read", path):
        if os.fstat(log.fileno()).st_size == 0:
            return Scan((), (), 0)
        with mmap.mmap(log.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return scan(data, run, _written(log), 512 * os.fstat(log.fileno()).st_blocks)
            except InvalidInput as error:
                raise InvalidInput(f"{path} is {error}") from None


def _written(log: BinaryIO) -> Written:
    """The stretches of a log that are no holes, where the system lists them."""

    def after(place: int) -> tuple[int, int] | None:
        try:
            start = os.lseek(log.fileno(), place, os.SEEK_DATA)
            return start, os.lseek(log.fileno(), start, os.SEEK_HOLE)
        except OSError as error:
            size = os.fstat(log.fileno()).st_size
            ended = error.errno == errno.ENXIO or place >= size
            return None if ended else (place, size)

    return after


def _mended(log: BinaryIO, found: Scan, run: str) -> Scan:
    """Cut off what follows the last complete record, and write the first line of a new log."""
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
    more = (
        f" and {count_of(len(found.gaps) - _SHOWN, 'more place')}"
        if len(found.gaps) > _SHOWN
        else ""
    )
    return (
        f"{path} is damaged: dropped {count_of(lost, 'byte that holds', 'bytes that hold')} no "
        f"whole block (bytes {where}{more}), kept {count_of(len(found.found), 'whole block')}"
    )
