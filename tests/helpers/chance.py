"""Draw 500 small changes of the core by chance, plant each, and count those that tests catch.

``python -m tests.helpers.chance [NUMBER] [ROOM ...]`` writes results/mutants_by_chance.md and
.json; with rooms only their mutants are tried. The changes are those of
:mod:`tests.helpers.mutants`, drawn from all sites of the core. Each is tried on the tests of its
room alone: first those that enter the changed function, the quickest first, then those of files
that name it, then those that enter its module, then the others, until the next would pass a minute.
What is found is stored at once, so a run that was killed goes on; a mutant is tried again when its
module has changed, the file of the test that caught it, or, of a survivor, any test of its room.

A mutant is caught by a test that fails with it, and passes without it when run alone. It is caught
too where the tests do not end in their time, or their process dies, and without the mutant they end
in half of the time. A survivor is tried once more with an empty folder of compiled kernels, so that
no kernel of the unchanged code stands in for the changed one.

mutmut and cosmic-ray do not serve: mutmut moves each function behind a switch, and adversaries and
kernels are read from the source of a function; cosmic-ray starts a new process for each mutant,
which takes longer than most trials here. Both draw in the order of the files.
"""

import contextlib
import hashlib
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path

from simulator.runner.store.provenance import provenance
from tests.helpers.equivalents import EQUIVALENT
from tests.helpers.mutants import drawn, mutants
from tests.helpers.planting import ENDS, HANGS, ROOT, copied, first_failure, planted
from tests.helpers.reach import digest, files_of, reach
from tests.helpers.rooms import ROOMS

PAGE, STORE = (ROOT / "results" / f"mutants_by_chance.{kind}" for kind in ("md", "json"))
COUNT, SEED = 500, 1
FIRST, REACHED, WIDE = 2.0, 6.0, 40.0
"""Seconds of the tests that are run first, of all that reach the change, and of all of a room."""
FILE = 0.15
"""Seconds that it takes to collect the tests of a file."""
LONGEST = 60
"""Seconds of processor time after which tests are stopped."""
PACKAGE = ROOT / "simulator"


def sites():
    """The mutants of all sites of the core."""
    found = []
    for room in ROOMS:
        for path in sorted((PACKAGE / room.name).rglob("*.py")):
            module = path.relative_to(PACKAGE).as_posix()
            found += mutants(path.read_text(encoding="utf-8"), module, SEED)
    return found


@cache
def digest_of_tests(room, root=ROOT):
    """The digest of all test files of a room."""
    parts = [name + digest(root / name) for name in files_of(room, root)]
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]


def names_it(file, mutant, root):
    """Whether a test file is that of the mutant's module, or names its function or class.

    What is called while tests are collected, no test is seen to enter.
    """
    outermost = mutant.function.partition(".")[0]
    path = root / file
    return Path(mutant.module).stem in path.stem or (
        len(outermost) > 4 and path.exists() and outermost in path.read_text(encoding="utf-8")
    )


def ordered(mutant, tests, root=ROOT):
    """Tests in the order in which they are tried on a mutant, and how many of them reach it."""
    inside = f"{mutant.module}: {mutant.function}"
    files = {each.name.partition("::")[0] for each in tests}
    named = {file for file in files if names_it(file, mutant, root)}
    ranks = {}
    for each in tests:
        if not mutant.imported and inside in each.entered:
            ranks[each] = 0
        elif each.name.partition("::")[0] in named:
            ranks[each] = 1
        else:
            ranks[each] = 2 if each.enters(mutant.module) else 3
    found = sorted(tests, key=lambda each: (ranks[each], each.seconds))
    return found, sum(rank < 3 for rank in ranks.values())


def until(tests, seconds):
    """The first tests that take so many seconds together, with their files; one at least."""
    spent, files = 0.0, set()
    for place, each in enumerate(tests):
        files.add(each.name.partition("::")[0])
        spent += each.seconds
        if spent + FILE * len(files) > seconds:
            return tests[: max(place, 1)]
    return tests


class Judge:
    """Tries mutants in a copy of the project, on the tests of a room."""

    def __init__(self, folder):
        self.folder = folder
        self.tests = cache(lambda room: reach(folder, room))
        self.passes = cache(lambda name: first_failure(folder, [name]) is None)

    def _failure(self, tests, cold, seconds):
        """The first failure of some tests, which use a copy of the stored kernels, or none."""
        with tempfile.TemporaryDirectory() as name:
            kernels = Path(name).resolve() / "kernels"
            if not cold:
                with contextlib.suppress(FileNotFoundError):
                    shutil.copytree(self.folder / "build" / "kernels", kernels)
            return first_failure(
                self.folder, [each.name for each in tests], seconds=seconds, kernels=kernels
            )

    def _caught(self, mutant, tests, cold):
        """What catches a mutant among some tests, or None."""
        path = self.folder / "simulator" / mutant.module
        text = mutant.planted_in(path.read_text(encoding="utf-8"))
        tests = list(tests)
        while tests:
            seconds = LONGEST
            if not cold:
                seconds = min(15 + 2 * sum(each.seconds for each in tests), LONGEST)
            with planted(path, text):
                found = self._failure(tests, cold, seconds)
            if found is not None and "::" not in found:
                return found if self._failure(tests, cold, seconds / 2) is None else None
            if found is None or self.passes(found):
                return found
            tests = [each for each in tests if each.name != found]
        return None

    def trial(self, mutant, wide):
        """What catches a mutant, or None, and how many tests were tried at most."""
        tests, near = ordered(mutant, self.tests(mutant.module.partition("/")[0]), self.folder)
        if wide:
            tried = until(tests, WIDE)
            return self._caught(mutant, tried, cold=True), len(tried)
        reached = until(tests[:near], REACHED)
        first = until(reached, FIRST)
        found = self._caught(mutant, first, cold=False)
        if found is None and len(reached) > len(first):
            found = self._caught(mutant, reached[len(first) :], cold=False)
        return found, len(reached)


def stored():
    """What was found earlier of mutants whose module is as it was: {label: what was found of it}.

    A verdict stands until the mutant is tried again, because tests have changed.
    """
    if not STORE.exists():
        return {}
    found = json.loads(STORE.read_text(encoding="utf-8"))["mutants"]
    return {
        label: each for label, each in found.items() if each["made from"][0] == made_from(each)[0]
    }


def made_from(found, root=ROOT):
    """The digests of the module of a mutant, and of the tests of which its verdict is."""
    module, room = root / "simulator" / found["module"], found["module"].partition("/")[0]
    file = root / (found["caught by"] or "").partition("::")[0]
    tests = digest(file) if file.is_file() else digest_of_tests(room, root)
    return [digest(module) if module.exists() else None, tests]


def percent(part, whole):
    """A share in words."""
    return f"{part} of {whole} ({part / max(whole, 1):.1%})"


def cells(*texts):
    """A row of a table in Markdown."""
    return "| " + " | ".join(str(each).replace("|", "\\|") for each in texts) + " |"


def counts(found, name, key):
    """A table of how many mutants are caught, by what they have in common."""
    tried, caught, argued = Counter(), Counter(), Counter()
    for label, each in found.items():
        tried[key(each)] += 1
        caught[key(each)] += each["caught by"] is not None
        argued[key(each)] += each["caught by"] is None and label in EQUIVALENT
    rows = [cells(name, "tried", "caught", "equivalent", "survivors"), "|---|---|---|---|---|"]
    for each in sorted(tried, key=lambda each: -tried[each]):
        rest = tried[each] - caught[each] - argued[each]
        rows.append(cells(each, tried[each], caught[each], argued[each], rest))
    return rows


def page(found, chosen, of, made):
    """The page of results, in Markdown."""
    found = {m.label: found[m.label] | {"mutant": m} for m in chosen if m.label in found}
    lost = {label: each for label, each in found.items() if each["caught by"] is None}
    argued = {label: each for label, each in lost.items() if label in EQUIVALENT}
    caught = len(found) - len(lost)
    old = sum(each["made from"] != made_from(each)
              for label, each in found.items() if label not in argued)  # fmt: skip
    hangs = sum(each["caught by"] in (HANGS, ENDS) for each in found.values())
    lines = [
        "# Mutants by chance",
        "",
        f"Made at {str(made['revision'])[:8]}, on {made['time'][:10]}, "
        f"in {sum(each['seconds'] for each in found.values()) / 60:.0f} minutes by the clock.",
        "",
        f"Of {of:,} places of the core where code can be changed {len(chosen)} were drawn with "
        f"seed {SEED} and {len(found)} tried. The tests of their room catch "
        f"{percent(caught, len(found))}, {hangs} because a process did not end or died; "
        f"{old} are to be tried again, as tests have changed since. "
        f"{len(argued)} are equivalent by the arguments below: without them "
        f"{percent(caught, len(found) - len(argued))} are caught, and with them counted as caught "
        f"{percent(caught + len(argued), len(found))}. `make mutants-by-chance` writes this page; "
        "how sites are drawn is in `tests/helpers/mutants.py`, and when one is caught in "
        "`tests/helpers/chance.py`.",
        "",
        *counts(found, "room", lambda each: each["module"].partition("/")[0]),
        "",
        *counts(found, "change", lambda each: each["mutant"].kind),
        "",
        "## Survivors",
        "",
        cells("line", "function", "change", "tests tried"),
        "|---|---|---|---|",
    ]
    for label in sorted(lost.keys() - argued.keys()):
        mutant = lost[label]["mutant"]
        tried = f"{lost[label]['tried']}{'' if lost[label]['wide'] else ' that reach it'}"
        lines.append(cells(f"`{mutant.module}:{mutant.line}`", f"`{mutant.function or 'module'}`",
                           f"`` {mutant.change} ``", tried))  # fmt: skip
    lines += ["", "## Equivalent", "", cells("line", "function", "change", "why nothing can tell")]
    lines.append("|---|---|---|---|")
    for label in sorted(argued):
        mutant = argued[label]["mutant"]
        lines.append(cells(f"`{mutant.module}:{mutant.line}`", f"`{mutant.function or 'module'}`",
                           f"`` {mutant.change} ``", EQUIVALENT[label]))  # fmt: skip
    return "\n".join(lines) + "\n"


def main(words):
    """Try what is not stored, print and write; the exit code is 1 if more than a tenth survives."""
    every = sites()
    numbers = [int(each) for each in words if each.isdigit()]
    chosen = drawn(every, *(numbers or [COUNT]), SEED)
    rooms = set(words) - set(map(str, numbers)) or {room.name for room in ROOMS}
    now = [each for each in chosen if each.module.partition("/")[0] in rooms]
    for label in sorted(EQUIVALENT.keys() - {each.label for each in chosen}):
        print(f"argued, and not drawn: {label}", flush=True)
    made, found = provenance(), stored()

    def keep(mutant, wide):
        start = time.monotonic()
        caught, tried = judge.trial(mutant, wide)
        spent = time.monotonic() - start
        each = {"module": mutant.module, "caught by": caught, "tried": tried, "wide": wide}
        found[mutant.label] = each | {
            "seconds": round(spent, 1),
            "made from": made_from(each, folder),
        }
        write()
        print(f"{caught or 'SURVIVED'}: {mutant.module}:{mutant.line}: {mutant.label}", flush=True)

    def write():
        tried = {each.label: found[each.label] for each in chosen if each.label in found}
        text = json.dumps({"provenance": made, "mutants": tried}, indent=1, ensure_ascii=False)
        STORE.write_text(text + "\n", encoding="utf-8")
        PAGE.write_text(page(found, chosen, len(every), made), encoding="utf-8")

    with copied() as folder:
        judge = Judge(folder)
        for mutant in now:
            each = found.get(mutant.label)
            argued = mutant.label in EQUIVALENT
            if each is None or (each["made from"] != made_from(each, folder) and not argued):
                keep(mutant, wide=False)
        for mutant in now:
            each = found[mutant.label]
            if each["caught by"] is None and not each["wide"] and mutant.label not in EQUIVALENT:
                keep(mutant, wide=True)
    write()
    lost = [m for m in now if found[m.label]["caught by"] is None and m.label not in EQUIVALENT]
    print(f"{len(lost)} of {len(now)} survive")
    return len(lost) > len(now) / 10


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
