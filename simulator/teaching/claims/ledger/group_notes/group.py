"""Lecture notes on group privacy and composition: groups, and private Lloyd's k-means."""

from __future__ import annotations

import math
from itertools import product
from typing import Annotated, Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database, Relation
from simulator.data.queries import histogram_query
from simulator.foundations.knobs import Within
from simulator.foundations.wording import count_of
from simulator.mechanisms.laplace import VectorLaplacePair
from simulator.teaching.claims.findings import follows, number, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import Playing, play
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Factor, People, Seed
from simulator.teaching.claims.ledger.theorems.robustness import group_privacy
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import seen_within
from simulator.teaching.mechanisms.lloyd_step import LloydStep, lloyd_centres
from simulator.theory.guarantees.pure import PureDP

AgainstFirst = Annotated[bool, "whether the claim in the proof is read against D_0"]
Clusters = Annotated[int, "clusters of points", Within(1, 3)]
ReplaceOne = Annotated[bool, "whether a neighbour has one record replaced"]
Dimensions = Annotated[int, "dimensions of a point (all combinations are listed)", Within(1, 6)]
Norm = Annotated[int, "1 or 2: the norm in which points are small", Within(1, 2)]
Iterations = Annotated[int, "iterations of Lloyd's algorithm", Within(1, 30)]
Trials = Annotated[int, "plays of each experiment", Within(1, 2000)]
Split = Annotated[float, "the budget is split into so many parts an iteration", Within(0.01, 100.0)]

claim(
    "group-notes-group-privacy",
    "Group privacy, theorem",
    "On databases that differ in k people an ε-DP mechanism is within e^{kε}.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)(group_privacy)


@claim(
    "group-notes-group-privacy-claim",
    "Group privacy, claim in the proof",
    "The theorem follows from the claim as printed, Pr[A(D_i)∈S] ≤ e^{iε} Pr[A(D_{i-1})∈S].",
    Verdict.DOES_NOT_FOLLOW,
    wrong={"against_first": True},
    fault=Fault.TRANSCRIPT,
)
def group_claim(
    *, epsilon: Epsilon = 0.3, people: People = 5, against_first: AgainstFirst = False
) -> Finding:
    """What the claim gives between D_0 and D_k: chained as printed, or read against D_0."""
    if against_first:
        given = people * epsilon
    else:
        given = math.fsum(i * epsilon for i in range(1, people + 1))
    return follows(
        given,
        people * epsilon,
        f"the claim gives {number(given)} between databases "
        f"{count_of(people, 'person', 'people')} apart, "
        f"the theorem says {number(people * epsilon)}",
        printed=f"against D_(i-1): chained it gives k(k+1)/2·ε = {number(given)}",
        right=f"against D_0, as the induction does: kε = {number(people * epsilon)}",
    )


@claim(
    "group-notes-lloyd-counts",
    "Lloyd's algorithm, proof",
    "The cluster sizes form a histogram, which Lap(1/ε') in each cell keeps ε'-DP.",
    Verdict.HOLDS,
    wrong={"replace_one": True},
)
def lloyd_counts(
    *, epsilon: Epsilon = 0.1, clusters: Clusters = 3, replace_one: ReplaceOne = False
) -> Finding:
    """All neighbours of a small database; the largest loss of vector Laplace noise of that scale.

    Under add/remove-one as the notes have it; one record replaced moves two cells.
    """
    histogram = histogram_query(range(clusters))
    database = Database({0: 2, 1: 2, 2: 2})
    relation = REPLACE_ONE if replace_one else ADD_REMOVE
    worst = max(
        largest_loss(histogram(database), histogram(neighbour), epsilon)
        for neighbour in _neighbours(database, clusters, relation)
    )
    return upper_bound(worst, epsilon, "largest loss of the noisy sizes")


def largest_loss(value_0: np.ndarray, value_1: np.ndarray, epsilon: float) -> float:
    """The loss under Lap(1/epsilon) in each entry, at an answer far on the first value's side."""
    first, second = np.asarray(value_0, dtype=float), np.asarray(value_1, dtype=float)
    return VectorLaplacePair(first, second, 1.0 / epsilon).loss(first + 9.0 * (first - second))


def _neighbours(database: Database, clusters: int, relation: Relation) -> list[Database]:
    cells = range(clusters)
    if relation is ADD_REMOVE:
        return [database.remove(i) for i in cells] + [database.add(i) for i in cells]
    return [database.replace(i, j) for i, j in product(cells, cells) if i != j]


@claim(
    "group-notes-lloyd-sums",
    "Lloyd's algorithm, proof",
    "With points of L1 norm at most 1, the vector of all clusters' sums moves by at most 1 in L1, "
    "so Lap(1/ε') in each entry keeps it ε'-DP.",
    Verdict.HOLDS,
    wrong={"norm": 2},
)
def lloyd_sums(*, epsilon: Epsilon = 0.1, dimensions: Dimensions = 4, norm: Norm = 1) -> Finding:
    """The worst added point among the corners and the diagonal of the unit ball of ``norm``."""
    nothing = np.zeros(dimensions)
    worst = max(largest_loss(nothing, point, epsilon) for point in _points(dimensions, norm))
    return upper_bound(worst, epsilon, f"largest loss of the noisy sums in {dimensions}d")


@claim(
    "group-notes-lloyd-iteration",
    "Lloyd's algorithm, proof",
    "Each iteration is 2ε'-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.5},
)
def lloyd_iteration(
    *, epsilon: Epsilon = 0.1, dimensions: Dimensions = 4, share: Factor = 1.0, seed: Seed = 7
) -> Finding:
    """Sizes and sums of the library's step: a point is added to random clouds, at random centres.

    The answer lies far off on the side of the first database in every entry.
    """
    draws = np.random.default_rng(seed)
    worst = 0.0
    for added in [*_points(dimensions, 1), *draws.dirichlet(np.ones(dimensions), size=9)]:
        cloud = Database([tuple(x) for x in 0.9 * draws.dirichlet(np.ones(dimensions), size=6)])
        step = LloydStep(tuple(map(tuple, draws.normal(size=(3, dimensions)))), epsilon)
        more = cloud.add(tuple(added))
        here, there = step.exact(cloud), step.exact(more)
        worst = max(worst, step.pair(cloud, more).loss(here + 9.0 * (here - there)))
    return upper_bound(worst, 2.0 * epsilon * share, "largest loss of an iteration")


def _points(dimensions: int, norm: int) -> np.ndarray:
    """Corners and the diagonal of the unit ball of that norm, shape (points, dimensions)."""
    points = np.vstack([np.eye(dimensions), -np.eye(dimensions), np.ones((1, dimensions))])
    return np.asarray(points / np.linalg.norm(points, ord=norm, axis=1, keepdims=True))


@claim(
    "group-notes-lloyd-total",
    "Lloyd's algorithm, theorem",
    "T iterations with ε' = ε/(2T), each from the last noisy centres, are ε-DP in all.",
    Verdict.HOLDS,
    wrong={"split": 1.0},
)
def lloyd_played(
    *,
    epsilon: Epsilon = 1.0,
    iterations: Iterations = 3,
    trials: Trials = 400,
    split: Split = 2.0,
    seed: Seed = 24,
) -> Finding:
    """Two clusters in the unit L1 ball; Alice is a point on its border."""
    cloud = [(0.5, 0.2), (0.4, 0.3), (0.6, 0.1), (-0.5, -0.1), (-0.3, -0.4), (-0.4, -0.2)]
    without = Database(cloud)
    pair = (without, without.add((1.0, 0.0)))
    per_release = epsilon / (split * iterations)

    def lloyd(coins: np.random.Generator) -> Playing:
        centres: Any = ((0.1, 0.0), (-0.1, 0.0))
        while True:
            answer = yield (*pair, LloydStep(centres, per_release))
            centres = lloyd_centres(answer, otherwise=coins.uniform(-0.5, 0.5, size=(2, 2)))

    result = play(lloyd, PureDP(2 * per_release), iterations, trials, seed=seed)
    return seen_within(result, epsilon, note=f"{iterations} iterations each")
