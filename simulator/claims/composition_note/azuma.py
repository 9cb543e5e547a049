"""The note on composition theorems (in Chinese): its Lemma 3, Azuma's inequality."""

from __future__ import annotations

import math

import numpy as np

from simulator.claims.findings import equal, number
from simulator.claims.model import Fault, Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.theorems.azuma import tails_stay_below
from simulator.theory.concentration import azuma_absolute_tail, azuma_tail

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
def lemma_3_as_printed(*, epsilon: float = 0.1, given_itself: bool = True) -> Finding:
    """Given X_i itself, its mean is X_i: the condition says X_i <= beta, which losses break."""
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    losses, chances = np.array([epsilon, -epsilon]), np.array([truth, 1.0 - truth])
    largest = float(losses.max() if given_itself else losses @ chances)
    beta = epsilon * math.expm1(epsilon)
    meets = largest <= beta
    return Finding(
        Verdict.HOLDS if meets else Verdict.DOES_NOT_FOLLOW,
        f"largest conditional mean of randomized response's loss: {number(largest)}, "
        f"β = {number(beta)}",
        printed=f"E[X_i | X_i, …, X_1] ≤ β = {number(beta)}, which is X_i = {number(epsilon)}",
        right=f"E[X_i | X_{{i-1}}, …, X_1] = {number(float(losses @ chances))} ≤ β",
        attained=largest,
        claimed=beta,
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
    *, epsilon: float = 0.1, rounds: int = 100, delta: float = 1e-6, deviation: float = 2.0
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
