"""Measure everything, print the table and write ``results/benchmarks.json``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from experiments.benchmarks import (
    accounting,
    accuracy,
    auditing,
    commands,
    engine,
    memory,
    peers,
    plugin,
    rare,
    studies,
    worst,
)
from experiments.benchmarks.measure import Benchmark, Line
from experiments.stages import RESULTS, rounded
from simulator.foundations.files import write_json
from simulator.runner.store.provenance import provenance

COLUMNS = "{:<48}{:>12}  {:<34}{:>12}  {}"
VERDICTS = {True: "met", False: "MISSED", None: ""}


def shown(line: Line) -> str:
    """One row of the table."""
    figure = "not installed" if line.figure is None else f"{line.figure:.4g}"
    sign = ">=" if line.at_least else "<="
    target = "" if line.target is None else f"{sign} {line.target:g}"
    return COLUMNS.format(line.name, figure, line.unit, target, VERDICTS[line.met])


MODULES = (
    engine,
    memory,
    accuracy,
    rare,
    worst,
    auditing,
    plugin,
    peers,
    accounting,
    commands,
    studies,
)
"""Each has BENCHMARKS, in the order in which they are run."""


def chosen(name: str | None) -> list[Benchmark]:
    """All benchmarks, or those of one module, or one of them; raises ValueError for no name."""
    named: dict[str, list[Benchmark]] = {}
    for module in MODULES:
        named[module.__name__.rpartition(".")[2]] = list(module.BENCHMARKS)
    everything = [benchmark for several in named.values() for benchmark in several]
    if name is None:
        return everything
    for benchmark in everything:
        named.setdefault(benchmark.__name__, [benchmark])
    if name not in named:
        raise ValueError(f"there is no benchmark {name!r}, but {', '.join(named)}")
    return named[name]


def main(arguments: list[str] | None = None) -> int:
    """Run benchmarks in turn; a row appears as soon as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m experiments.benchmarks", description=__doc__)
    parser.add_argument(
        "--only", metavar="NAME", help="measure these alone, and write nothing: memory, say"
    )
    only = parser.parse_args(arguments).only
    try:
        benchmarks = chosen(only)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(COLUMNS.format("", "measured", "", "target", ""))
    lines = []
    for benchmark in benchmarks:
        for line in benchmark():
            lines.append(line)
            print(shown(line), flush=True)
    if only is not None:
        return 0
    table = [asdict(line) | {"met": line.met} for line in lines]
    path = RESULTS / "benchmarks.json"
    origin = provenance() | {"peers": peers.versions()}
    write_json(path, {"provenance": origin, "benchmarks": rounded(table)})
    print(f"written to {path.relative_to(RESULTS.parent)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
