"""Play part i of n of a run, on machines that do not communicate, and store its blocks.

A part has no result: its folder is that of a run with missing blocks.
:func:`~simulator.runner.merging.merge_folders` merges the parts.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from simulator.engine.block import Specification
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import whole
from simulator.foundations.wording import count_of
from simulator.runner.play import (
    checked_experiments,
    checked_jobs,
    compiled,
    opened,
    played,
    restore,
)
from simulator.runner.pool import require_workers
from simulator.runner.progress import Progress
from simulator.theory.guarantees.interface import Guarantee

MOST_ALIGNED = 1 << 10
"""A part begins at a multiple of this unit, or of a smaller power of two if there are few blocks:
the stretches in which its blocks are added up then have no blocks of other parts."""

UNITS_PER_PART = 8
"""A part has at least so many units; parts differ in length by one unit."""


@dataclass(frozen=True)
class Part:
    """Part ``index`` of ``count``, from 1 on."""

    index: int
    count: int

    def __post_init__(self) -> None:
        whole("the number of parts", self.count)
        if not 1 <= whole("part", self.index, 0) <= self.count:
            raise InvalidInput(
                f"there is no part {self.index} of {self.count}: parts are numbered from 1"
            )

    @classmethod
    def of(cls, text: str) -> Part:
        """Read ``2/8``; raises InvalidInput for anything else."""
        found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text.strip())
        if found is None:
            raise InvalidInput(f"give a part as 2/8, the second of eight, not {text!r}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def blocks(self, total: int) -> range:
        """Its blocks of ``total``; every block is in one part, and the last parts may be empty."""
        unit = MOST_ALIGNED
        while unit > 1 and unit * UNITS_PER_PART * self.count > total:
            unit //= 2
        units = -(-total // unit)
        start, stop = (units * i // self.count for i in (self.index - 1, self.index))
        return range(min(unit * start, total), min(unit * stop, total))


@dataclass(frozen=True)
class StoredPart:
    """The result of :func:`simulate_part`.

    Attributes
    ----------
    part : its number, and the number of parts.
    folder : the folder of its blocks.
    blocks : the blocks of this part, in each experiment.
    total : the number of blocks of all parts, in each experiment.
    trials : the trials of this part, in each experiment.

    >>> import tempfile
    >>> from simulator import PureDP
    >>> from simulator.adversaries import make
    >>> from simulator.runner import simulate_part
    >>> family = PureDP(0.2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     part = simulate_part(
    ...         make("fixed-worst-case", family, 5), family, 5, 100,
    ...         part="2/2", out=f"{folder}/2", jobs=1, progress=False,
    ...     )
    >>> str(part.part), part.blocks, part.trials
    ('2/2', range(0, 1), 100)
    """

    part: Part
    folder: Path
    blocks: range
    total: int
    trials: int

    def __str__(self) -> str:
        own = self.blocks
        held = f"blocks {own.start} to {own.stop - 1}" if own else "no block"
        return (
            f"{self.folder}: part {self.part}, {held} of {self.total} in each experiment, "
            f"{count_of(self.trials, 'trial')}"
        )

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain values, for JSON."""
        return {
            "folder": str(self.folder),
            "part": str(self.part),
            "blocks": [self.blocks.start, self.blocks.stop],
            "blocks_per_experiment": self.total,
            "trials": self.trials,
        }


def simulate_part(
    adversary: Callable[..., Any],
    family: Guarantee,
    rounds: int,
    trials: int,
    *,
    part: tuple[int, int] | str,
    out: str | PathLike[str],
    experiments: Sequence[int] = (0, 1),
    jobs: int | None = None,
    progress: bool | None = None,
    **others: Any,
) -> StoredPart:
    """Play one part of a run into a folder; :func:`merge_folders` merges the parts.

    Parameters
    ----------
    adversary, family, rounds, experiments, jobs, progress, others : as in :func:`simulate`.
    trials : of the whole run, each experiment.
    part : (2, 8) or "2/8" is the second of eight. Parts of different divisions merge too.
    out : the folder of this part. The same call resumes it.

    Raises
    ------
    InvalidInput, Breach, WorkerLost, ClusterLost : as :func:`simulate`.

    >>> import tempfile
    >>> from simulator import PureDP
    >>> from simulator.adversaries import make
    >>> from simulator.runner import simulate_part
    >>> family = PureDP(0.2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     part = simulate_part(
    ...         make("fixed-worst-case", family, 5), family, 5, 100,
    ...         part="2/2", out=f"{folder}/2", jobs=1, progress=False,
    ...     )
    >>> part.trials, part.total
    (100, 1)
    """
    if isinstance(part, str):
        chosen = Part.of(part)
    elif isinstance(part, Sequence) and len(part) == 2:
        chosen = Part(*part)
    else:
        raise InvalidInput(f"give a part as (2, 8), the second of eight, not {part!r:.80}")
    s = Specification(adversary, family, rounds, trials, **others)
    if not s.trust:
        raise InvalidInput(
            "a part does not store the challenges that were met: play with trust=True"
        )
    chosen_experiments = checked_experiments(experiments)
    checked_jobs(jobs)
    require_workers(jobs)
    blocks = chosen.blocks(s.blocks)
    with opened(out, s) as store, Progress(progress) as bar:
        if store.dropped:
            bar.notice(store.dropped)
        restore(store, s, lambda outcome: None)
        missing = [
            (b, block) for block in blocks for b in chosen_experiments if not store.holds(b, block)
        ]
        if missing:
            compiled(s, bar)
        own = sum(s.trials_in(block) for block in blocks)
        left = sum(s.trials_in(block) for _, block in missing) * s.rounds
        total = own * s.rounds * len(chosen_experiments)
        bar.playing(f"{s.name}, part {chosen}", total, total - left)
        with contextlib.closing(played(s, missing, jobs, store, bar)) as finished:
            for _ in finished:
                pass
    return StoredPart(chosen, Path(out), blocks, s.blocks, own)
