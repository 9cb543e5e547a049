"""Properties of DP, chapter 5: post-processing, groups, and why useful epsilons exceed 1/n."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from scipy.optimize import linprog

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import equal, number, statement
from simulator.teaching.claims.ledger.shared.exact_values import chance_of_truth, solution
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, People
from simulator.teaching.claims.ledger.theorems.robustness import group_privacy, post_processing
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim

Primed = Annotated[bool, "whether x' stands on the right"]
Product = Annotated[float, "the privacy parameter is this over n", Within(0.0, 1000.0)]
Useful = Annotated[float, "the advantage from which on an answer is useful", Within(0.0, 1.0)]

claim(
    "chapter5-lemma-1-6",
    "Lemma 1.6 (post-processing)",
    "If A is ε-DP, so is B(A(·)) for every randomized B.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)(post_processing)


@claim(
    "chapter5-lemma-1-6-display",
    "proof of Lemma 1.6, equation (2)",
    "e^ε Pr[A(x') ∈ B⁻¹(b)] = e^ε Pr[B(A(x)) = b], with x and not x' on the right.",
    Verdict.FAILS,
    wrong={"primed": True},
    fault=Fault.TRANSCRIPT,
)
def postprocessing_display(*, epsilon: Epsilon = 0.6, primed: Primed = False) -> Finding:
    """Randomized response kept as it is, b the answer that x' gives more often."""
    truth = chance_of_truth(epsilon)
    on_x, on_x_prime = 1.0 - truth, truth
    right_side = math.exp(epsilon) * (on_x_prime if primed else on_x)
    left_side = math.exp(epsilon) * on_x_prime
    return equal(
        left_side,
        right_side,
        "e^ε Pr[A(x') ∈ B⁻¹(b)]",
        printed=f"= e^ε Pr[B(A(x)) = b] = {number(right_side)}",
        right=f"= e^ε Pr[B(A(x')) = b] = {number(left_side)}",
    )


claim(
    "chapter5-lemma-1-7",
    "Lemma 1.7 (group privacy)",
    "Data sets that differ in k positions are within e^{kε}.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilon": 0.2, "people": 7},
)(group_privacy)


@claim(
    "chapter5-useful-epsilon",
    "Lesson after Lemma 1.7",
    "Useful ε-DP algorithms need ε ≫ 1/n: far below it nothing tells 0^n from 1^n.",
    Verdict.HOLDS,
    wrong={"product": 10.0},
)
def useful_epsilon(
    *, people: People = 50, product: Product = 0.02, useful: Useful = 0.05
) -> Finding:
    """The best advantage of any epsilon-DP test, epsilon = product/n, by linear program.

    Moving one position at a time, Pr[test says 1] and Pr[it says 0] each change by a factor of at
    most e^epsilon. Group privacy bounds the advantage by tanh(n epsilon/2).
    """
    advantage = best_advantage(people, product / people)
    at_one = best_advantage(people, 1.0 / people)
    return statement(
        advantage <= useful and advantage <= math.tanh(product / 2.0) * (1.0 + 1e-7),
        f"best advantage {number(advantage)} at ε = {product:g}/n (bound "
        f"{number(math.tanh(product / 2.0))})",
        printed=f"no useful test at ε = {product:g}/n",
        note=f"{number(at_one)} at ε = 1/n",
    )


def best_advantage(people: int, epsilon: float) -> float:
    """Largest Pr[says 1 | 1^n] - Pr[says 1 | 0^n] of an epsilon-DP test, by linear program."""
    ratio = math.exp(epsilon)
    up = np.eye(people, people + 1, 1) - ratio * np.eye(people, people + 1)
    down = np.eye(people, people + 1) - ratio * np.eye(people, people + 1, 1)
    # p_j <= e^eps p_(j-1), and the same upwards; for 1 - p likewise: 1 - p_j <= e^eps (1 - ...).
    rows = np.vstack([up, down, -up, -down])
    limits = np.r_[np.zeros(2 * people), np.full(2 * people, ratio - 1.0)]
    gain = np.zeros(people + 1)
    gain[0], gain[-1] = 1.0, -1.0
    found = linprog(gain, A_ub=rows, b_ub=limits, bounds=(0.0, 1.0))
    says_one = solution(found)
    return float(says_one[-1] - says_one[0])
