"""Exact numbers that several checks compare the print with."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from simulator.foundations.errors import NotApplicable
from simulator.theory.bounds.base import BoundOnComposition
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound
from simulator.theory.guarantees.pure import ApproxDP, PureDP


def optimal_delta(composition: Composition, epsilon: float) -> float:
    """delta(epsilon) of the worst adversary, pure or approximate rounds.

    Source: Kairouz, Oh and Viswanath 2017, Theorem 3.3; Murtagh and Vadhan 2016, Theorem 1.5.
    """
    return _optimal(composition).delta(epsilon).value


def optimal_epsilon(composition: Composition, delta: float) -> float:
    """The least epsilon of the worst adversary at ``delta``; sources as for the delta."""
    return _optimal(composition).epsilon(delta).value


def _optimal(composition: Composition) -> BoundOnComposition:
    distinct = {guarantee.core for guarantee, _ in composition}
    name = "kairouz-oh-viswanath-3.3" if len(distinct) == 1 else "murtagh-vadhan"
    return bound(name).on(composition)


def repeated(epsilon: float, rounds: int, delta: float = 0.0) -> Composition:
    """The same guarantee in every round."""
    guarantee = ApproxDP(epsilon, delta) if delta > 0.0 else PureDP(epsilon)
    return Composition.repeat(guarantee, rounds)


def largest_mean_loss(largest: float, points: int = 801) -> float:
    """The largest mean privacy loss of any pair with abs(loss) <= ``largest``, by linear program.

    Over laws of a loss on a grid that holds both ends: E0[1] = 1 and E0[e^-L] = 1.
    """
    losses = np.linspace(-largest, largest, points)
    weights = np.vstack([np.ones(points), np.exp(-losses)])
    return float(losses @ solution(linprog(-losses, A_eq=weights, b_eq=[1.0, 1.0])))


def solution(found: Any) -> np.ndarray:
    """The solution of a linear program; raises NotApplicable where its numbers are too large."""
    if found.x is None:
        raise NotApplicable("the numbers of the linear program are too far apart to solve it")
    return np.asarray(found.x)


def chance_of_truth(epsilon: float) -> float:
    """e^ε/(1+e^ε), with which randomized response tells the truth.

    At -ε it is the chance of a lie, with all digits: 1 less that of the truth has none from ε = 37.
    """
    return 1.0 / (1.0 + math.exp(-epsilon))


def random_pairs(
    count: int, answers: int, seed: int, epsilon: float = np.inf, impossible: float = 0.0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random pairs of laws on ``answers`` answers, of loss within ``epsilon`` where it is finite.

    With ``impossible`` each probability of the pair is zero that often.
    """
    draws = np.random.default_rng(seed)
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    while len(pairs) < count:
        p, q = draws.dirichlet(np.ones(answers), size=2)
        if impossible > 0.0:
            p, q = (law * (draws.random(answers) >= impossible) for law in (p, q))
            if p.sum() == 0.0 or q.sum() == 0.0:
                continue
        if np.isfinite(epsilon):
            q = _within(p / p.sum(), draws, epsilon)
        pairs.append((p / p.sum(), q / q.sum()))
    return pairs


def _within(p: np.ndarray, draws: np.random.Generator, epsilon: float) -> np.ndarray:
    """A law whose log-ratio to ``p`` is at most epsilon; in two of three draws an extreme one.

    All answers but one of an extreme law have the least or the largest ratio: in random order they
    are raised from one to the other, until the sum is 1.
    """
    order = draws.permutation(len(p))
    room = 2.0 * math.sinh(epsilon) * p[order]
    below = -math.expm1(-epsilon) - (np.cumsum(room) - room)
    q = math.exp(-epsilon) * p
    q[order] += np.clip(below, 0.0, room)
    return q if draws.random() < 2.0 / 3.0 else p + draws.random() * (q - p)


def all_events(answers: int) -> np.ndarray:
    """Every subset of the answers, shape (2^answers, answers), as zeros and ones."""
    return np.array(list(product((0.0, 1.0), repeat=answers)))
