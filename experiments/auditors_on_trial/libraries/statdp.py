"""StatDP, and its fork PyStatDP: a test of an epsilon, by an event that other scores select."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from experiments.auditors_on_trial.games import Scores
from experiments.auditors_on_trial.inverting import largest_rejected
from experiments.auditors_on_trial.subjects import AuditorUnderTest

PACKAGES = ("statdp", "pystatdp")
"""The first is in no registry: a checkout of its public repository can be on the path."""


class OneProcess:
    """What both functions use of a pool of processes; a second process would draw the same noise.

    A mechanism that draws from ``numpy.random`` has one state of it, which each process inherits.
    """

    _processes = 1

    def imap_unordered(self, call: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Results in order."""
        return map(call, items)


def _rejects(package: str, scores: Scores, epsilon: float, level: float) -> bool:
    """Whether the p-value is below the level: half of the scores select, the others test."""
    select = import_module(f"{package}.selectors").select_event
    test = import_module(f"{package}.hypotest").hypothesis_test
    left = [iter(scores.outside), iter(scores.inside)]
    with_generator = package == "statdp"

    def algorithm(*arguments: Any) -> Any:
        return np.float64(next(left[arguments[1 if with_generator else 0]]))

    size = min(map(len, scores)) // 2 - 1  # each function makes one draw more
    pool = OneProcess()
    pair = select(algorithm, ((0, 1, {}),), epsilon, size, pool, quiet=True)
    p = test(algorithm, *pair, epsilon, size, pool, report_p2=False)
    return bool(p < level)


def _auditor(package: str) -> AuditorUnderTest:
    def bound(scores: Scores, level: float, delta: float, seed: int) -> float:
        np.random.seed(seed)  # noqa: NPY002  of its p-values, outside of compiled code
        return largest_rejected(lambda epsilon: _rejects(package, scores, epsilon, level))

    return AuditorUnderTest(
        name=f"{package}: select_event, hypothesis_test",
        runs=("many runs",),
        bound=bound,
        claims="the p-value of the hypothesis that the mechanism keeps a pure epsilon; the bound "
        "is the largest of 0, 0.1, ... up to which all are rejected",
        remark="the side of the event with more hits is taken for the first one after both are "
        "counted, which doubles the level at epsilon = 0; the draws of the test are random too",
        imports=f"from {package}.hypotest import test_statistics",
        code="a, b = np.sum(inside[500:] < np.median(outside)), np.sum(outside[500:] < "
        "np.median(outside))\np = test_statistics(max(a, b), min(a, b), 0.0, 500)\n"
        "bound = 1e-4 if p < {level} else 0.0",
        pure=True,
        share=0.5,
    )


def auditors() -> list[AuditorUnderTest]:
    """Those of the two that are installed; ImportError without any."""
    found = []
    for package in PACKAGES:
        try:
            import_module(f"{package}.hypotest")
        except ImportError:
            continue
        found.append(_auditor(package))
    if not found:
        raise ImportError("neither statdp nor pystatdp")
    return found
