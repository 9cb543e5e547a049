"""Plant the defects of ``tests.helpers.defects`` one at a time and count those that tests catch.

``python -m tests.helpers.mutations [--check] [--new] [TEXT ...]`` plants them in a temporary copy
of the project, runs the tests named beside each until one fails, and writes results/mutations.md.
With TEXT only those whose module or reason contains one of the texts are planted, with ``--new``
those of which nothing is stored. ``--check`` plants none and says which texts do not stand alone.

A defect is caught if a test fails that passes without it. Each run is a process forked from this
one: the libraries that the tests import are loaded, the project's own modules are loaded anew.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

import hypothesis  # noqa: F401
import numba  # noqa: F401
import pytest
import scipy.stats  # noqa: F401

from simulator.runner.store.provenance import provenance
from tests.helpers.defects import DEFECTS

ROOT = Path(__file__).resolve().parents[2]
PAGE, STORE = ROOT / "results" / "mutations.md", ROOT / "results" / "mutations.json"
COPIED = ("simulator", "tests", "experiments", "results", "pyproject.toml", "README.md",
          "CONTRIBUTING.md", "Makefile")  # fmt: skip
LONGEST = 900
"""Seconds after which a run is stopped; a defect that lets tests hang is caught."""
OURS = ("simulator", "tests")
MOST_BROKEN = 5
"""Tests that fail without a defect too, after which one is given up."""


def place(defect, root=ROOT):
    """The file in which a defect's text stands once, or None."""
    package = root / "simulator"
    for path in (package / defect.module, *sorted(package.rglob("*.py"))):
        if path.exists() and path.read_text(encoding="utf-8").count(defect.old) == 1:
            return path
    return None


class Failures:
    """A plugin of pytest that notes which tests failed, or files that could not be collected."""

    def __init__(self):
        self.names = []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.names.append(report.nodeid)

    def pytest_collectreport(self, report):
        if report.failed:
            self.names.append(report.nodeid)


def first_failure(folder, tests, deselected=()):
    """The first of some tests that fails in a copy of the project, or None."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(LONGEST)
        os.chdir(folder)
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
            del sys.modules[name]
        sys.path[:] = [str(folder), *(each for each in sys.path if Path(each or ".") != ROOT)]
        os.environ["PYTHONPATH"] = str(folder)
        failures = Failures()
        options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        options += [f"--{'deselect' if '::' in name else 'ignore'}={name}" for name in deselected]
        code = pytest.main([*options, *tests], plugins=[failures])
        with open(writing, "w") as pipe:
            json.dump([int(code), failures.names[:1]], pipe)
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    if not text:
        return "a run without an end"
    code, names = json.loads(text)
    return names[0] if names else (None if code in (0, 5) else f"pytest's exit code {code}")


def catcher(defect, folder):
    """The test that fails for a defect and passes without it, or None."""
    path = place(defect, folder)
    assert path is not None, f"the text of {defect.module}, {defect.why!r}, does not stand alone"
    right = path.read_text(encoding="utf-8")
    broken = []
    tests = [f"tests/{name}" for name in defect.tests.split()]
    while len(broken) < MOST_BROKEN:
        path.write_text(right.replace(defect.old, defect.new), encoding="utf-8")
        try:
            found = first_failure(folder, tests, broken)
        finally:
            path.write_text(right, encoding="utf-8")
        if found is None or "/" not in found or first_failure(folder, [found]) is None:
            return found
        broken.append(found)
    return None


def stored():
    """{what a defect is: what was found of it} of earlier runs, where the defect is the same."""
    found = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    return {key: found[key] for key in map(label, DEFECTS) if key in found}


def label(defect):
    """What a defect is, in one line."""
    return f"{defect.module}: {defect.old!r} -> {defect.new!r}"


def page(found):
    """The page of results, in Markdown."""
    caught = sum(found[label(d)]["caught by"] is not None for d in DEFECTS if label(d) in found)
    lines = [
        "# Planted defects",
        "",
        f"Of {len(DEFECTS)} defects planted one at a time {len(found)} were tried and {caught} are "
        "caught by a test of their room. `make mutants` writes this file; the defects are in "
        "`tests/helpers/defects.py`, the provenance of each trial in `mutations.json`.",
        "",
        "| module | defect | caught by | revision |",
        "|---|---|---|---|",
    ]
    for defect in DEFECTS:
        if (tried := found.get(label(defect))) is not None:
            test = tried["caught by"]
            name = f"`{test.removeprefix('tests/').partition('[')[0]}`" if test else "**nothing**"
            revision = str(tried["provenance"]["revision"])[:8]
            lines.append(f"| {defect.module} | {defect.why} | {name} | {revision} |")
    return "\n".join(lines) + "\n"


def keep(defect, test, made):
    """Write what was found of a defect into the store and the page."""
    found = stored() | {label(defect): {"caught by": test, "provenance": made}}
    STORE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(found), encoding="utf-8")


def main(words):
    """Plant, print and write; the exit code is 1 if more than three defects survive."""
    lost = [defect for defect in DEFECTS if place(defect) is None]
    for defect in lost:
        print(f"stands nowhere alone: {defect.module}: {defect.old!r}", flush=True)
    gone = {
        name for d in DEFECTS for name in d.tests.split() if not (ROOT / "tests" / name).exists()
    }
    print(*(f"is not there: tests/{name}" for name in sorted(gone)), sep="\n", end="")
    if "--check" in words or lost or gone:
        return bool(lost or gone)
    chosen = [d for d in DEFECTS if not words or any(w in d.module + d.why for w in words)]
    if "--new" in words:
        chosen = [d for d in DEFECTS if label(d) not in stored()]
    made, caught = provenance(), {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for each in COPIED:
            copy = shutil.copytree if (ROOT / each).is_dir() else shutil.copy2
            copy(ROOT / each, folder / each)
        sys.dont_write_bytecode = False  # the copy's rewritten tests serve all runs
        for defect in chosen:
            caught[defect] = catcher(defect, folder)
            keep(defect, caught[defect], made)
            print(f"{caught[defect] or 'SURVIVED'}: {defect.module}: {defect.why}", flush=True)
    counts = Counter(test is not None for test in caught.values())
    print(f"{counts[True]} of {len(caught)} caught")
    return counts[False] > 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
