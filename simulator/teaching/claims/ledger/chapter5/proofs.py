"""Properties of DP, chapter 5: steps of its proofs, and the identity that an exercise hints at."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import at_most, number, statement, upper_bound
from simulator.teaching.claims.ledger.chapter5.posteriors import (
    chosen_at_random,
    posteriors_of,
    random_priors,
    with_default,
)
from simulator.teaching.claims.ledger.shared.exact_values import random_pairs
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, Seed
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim

Independent = Annotated[bool, "whether the coins have one law on both databases"]
MeanUnder = Annotated[str, "the law of the mean: posterior or prior"]


def as_function_of_coins(channel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Write a randomized B as f(a, R): the table of f and the law of the coins R.

    ``channel`` has Pr[B(a) = z], shape (answers, outcomes). R tells between which of all the
    cumulative probabilities a uniform number lies.
    """
    edges = np.cumsum(channel, axis=1)
    edges[:, -1] = 1.0
    cuts = np.unique(np.concatenate([[0.0], edges.ravel()]))
    middles = (cuts[1:] + cuts[:-1]) / 2.0
    table = np.array([np.searchsorted(row, middles) for row in edges])
    return table, np.diff(cuts)


@claim(
    "chapter5-lemma-1-6-proof-coins",
    "proof of Lemma 1.6",
    "A randomized B is a deterministic f of (a, R), R being independent of a, and (A(x), R) is as "
    "private as A.",
    Verdict.HOLDS,
    wrong={"independent": False},
)
def coins_cost_nothing(
    *,
    epsilon: Epsilon = 0.6,
    pairs: Annotated[int, "random pairs of laws that are tried", Within(1, 200)] = 40,
    independent: Independent = True,
    seed: Seed = 51,
) -> Finding:
    """For random channels: f(A, R) has the law of B(A), and (A, R) loses what A loses.

    Coins that are not ``independent`` of the data have another law on the other database.
    """
    draws = np.random.default_rng(seed)
    off, more = 0.0, 0.0
    for p, q in random_pairs(pairs, 5, seed=seed + 1, epsilon=epsilon):
        channel = draws.dirichlet(np.full(4, 0.5), size=5)
        table, coins = as_function_of_coins(channel)
        others = coins if independent else draws.permutation(coins)
        joint = np.outer(p, coins)
        outcome = np.bincount(table.ravel(), weights=joint.ravel(), minlength=4)
        off = max(off, float(np.abs(outcome - p @ channel).max()))
        with_coins = np.abs(np.log(joint / np.outer(q, others))).max()
        more = max(more, float(with_coins - np.abs(np.log(p / q)).max()))
    return statement(
        off < 1e-12 and more < 1e-9,
        f"laws differ by up to {number(off)}, losses by {number(max(more, 0.0))}",
        note=f"{pairs} channels",
    )


@claim(
    "chapter5-exercise-2-2-identity",
    "Exercise 2.2, hint",
    "The ratio p_{-i}(x|a)/p(x|a) is r(x) over its mean under p(·|a), where r(x) = "
    "Pr[A(x_{-i})=a]/Pr[A(x)=a] (our answer).",
    Verdict.HOLDS,
    wrong={"mean_under": "prior"},
)
def ratio_of_posteriors(
    *, epsilon: Epsilon = 0.4, mean_under: MeanUnder = "posterior", seed: Seed = 0
) -> Finding:
    """Both sides at every data set, answer and person, for random mechanisms and priors.

    Each of the two parts is within e^±ε, hence the 2ε of Theorem 2.1.
    """
    off, largest = 0.0, 0.0
    for place, prior in enumerate(random_priors(12, seed + 31)):
        answers = chosen_at_random(epsilon, seed + place)
        real = posteriors_of(answers, prior)
        weights = real if mean_under == "posterior" else prior[:, None]
        for person in range(3):
            without = answers[with_default(person)]
            r = without / answers
            mean = (weights * r).sum(axis=0)
            left = posteriors_of(without, prior) / real
            off = max(off, float(np.abs(np.log(left) - np.log(r / mean)).max()))
            largest = max(
                largest, float(np.abs(np.log(r)).max()), float(np.abs(np.log(mean)).max())
            )
    return statement(
        off < 1e-9 and at_most(largest, epsilon),
        f"both sides differ by up to {number(off)}; the parts are within e^±{number(largest)}",
        note=f"ε = {epsilon:g}",
    )


@claim(
    "chapter5-lemma-1-1-proof-sets",
    "after the proof of Lemma 1.1",
    "A bound on every single outcome bounds every set of outcomes.",
    Verdict.HOLDS,
    wrong={"delta": 0.01},
)
def sets_of_singletons(
    *,
    epsilon: Epsilon = 0.6,
    pairs: Annotated[int, "random pairs of laws that are tried", Within(1, 1000)] = 200,
    delta: Delta = 0.0,
    seed: Seed = 53,
) -> Finding:
    """Random pairs: the largest excess Pr[S] - e^ε Pr'[S] of a set, ε the largest of an outcome.

    With ``delta`` > 0 an outcome may exceed e^ε times its probability by so much: then sets exceed
    it by more than any of their outcomes, and the step is wrong.
    """
    worst = 0.0
    for p, q in random_pairs(pairs, 6, seed=seed):
        bound = max((p - delta) / q) if delta else max(p / q)
        worst = max(worst, float(np.maximum(p - bound * q, 0.0).sum()) - delta)
    return upper_bound(
        math.exp(max(worst, 0.0)), 1.0, "e^(largest excess of a set)", note=f"{pairs} pairs"
    )
