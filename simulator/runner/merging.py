"""Merge folders that hold parts of one run: overlaps are compared, gaps are listed.

Blocks add up in any order and grouping, so a merged folder is resumed like that of a single run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.outcomes.tally import counted_in, digest
from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import folder_path
from simulator.identity.anatomy import BY_HASH
from simulator.runner.memory import available_bytes
from simulator.runner.merged import Merged, Stretch
from simulator.runner.store import RunStore
from simulator.runner.store.assembly import assemble, require_new
from simulator.runner.store.cover import Cover
from simulator.runner.store.log import Block
from simulator.runner.store.manifest import Manifest, differences_between, read_manifest
from simulator.runner.store.provenance import differing_versions

_VIEWS = ("trials", "coins", "answers")
"""The arrays of the views of a block."""
_NO_FOLDER = -1
BYTES_OF_A_BLOCK = 2 * (8 + 8 + 1)
"""The memory per block: for both experiments a digest, the number of its folder and a flag."""


def merge_folders(
    folders: Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    mixed_versions: bool = False,
) -> Merged:
    """Merge folders of one run, made by ``simulate(..., out=)`` or in parts, into a new one.

    The folders are only read. ``simulate`` with the new one as ``out`` plays the missing blocks,
    and returns the result.

    Parameters
    ----------
    folders : one or more. They may overlap: blocks that are in several are compared to the bit.
    out : the new folder. It is made in one step, and not at all if an error is raised.
    mixed_versions : whether to merge folders of different versions of this program, or of the
        libraries that draw, or of other hash seeds. Draws may differ in blocks of one folder only.

    Raises
    ------
    InvalidInput : a folder has another specification or version, or cannot be read; a block
        differs between two folders; there is no block; ``out`` exists, is in one of the folders,
        or cannot be written.

    >>> import tempfile
    >>> from simulator import PureDP
    >>> from simulator.adversaries import make
    >>> from simulator.runner import merge_folders, simulate_part
    >>> family = PureDP(0.2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in ("1/2", "2/2"):
    ...         _ = simulate_part(
    ...             make("fixed-worst-case", family, 5), family, 5, 100,
    ...             part=part, out=f"{folder}/{part[0]}", jobs=1, progress=False,
    ...         )
    ...     merge_folders([f"{folder}/1", f"{folder}/2"], f"{folder}/all").complete
    True
    """
    if isinstance(folders, str | bytes | PathLike) or not isinstance(folders, Iterable):
        raise InvalidInput(f"folders must be a list of folders, not {folders!r:.80}")
    paths = [folder_path(folder, "a folder to merge") for folder in folders]
    target = folder_path(out)
    if not paths:
        raise InvalidInput("folders must have at least one folder to merge")
    require_new(target)
    for path in paths:
        if target.resolve().is_relative_to(path.resolve()):
            raise InvalidInput(f"{target} is in {path}, which is only read; name another folder")
    manifests = [read_manifest(path) for path in paths]
    whole = common(paths, manifests)
    notices = require_versions(whole.sessions, mixed_versions)
    notices += require_hashes(manifests, mixed_versions)
    records = Records(paths, whole)
    for number in range(len(paths)):
        notices += records.read_folder(number)
    records.compare_short_blocks()
    chosen = records.chosen()
    if not chosen:
        raise InvalidInput(
            f"{', '.join(map(str, paths))}: there is no block to merge; play the run, or its parts"
        )
    notices += assemble(target, whole, records.encoded(chosen))
    overlapping = int(records.overlapping.sum())
    return Merged(target, records.blocks, records.missing(chosen), overlapping, tuple(notices))


def common(paths: Sequence[Path], manifests: Sequence[Manifest]) -> Manifest:
    """The manifest of the run; raises InvalidInput if the specifications differ."""
    first = manifests[0]
    for path, other in zip(paths, manifests):
        if other.identity != first.identity:
            differing = differences_between(first.content, other.content, "there", "here")
            raise InvalidInput(
                f"{path} was made by another specification than {paths[0]} ({differing})"
            )
    goal = {
        name: max(manifest.goal.get(name, 0) for manifest in manifests)
        for name in sorted({name for manifest in manifests for name in manifest.goal})
    }
    sessions: list[dict[str, Any]] = []
    for manifest in manifests:
        sessions += [session for session in manifest.sessions if session not in sessions]
    sessions.sort(key=lambda session: str(session.get("time")))
    return Manifest(first.content, first.identity, goal, tuple(sessions))


def require_versions(sessions: Sequence[Mapping[str, Any]], mixed: bool) -> list[str]:
    """Lines on how the sessions differ; raises InvalidInput if draws depend on a difference."""
    lines = []
    if several := differing_versions(sessions):
        line = f"the folders were made by different versions: {several}"
        if not mixed:
            raise InvalidInput(
                f"{line}; draws depend on them: play the parts with one version, or allow mixed "
                "versions"
            )
        lines.append(line)
    revisions = sorted({str(session.get("revision")) for session in sessions})
    if len(revisions) > 1:
        lines.append(f"the folders were made by {len(revisions)} revisions: {', '.join(revisions)}")
    machines = [session.get("machine", {}) for session in sessions]
    processors = sorted({str(machine.get("processor")) for machine in machines})
    if len(processors) > 1:
        lines.append(
            f"the folders were made on {len(processors)} kinds of processor, which may differ in "
            f"the last bit of a loss: {'; '.join(processors)}"
        )
    return lines


def require_hashes(manifests: Sequence[Manifest], mixed: bool) -> list[str]:
    """As :func:`require_versions`, where what was played may depend on how texts are hashed."""
    seeds = [str(each.get("hash_seed")) for manifest in manifests for each in manifest.sessions]
    alike = len(seeds) < 2 or (len({*seeds}) == 1 and "random" not in seeds)
    if alike or BY_HASH not in str(manifests[0].content.get("not_covered")):
        return []
    line = f"what was played {BY_HASH}, and the folders were made with other hash seeds"
    if mixed:
        return [line]
    raise InvalidInput(
        f"{line}: play the parts with one PYTHONHASHSEED, or ask for a merge of mixed versions"
    )


@dataclass(frozen=True)
class Found:
    """A record in one of the folders."""

    folder: int
    experiment: int
    block: int
    blocks: int
    _: KW_ONLY
    views: int
    counted: bool

    @property
    def key(self) -> tuple[int, int, int]:
        """What identifies it among the records of its folder."""
        return self.experiment, self.block, self.blocks


class Records:
    """The records of all folders, with a digest of each block."""

    def __init__(self, paths: Sequence[Path], whole: Manifest) -> None:
        self.paths = paths
        try:
            self.block_size, self.trials = int(whole.content["block_size"]), whole.goal["trials"]
            self.blocks = -(-self.trials // self.block_size)
            if self.blocks * BYTES_OF_A_BLOCK > (available_bytes() or math.inf):
                raise MemoryError
            self.digests = np.zeros((2, self.blocks), np.uint64)
            self.holder = np.full((2, self.blocks), _NO_FOLDER)
            self.overlapping = np.zeros((2, self.blocks), bool)
        except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
            raise InvalidInput(f"{paths[0]} has no run of this program") from None
        except MemoryError:
            raise InvalidInput(
                f"{self.blocks} blocks are too many to compare in this machine's memory"
            ) from None
        self.losses: dict[tuple[int, int], Found] = {}
        self.tallies: list[Found] = []
        self.short: list[Found] = []

    def read_folder(self, folder: int) -> list[str]:
        """Add every record of a folder; return a line on its damage, if any.

        Raises InvalidInput for a block that differs from that of another folder.
        """
        with RunStore.load(self.paths[folder]) as store:
            for location in store.locations():
                self.add(folder, store.record(location))
            return [store.dropped] if store.dropped else []

    def add(self, folder: int, record: Block) -> None:
        """Add one record."""
        arrays, b, first = record.arrays, record.experiment, record.block
        stretch = slice(first, first + record.blocks)
        if b > 1 or stretch.stop > self.blocks:
            raise InvalidInput(
                f"{self.paths[folder]}: experiment {b}, block {first} is stored, which is not a "
                "block of this run"
            )
        views = len(arrays.get("trials", ()))
        found = Found(folder, b, first, record.blocks, views=views, counted="losses" not in arrays)
        if not found.counted and len(arrays["losses"]) < self.trials_in(first):
            self.short.append(found)
            return
        digests = self.digests_of(folder, record)
        if (
            found.counted
            and not record.adds
            and self.counted(folder, record) < self.trials_in(first)
        ):
            return  # too short for a larger goal; counts cannot be compared with a longer block
        known = self.holder[b, stretch] != _NO_FOLDER
        differing = np.flatnonzero(known & (self.digests[b, stretch] != digests))
        if differing.size:
            block = first + int(differing[0])
            raise self.different(b, block, int(self.holder[b, block]), folder)
        self.overlapping[b, stretch] |= known
        self.digests[b, stretch] = digests
        self.holder[b, stretch][~known] = folder
        if found.counted:
            self.tallies.append(found)
            return
        before = self.losses.get((b, first))
        if before is not None and before.views and views:
            self.compare_views(before, record, folder)
        if before is None or views > before.views:
            self.losses[b, first] = found

    def digests_of(self, folder: int, record: Block) -> np.ndarray:
        """The digests of the blocks that a record covers."""
        arrays = record.arrays
        if "losses" in arrays and record.blocks == 1:
            outcome = Outcome(
                record.experiment, record.block, arrays["losses"], arrays.get("trace"),
                log_weights=arrays.get("log_weights"),
            )  # fmt: skip
            return np.array([digest(outcome)], np.uint64)
        digests = arrays.get("digests", np.zeros(0))
        if digests.dtype != np.uint64 or digests.shape != (record.blocks,):
            raise InvalidInput(
                f"{self.paths[folder]}: experiment {record.experiment}, block {record.block} is "
                "stored without its losses or their digests"
            )
        return digests

    def counted(self, folder: int, record: Block) -> int:
        """How many losses a record of counts has."""
        try:
            return counted_in(record.arrays)[1].trials
        except (InvalidInput, KeyError):
            raise InvalidInput(
                f"{self.paths[folder]}: experiment {record.experiment}, block {record.block} is "
                "stored with counts that cannot be read"
            ) from None

    def trials_in(self, block: int) -> int:
        """How many trials a block of the finished run has."""
        return min(self.block_size, self.trials - block * self.block_size)

    def compare_views(self, before: Found, record: Block, folder: int) -> None:
        """Raise InvalidInput if two folders have different views of a block."""
        other = self.read(before).arrays
        common = min(before.views, len(record.arrays["trials"]))
        for name in _VIEWS:
            one, two = other[name][:common], record.arrays[name][:common]
            if one.tobytes() != two.tobytes():
                raise self.different(record.experiment, record.block, before.folder, folder)

    def compare_short_blocks(self) -> None:
        """Compare blocks that are too short for the goal with the complete ones.

        Raises InvalidInput unless the complete one begins with the losses of the short one.
        """
        for found in self.short:
            longer = self.losses.get((found.experiment, found.block))
            if longer is None:
                continue
            short = self.read(found).arrays["losses"]
            if short.tobytes() != self.read(longer).arrays["losses"][: len(short)].tobytes():
                raise self.different(found.experiment, found.block, longer.folder, found.folder)

    def read(self, found: Found) -> Block:
        """Read one record again."""
        with RunStore.load(self.paths[found.folder]) as store:
            for location in store.locations():
                if (location.experiment, location.block, location.blocks) == found.key:
                    return store.record(location)
        raise self.changed(found.folder)

    def chosen(self) -> list[Found]:
        """Records that cover each block once: losses rather than counts, long stretches first.

        The counts of a stretch are preferred to losses of a part of it.
        """
        exact = {b: Cover() for b in (0, 1)}
        for b, block in sorted(self.losses):
            exact[b].add(block, block + 1)
        covers = {b: Cover() for b in (0, 1)}
        taken = []
        for found in sorted(self.tallies, key=lambda found: -found.blocks):
            start, stop = found.block, found.block + found.blocks
            lacking = [gap for gap in exact[found.experiment].missing(stop) if gap[1] > start]
            if lacking and not covers[found.experiment].meets(start, stop):
                covers[found.experiment].add(start, stop)
                taken.append(found)
        taken += [found for (b, block), found in self.losses.items() if block not in covers[b]]
        return taken

    def encoded(self, chosen: Sequence[Found]) -> Iterator[bytes]:
        """The bytes of the chosen records, folder by folder."""
        for number, path in enumerate(self.paths):
            keys = {found.key for found in chosen if found.folder == number}
            with RunStore.load(path) as store:
                for location in store.locations():
                    key = location.experiment, location.block, location.blocks
                    if key in keys:
                        keys.remove(key)
                        yield store.encoded(location)
            if keys:
                raise self.changed(number)

    def missing(self, chosen: Sequence[Found]) -> dict[int, tuple[Stretch, ...]]:
        """{experiment: the stretches of blocks that are in no folder}."""
        covers = {b: Cover() for b in (0, 1)}
        for found in chosen:
            covers[found.experiment].add(found.block, found.block + found.blocks)
        return {b: tuple(cover.missing(self.blocks)) for b, cover in covers.items()}

    def different(self, b: int, block: int, one: int, other: int) -> InvalidInput:
        """The error for a block that differs between two folders."""
        return InvalidInput(
            f"experiment {b}, block {block} is not the same in {self.paths[one]} and in "
            f"{self.paths[other]}: they were played with different code, libraries or processors; "
            "play one of them again"
        )

    def changed(self, folder: int) -> InvalidInput:
        """The error for a folder that changes while it is read."""
        return InvalidInput(f"{self.paths[folder]} changed while it was read; merge it later")
