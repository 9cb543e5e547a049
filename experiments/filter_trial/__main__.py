"""``python -m experiments.filter_trial``: write results/filters/trial.* and odometers.*."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from experiments.filter_trial import odometers, recent
from experiments.stages import RESULTS, write_report


def main(arguments: list[str] | None = None) -> int:
    """Write both tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.filter_trial", description=__doc__)
    parser.add_argument("--first", type=int, default=None, help="only so many rows of each")
    parser.add_argument("--folder", type=Path, default=RESULTS / "filters", help="where to write")
    options = parser.parse_args(arguments)
    start, rows = time.perf_counter(), []
    for case in list(recent.cases())[: options.first]:
        rows.append(case())
        seconds = time.perf_counter() - start
        print(f"{rows[-1]['filter']} after {seconds:.0f} s", file=sys.stderr)
    write_report("trial", {"rows": rows}, recent.markdown(rows), options.folder)
    rows = [odometers.row(*case) for case in odometers.CASES[: options.first]]
    write_report("odometers", {"rows": rows}, odometers.markdown(rows), options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
