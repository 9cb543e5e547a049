"""A copy of the project with a defect in it, and its tests in a process forked from this one.

The libraries that the tests import are loaded once, here; the project's own modules are loaded anew
in each child. A child ends after a number of seconds, with all that it has started.
"""

import contextlib
import gc
import itertools
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import hypothesis
import numba  # noqa: F401
import pytest
import scipy.stats  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("simulator", "tests", "experiments", "results", "pyproject.toml", "README.md",
          "CONTRIBUTING.md", "Makefile")  # fmt: skip
OURS = ("simulator", "tests")
LONGEST = 900
"""Seconds after which a run is stopped; a defect that lets tests hang is caught."""
WAITS = 4
"""How many times as long a run may take on the clock as on the processor: others use it too."""
HANGS, ENDS = "a run without an end", "a process that ended"
MEMORY = 12 << 30
"""Bytes of address space of a child: a defect may fill a table without end."""

_TIMES = itertools.count(1_000_000_000)


@contextlib.contextmanager
def copied():
    """A copy of what the tests read, in a temporary folder.

    A process that is terminated removes it, and ends its children.
    """
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for each in COPIED:
            copy = shutil.copytree if (ROOT / each).is_dir() else shutil.copy2
            copy(ROOT / each, folder / each)
        sys.dont_write_bytecode = False  # the copy's rewritten tests serve all runs
        yield folder


@contextlib.contextmanager
def planted(path, text):
    """A file with another text, then with its own again.

    Each text has a time of its own: Python compiles a file anew only if its second or its length
    has changed, and two defects of one length may be planted within a second.
    """
    right = path.read_text(encoding="utf-8")
    try:
        for each in (text, right):
            path.write_text(each, encoding="utf-8")
            moment = next(_TIMES)
            os.utime(path, (moment, moment))
            if each is text:
                yield
    finally:
        path.write_text(right, encoding="utf-8")


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


class InOrder:
    """A plugin of pytest that runs the named tests in the order of their names, and no others.

    Examples that fail are not made smaller: nobody reads them.
    """

    def __init__(self, names):
        self.place = {name: place for place, name in enumerate(names)}

    def pytest_collection(self):
        usual = hypothesis.settings.default
        phases = [each for each in usual.phases if each.name in ("explicit", "generate")]
        hypothesis.settings.register_profile("in order", parent=usual, phases=phases)
        hypothesis.settings.load_profile("in order")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = [each for each in items if each.nodeid in self.place]
        items.sort(key=lambda each: self.place[each.nodeid])


def in_child(work, folder, seconds=LONGEST, kernels=None):
    """What ``work`` returns in a forked process, as JSON has it; HANGS or ENDS where it does not.

    ``kernels`` is the folder of compiled kernels that the child uses; that of ``folder`` if None.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        gc.freeze()  # what is loaded stays
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.chdir(folder)
        with open(os.devnull, "r+") as nowhere:
            for stream in range(3):
                os.dup2(nowhere.fileno(), stream)
        for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
            del sys.modules[name]
        sys.path[:] = [str(folder), *(each for each in sys.path if Path(each or ".") != ROOT)]
        os.environ |= {"PYTHONPATH": str(folder)}
        os.environ |= {"DPCOMPOSE_CACHE": str(kernels or folder / "build" / "kernels")}
        with open(writing, "w") as pipe:
            pipe.write(json.dumps(work()) + "\n")
        os._exit(0)
    os.close(writing)
    text, last = b"", time.monotonic() + WAITS * seconds
    try:
        while not text.endswith(b"\n"):  # what the child has started may hold the pipe open
            ready, _, _ = select.select([reading], [], [], max(last - time.monotonic(), 0))
            if not ready or not (more := os.read(reading, 1 << 20)):
                break
            text += more
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    if text.endswith(b"\n"):
        return json.loads(text)
    stopped = not ready or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU)
    return HANGS if stopped else ENDS


def first_failure(folder, tests, deselected=(), **limits):
    """The first of some tests that fails in a copy of the project, or None.

    ``tests`` are files and folders, or a list of the names of tests, which run in this order.
    """
    named = [each for each in tests if "::" in each]
    files = list(dict.fromkeys(each.partition("::")[0] for each in tests))

    def run():
        failures = Failures()
        options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no"]
        options += [f"--{'deselect' if '::' in name else 'ignore'}={name}" for name in deselected]
        plugins = [failures, InOrder(named)] if named else [failures]
        code = pytest.main([*options, *(files if named else tests)], plugins=plugins)
        return [int(code), failures.names[:1]]

    found = in_child(run, folder, **limits)
    if found in (HANGS, ENDS):
        return found
    code, names = found
    return names[0] if names else (None if code in (0, 5) else f"pytest's exit code {code}")
