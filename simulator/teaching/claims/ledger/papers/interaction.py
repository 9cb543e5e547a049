"""Counters, and interactive mechanisms that run at once or on parts of the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Annotated

import numpy as np

from simulator import PureDP
from simulator.analysis.searches import dominating_law, worst_conversation
from simulator.foundations.knobs import Within
from simulator.mechanisms import ResponseTree
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, Factor, Seed
from simulator.teaching.claims.ledger.shared.random_trees import (
    EVERYONE,
    WITHOUT,
    random_tree,
    response_tree,
    together,
)
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.games.library.parallel_updates import response, search, tight_delta
from simulator.teaching.mechanisms import ContinualCounter
from simulator.teaching.mechanisms.continual_counter import tree_factor
from simulator.teaching.mechanisms.parts_of_data import PartOfData
from simulator.theory import ApproxDP
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound
from simulator.theory.pld.distribution import compose_laws

Stream = Annotated[int, "elements of the stream", Within(2, 256)]
Spared = Annotated[int, "blocks that the noise is not for", Within(0, 6)]
Most = Annotated[int, "blocks in a count, at the most", Within(1, 100)]
Conversations = Annotated[int, "mechanisms that are open at once", Within(1, 3)]
Cases = Annotated[int, "random cases that are tried", Within(1, 10_000)]
PartsOfData = Annotated[int, "parts of the data, with a mechanism each", Within(1, 6)]


@claim(
    "chan2011-tree-private",
    "the binary mechanism",
    "Laplace noise of scale (log2 T + 1)/ε in every block keeps ε-differential privacy.",
    Verdict.HOLDS,
    wrong={"spared": 1},
)
def blocks_of_an_element(*, stream: Stream = 16, spared: Spared = 0) -> Finding:
    """Lap(blocks/epsilon) in the tree: the largest loss of one element, in epsilons.

    With ``spared`` the noise is for so many blocks fewer than log2 T + 1.
    """
    blocks = stream.bit_length() - spared
    counter = ContinualCounter(tree_factor(stream), float(blocks), "laplace")
    attained = float(counter.sensitivities.max()) / blocks
    return upper_bound(attained, 1.0, "the largest loss of an element over ε")


@claim(
    "chan2011-tree-error",
    "the binary mechanism",
    "A count is a sum of at most log2 T + 1 blocks.",
    Verdict.HOLDS,
    wrong={"most": 2},
)
def error_of_a_count(*, stream: Stream = 16, most: Most = 5) -> Finding:
    """The largest variance of a count of the tree, over that of a block."""
    counter = ContinualCounter(tree_factor(stream), 1.0)
    found = round(float(counter.mean_squared_errors.max()))
    return statement(
        found <= most,
        f"a count of {stream} elements has the noise of {found} blocks",
        printed=f"{number(most)} blocks at the most",
    )


_SHARES = (0.0, 0.3, 0.6, 0.9)
"""Of the sum of the epsilons: where delta is compared."""
_POINTS = 16


@claim(
    "vadhan2021-pure-concurrent",
    "abstract",
    "Interactive mechanisms that are pure compose concurrently with the parameters of the optimal "
    "theorem for mechanisms that answer once.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)
@claim(
    "vadhan2023-approximate-concurrent",
    "abstract",
    "Interactive (ε, δ)-DP mechanisms compose concurrently as mechanisms that answer once do; "
    "ours: the optimal composition holds for random trees, and is attained.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
    given={"delta": 0.01},
)
def optimal_composition(
    *,
    epsilon: Epsilon = 0.8,
    delta: Delta = 0.0,
    conversations: Conversations = 2,
    cases: Cases = 12,
    factor: Factor = 1.0,
    seed: Seed = 1,
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


@claim(
    "vadhan2023-f-dp-concurrent",
    "abstract",
    "Interactive f-DP mechanisms compose concurrently as mechanisms that answer once do; ours: the "
    "worst curves of random trees, composed, bound every interleaving.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)
def worst_curves(
    *,
    epsilon: Epsilon = 0.8,
    delta: Delta = 0.0,
    conversations: Conversations = 2,
    cases: Cases = 12,
    factor: Factor = 1.0,
    seed: Seed = 1,
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


@claim(
    "henzinger2024-parallel-fails",
    "abstract",
    "Parallel composition of approximately private mechanisms fails once the data set is updated "
    "adaptively.",
    Verdict.HOLDS,
    wrong={"delta": 0.0},
)
def parallel_fails(
    *, parts_of_data: PartsOfData = 4, epsilon: Epsilon = 0.5, delta: Delta = 0.02
) -> Finding:
    """Parts that are (epsilon, delta)-DP, of which one receives the record that differs."""
    part = _leaky(epsilon, delta)
    attained = search(part, parts_of_data, epsilon).delta.lower
    return statement(
        attained > delta * (1.0 + 1e-9),
        f"δ({number(epsilon)}) reaches {number(attained)}, each part has {number(delta)}",
        printed=f"δ beyond the {number(delta)} of a part",
    )


@claim(
    "henzinger2024-parallel-tight",
    "abstract",
    "There is a tight theorem for that case; ours: δ is at most 1 - (1 - δ)^k for k parts, which "
    "is attained.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)
def parallel_is_tight(
    *,
    parts_of_data: PartsOfData = 4,
    epsilon: Epsilon = 0.5,
    delta: Delta = 0.02,
    factor: Factor = 1.0,
) -> Finding:
    """The worst stream of updates against 1 - (1 - delta)^parts."""
    attained = search(_leaky(epsilon, delta), parts_of_data, epsilon).delta.lower
    return upper_bound(attained, factor * tight_delta([delta] * parts_of_data), "δ of all parts")


@claim(
    "henzinger2024-parallel-pure",
    "abstract",
    "Parallel composition holds for pure mechanisms, with adaptive updates too.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)
def parallel_keeps_epsilon(
    *, parts_of_data: PartsOfData = 4, epsilon: Epsilon = 0.5, factor: Factor = 1.0
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
