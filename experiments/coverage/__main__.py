"""``python -m experiments.coverage``: measure, print, write coverage.json and coverage.md."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.coverage import spenders
from experiments.coverage.adversaries import suite
from experiments.coverage.running import CONFIDENCE, Outcome, measure, tasks
from experiments.coverage.table import (
    FALSE_ALARM,
    NOMINAL,
    Row,
    call_rows,
    markdown,
    missed_claim,
    rows,
)
from experiments.stages import RESULTS, write_report

SEED = 20_260_101
MINUTES = 30.0
MOST = 1000
KEPT = 300
"""Missed claims and failures that are written out in full, so that they can be played again."""
LIGHT = ("feint", "needle", "drip", "hit-and-run", "automaton-0")


def write(
    found: list[Row],
    outcomes: list[Outcome],
    widths: list[spenders.Width],
    made: dict[str, Any],
    folder: Path,
) -> None:
    """Write coverage.json, with what made it, and coverage.md."""
    whole = {
        "confidence": CONFIDENCE,
        "nominal": NOMINAL,
        "false_alarm": FALSE_ALARM,
        **made,
        "rows": [row.as_dict() for row in found],
        "calls": [asdict(call) for call in call_rows(outcomes)],
        "spenders": [width.as_dict() for width in widths],
        "missed_claims": [as_json(o) for o in outcomes if missed_claim(o)][:KEPT],
        "failures": [as_json(o) for o in outcomes if o.status == "failed"][:KEPT],
    }
    tables = markdown(found, call_rows(outcomes)) + "\n" + spenders.markdown(widths)
    write_report("coverage", whole, tables, folder)


def as_json(outcome: Outcome) -> dict[str, Any]:
    """One outcome as plain JSON."""
    about: dict[str, Any] = {"quantity_of_interval": outcome.quantity, "method": outcome.method}
    if outcome.truth is not None and outcome.claim is not None:
        about["truth"] = [finite(end) for end in outcome.truth]
        about["interval"] = [finite(outcome.claim.lower), finite(outcome.claim.upper)]
    else:
        about["reason"] = outcome.reason
    return {"case": asdict(outcome.case)} | about


def finite(number: float) -> float | None:
    """The number, or None where it is infinite, which strict JSON cannot hold."""
    return number if math.isfinite(number) else None


def main(arguments: list[str] | None = None) -> int:
    """Return 1 when a claim is broken, or a call fails with an error that is not a refusal."""
    parser = argparse.ArgumentParser(prog="python -m experiments.coverage", description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="time, %(default)s")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--seed", type=int, default=SEED, help="of the list of cases")
    parser.add_argument("--most", type=int, default=MOST, help="cases per adversary")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these adversaries alone")
    parser.add_argument("--light", action="store_true", help="a few small cases: seconds")
    parser.add_argument("--folder", type=Path, default=RESULTS, help="where to write")
    options = parser.parse_args(arguments)
    names = options.only or list(LIGHT if options.light else suite())
    unknown = sorted(set(names) - set(suite()))
    if unknown:
        parser.error(f"no adversary {', '.join(unknown)}; there are {', '.join(suite())}")
    most = 2 if options.light else options.most
    start = time.perf_counter()
    todo = tasks(names, options.seed, options.minutes, options.workers, most)
    outcomes = measure(todo, options.workers)
    found = rows(outcomes)
    partly = options.light or options.only
    widths = [] if partly else spenders.widths(options.workers, spenders.TRIALS)
    made = {
        "seed": options.seed,
        "minutes": options.minutes,
        "workers": options.workers,
        "adversaries": len(names),
        "adversaries_played": len({outcome.case.subject for outcome in outcomes}),
        "seconds": round(time.perf_counter() - start, 1),
    }
    print(markdown(found, call_rows(outcomes)))
    print(spenders.markdown(widths))
    write(found, outcomes, widths, made, options.folder)
    return int(any(row.verdict == "broken" or row.failed for row in found))


if __name__ == "__main__":
    sys.exit(main())
