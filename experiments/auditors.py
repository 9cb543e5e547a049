"""``make auditors``: auditors on trial, into results/auditors.md and .json.

A library that is not installed is reported as absent.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from experiments.auditors_on_trial.games import AuditGame, games
from experiments.auditors_on_trial.report import AuditorReport, page, plain, restored
from experiments.auditors_on_trial.subjects import MODULES, load
from experiments.auditors_on_trial.trial import LEVEL, PLAYS, all_tried, program
from experiments.stages import RESULTS, write_report
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.files import check_writable

SEED = 20_260_101
LONGEST = 120.0
"""Seconds that a program of a defect may take."""


def say(line: str) -> None:
    """Print progress."""
    print(f"trying      {line}", file=sys.stderr, flush=True)


def report(name: str, all_games: Sequence[AuditGame], plays: int) -> AuditorReport:
    """Try a library, and run a program for each auditor with false bounds."""
    found = AuditorReport(library=load(name))
    found.cells = all_tried(found.library, all_games, plays=plays, seed=SEED, progress=say)
    by_name = {game.name: game for game in all_games}
    for auditor, cells in found.groups():
        text = program(auditor, by_name[cells[0].game])
        if text:
            say(f"{name}: the program of {auditor.name}")
            found.programs[auditor.name, cells[0].game] = text, printed(text)
    return found


def printed(text: str) -> str:
    """The output of a program, or the last line of its error."""
    try:
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", text],
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {LONGEST:g} s"
    return ended.stdout or (ended.stderr.strip().splitlines() or [""])[-1]


def earlier(file: Path, plays: int) -> dict[str, AuditorReport]:
    """The reports of an earlier trial with as many plays. Raises InvalidInput."""
    try:
        whole = json.loads(file.read_text())
        if whole["plays"] != plays:
            raise InvalidInput(f"{file} has {whole['plays']} plays, and not {plays}")
        return {each["library"]: restored(each) for each in whole["libraries"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, DpcomposeError):
            raise
        raise InvalidInput(f"{file} is no result of a trial: {error!r:.100}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Try, and write; 0, or the exit code of an error that was printed in a line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.auditors", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="LIBRARY", help=", ".join(MODULES))
    parser.add_argument(
        "--keep", type=Path, action="append", default=[], metavar="FILE.json",
        help="results of an earlier trial, which stand for the libraries that are not named",
    )  # fmt: skip
    parser.add_argument("--plays", type=int, default=PLAYS)
    parser.add_argument("--out", type=Path, help="a folder; results/ for the whole trial")
    given = parser.parse_args(arguments)
    try:
        return run(given)
    except DpcomposeError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return error.exit_code


def run(given: argparse.Namespace) -> int:
    """Check the arguments, then try, then write."""
    names = given.names or list(MODULES)
    if unknown := sorted(set(names) - set(MODULES)):
        raise InvalidInput(f"no library {', '.join(unknown)}; there are {', '.join(MODULES)}")
    if given.plays < 1:
        raise InvalidInput(f"--plays must be at least 1, not {given.plays}")
    kept = dict(each for file in given.keep for each in earlier(file, given.plays).items())
    whole_trial = set(names) | set(kept) >= set(MODULES)
    if given.out is None and (not whole_trial or given.plays != PLAYS):
        raise InvalidInput("a part of the trial does not replace the whole: name a folder by --out")
    folder = given.out or RESULTS
    check_writable(folder)
    start = time.perf_counter()
    all_games = games()
    tried = {name: report(name, all_games, given.plays) for name in names}
    reports = [(kept | tried)[name] for name in MODULES if name in kept | tried]
    whole = {
        "level": LEVEL,
        "plays": given.plays,
        "seconds": round(time.perf_counter() - start, 1),
        "libraries": [plain(each) for each in reports],
    }
    write_report("auditors", whole, page(reports, all_games, LEVEL), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
