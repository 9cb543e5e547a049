"""Zhang 2020, lecture 7, part 2: what privacy promises, and to whom (granularity)."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Annotated

from simulator.data.databases import Database
from simulator.data.queries import function_query
from simulator.foundations.errors import Breach
from simulator.foundations.knobs import Within
from simulator.mechanisms import Laplace
from simulator.teaching.claims.findings import equal, number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import challenges, play
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Seed
from simulator.teaching.claims.ledger.theorems.robustness import post_processing
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import largest_loss_seen
from simulator.theory import PureDP
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.laplace import LaplaceLaw

Nodes = Annotated[int, "nodes of the graph (all combinations are listed)", Within(2, 6)]
NodeFactor = Annotated[float, "claimed loss of a node, in ε", Within(0.0, 1000.0)]
EdgesOfNode = Annotated[int, "edges of the node that is added", Within(1, 1000)]
Odds = Annotated[float, "the claimed factor between odds before and after", Within(0.0, 1e6)]
Unlikely = Annotated[float, "probability of the revealing output", Within(0.0, 1.0)]

claim(
    "zhang2020-economic-view",
    "part 2, An Economic View",
    "Taking part makes harm, which follows from the answer somehow, at most e^ε times as probable.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilon": 0.3},
)(post_processing)


@claim(
    "zhang2020-economic-view-linear",
    "part 2, An Economic View",
    "For small ε the factor e^ε is about 1+ε.",
    Verdict.HOLDS,
    wrong={"epsilon": 2.0},
)
def economic_view_linear(*, epsilon: Epsilon = 0.1) -> Finding:
    """An approximation from below, to within ε² for ε up to 1.79; never a bound."""
    error = math.exp(epsilon) - (1 + epsilon)
    return statement(
        error <= epsilon**2,
        f"e^ε = {number(math.exp(epsilon))} against 1+ε = {number(1 + epsilon)}",
        note="1+ε is smaller than e^ε, so as a bound it would be wrong",
    )


@claim(
    "zhang2020-edge-weaker-than-node",
    "part 2, Granularity of Privacy",
    "Edge privacy is weaker than node privacy: an edge count with ε for an edge gives a node of "
    "an n-node graph (n-1)ε only.",
    Verdict.HOLDS,
    wrong={"node_factor": 1.0},
)
def edge_weaker(
    *, nodes: Nodes = 4, epsilon: Epsilon = 0.5, node_factor: NodeFactor = 3.0
) -> Finding:
    """The loss of the noisy edge count when a node goes with its edges, over all graphs."""
    pairs = list(combinations(range(nodes), 2))
    largest = max(
        sum(node in edge for edge in graph)
        for size in range(len(pairs) + 1)
        for graph in combinations(pairs, size)
        for node in range(nodes)
    )
    return equal(
        LaplaceLaw(largest * epsilon).support[1],
        node_factor * epsilon,
        "largest loss between node neighbours",
        note=f"all {2 ** math.comb(nodes, 2)} graphs on {nodes} nodes. Deleting a node "
        "is the only printed step of node privacy, so to lose one edge takes two, a node out and "
        "in again: ε-node-privacy gives an edge 2ε, not ε",
    )


@claim(
    "zhang2020-edge-privacy-played",
    "part 2, Granularity of Privacy",
    "Edge privacy takes graphs that differ in one edge for neighbours, and promises nothing for "
    "a node with all its edges.",
    Verdict.HOLDS,
    wrong={"edges_of_node": 1},
)
def edge_played(
    *, epsilon: Epsilon = 0.5, edges_of_node: EdgesOfNode = 3, seed: Seed = 4
) -> Finding:
    """A noisy edge count, records being edges: one edge is admitted, a node's star is refused."""
    count = Laplace(function_query(lambda graph: float(graph.size), 1.0), epsilon)
    graph = Database([(0, 1), (1, 2)])
    one_more = graph.add((0, 2))
    star = graph
    for friend in range(edges_of_node):
        star = star.add((friend, 3))
    seen = largest_loss_seen(
        play(challenges((graph, one_more, count)), PureDP(epsilon), 1, 300, seed)
    )
    try:
        play(challenges((graph, star, count)), PureDP(epsilon), 1, 1, seed)
        refused = False
    except Breach:
        refused = True
    return statement(
        refused and seen <= epsilon * (1 + 1e-12),
        f"an edge costs at most {number(seen)}; a node with {edges_of_node} edges is refused",
    )


@claim(
    "zhang2020-subset-of-edges",
    "part 2, Granularity of Privacy",
    "Edge privacy keeps everybody from concluding anything on whether a set of 1/ε edges exists; "
    "we read “anything” to the letter: the odds stay as they were.",
    Verdict.FAILS,
    wrong={"odds": math.e},
    fault=Fault.READING,
)
def subset_of_edges(*, epsilon: Epsilon = 0.1, odds: Odds = 1.0) -> Finding:
    """By what factor a noisy edge count moves the odds that a set of 1/ε edges is there.

    ``odds`` is what is claimed at most; by group privacy no mechanism moves them by more than e.
    """
    law = LaplaceLaw(1.0)  # 1/ε edges, at ε each
    moved = math.exp(max(abs(end) for end in law.support))
    guess = 0.5 + law.delta(0.0) / 2
    return upper_bound(
        moved,
        odds,
        "factor of the odds",
        printed="nothing at all can be concluded about whether a set of 1/ε edges exists",
        right=f"a noisy edge count at ε = {number(epsilon)} moves the odds that {1 / epsilon:g} "
        f"edges are there by up to {number(moved)}, and from even odds it guesses right with "
        f"probability {number(guess)}; by group privacy no answer moves them by more than e",
        note="true as a rule of thumb: about 1/ε edges nothing is concluded with confidence",
    )


@claim(
    "zhang2020-small-epsilons-alike",
    "part 2, All Small Epsilons Are Alike",
    "For small ε, a mechanism that is not ε-DP may still be 2ε-DP, which is much the same.",
    Verdict.HOLDS,
    wrong={"epsilon": 1.5},
)
def small_epsilons(*, epsilon: Epsilon = 0.05) -> Finding:
    """Randomized response at 2ε: not ε-DP; the chance of a right guess moves by at most 0.02."""
    one, two = randomized_response(epsilon), randomized_response(2 * epsilon)
    moved = (two.delta(0.0) - one.delta(0.0)) / 2
    return statement(
        two.delta(epsilon) > 0.0 and two.delta(2 * epsilon) <= 1e-15 and moved <= 0.02,
        f"a right guess moves from {number(0.5 + one.delta(0.0) / 2)} to "
        f"{number(0.5 + two.delta(0.0) / 2)}",
    )


@claim(
    "zhang2020-large-epsilon-unlikely-output",
    "part 2, All Small Epsilons Are Alike",
    "A large ε need not mean much: the output that tells databases apart may be very unlikely, "
    "which δ takes account of.",
    Verdict.HOLDS,
    wrong={"unlikely": 0.3},
)
def unlikely_output(*, unlikely: Unlikely = 1e-9, epsilon: Epsilon = 0.1) -> Finding:
    """A rare output e^30 times as likely on one database: pure ε is 30, δ at a small ε tiny."""
    rare = unlikely * math.exp(-30.0)
    law = FiniteLaw.from_probabilities([unlikely, 1 - unlikely], [rare, 1 - rare])
    delta = max(law.delta(epsilon), law.reversed().delta(epsilon))
    return statement(
        law.support[1] > 29.0 and delta <= 1e-6,
        f"pure ε = {number(law.support[1])}, and ({number(epsilon)}, {number(delta)})-DP",
    )
