"""Zhang 2020, lecture 7, part 2: post-processing, composition and group privacy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Annotated

import numpy as np

from simulator.data.databases import ADD_REMOVE, RELATIONS, REPLACE_ONE, Database, Relation
from simulator.data.queries import counting_query
from simulator.foundations.knobs import ByName, Within
from simulator.foundations.wording import count_of
from simulator.mechanisms import Laplace, RandomizedResponse
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import (
    ALICE,
    WITH_ALICE,
    WITHOUT_ALICE,
    Adversary,
    Playing,
    challenges,
    play,
)
from simulator.teaching.claims.ledger.shared.exact_values import optimal_delta, repeated
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Rounds, Seed
from simulator.teaching.claims.ledger.theorems.composition import budgets_add_up
from simulator.teaching.claims.ledger.theorems.divergences import one_direction
from simulator.teaching.claims.ledger.theorems.robustness import group_privacy, post_processing
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import largest_loss_seen, seen_within
from simulator.theory import PureDP
from simulator.theory.laws.laplace import LaplaceLaw

Claimed = Annotated[
    float, "what is claimed, in place of the sum or the sensitivity", Within(0.0, 1e6)
]
Epsilons = Annotated[tuple[float, ...], "ε of every round, or of every part"]
Neighbours = Annotated[Relation, "which databases are neighbours", ByName(RELATIONS, "a relation")]
ErrorInRows = Annotated[float, "how far an answer is from the truth, in rows", Within(1e-6, 1e6)]
Budget = Annotated[float, "the loss that is allowed in all", Within(0.0, 1e9)]
Cells = Annotated[int, "cells of the histogram", Within(1, 64)]

claim(
    "zhang2020-post-processing",
    "part 2, Proposition 2.1",
    "Any randomized function of an (ε, δ)-DP answer, chosen without the data, is (ε, δ)-DP.",
    Verdict.HOLDS,
    wrong={"sees_data": True},
    given={"epsilon": 0.5, "pure": False},
)(post_processing)


def rounding_adversary(epsilon: float) -> Adversary:
    """Round 1 by Laplace; round 2 asks by a coin-tossing function of the rounded answer."""

    def adversary(coins: np.random.Generator) -> Playing:
        answer = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, epsilon)
        processed = round(answer + coins.normal()) % 3
        yield WITHOUT_ALICE, WITH_ALICE, RandomizedResponse(ALICE, epsilon * (1 + processed) / 3)

    return adversary


@claim(
    "zhang2020-post-processing-played",
    "part 2, Proposition 2.1",
    "An adversary that processes answers, with coins of its own, before it acts on them causes "
    "no larger privacy loss than composition says.",
    Verdict.HOLDS,
    wrong={"claimed": 1.8},
)
def post_processing_played(
    *, epsilon: Epsilon = 1.0, claimed: Claimed = 2.0, seed: Seed = 2
) -> Finding:
    """The largest loss in plays of two rounds, of ε and of at most ε."""
    result = play(rounding_adversary(epsilon), PureDP(epsilon), 2, 4000, seed=seed)
    return seen_within(result, claimed * epsilon)


claim(
    "zhang2020-sequential-composition",
    "part 2, theorem on sequential composition",
    "Two mechanisms of ε1-DP and ε2-DP on the same data are together (ε1+ε2)-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilons": (0.4, 1.1)},
)(budgets_add_up)


@claim(
    "zhang2020-repeated-statistic",
    "part 2, Composition Theorems",
    "Computing the same statistic again and again necessarily costs privacy.",
    Verdict.HOLDS,
    wrong={"rounds": 1},
)
def same_statistic(
    *,
    epsilon: Epsilon = 0.5,
    rounds: Annotated[int, "rounds k (all combinations are listed)", Within(1, 11)] = 9,
) -> Finding:
    """The best chance of guessing b right from one answer and from ``rounds`` answers."""
    one, many = (0.5 + optimal_delta(repeated(epsilon, k), 0.0) / 2.0 for k in (1, rounds))
    return statement(
        many > one + 1e-12,
        f"guessed right with probability {number(one)} after one answer and {number(many)} after "
        f"{rounds}",
    )


claim(
    "zhang2020-theorem-3.16",
    "part 2, Theorem 3.16",
    "The εs and the δs of k mechanisms add up.",
    Verdict.HOLDS,
    wrong={"share": 0.5},
    given={"epsilons": (0.2, 0.5, 0.9), "deltas": (1e-3, 4e-3, 2e-3)},
)(budgets_add_up)


claim(
    "zhang2020-theorem-2.2",
    "part 2, Theorem 2.2",
    "An (ε, 0)-DP mechanism is (kε, 0)-DP for groups of k people.",
    Verdict.HOLDS,
    wrong={"share": 0.5},
    given={"people": 4},
)(group_privacy)


def in_parallel(epsilons: Sequence[float], databases: tuple[Database, Database]) -> Adversary:
    """One count for each disjoint part of the data, each by Laplace with an ε of its own."""
    triples = [
        (*databases, Laplace(counting_query(f"part {i}"), epsilon))
        for i, epsilon in enumerate(epsilons)
    ]
    return challenges(*triples)


@claim(
    "zhang2020-parallel-composition",
    "part 2, Composition theorems, parallel",
    "Mechanisms of ε_i-DP on disjoint parts of the data are together max(ε_i)-DP.",
    Verdict.HOLDS,
    wrong={"relation": REPLACE_ONE},
)
def parallel(
    *, epsilons: Epsilons = (0.3, 0.9, 0.5), relation: Neighbours = ADD_REMOVE, seed: Seed = 3
) -> Finding:
    """Every pair of neighbours of a small database, played: the largest loss over all rounds.

    A replaced record leaves one part and enters another, and the two largest ε add up.
    """
    parts = [f"part {i}" for i in range(len(epsilons))]
    base = Database(dict.fromkeys(parts, 2))
    added = [base.add(part) for part in parts]
    replaced = [base.replace(a, b) for a, b in product(parts, parts) if a != b]

    def largest(neighbours: list[Database], relation: Relation) -> float:
        family, rounds = PureDP(max(epsilons)), len(parts)
        plays = (
            play(
                in_parallel(epsilons, (base, other)),
                family,
                rounds,
                150,
                seed,
                relation=relation,
            )
            for other in neighbours
        )
        return max(largest_loss_seen(result) for result in plays)

    two = sum(sorted(epsilons)[-2:])
    seen = largest(added if relation == ADD_REMOVE else replaced, relation)
    return upper_bound(
        seen,
        max(epsilons),
        "largest loss",
        right=f"under {relation} the loss reaches {number(seen)}",
        method="simulation",
        false_alarm=0.0,
        note=f"under {relation}; if a row may be replaced by another, as the lecture's picture "
        f"of neighbours reads, it is the two largest ε together, {number(two)}",
    )


claim(
    "zhang2020-definition-3.7",
    "part 2, Definition 3.7",
    "It is enough to bound D∞(V0‖V1) for every adversary: the other direction follows.",
    Verdict.HOLDS,
    wrong={"may_exchange": False},
    given={"epsilon": 0.5, "rounds": 2},
)(one_direction)


@claim(
    "zhang2020-utility-needs-leakage",
    "part 2, A bound on the number of queries",
    "Answers of a fixed accuracy, here by Laplace noise, leak about each person, so only a limited "
    "number of queries can be answered.",
    Verdict.HOLDS,
    wrong={"error": 40.0},
)
def limited_queries(
    *, error: ErrorInRows = 1.0, rounds: Rounds = 400, budget: Budget = 10.0
) -> Finding:
    """Laplace noise of mean size ``error`` in each answer about one person: the total ε.

    It is over the budget, by basic composition and by the law's mean alike.
    """
    epsilon = 1.0 / error
    mean = rounds * LaplaceLaw(epsilon).mean
    return statement(
        mean > budget and rounds * epsilon > budget,
        f"{count_of(rounds, 'answer')} with noise {number(error)}: mean loss {number(mean)}, "
        f"largest {number(rounds * epsilon)}, budget {number(budget)}",
    )


@claim(
    "zhang2020-offline-correlates",
    "part 1, Model of Computation, offline",
    "Knowing all queries in advance gives the best accuracy, for noise can be correlated by their "
    "structure.",
    Verdict.HOLDS,
    wrong={"cells": 1},
)
def offline(*, cells: Cells = 16, epsilon: Epsilon = 1.0) -> Finding:
    """All ranges of ``cells`` cells of a histogram, each answer's mean squared error at ε in all.

    One by one, each of q queries gets Laplace noise q/ε. In advance, some strategy is answered
    with noise of its own sensitivity, and the ranges are the least-squares sums of its answers:
    the cells, or a binary tree of them. A single cell is a single query, where nothing is gained.
    """
    ranges = [(i, j) for i in range(cells) for j in range(i + 1, cells + 1)]
    queries = intervals(ranges, cells)
    online = 2.0 * (len(ranges) / epsilon) ** 2
    widths = [2**level for level in range(cells.bit_length())]
    tree = [(i, i + w) for w in widths for i in range(0, cells, w) if i + w <= cells]
    errors = []
    for strategy in (np.eye(cells), intervals(tree, cells)):
        scale = np.abs(strategy).sum(axis=0).max() / epsilon
        weights = queries @ np.linalg.pinv(strategy)
        errors.append(2.0 * scale**2 * float((weights**2).sum()) / len(ranges))
    return statement(
        min(errors) < online * (1.0 - 1e-9),
        f"{len(ranges)} ranges of {cells} cells: mean squared error {number(min(errors))} known in "
        f"advance, {number(online)} one by one",
    )


def intervals(ends: Sequence[tuple[int, int]], cells: int) -> np.ndarray:
    """Rows of zeros and ones, one per interval [start, end), shape (intervals, cells)."""
    places = np.arange(cells)
    return np.array([(start <= places) & (places < end) for start, end in ends], dtype=float)
