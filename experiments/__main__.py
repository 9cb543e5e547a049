"""Command line of the figures: ``python -m experiments simulate|draw NAME...``."""

from __future__ import annotations

import argparse
import sys
import time

from experiments import dependencies, stages
from simulator.foundations.errors import DpcomposeError


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)


def simulate(name: str) -> None:
    """Make the data of one figure."""
    say(f"simulating  {name}: {stages.script(name).TITLE}")
    start = time.perf_counter()
    changed = stages.simulate(name)
    dependencies.record(name)
    seconds = time.perf_counter() - start
    say(f"            {'done' if changed else 'the same data as before'}, {seconds:.1f} s")


def draw(name: str) -> None:
    """Draw one figure."""
    for path in stages.draw(name):
        say(f"drawn       {path.relative_to(stages.ROOT)}")


def main() -> int:
    """Run one stage of the figures named, or of all."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("stage", choices=("simulate", "draw"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures; all, without any")
    arguments = parser.parse_args()
    stage = {"simulate": simulate, "draw": draw}[arguments.stage]
    try:
        for name in arguments.names or stages.names():
            stage(name)
    except DpcomposeError as error:
        say(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
