"""Plant the defects of ``tests.helpers.defects`` one at a time and count those that tests catch.

``python -m tests.helpers.mutations [--check] [--new] [TEXT ...]`` plants them in a temporary copy
of the project, runs the tests named beside each until one fails, and writes results/mutations.md.
With TEXT only those whose module or reason contains one of the texts are planted, with ``--new``
those of which nothing is stored. ``--check`` plants none and says which texts do not stand alone.

A defect is caught if a test fails that passes without it. Each run is a process of its own, see
:mod:`tests.helpers.planting`.
"""

import json
import sys
from collections import Counter

from simulator.runner.store.provenance import provenance
from tests.helpers.defects import DEFECTS
from tests.helpers.planting import ROOT, copied, first_failure, planted

PAGE, STORE = ROOT / "results" / "mutations.md", ROOT / "results" / "mutations.json"
MOST_BROKEN = 5
"""Tests that fail without a defect too, after which one is given up."""


def place(defect, root=ROOT):
    """The file in which a defect's text stands once, or None."""
    package = root / "simulator"
    for path in (package / defect.module, *sorted(package.rglob("*.py"))):
        if path.exists() and path.read_text(encoding="utf-8").count(defect.old) == 1:
            return path
    return None


def catcher(defect, folder):
    """The test that fails for a defect and passes without it, or None."""
    path = place(defect, folder)
    assert path is not None, f"the text of {defect.module}, {defect.why!r}, does not stand alone"
    right = path.read_text(encoding="utf-8")
    broken = []
    tests = [f"tests/{name}" for name in defect.tests.split()]
    while len(broken) < MOST_BROKEN:
        with planted(path, right.replace(defect.old, defect.new)):
            found = first_failure(folder, tests, broken)
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
    """Plant, print and write; the exit code is 1 if a defect survives."""
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
    with copied() as folder:
        for defect in chosen:
            caught[defect] = catcher(defect, folder)
            keep(defect, caught[defect], made)
            print(f"{caught[defect] or 'SURVIVED'}: {defect.module}: {defect.why}", flush=True)
    counts = Counter(test is not None for test in caught.values())
    print(f"{counts[True]} of {len(caught)} caught")
    return counts[False] > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
