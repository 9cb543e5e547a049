"""``make bench-change``: whether a change makes anything slower, in some two minutes.

The programs of ``whole`` are run in turn with this checkout and with an earlier revision, on this
machine: five pairs of whole processes each, by processor time. A program is slower where the median
ratio is above 1.3 and no pair contradicts it by a ratio below 1.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from experiments import stages
from experiments.benchmarks.measure import REPEATS, alternately, program_seconds
from experiments.benchmarks.whole import PROGRAMS, children

LOSS = 1.3


def unpacked(revision: str, folder: Path) -> None:
    """Write the sources of a revision into a folder. Raises ValueError where there is none."""
    found = subprocess.run(
        ["git", "archive", revision, "simulator"], cwd=stages.ROOT, capture_output=True
    )
    if found.returncode:
        last = found.stderr.decode().strip().splitlines()[-1:] or ["git failed"]
        raise ValueError(f"no sources of {revision}: {last[0]}")
    with tarfile.open(fileobj=io.BytesIO(found.stdout)) as archive:
        archive.extractall(folder, filter="data")


def slower(programs: Mapping[str, str], now: Path, before: Path, caches: Path) -> list[str]:
    """Compare each program; print a line for it, and return the names of those that lost.

    Both checkouts begin without compiled kernels.
    """
    environments = [
        {"PYTHONPATH": str(source), "DPCOMPOSE_CACHE": str(caches / name)}
        for name, source in (("before", before), ("now", now))
    ]
    lost = []
    for name, program in programs.items():
        first, second = (
            partial(program_seconds, program, (0, 1), environment) for environment in environments
        )
        for run in (first, second):
            run()  # compiles, and writes byte code
        ratio, old, new, ends = alternately(first, second, REPEATS, children)
        (least, most) = ends["spread"]
        verdict = "SLOWER" if ratio > LOSS and least > 1.0 else ""
        print(
            f"{name:<20}{ratio:6.2f} ({least:.2f} to {most:.2f})  {old:6.2f} s -> {new:6.2f} s  "
            f"{verdict}",
            flush=True,
        )
        if verdict:
            lost.append(name)
    return lost


def main(arguments: list[str] | None = None) -> int:
    """Return 1 where something is slower."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.benchmarks.against", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("revision", nargs="?", default="HEAD^", help="default: %(default)s")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        try:
            unpacked(given.revision, Path(folder))
        except ValueError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        print(f"processor time, now over {given.revision}: median of {REPEATS} (least to most)")
        lost = slower(PROGRAMS, stages.ROOT, Path(folder), Path(folder) / "caches")
    if lost:
        print(f"error: slower by more than {LOSS - 1:.0%}: {', '.join(lost)}", file=sys.stderr)
    return int(bool(lost))


if __name__ == "__main__":
    sys.exit(main())
