"""Concurrent and parallel composition of interactive mechanisms, by search over all messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from simulator.mechanisms import ResponseTree
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.random_trees import (
    EVERYONE,
    WITHOUT,
    random_tree,
    response_tree,
    together,
)
from simulator.teaching.claims.model import Finding
from simulator.teaching.games.library.parallel_updates import (
    PartOfData,
    response,
    search,
    tight_delta,
)
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.pld.distribution import compose_laws
from simulator.worst import dominating_law, worst_conversation

_SHARES = (0.0, 0.3, 0.6, 0.9)
"""Of the sum of the epsilons: where delta is compared."""
_POINTS = 16


def optimal_composition(
    *,
    epsilon: float = 0.8,
    delta: float = 0.0,
    conversations: int = 2,
    cases: int = 12,
    factor: float = 1.0,
    seed: int = 1,
) -> Finding:
    """Random trees, and randomized response: the worst delta over the optimal composition's."""
    guarantee = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
    optimal = bound("kairouz-oh-viswanath-3.3")
    at_all = optimal.on(Composition.repeat(guarantee, conversations))
    return _judged(
        _games(epsilon, delta, conversations, cases, seed),
        lambda parts, at: at_all.delta(at).upper,
        "the worst δ of an interleaving over the optimal composition's",
        factor,
    )


def worst_curves(
    *,
    epsilon: float = 0.8,
    delta: float = 0.0,
    conversations: int = 2,
    cases: int = 12,
    factor: float = 1.0,
    seed: int = 1,
) -> Finding:
    """Random trees: the worst delta over that of their own worst curves, composed."""

    def composed(parts: tuple[ResponseTree, ...], at: float) -> float:
        grid = [epsilon * i / _POINTS for i in range(-_POINTS, _POINTS + 1)]
        laws = [(dominating_law(part, WITHOUT, EVERYONE, epsilons=grid), 1) for part in parts]
        return compose_laws(laws).delta(at).upper

    return _judged(
        _games(epsilon, delta, conversations, cases, seed),
        composed,
        "the worst δ of an interleaving over that of the composed curves",
        factor,
    )


def parallel_fails(*, parts_of_data: int = 4, epsilon: float = 0.5, delta: float = 0.02) -> Finding:
    """Parts that are (epsilon, delta)-DP, of which one receives the record that differs."""
    part = _leaky(epsilon, delta)
    attained = search(part, parts_of_data, epsilon).delta.lower
    return statement(
        attained > delta * (1.0 + 1e-9),
        f"δ({number(epsilon)}) reaches {number(attained)}, each part has {number(delta)}",
        printed=f"δ beyond the {number(delta)} of a part",
    )


def parallel_is_tight(
    *,
    parts_of_data: int = 4,
    epsilon: float = 0.5,
    delta: float = 0.02,
    factor: float = 1.0,
) -> Finding:
    """The worst stream of updates against 1 - (1 - delta)^parts."""
    attained = search(_leaky(epsilon, delta), parts_of_data, epsilon).delta.lower
    return upper_bound(attained, factor * tight_delta([delta] * parts_of_data), "δ of all parts")


def parallel_keeps_epsilon(
    *, parts_of_data: int = 4, epsilon: float = 0.5, factor: float = 1.0
) -> Finding:
    """Pure parts of which some runs spend all of epsilon: the largest loss of all."""
    part = PartOfData(0.1, response(epsilon / 2), response(epsilon), PureDP(epsilon))
    claimed = factor * epsilon
    attained = search(part, parts_of_data, claimed).delta.lower
    return statement(
        attained == 0.0,
        f"δ at {number(claimed)} of {parts_of_data} parts is {number(attained)}",
        printed=f"{number(claimed)}-DP",
    )


def _leaky(epsilon: float, delta: float) -> PartOfData:
    return PartOfData(delta, response(epsilon), ((1.0, 0.0), (0.0, 1.0)), ApproxDP(epsilon, delta))


_Games = Iterator[tuple[tuple[ResponseTree, ...], float]]


def _games(epsilon: float, delta: float, conversations: int, cases: int, seed: int) -> _Games:
    """Parts, and an epsilon: randomized response first, then random trees."""
    coins = np.random.default_rng(seed)
    for case in range(cases):
        at = _SHARES[case % len(_SHARES)] * conversations * epsilon
        if case == 0:
            yield (response_tree(epsilon, delta),) * conversations, at
        else:
            trees = [random_tree(coins, epsilon, delta=delta) for _ in range(conversations)]
            yield tuple(trees), at


def _judged(
    games: _Games,
    bound_of: Callable[[tuple[ResponseTree, ...], float], float],
    what: str,
    factor: float,
) -> Finding:
    largest, count = 0.0, 0
    for parts, at in games:
        worst = worst_conversation(together(parts), WITHOUT, EVERYONE, epsilon=at).delta.lower
        stated = bound_of(parts, at)
        if stated > 0.0 or worst > 0.0:
            largest = max(largest, worst / stated if stated > 0.0 else math.inf)
        count += 1
    return upper_bound(largest, factor, what, note=f"the largest of {count} games")
