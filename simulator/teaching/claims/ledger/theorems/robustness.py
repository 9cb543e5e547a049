"""Group privacy, and post-processing of the answers."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from scipy.optimize import linprog

from simulator.foundations.knobs import Within
from simulator.foundations.wording import count_of
from simulator.teaching.claims.findings import upper_bound
from simulator.teaching.claims.ledger.shared.exact_values import (
    chance_of_truth,
    random_pairs,
    solution,
)
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Factor, People, Seed
from simulator.teaching.claims.model import Finding
from simulator.theory.laws.finite import FiniteLaw

JudgesLoss = Annotated[bool, "whether the loss is judged, and not δ(ε)"]
Pairs = Annotated[int, "random pairs of laws that are tried", Within(1, 1000)]
SeesData = Annotated[bool, "whether the processing sees the data"]


def largest_ratio(people: int, epsilon: float) -> float:
    """The largest Pr[A(x_k) in E]/Pr[A(x_0) in E] of all epsilon-DP A and all E, by linear program.

    Along a chain x_0, ..., x_k of neighbours, with the probabilities p_j of E and w - p_j of its
    complement in units of p_0: the ratio is p_k.
    """
    ratio, size = math.exp(epsilon), people + 1
    here, there = np.eye(people, size), np.eye(people, size, 1)
    rows = []
    for a, b in ((here, there), (there, here)):
        of_event = np.column_stack([a - ratio * b, np.zeros(people)])
        of_rest = np.column_stack([ratio * b - a, np.full(people, 1.0 - ratio)])
        rows += [of_event, of_rest]
    rows.append(np.column_stack([np.eye(size), np.full(size, -1.0)]))  # p_j <= w
    limits = np.zeros(4 * people + size)
    gain = np.zeros(size + 1)
    gain[people] = -1.0
    bounds = [(1.0, 1.0)] + [(0.0, None)] * size
    found = linprog(gain, A_ub=np.vstack(rows), b_ub=limits, bounds=bounds)
    return float(solution(found)[people])


def group_privacy(*, epsilon: Epsilon = 0.3, people: People = 5, share: Factor = 1.0) -> Finding:
    """The largest loss of any epsilon-DP mechanism between databases so many people apart."""
    return upper_bound(
        math.log(largest_ratio(people, epsilon)),
        share * people * epsilon,
        f"largest loss between databases {count_of(people, 'person', 'people')} apart",
        note="over all mechanisms, by linear program",
    )


def post_processing(
    *,
    epsilon: Epsilon = 0.6,
    pure: JudgesLoss = True,
    pairs: Pairs = 200,
    sees_data: SeesData = False,
    share: Factor = 1.0,
    seed: Seed = 12,
) -> Finding:
    """Random pairs and randomized response, through random channels and one that keeps the answer.

    Judged is the largest loss of pairs within epsilon (``pure``), or δ(ε) of any pairs over what
    it was before. A channel that ``sees_data`` is another one on each database.
    """
    draws = np.random.default_rng(seed)
    truth = chance_of_truth(epsilon)
    response = np.array([truth, 0.0, 0.0, 0.0, chance_of_truth(-epsilon)])
    found = random_pairs(pairs, 5, seed=seed + 1, epsilon=epsilon if pure else math.inf)
    worst = 0.0
    for i, (p, q) in enumerate([(response, response[::-1]), *found]):
        channels = draws.dirichlet(np.full(4, 0.3), size=(2, 5)) if i > 1 else [np.eye(5)] * 2
        after = FiniteLaw.from_probabilities(p @ channels[0], q @ channels[int(sees_data)])
        if pure:
            worst = max(worst, largest_loss(after))
        elif (before := FiniteLaw.from_probabilities(p, q).delta(epsilon)) > 1e-3:
            worst = max(worst, after.delta(epsilon) / before)
    what = "largest loss after processing" if pure else "largest δ after / δ before"
    return upper_bound(worst, share * (epsilon if pure else 1.0), what, note=f"{pairs} channels")


def largest_loss(law: FiniteLaw) -> float:
    """The largest absolute loss, infinite where an answer is possible on one database only."""
    lost = max(law.infinite_mass, law.dual_infinite_mass) > 0.0
    return math.inf if lost else max(map(abs, law.support))
