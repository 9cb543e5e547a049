"""The worst runs for private selection: which outcomes score high is the adversary's choice.

Any pair of laws that is epsilon-DP is randomized response on the bit, followed by a channel
(Kairouz, Oh and Viswanath 2015). To release the response beside the channel's answer, ordered by
the answer first, can only increase a divergence of the best run. So the worst runs release a
response, and an order of infinitely fine slices of its two answers is all that is left to choose:
in units of probability, a monotone path from (0, 0) to (P0[truth], P0[lie]). A divergence is a sum
over the slices, and a slice's term depends on what is below it only. So the best of all orders
with a given number of slices follows by backward recursion over the lattice of such paths.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.foundations.errors import NotApplicable
from simulator.theory.guarantees.run_counts import RunCount
from simulator.theory.parameters import count, nonnegative

Floats = NDArray[np.float64]
Terms = Callable[[Floats, Floats], Floats]
"""The terms of a divergence, from the probabilities of outcomes on either database."""

_LEAST = 1e-290
"""Probabilities below it have few digits."""


@dataclass(frozen=True)
class WorstOrder:
    """Runs with ascending scores, of largest divergence of the best run.

    Attributes
    ----------
    value : the divergence; a lower end of the supremum over all runs.
    on_0, on_1 : the probabilities of the outcomes of one run, by ascending score.
    """

    value: float
    on_0: tuple[float, ...]
    on_1: tuple[float, ...]


def hockey_stick_terms(epsilon: float) -> Terms:
    """The terms of delta(epsilon): (p0 - e^epsilon p1)_+."""
    return lambda p0, p1: np.maximum(p0 - math.exp(epsilon) * p1, 0.0)


def renyi_terms(order: float) -> Terms:
    """The terms of e^{(order - 1) D}, D the Renyi divergence: p0^order p1^{1 - order}."""
    return lambda p0, p1: np.exp(order * np.log(p0) + (1.0 - order) * np.log(p1))


def worst_order(
    epsilon: float, runs: RunCount, terms: Terms, *, slices: int = 40, delta: float = 0.0
) -> WorstOrder:
    """The order of scores for which the best of ``runs`` has the largest divergence.

    One run is randomized response that is epsilon-DP, with each answer in ``slices`` slices. With
    probability ``delta`` it reveals the bit; these two outcomes score highest, that of experiment 0
    below that of experiment 1.
    """
    epsilon, slices = nonnegative("epsilon", epsilon), count("slices", slices)
    truth = (1.0 - delta) / (1.0 + math.exp(-epsilon)) / slices
    lie = math.exp(-epsilon) * truth
    above = np.arange(slices + 1.0)[::-1]
    up = terms(
        _best(runs, truth, truth * above[1:, None] + lie * above + delta),
        _best(runs, lie, lie * above[1:, None] + truth * above + delta),
    )
    down = terms(
        _best(runs, lie, truth * above[:, None] + lie * above[1:] + delta),
        _best(runs, truth, lie * above[:, None] + truth * above[1:] + delta),
    )
    value, rises = _recursion(up.tolist(), down.tolist())
    if runs.none > 0.0:
        value += float(terms(np.array(runs.none), np.array(runs.none)))
    on_0 = [truth if rise else lie for rise in rises]
    on_1 = [lie if rise else truth for rise in rises]
    if delta > 0.0:
        value += float(terms(_best(runs, delta, 0.0), np.zeros(())))
        on_0, on_1 = [*on_0, delta, 0.0], [*on_1, 0.0, delta]
    return WorstOrder(value, _law(on_0), _law(on_1))


def largest_loss(epsilon: float, runs: RunCount, *, slices: int = 2000) -> float:
    """The largest loss of the best run, where the truth scores lower than the lie, in slices.

    A lower end of the supremum over all epsilon-DP runs, epsilon + ``runs.growth(epsilon)``, which
    it reaches as the slices get finer. Raises NotApplicable where probabilities underflow.
    """
    truth = 1.0 / (1.0 + math.exp(-nonnegative("epsilon", epsilon))) / slices
    lie = math.exp(-epsilon) * truth
    above = np.arange(slices)[::-1]
    on_0 = _best(runs, truth, truth * above + lie * slices)
    on_1 = _best(runs, lie, lie * above + truth * slices)
    kept = on_1 > _LEAST
    if not kept.any():
        raise NotApplicable(f"the best of {runs.mean:g} runs has probabilities below {_LEAST:g}")
    return float(np.log(on_0[kept] / on_1[kept]).max())


def _best(runs: RunCount, mass: float, above: ArrayLike) -> Floats:
    """Probability that the best run lies in a slice, by what is above it."""
    rest = np.asarray(above, dtype=float)
    return runs.between(np.maximum(1.0 - mass - rest, 0.0), np.full_like(rest, mass), rest)


def _recursion(up: list[list[float]], down: list[list[float]]) -> tuple[float, list[bool]]:
    """The largest sum along a path, and whether each of its steps is one of ``up``.

    ``up[i][j]`` is the term of the step from (i, j) to (i + 1, j), ``down[i][j]`` that of the step
    to (i, j + 1); shapes (n, n + 1) and (n + 1, n).
    """
    n = len(up)
    best = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(n, -1, -1):
        for j in range(n, -1, -1):
            steps = []
            if i < n:
                steps.append(best[i + 1][j] + up[i][j])
            if j < n:
                steps.append(best[i][j + 1] + down[i][j])
            best[i][j] = max(steps, default=0.0)
    i, j, rises = 0, 0, []
    while i + j < 2 * n:
        rise = j == n or (i < n and best[i][j] == best[i + 1][j] + up[i][j])
        rises.append(rise)
        i, j = (i + 1, j) if rise else (i, j + 1)
    return best[0][0], rises


def _law(masses: list[float]) -> tuple[float, ...]:
    total = math.fsum(masses)
    return tuple(mass / total for mass in masses)
