"""The exact answers: how close, how fast, in how much memory."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from experiments.benchmarks.measure import Line, fresh
from simulator import PureDP
from simulator.analysis import estimation
from simulator.theory import Composition, bound

DELTAS = (1e-3, 1e-6, 1e-12, 1e-30)


def randomized_response() -> Iterator[Line]:
    """Largest relative error of epsilon(delta), against binomial sums of 60 digits."""
    from mpmath import mp, mpf

    mp.dps = 60
    worst, where = 0.0, {}
    for k in (10, 100, 1000, 10_000):
        exact = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(0.1), k))
        for delta in DELTAS:
            epsilon = exact.epsilon(delta).value
            error = float(_error(k, mpf(0.1), mpf(epsilon), mpf(delta)) / epsilon)
            if abs(error) >= worst:
                worst, where = abs(error), {"rounds": k, "delta": delta}
    yield Line(
        "randomized response, error of epsilon", worst, "relative", 1e-10, at_least=False,
        detail=where,
    )  # fmt: skip


def _error(k: int, epsilon0: Any, epsilon: Any, delta: Any) -> Any:
    """First order of epsilon - epsilon(delta): the miss in delta over the slope of the curve."""
    from mpmath import exp, mpf

    truth = 1 / (1 + exp(-epsilon0))
    mass, decrease = truth**k, exp(-epsilon0)  # of the truthful answers; one fewer each step
    total, slope = mpf(0), mpf(0)
    for lies in range(k + 1):
        loss = (k - 2 * lies) * epsilon0
        if loss <= epsilon:
            break
        total += mass * (1 - exp(epsilon - loss))
        slope -= mass * exp(epsilon - loss)
        mass *= decrease * (k - lies) / (lies + 1)
    return (total - delta) / slope if slope else mpf(0)


PROGRAM = """
import json, time
from experiments.benchmarks.measure import peak_megabytes
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.pld.distribution import compose_laws
start = time.process_time()
found = compose_laws({rounds}).epsilon({delta})
seconds = time.process_time() - start
print(json.dumps(dict(
    seconds=seconds, lower=found.lower, upper=found.upper, megabytes=peak_megabytes())))
"""


def composed(rounds: str, delta: float) -> dict[str, float]:
    """Compose the laws that ``rounds`` writes down, in a new process without caches."""
    return dict(fresh(PROGRAM.format(rounds=rounds, delta=delta)))


def laplace_composition() -> Iterator[Line]:
    """Bracket width, seconds and memory of Laplace noise over ten thousand rounds."""
    found = {f"{delta:g}": composed("[(LaplaceLaw(0.1), 10_000)]", delta) for delta in DELTAS}
    widths = [(f["upper"] - f["lower"]) / f["upper"] for f in found.values()]
    name = "Laplace, k = 10,000"
    yield Line(f"{name}: bracket", max(widths), "relative", 1e-6, at_least=False, detail=found)
    seconds = max(f["seconds"] for f in found.values())
    yield Line(f"{name}: time", seconds, "s", 3.0, at_least=False)
    megabytes = max(f["megabytes"] for f in found.values())
    yield Line(f"{name}: peak memory", megabytes, "MB", 1000.0, at_least=False)


def many_laplaces() -> Iterator[Line]:
    """Seconds to compose 200 rounds, with different epsilons."""
    rounds = "[(LaplaceLaw(0.05 + 0.001 * i), 1) for i in range(200)]"
    found = [composed(rounds, 1e-6) for _ in range(3)]
    seconds = statistics.median(each["seconds"] for each in found)
    yield Line(
        "200 distinct Laplace epsilons: time", seconds, "s", 3.0, at_least=False, detail=found[0]
    )


TRIALS, SAMPLES = 100_000, 12
"""Of each sample of losses whose intervals are measured, and how many there are."""


def interval_widths() -> Iterator[Line]:
    """Widths of the intervals of delta and epsilon over the normal ones, of Gaussian losses."""
    for target in (0.1, 1e-2, 1e-3):
        point = float(brentq(lambda e, t=target: gaussian_delta(e) - t, 0.0, 9.0))
        ratios = []
        for seed in range(SAMPLES):
            losses = np.random.default_rng(seed).normal(0.5, 1.0, TRIALS)
            values = np.maximum(-np.expm1(point - losses), 0.0)
            normal = 2.0 * norm.isf(0.025) * values.std() / math.sqrt(TRIALS)
            slope = math.exp(point) * norm.cdf(-0.5 - point)
            found = estimation.delta(losses, point), estimation.epsilon(losses, target)
            widths = [each.upper - each.lower for each in found]
            ratios.append((widths[0] / normal, widths[1] / (normal / slope)))
        for name, ratio in zip(("delta", "epsilon"), np.mean(ratios, axis=0).tolist()):
            yield Line(
                f"interval of {name}, delta = {target:g}: width", ratio, "x normal", 1.1,
                at_least=False,
            )  # fmt: skip


def gaussian_delta(epsilon: float) -> float:
    """Balle and Wang (ICML 2018), Theorem 8, at a ratio of shift to deviation of 1."""
    return float(norm.cdf(0.5 - epsilon) - math.exp(epsilon) * norm.cdf(-0.5 - epsilon))


BENCHMARKS = (randomized_response, laplace_composition, many_laplaces, interval_widths)
