"""``python -m experiments.filter_trial``: write results/filters/trial.* and odometers.*."""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from experiments.filter_trial import odometers, recent
from experiments.stages import RESULTS, write_report


def main(arguments: list[str] | None = None) -> int:
    """Write both tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.filter_trial", description=__doc__)
    parser.add_argument("--first", type=int, default=None, help="only so many rows of each")
    parser.add_argument("--folder", type=Path, default=RESULTS / "filters", help="where to write")
    parser.add_argument("--only", choices=("trial", "odometers"), default=None)
    options = parser.parse_args(arguments)
    if options.only != "odometers":
        rows = called(recent.cases(), options.first)
        write_report("trial", {"rows": rows}, recent.markdown(rows), options.folder)
    if options.only != "trial":
        rows = called((partial(odometers.row, *case) for case in odometers.CASES), options.first)
        write_report("odometers", {"rows": rows}, odometers.markdown(rows), options.folder)
    return 0


Row = dict[str, Any]


def called(cases: Iterable[Callable[[], Row]], first: int | None) -> list[Row]:
    """The rows of the first cases."""
    start = time.perf_counter()
    rows: list[Row] = []
    for case in itertools.islice(cases, first):
        rows.append(case())
        print(f"row {len(rows)} after {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return rows


if __name__ == "__main__":
    sys.exit(main())
