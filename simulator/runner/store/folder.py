"""A run's folder: open it, resume it, append to it, read it back."""

from __future__ import annotations

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
from simulator.runner.store.locking import lock, locked, made_folders, read_only
from simulator.runner.store.log import (
    LOG_NAME,
    OPENING_SIZE,
    Block,
    Location,
    Scan,
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
_SHOWN = 4

REWRITE_AFTER = 1 << 25
"""A log is written anew, with records added up, when it has grown by so many bytes, 32 MB."""


class RunStore:
    """The blocks of one run. Made by :meth:`open` or :meth:`load`; closes as a context manager.

    One process writes at a time, which a lock on the log ensures, and within it one thread.
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
        # of two records of one block the later one counts: it was played when the goal was raised
        for each in reversed(found.found):
            if not self._cover(each.experiment).meets(each.block, each.block + each.blocks):
                self._place(each)
        self._grown = sum(
            each.stop - each.start for each in found.found if each.adds and each.blocks == 1
        )
        self.dropped = _damage(folder / LOG_NAME, found)
        """One line on what a damaged log has lost; empty when it was whole."""

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

        ``goal`` holds whole numbers that say how far the run goes; a later session may raise
        them, and none may lower them. A torn end of the log is cut off; every whole block is
        kept, and ``dropped`` says what was not. With ``combine``, which must not depend on how it
        is grouped, records that add up are added up as the log grows (:meth:`condense`). Raises
        :class:`InvalidInput`, and changes nothing, when the folder was made by another
        specification (it names the keys that differ) or goes further, when its log belongs to
        another run, when another process is writing there, and when it cannot be written.
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
            for path in made:  # a refusal leaves nothing of its own behind
                with suppress(OSError):
                    path.unlink() if path.is_file() else path.rmdir()
            raise

    @classmethod
    def _opened(
        cls, folder: Path, wanted: Manifest, made: list[Path], combine: Combine | None
    ) -> RunStore:
        """Open the log for writing; what is added to ``made`` goes again when that is refused."""
        with explained("write", folder / LOG_NAME), suppress(FileExistsError):
            (folder / LOG_NAME).touch(exist_ok=False)
            made.insert(0, folder / LOG_NAME)
        log = locked(folder / LOG_NAME)
        if log is None:
            made.clear()  # the other one is at work there
            raise InvalidInput(
                f"another process is writing {folder}; wait for it, or name another folder"
            )
        try:
            require_same(folder, wanted, has_blocks=os.fstat(log.fileno()).st_size > OPENING_SIZE)
            found = _scanned(log, folder / LOG_NAME, wanted.identity)
            with explained("write", folder / LOG_NAME):
                found = _mended(log, found, wanted.identity)
                (folder / _NEW).unlink(missing_ok=True)  # of a rewriting that was killed
            record_session(folder, wanted)
        except BaseException:
            log.close()
            raise
        return cls(folder, wanted.identity, log, found, writable=True, combine=combine)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> RunStore:
        """Open a run to read it, without a lock and without changing anything."""
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
        """Open a folder that cannot be written to, for the run in it to be shown."""
        with explained("read", folder / LOG_NAME):
            has_blocks = (folder / LOG_NAME).stat().st_size > OPENING_SIZE
        require_same(folder, wanted, has_blocks=has_blocks)
        return cls.load(folder)

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
        return {
            (experiment, block)
            for experiment, covered in self.covered().items()
            for start, stop in covered
            for block in range(start, stop)
        }

    def covered(self) -> dict[int, list[tuple[int, int]]]:
        """Return the same as few stretches [start, stop) of blocks, for each experiment."""
        return {b: list(cover) for b, cover in sorted(self._covers.items())}

    def count(self) -> int:
        """Return how many blocks are stored, of both experiments together."""
        return sum(stop - start for covered in self._covers.values() for start, stop in covered)

    def holds(self, experiment: int, block: int) -> bool:
        """Return whether a block is stored."""
        return block in self._cover(experiment)

    def outgrow(self, experiment: int, block: int) -> None:
        """Pass over the record that begins with that block: it is too short for the goal.

        What it covers may be appended again.
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
        """Store one finished block, or an aligned stretch of ``blocks``, on disk before it returns.

        ``adds`` says that it may be added to others. Raises :class:`InvalidInput` for a block that
        is stored already, for contents that are not numbers, and when the disk refuses; what was
        stored before stays.
        """
        if not self._writable:
            raise InvalidInput(
                f"{self.folder} can only be read, and lacks blocks of this run; name another folder"
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
        if self._combine is not None and self._grown > max(REWRITE_AFTER, self._end // 3):
            self.condense()

    def read(self) -> Iterator[Block]:
        """Yield every record in order of experiment and block, whatever order they finished in."""
        for location in self.locations():
            yield self.record(location)

    def locations(self) -> list[Location]:
        """Return where the records lie, in order of experiment and block."""
        return [self._locations[key] for key in sorted(self._locations)]

    def record(self, location: Location) -> Block:
        """Return one record."""
        return decode(self._run, self.encoded(location))

    def encoded(self, location: Location) -> bytes:
        """Return one record as it lies in the log."""
        with explained("read", self.folder / LOG_NAME):
            return _bytes_at(self._log.fileno(), location.start, location.stop)

    def condense(self) -> None:
        """Write the log anew, with records added up, and nothing that is damaged or outgrown.

        A stretch is added up when it is complete and aligned, and does not begin with block 0: so
        what follows block 0 is left in at most two stretches per power of two. The new log takes
        the place of the old one in one step, so that a kill leaves one of them. Where the disk
        refuses, the old one stays, and goes on growing.
        """
        self._grown = 0
        combine = self._combine
        if combine is None:
            raise InvalidInput(f"{self.folder} was opened without a way to add its records up")
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
            # Leave no half record behind, be it for a full disk or for Ctrl-C.
            with suppress(OSError):
                os.ftruncate(self._log.fileno(), self._end)
            raise


def _bytes_at(descriptor: int, start: int, stop: int) -> bytes:
    """Read a range of a file; one call of the system reads 2 GB at most."""
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
    more = (
        f" and {count_of(len(found.gaps) - _SHOWN, 'more place')}"
        if len(found.gaps) > _SHOWN
        else ""
    )
    return (
        f"{path} is damaged: dropped {count_of(lost, 'byte that holds', 'bytes that hold')} no "
        f"whole block (bytes {where}{more}), kept {count_of(len(found.found), 'whole block')}"
    )
