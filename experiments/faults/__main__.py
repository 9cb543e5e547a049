"""``python -m experiments.faults``: try every fault, write faults.json and faults.md."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from experiments.faults import damage, kills, numbers, places, strangers
from experiments.faults.cases import Tally
from experiments.faults.table import markdown
from experiments.stages import RESULTS, write_report

PARTS = ("damage", "places", "strangers", "numbers", "kills")
SEED = 20_261_122


def tallies(options: argparse.Namespace) -> Iterator[Tally]:
    """Every kind of fault."""
    tries = options.kills if options.kills is not None else 4 if options.quick else 100
    if "damage" in options.only:
        yield from damage.campaign(options.seed, options.quick)
    if "places" in options.only:
        yield from places.campaign(options.seed, options.quick)
    if "strangers" in options.only:
        yield from strangers.campaign(options.quick)
    if "numbers" in options.only:
        yield from numbers.campaign(options.quick)
    if "kills" in options.only and tries:
        yield from kills.campaign(tries, options.seed, options.at_once, options.minutes)


def main(arguments: list[str] | None = None) -> int:
    """Return 1 where a fault had an outcome that must not occur."""
    parser = argparse.ArgumentParser(prog="python -m experiments.faults", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few tries of each kind")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these alone")
    parser.add_argument("--kills", type=int, help="tries per signal; 100 by default")
    parser.add_argument("--at-once", type=int, default=2, help="runs at a time")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no signal later")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--folder", type=Path, help="where to write; results/, and nowhere with --only"
    )
    options = parser.parse_args(arguments)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of a shell that began it with `&`:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # what it starts would ignore it
    start = time.perf_counter()
    found = []
    for tally in tallies(options):
        print(f"{tally.kind}: {tally.tries} tries, {len(tally.wrong)} wrong", file=sys.stderr)
        for line in tally.wrong:
            print(f"  {line}", file=sys.stderr)
        found.append(tally)
    seconds = time.perf_counter() - start
    whole = {
        "seed": options.seed,
        "seconds": round(seconds, 1),
        "rows": [asdict(tally) for tally in found],
    }
    # a part must not stand where the whole is
    folder = options.folder or (RESULTS if options.only == PARTS else None)
    if folder is not None:
        write_report("faults", whole, markdown(found, seconds), folder)
    return int(any(tally.wrong for tally in found))


if __name__ == "__main__":
    sys.exit(main())
