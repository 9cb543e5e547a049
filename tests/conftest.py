"""How many examples hypothesis tries, and whether it tries new ones.

By day the examples of a test are a function of its code, so that a commit passes or fails on every
machine alike. ``make nightly`` tries a hundred times as many, others each time; those that fail are
kept in ``.hypothesis`` and tried first the next time.

A shell that starts the tests in the background makes them ignore Ctrl-C, and with them the commands
that they run: the default is put back.
"""

import gc
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

import simulator
from simulator.engine.compiled import worth

settings.register_profile("daily", max_examples=20, derandomize=True, deadline=None, database=None)
settings.register_profile(
    "nightly",
    max_examples=2000,
    derandomize=False,
    deadline=None,
    database=DirectoryBasedExampleDatabase(".hypothesis/examples"),
    print_blob=True,
)
settings.load_profile("daily")

# a worker holds millions of objects that stay, and numba and the parser make many that do not:
# looks for garbage at the usual pace take a fifth of the time
gc.set_threshold(50_000, 20, 20)

# the processes of parallel tests share the cores: threads of a product of matrices would wait there
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# kernels are compiled once for all tests, and not into the folder of who runs them
os.environ.setdefault("DPCOMPOSE_CACHE", str(Path(__file__).parents[1] / "build" / "kernels"))


@pytest.fixture
def compiles(monkeypatch):
    """Games of every size are worth a compiled kernel."""
    for name in ("WORTH_COMPILING", "WORTH_A_LOOK"):
        monkeypatch.setattr(worth, name, 0)


@pytest.fixture
def few_draws(monkeypatch):
    """Declared likelihoods are tested with 8,192 draws of each database, and not with 262,144."""
    monkeypatch.setattr("simulator.auditing.declared.examining.MOST_DRAWS", 1 << 13)


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """Refuse to test a package that was installed from another place."""
    found, here = Path(simulator.__file__).parents[1], Path(__file__).parents[1]
    if found.resolve() != here.resolve():
        raise pytest.UsageError(
            f"simulator is imported from {found}, its tests are in {here}; "
            "run: python -m pip install --editable ."
        )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave all but the first cases of a test marked ``sampled`` to ``make nightly``."""
    seen = Counter()
    for item in items:
        if mark := item.get_closest_marker("sampled"):
            function = item.nodeid.partition("[")[0]
            seen[function] += 1
            if seen[function] > mark.kwargs.get("n", 1):
                item.add_marker("nightly")


def pytest_terminal_summary(terminalreporter):
    """Print what was skipped, and why: one line for the tests of a file."""
    found = {}
    for report in terminalreporter.stats.get("skipped", ()):
        _, _, reason = report.longrepr
        reasons = found.setdefault(report.nodeid.partition("::")[0], Counter())
        reasons[reason.removeprefix("Skipped: ")] += 1
    if found:
        terminalreporter.write_sep("-", "skipped")
    for path, reasons in sorted(found.items()):
        first = min(reasons)
        more = f", and {len(reasons) - 1} more reasons" * (len(reasons) > 1)
        terminalreporter.write_line(f"{reasons.total():3}  {path}: {first}{more}")


def pytest_collection_finish():
    """Leave what was imported and collected out of every later look for garbage."""
    gc.collect()
    gc.freeze()
