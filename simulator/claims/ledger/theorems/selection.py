"""Private selection: the worst runs for the best of several, against the published bounds."""

from __future__ import annotations

import math

import numpy as np

from simulator.claims.findings import upper_bound
from simulator.claims.model import Finding
from simulator.mechanisms.best_of import best_of_law
from simulator.theory.events import promise, select
from simulator.theory.guarantees.families import PureDP
from simulator.theory.guarantees.run_counts import (
    FixedRuns,
    NegativeBinomialRuns,
    PoissonRuns,
    RunCount,
)
from simulator.worst.score_orders import renyi_terms, worst_order


def largest_loss(runs: RunCount, epsilon: float, slices: int = 2000) -> float:
    """The largest loss of the best run, of randomized response whose truth scores low in slices."""
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    fine = np.full(slices, 1.0 / slices)
    on_0 = best_of_law([*truth * fine, 1.0 - truth], range(slices + 1), runs)
    on_1 = best_of_law([*(1.0 - truth) * fine, truth], range(slices + 1), runs)
    return float(np.log(on_0 / on_1).max())


def pure_selection(
    *, epsilon: float = 0.5, mean: float = 1000.0, shape: float = 1.0, share: float = 1.0
) -> Finding:
    """The worst runs for the largest loss, where the number of runs is random."""
    return upper_bound(
        largest_loss(NegativeBinomialRuns.of_mean(mean, shape), epsilon),
        share * (2.0 + shape) * epsilon,
        f"largest loss of the best of {mean:g} runs in the mean",
        note="randomized response, whose true answer scores low in 2000 slices",
    )


def fixed_selection(*, epsilon: float = 0.5, number: int = 10, share: float = 1.0) -> Finding:
    """The worst runs for the largest loss, where the number of runs is fixed."""
    return upper_bound(
        largest_loss(FixedRuns(number), epsilon),
        share * number * epsilon,
        f"largest loss of the best of {number} runs",
    )


def renyi_selection(
    *,
    epsilon: float = 0.5,
    mean: float = 10.0,
    shape: float = 1.0,
    order: float = 4.0,
    share: float = 1.0,
) -> Finding:
    """The worst order of scores for the Renyi divergence; Poisson for an infinite shape."""
    poisson = math.isinf(shape)
    runs = PoissonRuns(mean) if poisson else NegativeBinomialRuns.of_mean(mean, shape)
    found = worst_order(epsilon, runs, renyi_terms(order))
    event = select(promise(PureDP(epsilon)), mean, shape)
    (part,) = event.resolved("add-remove")
    return upper_bound(
        math.log(found.value) / (order - 1.0),
        share * part.guarantees[-1].renyi(order),
        f"Renyi divergence of order {order:g} of the best of {mean:g} runs in the mean",
        note="the worst of all orders of 40 slices of each answer of randomized response",
    )


def poisson_selection(
    *, epsilon: float = 0.5, mean: float = 10.0, order: float = 4.0, share: float = 1.0
) -> Finding:
    """As :func:`renyi_selection`, for a Poisson number of runs."""
    return renyi_selection(epsilon=epsilon, mean=mean, shape=math.inf, order=order, share=share)
