"""Zhang 2020, lecture 7, part 3: other functions of high global and low smooth sensitivity."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Annotated

import numpy as np

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon
from simulator.teaching.claims.ledger.zhang2020.sensitivity import all_values, replaced
from simulator.teaching.claims.ledger.zhang2020.smooth import distance, smoothed
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.mechanisms.median import admissible_beta

Rows = Annotated[int, "rows of the database", Within(1, 30_000)]
Largest = Annotated[float, "the largest value that is claimed for", Within(1e-12, 1e12)]
Nodes = Annotated[int, "nodes of the graph", Within(2, 1000)]
Sparse = Annotated[bool, "whether the graph is a ring, and not complete"]

MUCH_SMALLER = 0.05
"""A smooth sensitivity below this share of the global one counts as much smaller."""


def smooth_maximum(values: np.ndarray, top: float, beta: float) -> float:
    """Smooth sensitivity of the maximum of ascending values in [0, top], one being replaced.

    Lowering the j largest values leaves x_{n-j}, from where one more change reaches the top;
    lowering the j below the largest leaves a fall from x_n to x_{n-j-1}.
    """
    n = len(values)
    falling = np.concatenate([[0.0, 0.0], values])[::-1]
    gaps = np.maximum(top - falling[:-1], falling[0] - falling[1:])
    return float((gaps * np.exp(-beta * np.arange(n + 1))).max())


@claim(
    "zhang2020-maximum-sensitivity",
    "part 3, Examples of High Global Sensitivity, uses of smooth sensitivity",
    "The maximum of values in [0, k] has global sensitivity k, but its smooth sensitivity can be "
    "much smaller; so with the minimum.",
    Verdict.HOLDS,
    wrong={"largest": 0.5},
)
def maximum(
    *, rows: Rows = 1000, largest: Largest = 1.0, epsilon: Epsilon = 1.0, delta: Delta = 1e-6
) -> Finding:
    """Values spread evenly over [0, ``largest``] of [0, 1]; the formula by brute force too.

    For the minimum turn the range round.
    """
    small, k = all_values(3, 3), 3
    local = np.array([max(abs(max(x) - max(y)) for y in replaced(x, k)) for x in small])
    apart = np.array([[distance(x, y) for y in small] for x in small])
    by_formula = [smooth_maximum(np.array(x, dtype=float), k, 0.4) for x in small]
    whole, agree = local.max(), np.allclose(smoothed(local, apart, 0.4), by_formula)
    spread = np.linspace(0.0, largest, rows)
    smooth = smooth_maximum(spread, 1.0, admissible_beta(epsilon, delta))
    return statement(
        bool(whole == k and agree and smooth <= MUCH_SMALLER),
        f"{rows} values spread over [0, {number(largest)}] of [0, 1]: smooth sensitivity "
        f"{number(smooth)}, global 1",
        note=f"(ε, δ) = ({number(epsilon)}, {number(delta)}); it is never below the distance of "
        "the maximum from the end of the range, so a generous range spoils it",
    )


def common_neighbours(graph: np.ndarray) -> np.ndarray:
    """How many triangles each pair of nodes has or would have as an edge, shape (n, n)."""
    found = graph @ graph
    np.fill_diagonal(found, 0)
    return np.asarray(found)


def smooth_triangles(graph: np.ndarray, beta: float) -> float:
    """Smooth sensitivity of the number of triangles under edge changes.

    With s changed edges a pair with a common neighbours and b half ones (joined to one of the two)
    gets a + (s + min(s, b))//2 triangles, at most n - 2 (Nissim, Raskhodnikova and Smith 2007,
    section 3.3).
    """
    n = len(graph)
    common = common_neighbours(graph)
    degrees = graph.sum(axis=1)
    half = degrees[:, None] + degrees[None, :] - 2 * graph - 2 * common
    pairs = {(int(common[i, j]), int(half[i, j])) for i, j in zip(*np.triu_indices(n, 1))}
    return max(
        math.exp(-beta * s) * min(a + (s + min(s, b)) // 2, n - 2)
        for a, b in pairs
        for s in range(2 * n)
    )


def agrees_with_definition(nodes: int, beta: float) -> bool:
    """The formula against the definition, on every graph of so many nodes."""
    edges = list(combinations(range(nodes), 2))
    codes = np.arange(1 << len(edges))
    graphs = np.zeros((len(codes), nodes, nodes), dtype=int)
    for place, (i, j) in enumerate(edges):
        graphs[:, i, j] = graphs[:, j, i] = codes >> place & 1
    local = np.array([common_neighbours(graph).max() for graph in graphs])
    steps = np.bitwise_count(codes[:, None] ^ codes)
    return np.allclose(
        smoothed(local, steps, beta), [smooth_triangles(graph, beta) for graph in graphs]
    )


@claim(
    "zhang2020-triangles-sensitivity",
    "part 3, Calibrating Noise to Sensitivity, uses of smooth sensitivity",
    "An edge can change the number of triangles of a graph by n-2, but the smooth sensitivity of a "
    "sparse graph is much smaller.",
    Verdict.HOLDS,
    wrong={"sparse": False},
)
def triangles(
    *, nodes: Nodes = 400, sparse: Sparse = True, epsilon: Epsilon = 1.0, delta: Delta = 1e-6
) -> Finding:
    """A ring of nodes against the complete graph; the formula on every graph of 4 nodes."""
    graph = np.ones((nodes, nodes), dtype=int) - np.eye(nodes, dtype=int)
    if sparse:
        graph = np.roll(np.eye(nodes, dtype=int), 1, axis=1)
        graph = graph + graph.T
    smooth = smooth_triangles(graph, admissible_beta(epsilon, delta))
    return statement(
        agrees_with_definition(4, 0.4) and smooth <= MUCH_SMALLER * (nodes - 2),
        f"{'a ring' if sparse else 'the complete graph'} of {nodes} nodes: smooth sensitivity "
        f"{number(smooth)}, global {nodes - 2}",
        note=f"(ε, δ) = ({number(epsilon)}, {number(delta)}), neighbours by one edge",
    )
