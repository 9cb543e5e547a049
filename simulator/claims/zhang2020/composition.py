"""Zhang 2020, lecture 7, part 2: post-processing, composition and group privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np

from simulator.claims.cast import ALICE, WITH_ALICE, WITHOUT_ALICE, Adversary, Playing, play
from simulator.claims.enumeration import view_law
from simulator.claims.findings import number, statement, upper_bound
from simulator.claims.model import Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.sources import ZHANG_2020
from simulator.claims.zhang2020.play import challenges, largest_loss
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database, Relation
from simulator.mechanisms import Laplace, LeakyRandomizedResponse, RandomizedResponse
from simulator.queries import counting_query
from simulator.seeds import Stream, generator
from simulator.theory import ApproxDP, PureDP
from simulator.theory.laws import FiniteLaw, LaplaceLaw


@claim(
    "zhang2020-post-processing",
    ZHANG_2020,
    "part 2, Proposition 2.1",
    "Any randomized function of an (ε, δ)-DP answer, chosen without the data, is (ε, δ)-DP.",
    Verdict.HOLDS,
    wrong={"sees_data": True},
)
def post_processing(
    *, epsilon: float = 0.5, outcomes: int = 5, maps: int = 300, sees_data: bool = False
) -> Finding:
    """δ(ε) after random maps of random mechanisms' answers, against δ(ε) before.

    The identity and a relabelling are among the maps, so the bound is attained. A map that
    ``sees_data`` is another one on each database.
    """
    coins = generator(20, 0, Stream.COINS, 0)
    worst = 0.0
    for i in range(maps):
        pair = coins.dirichlet(np.ones(outcomes), size=2)
        kernels = (
            coins.dirichlet(np.full(3, 0.3), size=(2, outcomes)) if i else [np.eye(outcomes)] * 2
        )
        second = kernels[1] if sees_data else kernels[0]
        before = FiniteLaw.from_probabilities(*pair).delta(epsilon)
        after = FiniteLaw.from_probabilities(pair[0] @ kernels[0], pair[1] @ second).delta(epsilon)
        if before > 1e-3:
            worst = max(worst, after / before)
    return upper_bound(worst, 1.0, "largest δ after / δ before", note=f"{maps} random maps")


def rounding_adversary(epsilon: float) -> Adversary:
    """Round 1 by Laplace; round 2 asks by a coin-tossing function of the rounded answer."""

    def adversary(coins: np.random.Generator) -> Playing:
        answer = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, epsilon)
        processed = round(answer + coins.normal()) % 3
        yield WITHOUT_ALICE, WITH_ALICE, RandomizedResponse(ALICE, epsilon * (1 + processed) / 3)

    return adversary


@claim(
    "zhang2020-post-processing-played",
    ZHANG_2020,
    "part 2, Proposition 2.1",
    "An adversary that processes answers, with coins of its own, before it acts on them loses "
    "nobody more privacy than composition says.",
    Verdict.HOLDS,
    wrong={"claimed": 1.8},
)
def post_processing_played(*, epsilon: float = 1.0, claimed: float = 2.0) -> Finding:
    """The largest loss in plays of two rounds, of ε and of at most ε."""
    result = play(rounding_adversary(epsilon), PureDP(epsilon), 2, 4000, seed=2)
    return upper_bound(
        largest_loss(result),
        claimed * epsilon,
        "largest loss",
        note="8000 plays of two rounds",
        method="simulation",
        false_alarm=0.0,
    )


def responses(epsilons: Sequence[float]) -> Adversary:
    """Randomized response about Alice at each ε in turn."""
    triples = [(WITHOUT_ALICE, WITH_ALICE, RandomizedResponse(ALICE, e)) for e in epsilons]
    return challenges(*triples)


@claim(
    "zhang2020-sequential-composition",
    ZHANG_2020,
    "part 2, theorem on sequential composition",
    "Two mechanisms of ε1-DP and ε2-DP on the same data are together (ε1+ε2)-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def sequential(*, first: float = 0.4, second: float = 1.1, share: float = 1.0) -> Finding:
    """The law of two randomized responses' losses, by listing every view."""
    law = view_law(responses((first, second)), PureDP(max(first, second)), 2)
    return upper_bound(law.support[1], share * (first + second), "largest privacy loss")


@claim(
    "zhang2020-repeated-statistic",
    ZHANG_2020,
    "part 2, Composition Theorems",
    "Computing the same statistic again and again necessarily costs privacy.",
    Verdict.HOLDS,
    wrong={"rounds": 1},
)
def repeated(*, epsilon: float = 0.5, rounds: int = 9) -> Finding:
    """The chance of guessing b right from one answer and from ``rounds`` answers."""
    one = view_law(responses([epsilon]), PureDP(epsilon), 1).delta(0.0)
    many = view_law(responses([epsilon] * rounds), PureDP(epsilon), rounds).delta(0.0)
    return statement(
        many > one + 1e-12,
        f"guessed right with probability {number(0.5 + one / 2)} after one answer and "
        f"{number(0.5 + many / 2)} after {rounds}",
    )


@claim(
    "zhang2020-theorem-3.16",
    ZHANG_2020,
    "part 2, Theorem 3.16",
    "The εs and the δs of k mechanisms add up.",
    Verdict.HOLDS,
    wrong={"share": 0.5},
)
def theorem_3_16(
    *,
    epsilons: tuple[float, ...] = (0.2, 0.5, 0.9),
    deltas: tuple[float, ...] = (1e-3, 4e-3, 2e-3),
    share: float = 1.0,
) -> Finding:
    """δ(Σε) of leaky randomized responses, by listing every view; the sum is all but reached."""
    triples = [
        (WITHOUT_ALICE, WITH_ALICE, LeakyRandomizedResponse(ALICE, e, d))
        for e, d in zip(epsilons, deltas)
    ]
    family = ApproxDP(max(epsilons), max(deltas))
    law = view_law(challenges(*triples), family, len(triples))
    total = sum(epsilons)
    delta = max(law.delta(total), law.reversed().delta(total))
    return upper_bound(delta, share * sum(deltas), "δ(Σε)", note="it is 1 - Π(1-δ_i)")


@claim(
    "zhang2020-theorem-2.2",
    ZHANG_2020,
    "part 2, Theorem 2.2",
    "An (ε, 0)-DP mechanism is (kε, 0)-DP for groups of k people.",
    Verdict.HOLDS,
    wrong={"share": 0.5},
)
def group_privacy(*, epsilon: float = 0.3, k: int = 4, share: float = 1.0) -> Finding:
    """The Laplace mechanism on a count that k people move together: their losses add up.

    Between the ends of a chain of neighbours, the loss of an answer is the sum over its links.
    """
    mechanism = Laplace(counting_query("family"), epsilon)
    chain = [Database({"family": 2 + i, "others": 9}) for i in range(k + 1)]
    answers = (-20.0, 1.0, 3.5, 30.0)
    losses = [
        math.fsum(mechanism.pair(x, y).loss(answer) for x, y in pairwise(chain))
        for answer in answers
    ]
    return upper_bound(
        max(map(abs, losses)), share * k * epsilon, "largest privacy loss", note=f"k = {k}"
    )


def in_parallel(epsilons: Sequence[float], databases: tuple[Database, Database]) -> Adversary:
    """One count for each disjoint part of the data, each by Laplace with an ε of its own."""
    triples = [
        (*databases, Laplace(counting_query(f"part {i}"), epsilon))
        for i, epsilon in enumerate(epsilons)
    ]
    return challenges(*triples)


@claim(
    "zhang2020-parallel-composition",
    ZHANG_2020,
    "part 2, Composition theorems, parallel",
    "Mechanisms of ε_i-DP on disjoint parts of the data are together max(ε_i)-DP.",
    Verdict.HOLDS,
    wrong={"relation": REPLACE_ONE},
)
def parallel(
    *, epsilons: tuple[float, ...] = (0.3, 0.9, 0.5), relation: Relation = ADD_REMOVE
) -> Finding:
    """Every pair of neighbours of a small database, played: the largest loss over all rounds.

    A replaced record leaves one part and enters another, and the two largest ε add up.
    """
    parts = [f"part {i}" for i in range(len(epsilons))]
    base = Database(dict.fromkeys(parts, 2))
    added = [base.add(part) for part in parts]
    replaced = [base.replace(a, b) for a, b in product(parts, parts) if a != b]

    def largest(neighbours: list[Database], relation: Relation) -> float:
        family = PureDP(max(epsilons))
        plays = (
            play(
                in_parallel(epsilons, (base, other)), family, len(parts), 150, 3, relation=relation
            )
            for other in neighbours
        )
        return max(largest_loss(result) for result in plays)

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


def two_sided_family(epsilon_01: float, epsilon_10: float) -> FiniteLaw:
    """A pair of two outcomes with D∞(P0‖P1) = epsilon_01 and D∞(P1‖P0) = epsilon_10."""
    a = -math.expm1(-epsilon_10) / -math.expm1(-epsilon_01 - epsilon_10)
    p0, p1 = a, a * math.exp(-epsilon_01)
    return FiniteLaw.from_probabilities([p0, 1 - p0], [p1, 1 - p1])


@claim(
    "zhang2020-definition-3.7",
    ZHANG_2020,
    "part 2, Definition 3.7",
    "It is enough to bound D∞(V0‖V1) for every adversary: the other direction follows.",
    Verdict.HOLDS,
    wrong={"may_exchange": False},
)
def one_direction(*, may_exchange: bool = True) -> Finding:
    """A lopsided pair: the adversary that exchanges its two databases has the other divergence.

    Neighbouring is symmetric, so that adversary is one of "every". Without it nothing follows.
    """
    law = two_sided_family(0.2, 1.5)
    there, back = law.support[1], law.reversed().support[1]
    bounded = max(there, back) if may_exchange else there
    return statement(
        max(there, back) <= bounded * (1 + 1e-12),
        f"D∞ is {number(there)} one way and {number(back)} the other; over the allowed "
        f"adversaries the supremum of the first is {number(bounded)}",
    )


@claim(
    "zhang2020-utility-needs-leakage",
    ZHANG_2020,
    "part 2, A bound on the number of queries",
    "Answers of a fixed accuracy leak about each person, so only a limited number of queries "
    "can be answered.",
    Verdict.HOLDS,
    wrong={"error": 40.0},
)
def limited_queries(*, error: float = 1.0, rounds: int = 400, budget: float = 10.0) -> Finding:
    """Laplace noise of mean size ``error`` in each answer about one person: the total ε.

    It is over the budget, by basic composition and by the law's mean alike.
    """
    epsilon = 1.0 / error
    mean = rounds * LaplaceLaw(epsilon).mean
    return statement(
        mean > budget and rounds * epsilon > budget,
        f"{rounds} answers with noise {number(error)}: mean loss {number(mean)}, largest "
        f"{number(rounds * epsilon)}, budget {number(budget)}",
    )


@claim(
    "zhang2020-offline-correlates",
    ZHANG_2020,
    "part 1, Model of Computation, offline",
    "Knowing all queries in advance one can correlate the noise: the best accuracy is then better "
    "than that of answering each as it comes.",
    Verdict.HOLDS,
    wrong={"distinct": 50},
)
def offline(*, queries: int = 50, distinct: int = 1, epsilon: float = 1.0) -> Finding:
    """``queries`` counts of one and the same person, of which only ``distinct`` differ.

    Online each gets ε/queries; offline each distinct one is answered once, with ε/distinct.
    """
    online, together = queries / epsilon, distinct / epsilon
    return statement(
        together < online,
        f"{queries} queries, {distinct} of them distinct: noise of scale {number(together)} known "
        f"in advance, {number(online)} one by one",
    )
