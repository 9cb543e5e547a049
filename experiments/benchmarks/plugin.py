"""What the pytest plugin costs a session that does not use it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from experiments.benchmarks.measure import Line, fresh

LOADING = """
import sys, time
import pytest
start = time.perf_counter()
import simulator.auditing.pytest_plugin
seconds = time.perf_counter() - start
assert "numpy" not in sys.modules
print(1000.0 * seconds)
"""


def loading() -> Iterator[Line]:
    """Milliseconds to import the plugin in a new process that has pytest already."""
    times = [float(fresh(LOADING)) for _ in range(7)]
    yield Line(
        "pytest plugin, unused", statistics.median(times), "ms to load", 50.0, at_least=False
    )


BENCHMARKS = (loading,)
