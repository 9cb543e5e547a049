"""Measure everything, print the table and write ``results/benchmarks.json``.

Each benchmark is measured in a process of its own, so that none finds what another has loaded. Its
lines are written as it ends, with the revision and the time, in place of its earlier ones: a part
may be measured again, and an interrupted bench keeps what it has measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict

from experiments.benchmarks import (
    accounting,
    accuracy,
    allocation,
    auditing,
    calls,
    commands,
    draws,
    engine,
    floor,
    memory,
    mixes,
    peers,
    plugin,
    rare,
    shuffling,
    studies,
    whole,
    worst,
)
from experiments.benchmarks.measure import Benchmark, Line
from experiments.stages import RESULTS, ROOT, rounded
from simulator.foundations.files import write_json
from simulator.runner.store.provenance import provenance

TABLE = RESULTS / "benchmarks.json"
COLUMNS = "{:<48}{:>12}  {:<34}{:>12}  {}"
VERDICTS = {True: "met", False: "MISSED", None: ""}


def shown(line: Line) -> str:
    """One row of the table."""
    figure = "not installed" if line.figure is None else f"{line.figure:.4g}"
    sign = ">=" if line.at_least else "<="
    target = "" if line.target is None else f"{sign} {line.target:g}"
    return COLUMNS.format(line.name, figure, line.unit, target, VERDICTS[line.met])


MODULES = (
    whole,
    engine,
    calls,
    memory,
    accuracy,
    rare,
    worst,
    auditing,
    plugin,
    peers,
    accounting,
    mixes,
    floor,
    allocation,
    shuffling,
    draws,
    commands,
    studies,
)
"""Each has BENCHMARKS, in the order in which they are run."""


def chosen(name: str | None) -> list[Benchmark]:
    """All benchmarks, those of one module, or one, ``module.name`` too; or raises ValueError."""
    if name is not None and "." in name:
        of, _, name = name.partition(".")
        return [each for each in chosen(of) if each.__name__ == name]
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


def apart(benchmark: Benchmark) -> int:
    """Measure a benchmark in a new process and write its lines; return its exit status."""
    module = benchmark.__module__.rpartition(".")[2]
    words = ["-m", "experiments.benchmarks", "--only", f"{module}.{benchmark.__name__}", "--write"]
    return subprocess.run([sys.executable, *words], cwd=ROOT).returncode


def main(arguments: list[str] | None = None) -> int:
    """Run benchmarks in turn; a row appears as soon as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m experiments.benchmarks", description=__doc__)
    parser.add_argument(
        "--only", metavar="NAME", help="measure these alone, and write nothing: memory, say"
    )
    parser.add_argument("--write", action="store_true", help="with --only: write their lines")
    given = parser.parse_args(arguments)
    try:
        benchmarks = chosen(given.only)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if given.only is None:
        print(COLUMNS.format("", "measured", "", "target", ""), flush=True)
        return max([apart(each) for each in benchmarks])
    for benchmark in benchmarks:
        lines = []
        for line in benchmark():
            lines.append(line)
            print(shown(line), flush=True)
        if given.write:
            write(benchmark.__name__, lines)
    return 0


def write(name: str, lines: list[Line]) -> None:
    """Write the lines of one benchmark in place of its earlier ones, in the order of the bench."""
    before = json.loads(TABLE.read_text())["benchmarks"] if TABLE.is_file() else []
    origin = provenance()
    made = {"of": name, "revision": origin["revision"], "time": origin["time"]}
    order = [each.__name__ for each in chosen(None)]
    kept = [line for line in before if line.get("of") in order and line["of"] != name]
    table = kept + [asdict(line) | {"met": line.met} | made for line in lines]
    table.sort(key=lambda line: order.index(line["of"]))
    origin |= {"peers": peers.versions()}
    write_json(TABLE, {"provenance": origin, "benchmarks": rounded(table)})


if __name__ == "__main__":
    sys.exit(main())
