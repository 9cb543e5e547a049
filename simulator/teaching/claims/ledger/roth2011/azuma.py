"""Roth 2011, Lecture 4: Azuma's inequality, and how Theorem 6 uses it."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from simulator.teaching.claims.findings import follows, number, upper_bound
from simulator.teaching.claims.ledger.shared.parameters import Constant, Delta, Epsilon, Rounds
from simulator.teaching.claims.ledger.theorems.azuma import azuma_gives_delta, tails_stay_below
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.theory.bounds.concentration import azuma_tail

Adaptive = Annotated[bool, "whether an answer sways the later queries"]

claim(
    "roth2011-theorem-5",
    "Theorem 5 (Azuma)",
    "If X_i moves the conditional mean of f by at most c_i, then Pr[f ≥ E f + t] ≤ "
    "exp(-2t²/Σc_i²).",
    Verdict.NOT_TIGHT,
    wrong={"constant": 8.0},
)(tails_stay_below)


@claim(
    "roth2011-theorem-5-constant",
    "Theorem 5 (Azuma)",
    "The constant 2 in the exponent is the largest possible. (ours)",
    Verdict.HOLDS,
    wrong={"constant": 2.2},
)
def azuma_constant(*, constant: Constant = 2.0) -> Finding:
    """The large-deviation rate of a coin of chance p is D(p+x‖p); x^2 is in units of the range."""
    chances = np.linspace(0.01, 0.99, 197)
    steps = np.geomspace(1e-3, 0.9, 120)
    grid = [(p, x) for p in chances for x in steps if p + x < 1.0]
    least = min(_rate(p, x) / x**2 for p, x in grid)
    return upper_bound(constant, least, "exponent constant", note="against the least true rate")


def _rate(p: float, x: float) -> float:
    a = p + x
    return float(a * math.log1p(x / p) + (1.0 - a) * math.log1p(-x / (1.0 - p)))


claim(
    "roth2011-theorem-6-proof-azuma",
    "proof of Theorem 6",
    "Theorem 5 with c_i = 2ε, as for the centred losses C_i - E[C_i | past], gives exactly δ at "
    "t = √(2k ln(1/δ))·ε.",
    Verdict.HOLDS,
    wrong={"effect": 4.0},
)(azuma_gives_delta)


@claim(
    "roth2011-theorem-6-proof-azuma-adaptive",
    "proof of Theorem 6",
    "Theorem 5 applied to f = ΣC_i gives δ: |C_i| ≤ ε bounds a round's effect on the conditional "
    "mean of f by 2ε.",
    Verdict.DOES_NOT_FOLLOW,
    wrong={"adaptive": False},
)
def azuma_on_the_sum(
    *, epsilon: Epsilon = 0.1, rounds: Rounds = 100, delta: Delta = 1e-6, adaptive: Adaptive = True
) -> Finding:
    """An answer also sways the later queries of an adaptive adversary, hence the mean of the rest.

    Centring each loss at its conditional mean, whose sum is at most k epsilon (e^epsilon - 1),
    repairs the proof.
    """
    effects = swayed_effects(epsilon, rounds) if adaptive else np.full(rounds, 2.0 * epsilon)
    t = math.sqrt(2.0 * rounds * -math.log(delta)) * epsilon
    given = azuma_tail(t, float(effects @ effects))
    return follows(
        given,
        delta,
        f"a round's effect reaches {number(float(effects.max()))}, 2ε = {2 * epsilon:g}; "
        f"Theorem 5 then gives {number(given)}",
        printed=f"Theorem 5 on ΣC_i gives δ = {number(delta)}",
        right=f"it gives {number(given)} on ΣC_i, for a round sways the rounds after it too; on "
        "Σ(C_i - E[C_i | past]) it gives δ, so Theorem 6 stands",
    )


def stops_once(past: tuple[int, ...]) -> bool:
    """Whether the adversary of :func:`swayed_effects` asks only harmless questions after ``past``.

    It stops after answers +...+ - -, and after no others; +1 is evidence for experiment 0.
    """
    return len(past) >= 2 and past[-2:] == (-1, -1) and all(x == 1 for x in past[:-2])


def swayed_effects(epsilon: float, rounds: int) -> np.ndarray:
    """How much each round sways the mean of the total loss, for an adversary that may stop once.

    It plays randomized response. After +...+ - in round i - 1, an answer - makes it stop and an
    answer + go on to the end: the effect is 2 epsilon plus the mean of the rounds left. For the
    first round, which decides less, 2 epsilon is stated.
    """
    left = np.arange(rounds - 1, -1, -1)
    effects = 2.0 * epsilon + left * epsilon * math.tanh(epsilon / 2.0)
    effects[0] = 2.0 * epsilon
    return np.asarray(effects)
