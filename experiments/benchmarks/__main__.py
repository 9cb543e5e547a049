"""Measure everything, print the table and write ``results/benchmarks.json``."""

from __future__ import annotations

import sys
from dataclasses import asdict

from experiments.benchmarks import (
    accounting,
    accuracy,
    auditing,
    engine,
    memory,
    peers,
    plugin,
    rare,
    worst,
)
from experiments.benchmarks.measure import Line
from experiments.stages import RESULTS, rounded
from simulator.store.files import write_json
from simulator.store.provenance import provenance

COLUMNS = "{:<48}{:>12}  {:<34}{:>12}  {}"
VERDICTS = {True: "met", False: "MISSED", None: ""}


def shown(line: Line) -> str:
    """One row of the table."""
    figure = "not installed" if line.figure is None else f"{line.figure:.4g}"
    sign = ">=" if line.at_least else "<="
    target = "" if line.target is None else f"{sign} {line.target:g}"
    return COLUMNS.format(line.name, figure, line.unit, target, VERDICTS[line.met])


def main() -> None:
    """Run every benchmark in turn; a row appears as soon as it is measured."""
    print(COLUMNS.format("", "measured", "", "target", ""))
    everything = (
        *engine.BENCHMARKS,
        *memory.BENCHMARKS,
        *accuracy.BENCHMARKS,
        *rare.BENCHMARKS,
        *worst.BENCHMARKS,
        *auditing.BENCHMARKS,
        *plugin.BENCHMARKS,
        *peers.BENCHMARKS,
        *accounting.BENCHMARKS,
    )
    lines = []
    for benchmark in everything:
        for line in benchmark():
            lines.append(line)
            print(shown(line), flush=True)
    table = [asdict(line) | {"met": line.met} for line in lines]
    path = RESULTS / "benchmarks.json"
    origin = provenance() | {"peers": peers.versions()}
    write_json(path, {"provenance": origin, "benchmarks": rounded(table)})
    print(f"written to {path.relative_to(RESULTS.parent)}", file=sys.stderr)


if __name__ == "__main__":
    main()
