"""Private selection: the worst runs for the best of several, against the published bounds."""

from __future__ import annotations

import math

from simulator.teaching.claims.findings import upper_bound
from simulator.teaching.claims.model import Finding
from simulator.theory.events import promise, select
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.run_counts import (
    FixedRuns,
    NegativeBinomialRuns,
    PoissonRuns,
)
from simulator.worst.score_orders import largest_loss, renyi_terms, worst_order


def pure_selection(
    *, epsilon: float = 0.5, mean: float = 1000.0, shape: float = 1.0, share: float = 1.0
) -> Finding:
    """The worst runs for the largest loss, where the number of runs is random."""
    return upper_bound(
        largest_loss(epsilon, NegativeBinomialRuns.of_mean(mean, shape)),
        share * (2.0 + shape) * epsilon,
        f"largest loss of the best of {mean:g} runs in the mean",
        note="randomized response, whose true answer scores low in 2000 slices",
    )


def fixed_selection(*, epsilon: float = 0.5, number: int = 10, share: float = 1.0) -> Finding:
    """The worst runs for the largest loss, where the number of runs is fixed."""
    return upper_bound(
        largest_loss(epsilon, FixedRuns(number)),
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
