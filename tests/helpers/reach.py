"""Which functions of the package each test of a room enters, and how long it takes.

The test files of a room are run once, in a child, and again those that have changed: this decides
the order in which tests are tried, and how long they may take, and no verdict. What a kernel holds,
or another process or thread runs, is not seen; what a cache holds, only by the first test.
"""

import cProfile
import hashlib
import json
import time
from typing import NamedTuple

import pytest

from tests.helpers.planting import ROOT, in_child

STORE = ROOT / "build" / "reach.json"
FAILED = -1.0
"""The seconds of a test that fails without a defect."""


class Reach(NamedTuple):
    """A test: its name, its seconds of processor time, what it enters as "module: function"."""

    name: str
    seconds: float
    entered: frozenset

    def enters(self, module):
        """Whether a function of a module is entered."""
        return any(each.startswith(f"{module}: ") for each in self.entered)


class _Tracing:
    """A plugin of pytest that notes what each test enters."""

    def __init__(self, package):
        self.package, self.tests = f"{package}/", {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        profile, before = cProfile.Profile(subcalls=False, builtins=False), time.process_time()
        profile.enable()
        try:
            return (yield)
        finally:
            profile.disable()
            seconds = time.process_time() - before
            codes = [each.code for each in profile.getstats() if not isinstance(each.code, str)]
            entered = {
                f"{code.co_filename.removeprefix(self.package)}: {code.co_qualname}"
                for code in codes
                if code.co_filename.startswith(self.package)
            }
            seen = self.tests.setdefault(item.nodeid, [seconds, sorted(entered)])
            seen[0] = min(seen[0], seconds)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.tests[report.nodeid] = [FAILED, []]


def _traced(folder, names):
    def run():
        tracing = _Tracing(folder / "simulator")
        pytest.main(
            ["-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", *names], plugins=[tracing]
        )
        return tracing.tests

    return in_child(run, folder)


def digest(path):
    """The digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def files_of(room, root=ROOT):
    """The test files of a room, from the root of the project."""
    return [path.relative_to(root).as_posix()
            for path in sorted((root / "tests" / room).rglob("test_*.py"))]  # fmt: skip


def reach(folder, room):
    """The tests of a room that pass without a defect, in a copy of the project."""
    known = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    now = {name: digest(folder / name) for name in files_of(room, folder)}
    if changed := [name for name in now if known.get(name, {}).get("digest") != now[name]]:
        tests = _traced(folder, changed)
        assert isinstance(tests, dict), f"{room}: {tests}"
        for name in changed:
            inside = {each: tests[each] for each in tests if each.partition("::")[0] == name}
            known[name] = {"digest": now[name], "tests": inside}
        STORE.parent.mkdir(exist_ok=True)
        STORE.write_text(json.dumps(known), encoding="utf-8")
    return [Reach(test, seconds, frozenset(entered))
            for name in now
            for test, (seconds, entered) in known[name]["tests"].items()
            if seconds != FAILED]  # fmt: skip
