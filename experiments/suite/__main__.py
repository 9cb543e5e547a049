"""``python -m experiments.suite``: audit the standard mechanisms, write suite.json and suite.md."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from experiments.stages import RESULTS, write_report
from experiments.suite.mechanisms import STANDARD
from experiments.suite.published import table as published_table
from experiments.suite.running import CONFIDENCE, VERDICT, Task, budget, measure
from experiments.suite.table import markdown

SEED = 20_210_523


def main(arguments: list[str] | None = None) -> int:
    """Return 1 when a verdict is wrong."""
    parser = argparse.ArgumentParser(prog="python -m experiments.suite", description=__doc__)
    parser.add_argument("--draws", type=int, help="in all, per mechanism")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these mechanisms alone")
    parser.add_argument("--folder", type=Path, default=RESULTS, help="where to write")
    options = parser.parse_args(arguments)
    names = options.only or list(STANDARD)
    unknown = sorted(set(names) - set(STANDARD))
    if unknown:
        parser.error(f"no mechanism {', '.join(unknown)}; there are {', '.join(STANDARD)}")
    start = time.perf_counter()
    tasks = [Task(name, options.draws or budget(name), options.seed) for name in names]
    rows = measure(tasks, options.workers)
    seconds = time.perf_counter() - start
    whole = {
        "confidence": CONFIDENCE,
        "verdict_confidence": VERDICT,
        "seconds": round(seconds, 1),
        "published": published_table()["source"],
        "rows": [row.as_dict() for row in rows],
    }
    print(markdown(rows, seconds))
    write_report("suite", whole, markdown(rows, seconds), options.folder)
    return int(any(not row.right for row in rows))


if __name__ == "__main__":
    sys.exit(main())
