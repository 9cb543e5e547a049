"""The note on composition theorems (in Chinese); its Lemma 3 is in ``azuma``."""

from __future__ import annotations

import math

import numpy as np

from simulator.claims.cast import respond_by_answer
from simulator.claims.enumeration import view_law
from simulator.claims.exact import largest_mean_loss, optimal_epsilon, random_pairs, repeated
from simulator.claims.findings import number, upper_bound
from simulator.claims.model import Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.roth2011.theorem_6 import theorem_6
from simulator.claims.sources import COMPOSITION_NOTE
from simulator.theory.guarantees import PureDP


@claim(
    "composition-note-theorem-1",
    COMPOSITION_NOTE,
    "Theorem 1",
    "If every mechanism is ε-DP, Alice's view of k rounds is kε-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def basic_composition(*, epsilon: float = 0.5, rounds: int = 6, share: float = 1.0) -> Finding:
    """Every view of an adversary that presses the side that the answers favour."""
    law = view_law(respond_by_answer([epsilon] * rounds, exchange=False), PureDP(epsilon), rounds)
    return upper_bound(law.support[1], share * rounds * epsilon, "largest loss of a view")


@claim(
    "composition-note-lemma-2",
    COMPOSITION_NOTE,
    "Lemma 2",
    "If both max divergences are at most ε, then D(Y‖Z) ≤ ε(e^ε - 1).",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.25},
)
def mean_loss(*, epsilon: float = 0.5, factor: float = 1.0) -> Finding:
    """The largest mean loss, by linear program."""
    claimed = factor * epsilon * math.expm1(epsilon)
    return upper_bound(largest_mean_loss(epsilon), claimed, "mean loss")


@claim(
    "composition-note-lemma-2-proof",
    COMPOSITION_NOTE,
    "proof of Lemma 2, last step but one",
    "The two integrals ∫(P_Z-P_Y)⁺ + ∫(P_Y-P_Z)⁺ are at most sup_D |P_Z(D)-P_Y(D)|.",
    Verdict.FAILS,
    wrong={"factor": 2.0},
)
def two_integrals(*, epsilon: float = 0.5, pairs: int = 100, factor: float = 1.0) -> Finding:
    """Each of the two is the total variation distance, which is that supremum."""
    worst, distance = 0.0, 0.0
    for p, q in random_pairs(pairs, 6, seed=2, epsilon=epsilon):
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


@claim(
    "composition-note-lemma-2-proof-last",
    COMPOSITION_NOTE,
    "proof of Lemma 2, last step",
    "The two integrals together (twice the supremum) are at most e^ε - 1.",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.5},
)
def last_step(*, epsilon: float = 0.5, factor: float = 1.0) -> Finding:
    """The largest is 2 tanh(epsilon/2), by randomized response: the lemma survives its slip."""
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    both = 2.0 * (2.0 * truth - 1.0)
    worst = max(
        [both]
        + [float(np.abs(p - q).sum()) for p, q in random_pairs(200, 6, seed=8, epsilon=epsilon)]
    )
    return upper_bound(worst, factor * math.expm1(epsilon), "largest sum of the two integrals")


@claim(
    "composition-note-theorem-4",
    COMPOSITION_NOTE,
    "Theorem 4",
    "If every mechanism is ε-DP, the view is (ε', δ)-DP with ε' = √(2k ln(1/δ))·ε + kε(e^ε-1).",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.5},
)
def advanced_composition(
    *, epsilon: float = 0.05, rounds: int = 1000, delta: float = 1e-5, factor: float = 1.0
) -> Finding:
    """Against the exact least epsilon of the worst adversary."""
    least = optimal_epsilon(repeated(epsilon, rounds), delta)
    return upper_bound(least, factor * theorem_6(epsilon, rounds, delta), f"least ε at {delta:g}")


@claim(
    "composition-note-order",
    COMPOSITION_NOTE,
    "after Theorem 4",
    "For small ε the view may be taken to be (O(√k·ε), δ)-DP.",
    Verdict.FAILS,
    wrong={"largest": 100},
)
def order(
    *, epsilon: float = 0.1, delta: float = 1e-6, constant: float = 6.0, largest: int = 1_000_000
) -> Finding:
    """The exact least epsilon over √k·epsilon keeps growing once k epsilon^2 outgrows it.

    The constant allows for √(2 ln(1/delta)) = 5.3; up to k = 1/epsilon^2 it is enough.
    """
    least = optimal_epsilon(repeated(epsilon, largest), delta)
    return upper_bound(
        least / (math.sqrt(largest) * epsilon),
        constant,
        f"least ε over √k·ε at k = {largest}",
        printed=f"O(√k·ε), a constant near √(2 ln(1/δ)) = {math.sqrt(-2 * math.log(delta)):.3g}",
        right=f"O(√k·ε + kε²): least ε is {number(least)} at k = {largest}, "
        f"√k·ε is {number(math.sqrt(largest) * epsilon)}",
        note="right as long as k ≤ 1/ε², so for fixed k as ε → 0; not for every k at a small ε",
    )
