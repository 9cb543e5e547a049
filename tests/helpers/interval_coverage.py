"""Counting how often intervals miss, and the largest count that chance explains."""

from collections.abc import Callable, Iterable

import numpy as np
from scipy.stats import binom

FALSE_ALARM = 1e-6
"""Probability that one coverage test fails although the interval keeps its promise."""


def misses(intervals: Iterable[tuple[float, float]], truth: float) -> tuple[int, int]:
    """Number of intervals that miss the truth, and number of intervals."""
    outcomes = [not lower <= truth <= upper for lower, upper in intervals]
    return sum(outcomes), len(outcomes)


def allowed_misses(repetitions: int, rate: float) -> int:
    """Largest count not exceeded, but with probability FALSE_ALARM, at the given miss rate."""
    return int(binom.isf(FALSE_ALARM, repetitions, rate))


def assert_covers(
    interval: Callable[[np.random.Generator], tuple[float, float]],
    truth: float,
    rate: float,
    repetitions: int = 500,
    seed: int = 20_240_601,
) -> None:
    """Fail when more repetitions miss than ``rate`` explains; generators are spawned from seed."""
    streams = np.random.default_rng(seed).spawn(repetitions)
    missed, total = misses((interval(stream) for stream in streams), truth)
    allowed = allowed_misses(total, rate)
    assert missed <= allowed, f"{missed} of {total} intervals miss {truth}; {allowed} allowed"
