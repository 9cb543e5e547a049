"""``make conform``: every library on trial, into results/conformance.md and .json.

A library that is not installed is reported as absent. ``--python NAME=PATH`` tries one with a
separate interpreter, for those whose requirements exclude each other.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from experiments.stages import RESULTS, write_texts
from simulator.auditing import conformance
from simulator.foundations.children import end_all, interruptible
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.files import check_writable
from simulator.runner.store.provenance import provenance

AT_ONCE = 2
INTERRUPTED = 130


def report(
    names: Sequence[str], cases: Sequence[conformance.Case], pythons: dict[str, str]
) -> list[conformance.LibraryReport]:
    """Try the libraries, two at a time; the reports in the order of the names."""
    truths, lock = conformance.Truths(), threading.Lock()

    def progress(line: str) -> None:
        with lock:
            print(f"trying      {line}", file=sys.stderr, flush=True)

    def tried(name: str) -> conformance.LibraryReport:
        return conformance.tried(
            name, cases, truths=truths, python=pythons.get(name), progress=progress
        )

    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            return list(pool.map(tried, names))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_all()  # the threads end at their next call
            raise


def write(
    reports: Sequence[conformance.LibraryReport], cases: int, folder: Path = RESULTS
) -> list[Path]:
    """Write conformance.md and conformance.json, each in one step; return their paths."""
    made, limit = provenance(), conformance.Limits().seconds
    texts = {
        "conformance.md": conformance.to_markdown(reports, made, cases, limit),
        "conformance.json": conformance.to_json(reports, made, cases),
    }
    return write_texts(texts, folder)


def replaced(reports: Sequence[conformance.LibraryReport], cases: int) -> list[Path]:
    """Write the row, the section and the JSON of these libraries over those in results/."""
    made, limit = provenance(), conformance.Limits().seconds
    page = (RESULTS / "conformance.md").read_text(encoding="utf-8")
    whole = json.loads((RESULTS / "conformance.json").read_text(encoding="utf-8"))
    fresh = json.loads(conformance.to_json(reports, made, cases))
    new = conformance.to_markdown(reports, made, cases, limit)
    for report in reports:
        name = re.escape(report.found.name)
        for pattern in (rf"^\| {name} \| .*\n", rf"^## {name} (?s:.*?)(?=^## |\Z)"):
            (text,) = re.findall(pattern, new, re.MULTILINE)
            if len(old := re.findall(pattern, page, re.MULTILINE)) != 1:
                raise InvalidInput(f"results/conformance.md has no {report.found.name} to replace")
            ends_line = old[0].startswith("|")  # a row of the table; else what made it comes last
            page = page.replace(old[0], text if ends_line else text.rstrip() + "\n\n")
    page = page.rstrip() + "\n"
    by_name = {each["library"]: each for each in fresh["libraries"]}
    whole["libraries"] = [by_name.get(each["library"], each) for each in whole["libraries"]]
    texts = {
        "conformance.md": page,
        "conformance.json": json.dumps(whole, indent=1, ensure_ascii=False) + "\n",
    }
    return write_texts(texts, RESULTS)


def interpreters(items: Sequence[str]) -> dict[str, str]:
    """``NAME=PATH`` as {name: path}. Raises InvalidInput."""
    found = {}
    for item in items:
        name, equals, path = item.partition("=")
        if not equals or not path:
            raise InvalidInput(f"--python takes NAME=PATH, not {item!r}")
        found[name] = path
    conformance.check_names(list(found))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Try, and write; 0, or the exit code of an error that was printed in a line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.conformance", description=__doc__)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument(
        "--again", action="store_true", help="replace these libraries in results/, and no others"
    )
    parser.add_argument("--out", type=Path, help="a folder; results/ for the whole trial")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    given = parser.parse_args(arguments)
    try:
        with interruptible():
            return run(given)
    except DpcomposeError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        return INTERRUPTED


def run(given: argparse.Namespace) -> int:
    """Check the arguments, then try, then write."""
    names = conformance.check_names(given.names or list(conformance.MODULES))
    pythons = interpreters(given.python)
    cases = conformance.cases(share=given.share)
    whole = set(names) == set(conformance.MODULES) and given.share == 1.0
    if given.again and given.share == 1.0 and given.out is None:
        for path in replaced(report(names, cases, pythons), len(cases)):
            print(f"written     {path}", file=sys.stderr)
        return 0
    if given.out is None and not whole:
        raise InvalidInput("a part of the trial does not replace the whole: name a folder by --out")
    folder = given.out or RESULTS
    check_writable(folder)
    for path in write(report(names, cases, pythons), len(cases), folder):
        print(f"written     {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
