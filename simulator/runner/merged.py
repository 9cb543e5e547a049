"""What a merge of folders has found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Stretch = tuple[int, int]
"""Blocks [start, stop)."""


@dataclass(frozen=True)
class Merged:
    """The result of :func:`merge_folders`.

    Attributes
    ----------
    folder : the new folder.
    blocks : the number of blocks of each experiment of the run.
    missing : {experiment: stretches [start, stop) of blocks that are in no folder}.
    overlapping : how many blocks were in more than one folder, with equal bits.
    notices : lines on damage, and on differences in how the folders were made.

    >>> import tempfile
    >>> from simulator import simulate
    >>> from simulator.runner import merge_folders
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = f"{folder}/run"
    ...     _ = simulate("fixed-worst-case", "pure:0.2", 5, 100, out=out, jobs=1, progress=False)
    ...     merged = merge_folders([out], f"{folder}/copy")
    >>> merged.complete, merged.overlapping
    (True, 0)
    """

    folder: Path
    blocks: int
    missing: Mapping[int, tuple[Stretch, ...]]
    overlapping: int
    notices: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether no block is missing."""
        return not any(self.missing.values())

    @property
    def stored(self) -> int:
        """The number of blocks in the folder, of both experiments together."""
        gaps = sum(stop - start for each in self.missing.values() for start, stop in each)
        return 2 * self.blocks - gaps

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain values, for JSON."""
        return {
            "folder": str(self.folder),
            "blocks_per_experiment": self.blocks,
            "stored": self.stored,
            "missing": {str(b): [list(gap) for gap in gaps] for b, gaps in self.missing.items()},
            "overlapping": self.overlapping,
            "notices": list(self.notices),
        }
