"""The note on composition theorems (in Chinese); its Lemma 3 is in ``azuma``."""

from __future__ import annotations

import math

import numpy as np

from simulator.claims.exact import optimal_epsilon, random_pairs, repeated
from simulator.claims.findings import number, upper_bound
from simulator.claims.model import Fault, Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.theorems.azuma import azuma_gives_delta
from simulator.claims.theorems.composition import (
    advanced_composition,
    budgets_add_up,
    factors_of_a_view,
    range_of_delta,
)
from simulator.claims.theorems.divergences import (
    advantage,
    defined_on_every_event,
    mean_loss,
)

claim(
    "composition-note-theorem-1",
    "Theorem 1",
    "If every mechanism is ε-DP, Alice's view of k rounds is kε-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilons": (0.5,) * 6},
)(budgets_add_up)

claim(
    "composition-note-theorem-1-proof",
    "proof of Theorem 1",
    "Pr[V=v] factors into Pr[R=r] and the Pr[Y_i | Y_{i-1}, …, Y_1, R=r], and each ratio of these "
    "is at most e^ε.",
    Verdict.HOLDS,
    wrong={"given_coins": False},
    given={"given_coins": True},
)(factors_of_a_view)


claim(
    "composition-note-lemma-2",
    "Lemma 2",
    "If both max divergences are at most ε, then D(Y‖Z) ≤ ε(e^ε - 1).",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.25},
    given={"epsilon": 0.5},
)(mean_loss)

claim(
    "composition-note-divergence-boundary",
    "Max Divergence and KL Divergence",
    "The δ-approximate max divergence is defined on every event with P[Y ∈ S] ≥ δ.",
    Verdict.FAILS,
    wrong={"strict": True},
    fault=Fault.SLIP,
)(defined_on_every_event)


@claim(
    "composition-note-lemma-2-proof",
    "proof of Lemma 2, last step but one",
    "The two integrals ∫(P_Z-P_Y)⁺ + ∫(P_Y-P_Z)⁺ are at most sup_D |P_Z(D)-P_Y(D)|.",
    Verdict.FAILS,
    wrong={"factor": 2.0},
)
def two_integrals(
    *, epsilon: float = 0.5, pairs: int = 100, factor: float = 1.0, seed: int = 2
) -> Finding:
    """Each of the two is the total variation distance, which is that supremum."""
    worst, distance = 0.0, 0.0
    for p, q in random_pairs(pairs, 6, seed=seed, epsilon=epsilon):
        variation = float(np.maximum(p - q, 0.0).sum())
        both = float(np.abs(p - q).sum())
        if both / variation > worst:
            worst, distance = both / variation, variation
    return upper_bound(
        worst,
        factor,
        "the integrals over the supremum",
        printed=f"∫ + ∫ ≤ sup_D |P_Z(D)-P_Y(D)| (= {number(distance)} for one pair)",
        right=f"∫ + ∫ = 2 sup_D |P_Z(D)-P_Y(D)| (= {number(worst * distance)})",
        note="the lemma stands: twice the supremum is at most e^ε - 1 too",
    )


claim(
    "composition-note-lemma-2-proof-last",
    "proof of Lemma 2, last step",
    "sup_D |P_Z(D)-P_Y(D)| ≤ e^ε-1. (Twice the supremum is within it too, so that the lemma "
    "survives the step before.)",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.25},
    given={"tight": False},
)(advantage)


claim(
    "composition-note-theorem-4",
    "Theorem 4",
    "If every mechanism is ε-DP, the view is (ε', δ)-DP with ε' = √(2k ln(1/δ))·ε + kε(e^ε-1).",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.5},
    given={"epsilon": 0.05, "rounds": 1000, "delta": 1e-5},
)(advanced_composition)

claim(
    "composition-note-theorem-4-proof",
    "proof of Theorem 4",
    "Lemma 3 with c_i = ε, whose conditional means need no independence, gives exactly δ at "
    "t = √(2k ln(1/δ))·ε.",
    Verdict.HOLDS,
    wrong={"effect": 4.0},
)(azuma_gives_delta)

claim(
    "composition-note-theorem-4-range",
    "Theorem 4",
    "The theorem is stated without a range of δ.",
    Verdict.FAILS,
    wrong={"largest": 1.0},
    given={"printed": "any δ"},
    fault=Fault.SLIP,
)(range_of_delta)


@claim(
    "composition-note-order",
    "after Theorem 4",
    "When ε is very small, e^ε-1 tends to 0, so the view may be taken to be (O(√k·ε), δ)-DP.",
    Verdict.FAILS,
    wrong={"epsilon": 1e-4},
    fault=Fault.SLIP,
)
def order(
    *, epsilon: float = 0.01, delta: float = 1e-6, constant: float = 6.0, rounds: int = 1_000_000
) -> Finding:
    """The exact least epsilon over √k·epsilon keeps growing once k epsilon^2 outgrows it.

    The constant allows for √(2 ln(1/delta)) = 5.3; up to k = 1/epsilon^2 it is enough.
    """
    least = optimal_epsilon(repeated(epsilon, rounds), delta)
    unit = math.sqrt(rounds) * epsilon
    return upper_bound(
        least / unit,
        constant,
        f"least ε over √k·ε at ε = {epsilon:g}, k = {rounds}",
        printed="O(√k·ε) for very small ε, whatever k",
        right=f"O(√k·ε + kε²): at ε = {epsilon:g}, k = {rounds} the least ε is {number(least)}, "
        f"{number(least / unit)} times √k·ε = {number(unit)}",
        note="a condition is missing, k ≤ 1/ε² or so; at ε = 1e-4 the same k keeps to it",
    )
