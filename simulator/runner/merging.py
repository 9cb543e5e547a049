"""Merge folders of one run that were played apart: overlaps are compared, gaps are named.

Blocks add up in whatever order and grouping, so a merged folder is one that a single run could
have left, and is resumed like it.
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
from simulator.runner.memory import available_bytes
from simulator.runner.store import RunStore
from simulator.runner.store.assembly import assemble, require_new
from simulator.runner.store.cover import Cover
from simulator.runner.store.log import Block
from simulator.runner.store.manifest import Manifest, differences_between, read_manifest
from simulator.runner.store.provenance import DRAWS_DEPEND_ON

Stretch = tuple[int, int]
"""Blocks [start, stop)."""

_VIEWS = ("trials", "coins", "answers")
_NOBODY = -1
BYTES_OF_A_BLOCK = 2 * (8 + 8 + 1)
"""What comparing takes for each block: of both experiments a digest, its folder and a mark."""


@dataclass(frozen=True)
class Merged:
    """What :func:`merge_folders` has put together.

    Attributes
    ----------
    folder : where it is.
    blocks : how many each experiment has when nothing is missing.
    missing : {experiment: stretches [start, stop) of blocks that no folder holds}.
    overlapping : how many blocks were in more than one folder, and the same there.
    notices : what one should know of where the folders come from, a line each.
    """

    folder: Path
    blocks: int
    missing: Mapping[int, tuple[Stretch, ...]]
    overlapping: int
    notices: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return not any(self.missing.values())

    @property
    def stored(self) -> int:
        """How many blocks there are, of both experiments together."""
        gaps = sum(stop - start for each in self.missing.values() for start, stop in each)
        return 2 * self.blocks - gaps

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, fit for JSON."""
        return {
            "folder": str(self.folder),
            "blocks_per_experiment": self.blocks,
            "stored": self.stored,
            "missing": {str(b): [list(gap) for gap in gaps] for b, gaps in self.missing.items()},
            "overlapping": self.overlapping,
            "notices": list(self.notices),
        }


def merge_folders(
    folders: Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    mixed_versions: bool = False,
) -> Merged:
    """Merge folders of one run, made by ``simulate(..., out=)`` or in parts, into a new one.

    The folders are read only. ``simulate`` with the new one as ``out`` returns the result, and
    plays what is missing first.

    Parameters
    ----------
    folders : one or more. They may overlap: blocks that are in several are compared to the bit.
    out : the new folder. It appears when it is whole, and not if anything is refused.
    mixed_versions : whether to merge what different versions of this program, or of the libraries
        that draw, have made. Their numbers may differ where the folders do not overlap.

    Raises
    ------
    InvalidInput : a folder is of another specification or version, or damaged beyond reading; a
        block differs between two folders; there is no block at all; ``out`` exists, lies in one
        of the folders, or cannot be written.
    """
    if isinstance(folders, str | bytes | PathLike) or not isinstance(folders, Iterable):
        raise InvalidInput(f"folders must be several, as a list, not {folders!r:.80}")
    paths = [folder_path(folder, "a folder to merge") for folder in folders]
    target = folder_path(out)
    if not paths:
        raise InvalidInput("there is no folder to merge")
    require_new(target)
    for path in paths:
        if target.resolve().is_relative_to(path.resolve()):
            raise InvalidInput(f"{target} would lie in {path}, which is only read; name a new one")
    manifests = [read_manifest(path) for path in paths]
    whole = common(paths, manifests)
    notices = require_versions(whole.sessions, mixed_versions)
    pile = Pile(paths, whole)
    for number in range(len(paths)):
        notices += pile.look_through(number)
    pile.compare_short_blocks()
    chosen = pile.chosen()
    if not chosen:
        raise InvalidInput(
            f"{', '.join(map(str, paths))}: there is no block to merge; play the run, or its parts"
        )
    notices += assemble(target, whole, pile.encoded(chosen))
    return Merged(
        target, pile.blocks, pile.missing(chosen), int(pile.overlapping.sum()), tuple(notices)
    )


def common(paths: Sequence[Path], manifests: Sequence[Manifest]) -> Manifest:
    """The manifest of the whole; raises InvalidInput where the specifications differ."""
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
    """Lines on where the sessions differ; raises InvalidInput where draws depend on it."""
    versions = [session.get("versions", {}) for session in sessions]
    several = [
        f"{package} {' and '.join(found)}"
        for package in DRAWS_DEPEND_ON
        if len(found := sorted({str(each.get(package)) for each in versions})) > 1
    ]
    lines = []
    if several:
        line = f"the folders were made by different versions: {', '.join(several)}"
        if not mixed:
            raise InvalidInput(
                f"{line}; draws depend on them: play the parts with one version, or ask for a "
                "merge of mixed versions"
            )
        lines.append(line)
    revisions = sorted({str(session.get("revision")) for session in sessions})
    if len(revisions) > 1:
        lines.append(f"the folders were made by {len(revisions)} revisions: {', '.join(revisions)}")
    machines = [session.get("machine", {}) for session in sessions]
    processors = sorted({str(machine.get("processor")) for machine in machines})
    if len(processors) > 1:
        lines.append(
            f"the folders were made on {len(processors)} kinds of processor, which may round the "
            f"last bit of a loss otherwise: {'; '.join(processors)}"
        )
    return lines


@dataclass(frozen=True)
class Found:
    """A record of some folder."""

    folder: int
    experiment: int
    block: int
    blocks: int
    _: KW_ONLY
    views: int
    counted: bool

    @property
    def key(self) -> tuple[int, int, int]:
        """What tells it from the other records of its folder."""
        return self.experiment, self.block, self.blocks


class Pile:
    """The records of all folders, and what is known of each block."""

    def __init__(self, paths: Sequence[Path], whole: Manifest) -> None:
        self.paths = paths
        try:
            self.block_size, self.trials = int(whole.content["block_size"]), whole.goal["trials"]
            self.blocks = -(-self.trials // self.block_size)
            if self.blocks * BYTES_OF_A_BLOCK > (available_bytes() or math.inf):
                raise MemoryError
            self.digests = np.zeros((2, self.blocks), np.uint64)
            self.holder = np.full((2, self.blocks), _NOBODY)
            self.overlapping = np.zeros((2, self.blocks), bool)
        except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
            raise InvalidInput(f"{paths[0]} holds no run of this program") from None
        except MemoryError:
            raise InvalidInput(
                f"{self.blocks} blocks are too many to compare in this machine's memory"
            ) from None
        self.losses: dict[tuple[int, int], Found] = {}
        self.tallies: list[Found] = []
        self.short: list[Found] = []

    def look_through(self, folder: int) -> list[str]:
        """Take in every record of a folder; return a line on what is damaged there.

        Raises InvalidInput for a block that another folder holds otherwise.
        """
        with RunStore.load(self.paths[folder]) as store:
            for location in store.locations():
                self.take(folder, store.record(location))
            return [store.dropped] if store.dropped else []

    def take(self, folder: int, record: Block) -> None:
        """Take in one record."""
        arrays, b, first = record.arrays, record.experiment, record.block
        stretch = slice(first, first + record.blocks)
        if b > 1 or stretch.stop > self.blocks:
            raise InvalidInput(
                f"{self.paths[folder]}: experiment {b}, block {first} is stored, and no block of "
                "this run"
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
            return  # outgrown by a larger goal; counts cannot be held against what begins alike
        known = self.holder[b, stretch] != _NOBODY
        differing = np.flatnonzero(known & (self.digests[b, stretch] != digests))
        if differing.size:
            block = first + int(differing[0])
            raise self.other_bits(b, block, int(self.holder[b, block]), folder)
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
        """A digest of every block that a record covers."""
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
        """How many losses a record without them has counted."""
        try:
            return counted_in(record.arrays)[1].trials
        except (InvalidInput, KeyError):
            raise InvalidInput(
                f"{self.paths[folder]}: experiment {record.experiment}, block {record.block} is "
                "stored with counts that are not to be read"
            ) from None

    def trials_in(self, block: int) -> int:
        """How many trials a block has when the goal is reached."""
        return min(self.block_size, self.trials - block * self.block_size)

    def compare_views(self, before: Found, record: Block, folder: int) -> None:
        """Raise InvalidInput where two folders kept other views of a block."""
        other = self.read(before).arrays
        common = min(before.views, len(record.arrays["trials"]))
        for name in _VIEWS:
            one, two = other[name][:common], record.arrays[name][:common]
            if one.tobytes() != two.tobytes():
                raise self.other_bits(record.experiment, record.block, before.folder, folder)

    def compare_short_blocks(self) -> None:
        """Hold blocks that a larger goal has outgrown against those that it left.

        Raises InvalidInput where they do not begin alike.
        """
        for found in self.short:
            longer = self.losses.get((found.experiment, found.block))
            if longer is None:
                continue
            short = self.read(found).arrays["losses"]
            if short.tobytes() != self.read(longer).arrays["losses"][: len(short)].tobytes():
                raise self.other_bits(found.experiment, found.block, longer.folder, found.folder)

    def read(self, found: Found) -> Block:
        """One record."""
        with RunStore.load(self.paths[found.folder]) as store:
            for location in store.locations():
                if (location.experiment, location.block, location.blocks) == found.key:
                    return store.record(location)
        raise self.changed(found.folder)

    def chosen(self) -> list[Found]:
        """Records that cover what is there once: losses rather than counts, long stretches first.

        Losses in part of a stretch give way to the counts of all of it.
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
        """The chosen records as they lie in their logs, folder by folder."""
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
        """{experiment: the stretches of blocks that are nowhere}."""
        covers = {b: Cover() for b in (0, 1)}
        for found in chosen:
            covers[found.experiment].add(found.block, found.block + found.blocks)
        return {b: tuple(cover.missing(self.blocks)) for b, cover in covers.items()}

    def other_bits(self, b: int, block: int, one: int, other: int) -> InvalidInput:
        """The error for a block that differs between two folders."""
        return InvalidInput(
            f"experiment {b}, block {block} is not the same in {self.paths[one]} and in "
            f"{self.paths[other]}: they were played by other code, libraries or processors; play "
            "one of them anew"
        )

    def changed(self, folder: int) -> InvalidInput:
        """The error for a folder that somebody writes to."""
        return InvalidInput(f"{self.paths[folder]} changed while it was read; merge it later")
