"""``python -m experiments.filters``: write results/filters/rounds.json and rounds.md."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from experiments.filters.table import DELTAS, EPSILONS, markdown, row
from experiments.stages import RESULTS, write_report


def main(arguments: list[str] | None = None) -> int:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.filters", description=__doc__)
    parser.add_argument("--epsilon", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--delta", type=float, nargs="+", default=list(DELTAS))
    parser.add_argument("--folder", type=Path, default=RESULTS / "filters", help="where to write")
    options = parser.parse_args(arguments)
    start, rows = time.perf_counter(), []
    for epsilon in options.epsilon:
        for delta in options.delta:
            rows.append(row(epsilon, delta))
            seconds = time.perf_counter() - start
            print(f"({epsilon:g}, {delta:g}) after {seconds:.0f} s", file=sys.stderr)
            whole = {"seconds": round(seconds), "rows": rows}
            write_report("rounds", whole, markdown(rows), options.folder)  # what there is so far
    return 0


if __name__ == "__main__":
    sys.exit(main())
