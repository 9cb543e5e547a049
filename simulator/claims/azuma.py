"""Azuma's inequality in the variants the sources print, and the constant that each really gives."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from simulator.claims.findings import equal, number, upper_bound
from simulator.claims.model import Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.sources import COMPOSITION_NOTE, ROTH_2011
from simulator.theory.concentration import azuma_absolute_tail, azuma_tail

_ROUNDS = (1, 4, 25, 400)


@claim(
    "roth2011-theorem-5",
    ROTH_2011,
    "Theorem 5 (Azuma)",
    "If X_i moves the conditional mean of f by at most c_i, then Pr[f ≥ E f + t] ≤ "
    "exp(-2t²/Σc_i²).",
    Verdict.NOT_TIGHT,
    wrong={"constant": 8.0},
)
def azuma_by_range(*, epsilon: float = 0.3, constant: float = 2.0) -> Finding:
    """Binomial tails of randomized response's loss, and fair walks stopped at their goal.

    The loss of a round lies in an interval of length 2 epsilon; so does the step of a fair walk of
    +-epsilon, which by the reflection principle stands at its goal or beyond with probability
    Pr[S >= t] + Pr[S > t] when it stops there.
    """
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    worst = max(
        _excess(tail, excess, rounds, constant)
        for rounds in _ROUNDS
        for chance, stops in ((truth, False), (0.5, False), (0.5, True))
        for tail, excess in _walk_tails(rounds, chance, stops)
    )
    return upper_bound(worst, 1.0, "largest exact tail over the bound")


def _walk_tails(rounds: int, chance: float, stops: bool) -> list[tuple[float, float]]:
    """(Pr[S - E S >= t], t) in units of half the range, for every t > 0 that S can reach."""
    ups = np.arange(rounds + 1)
    excess = 2.0 * (ups - rounds * chance)
    tails = binom.sf(ups - 1, rounds, chance)
    if stops:
        tails = tails + binom.sf(ups, rounds, chance)
    return [(float(p), float(t)) for p, t in zip(tails, excess) if t > 0.0 and p > 0.0]


def _excess(tail: float, excess: float, rounds: int, constant: float) -> float:
    """Tail over exp(-constant t^2 / (range^2 k)), capped where it would overflow."""
    return math.exp(min(math.log(tail) + constant * excess**2 / (4.0 * rounds), 700.0))


@claim(
    "roth2011-theorem-5-constant",
    ROTH_2011,
    "Theorem 5 (Azuma)",
    "The constant 2 in the exponent is the largest possible.",
    Verdict.HOLDS,
    wrong={"constant": 2.2},
)
def azuma_constant(*, constant: float = 2.0) -> Finding:
    """The large-deviation rate of a coin of chance p is D(p+x‖p); x^2 is in units of the range."""
    chances = np.linspace(0.01, 0.99, 197)
    steps = np.geomspace(1e-3, 0.9, 120)
    grid = [(p, x) for p in chances for x in steps if p + x < 1.0]
    least = min(_rate(p, x) / x**2 for p, x in grid)
    return upper_bound(constant, least, "exponent constant", note="against the least true rate")


def _rate(p: float, x: float) -> float:
    a = p + x
    return float(a * math.log1p(x / p) + (1.0 - a) * math.log1p(-x / (1.0 - p)))


@claim(
    "roth2011-theorem-6-proof-azuma",
    ROTH_2011,
    "proof of Theorem 6",
    "Theorem 5 with c_i = 2ε, as for the centred losses C_i - E[C_i | past], gives exactly δ at "
    "t = √(2k ln(1/δ))·ε.",
    Verdict.HOLDS,
    wrong={"effect": 4.0},
)
def azuma_gives_delta(
    *, epsilon: float = 0.1, rounds: int = 100, delta: float = 1e-6, effect: float = 2.0
) -> Finding:
    """The maximum effect of a round is the range 2 epsilon; 4 epsilon leaves the fourth root."""
    t = math.sqrt(2.0 * rounds * -math.log(delta)) * epsilon
    given = azuma_tail(t, rounds * (effect * epsilon) ** 2)
    return upper_bound(given, delta, "Azuma's tail at t", note=f"effect of a round {effect:g}ε")


@claim(
    "roth2011-theorem-6-proof-azuma-adaptive",
    ROTH_2011,
    "proof of Theorem 6",
    "Theorem 5 applied to f = ΣC_i gives δ: |C_i| ≤ ε bounds a round's effect on the conditional "
    "mean of f by 2ε.",
    Verdict.DOES_NOT_FOLLOW,
    wrong={"adaptive": False},
)
def azuma_on_the_sum(
    *, epsilon: float = 0.1, rounds: int = 100, delta: float = 1e-6, adaptive: bool = True
) -> Finding:
    """An answer also sways the later queries of an adaptive adversary, hence the mean of the rest.

    Centring each loss at its conditional mean, whose sum is at most k epsilon (e^epsilon - 1),
    repairs the proof.
    """
    effects = swayed_effects(epsilon, rounds) if adaptive else np.full(rounds, 2.0 * epsilon)
    t = math.sqrt(2.0 * rounds * -math.log(delta)) * epsilon
    given = azuma_tail(t, float(effects @ effects))
    follows = given <= delta * (1.0 + 1e-9)
    return Finding(
        Verdict.HOLDS if follows else Verdict.DOES_NOT_FOLLOW,
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


@claim(
    "composition-note-lemma-3",
    COMPOSITION_NOTE,
    "Lemma 3 (Azuma)",
    "If the conditional mean of X_i given X_{i-1}, …, X_1 is at most β and |X_i| ≤ c_i, then "
    "Pr[ΣX_i ≥ kβ+t] ≤ exp(-t²/(2Σc_i²)) (with the conditioning put right).",
    Verdict.NOT_TIGHT,
    wrong={"denominator": 0.5},
)
def lemma_3(*, epsilon: float = 0.3, denominator: float = 2.0) -> Finding:
    """As Theorem 5 of Roth, with range 2 c_i: binomial tails around the largest mean."""
    worst = max(
        _excess(tail, excess, rounds, 4.0 / denominator)
        for rounds in _ROUNDS
        for chance, stops in ((1.0 / (1.0 + math.exp(-epsilon)), False), (0.5, True))
        for tail, excess in _walk_tails(rounds, chance, stops)
    )
    return upper_bound(worst, 1.0, "largest exact tail over the bound")


@claim(
    "composition-note-lemma-3-conditioning",
    COMPOSITION_NOTE,
    "Lemma 3 and proof of Theorem 4",
    "Theorem 4 follows from Lemma 3 with the condition E[X_i | X_i, …, X_1] ≤ β as printed.",
    Verdict.DOES_NOT_FOLLOW,
    wrong={"given_itself": False},
    slip=True,
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
    )


@claim(
    "composition-note-lemma-3-is-azuma",
    COMPOSITION_NOTE,
    "Lemma 3 (Azuma)",
    "The lemma rests on each X_i lying in an interval of length 2c_i: from |X_i - E[X_i | past]| ≤ "
    "2c_i alone Azuma's inequality has an exponent four times smaller.",
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
