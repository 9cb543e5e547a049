"""``python -m experiments.filters``: write results/filters/rounds.json and rounds.md."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from experiments.filters.table import DELTAS, EPSILONS, markdown, row, with_filter
from experiments.stages import RESULTS, write_report


def main(arguments: list[str] | None = None) -> int:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.filters", description=__doc__)
    parser.add_argument("--units", type=int, default=1000, help="of the proofs")
    parser.add_argument("--epsilon", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--delta", type=float, nargs="+", default=list(DELTAS))
    parser.add_argument("--folder", type=Path, default=RESULTS / "filters", help="where to write")
    parser.add_argument(
        "--anew",
        action="store_true",
        help="search for the certified filters anew, instead of proving those of the last run",
    )
    parser.add_argument("--add", metavar="FILTER", help="add its column to the last run's rows")
    options = parser.parse_args(arguments)
    if options.add:
        whole = json.loads((options.folder / "rounds.json").read_text(encoding="utf-8"))
        del whole["provenance"]
        whole["rows"] = [with_filter(each, options.add) for each in whole["rows"]]
        write_report("rounds", whole, markdown(whole["rows"]), options.folder)
        return 0
    known = {} if options.anew else last_filters(options.folder, options.units)
    start, rows = time.perf_counter(), []
    for epsilon in options.epsilon:
        for delta in options.delta:
            rows.append(row(epsilon, delta, options.units, known.get((epsilon, delta))))
            seconds = time.perf_counter() - start
            print(f"({epsilon:g}, {delta:g}) after {seconds:.0f} s", file=sys.stderr)
            whole = {"units": options.units, "seconds": round(seconds), "rows": rows}
            write_report("rounds", whole, markdown(rows), options.folder)  # what there is so far
    return 0


def last_filters(folder: Path, units: int) -> dict[tuple[float, float], str]:
    """The certified filters of the last run with so many units, by their promise."""
    path = folder / "rounds.json"
    if not path.exists():
        return {}
    last = json.loads(path.read_text(encoding="utf-8"))
    if last.get("units") != units:
        return {}
    return {(each["epsilon"], each["delta"]): each["certified"]["filter"] for each in last["rows"]}


if __name__ == "__main__":
    sys.exit(main())
