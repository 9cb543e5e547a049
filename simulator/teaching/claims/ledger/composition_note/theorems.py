"""The note on composition theorems (in Chinese)."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import equal, follows, number, upper_bound
from simulator.teaching.claims.ledger.shared.exact_values import (
    chance_of_truth,
    optimal_epsilon,
    random_pairs,
    repeated,
)
from simulator.teaching.claims.ledger.shared.parameters import (
    Constant,
    Delta,
    Epsilon,
    Factor,
    Rounds,
    Seed,
)
from simulator.teaching.claims.ledger.theorems.azuma import azuma_gives_delta, tails_stay_below
from simulator.teaching.claims.ledger.theorems.composition import (
    advanced_composition,
    budgets_add_up,
    factors_of_a_view,
    range_of_delta,
)
from simulator.teaching.claims.ledger.theorems.divergences import (
    advantage,
    defined_on_every_event,
    mean_loss,
)
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.theory.bounds.concentration import azuma_absolute_tail, azuma_tail

Pairs = Annotated[int, "random pairs of laws that are tried", Within(1, 500)]
GivenItself = Annotated[bool, "whether X_i is among what is conditioned on"]
Deviation = Annotated[float, "how far a step strays from its mean, in ε", Within(0.01, 100.0)]

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
    *, epsilon: Epsilon = 0.5, pairs: Pairs = 100, factor: Factor = 1.0, seed: Seed = 2
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
    *,
    epsilon: Epsilon = 0.01,
    delta: Delta = 1e-6,
    constant: Constant = 6.0,
    rounds: Rounds = 1_000_000,
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


claim(
    "composition-note-lemma-3",
    "Lemma 3 (Azuma)",
    "If the conditional mean of X_i given X_{i-1}, …, X_1 is at most β and |X_i| ≤ c_i, so that it "
    "has range 2c_i, then Pr[ΣX_i ≥ kβ+t] ≤ exp(-t²/(2Σc_i²)) (with the conditioning put right).",
    Verdict.NOT_TIGHT,
    wrong={"constant": 8.0},
)(tails_stay_below)


@claim(
    "composition-note-lemma-3-conditioning",
    "Lemma 3 and proof of Theorem 4",
    "Theorem 4 follows from Lemma 3 with the condition E[X_i | X_i, …, X_1] ≤ β as printed.",
    Verdict.DOES_NOT_FOLLOW,
    wrong={"given_itself": False},
    fault=Fault.SLIP,
)
def lemma_3_as_printed(*, epsilon: Epsilon = 0.1, given_itself: GivenItself = True) -> Finding:
    """Given X_i itself, its mean is X_i: the condition says X_i <= beta, which losses break."""
    truth = chance_of_truth(epsilon)
    losses, chances = np.array([epsilon, -epsilon]), np.array([truth, 1.0 - truth])
    largest = float(losses.max() if given_itself else losses @ chances)
    beta = epsilon * math.expm1(epsilon)
    return follows(
        largest,
        beta,
        f"largest conditional mean of randomized response's loss: {number(largest)}, "
        f"β = {number(beta)}",
        printed=f"E[X_i | X_i, …, X_1] ≤ β = {number(beta)}, which is X_i = {number(epsilon)}",
        right=f"E[X_i | X_{{i-1}}, …, X_1] = {number(float(losses @ chances))} ≤ β",
    )


@claim(
    "composition-note-lemma-3-is-azuma",
    "Lemma 3 (Azuma)",
    "The lemma rests on each X_i lying in an interval of length 2c_i: from |X_i - E[X_i | past]| ≤ "
    "2c_i alone Azuma's inequality has an exponent four times smaller. (ours)",
    Verdict.HOLDS,
    wrong={"deviation": 1.0},
)
def lemma_3_from_azuma(
    *, epsilon: Epsilon = 0.1, rounds: Rounds = 100, delta: Delta = 1e-6, deviation: Deviation = 2.0
) -> Finding:
    """Azuma's inequality with bounds a_i on the differences is exp(-t^2 / (2 sum a_i^2)).

    With a_i = 2 c_i the exponent is four times smaller than Lemma 3's. What gives Lemma 3 is that
    X_i lies in an interval of length 2 c_i (Hoeffding's lemma).
    """
    t = math.sqrt(2.0 * rounds * -math.log(delta)) * epsilon
    careless = azuma_absolute_tail(t, rounds * (deviation * epsilon) ** 2)
    by_range = azuma_tail(t, rounds * (2.0 * epsilon) ** 2)
    return equal(
        math.log(by_range) / math.log(careless),
        4.0,
        "ratio of the exponents",
        note=f"at t = {number(t)}: {number(careless)} by differences, {number(by_range)} by range; "
        "the note names Azuma and gives no proof",
    )
