"""Zhang 2020, lecture 7, part 2: advanced composition, its corollary, and Bob's databases."""

from __future__ import annotations

import math
from collections.abc import Iterable

from scipy.optimize import brentq
from scipy.stats import binom

from simulator.claims.findings import number, statement, upper_bound
from simulator.claims.model import Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.sources import ZHANG_2020
from simulator.theory import ApproxDP, Composition, Guarantee, PureDP, bound
from simulator.theory.loss_atoms import repeated_atoms


def theorem_3_20(
    epsilon: float, rounds: int, delta: float, deviation: float = 1.0, mean: float = 1.0
) -> float:
    """The printed ε', with its two terms scaled by ``deviation`` and ``mean``."""
    root = math.sqrt(2 * rounds * math.log(1 / delta)) * epsilon
    return deviation * root + mean * rounds * epsilon * math.expm1(epsilon)


def exact_epsilon(guarantee: Guarantee, rounds: int, delta: float) -> float:
    """The least ε over all adversaries: Kairouz, Oh and Viswanath 2017, Theorem 3.3."""
    return (
        bound("kairouz-oh-viswanath-3.3")
        .on(Composition.repeat(guarantee, rounds))
        .epsilon(delta)
        .value
    )


def exact_delta(guarantee: Guarantee, rounds: int, epsilon: float) -> float:
    """The least δ over all adversaries, by the same theorem."""
    return (
        bound("kairouz-oh-viswanath-3.3")
        .on(Composition.repeat(guarantee, rounds))
        .delta(epsilon)
        .value
    )


@claim(
    "zhang2020-theorem-3.20",
    ZHANG_2020,
    "part 2, Theorem 3.20, with δ = 0",
    "k rounds of ε-DP are (ε', δ')-DP for ε' = √(2k ln(1/δ')) ε + kε(e^ε-1).",
    Verdict.NOT_TIGHT,
    wrong={"deviation": 0.5},
)
def advanced(
    *, epsilon: float = 0.1, rounds: int = 1000, delta: float = 1e-6, deviation: float = 1.0
) -> Finding:
    """The exact ε at δ' against the theorem's."""
    claimed = theorem_3_20(epsilon, rounds, delta, deviation)
    return upper_bound(
        exact_epsilon(PureDP(epsilon), rounds, delta),
        claimed,
        f"ε' at δ' = {number(delta)}",
        note=f"ε = {number(epsilon)}, k = {rounds}",
    )


@claim(
    "zhang2020-theorem-3.20-deltas",
    ZHANG_2020,
    "part 2, Theorem 3.20",
    "k rounds of (ε, δ)-DP are (ε', kδ+δ')-DP.",
    Verdict.NOT_TIGHT,
    wrong={"copies": 0},
)
def advanced_deltas(
    *,
    epsilon: float = 0.1,
    delta: float = 1e-7,
    rounds: int = 100,
    slack: float = 1e-6,
    copies: int | None = None,
) -> Finding:
    """The exact δ at ε' against ``copies`` δ + δ', by default k of them."""
    claimed = (rounds if copies is None else copies) * delta + slack
    epsilon_total = theorem_3_20(epsilon, rounds, slack)
    return upper_bound(
        exact_delta(ApproxDP(epsilon, delta), rounds, epsilon_total),
        claimed,
        f"δ at ε' = {number(epsilon_total)}",
        note=f"(ε, δ) = ({number(epsilon)}, {number(delta)}), k = {rounds}",
    )


def corollary_epsilon(target: float, rounds: int, delta: float, constant: float = 2.0) -> float:
    """The per-round ε that Corollary 3.21 allows."""
    return target / (constant * math.sqrt(2 * rounds * math.log(1 / delta)))


GRID = tuple((target, k) for target in (0.05, 0.5, 0.999) for k in (1, 10, 1000))


def worst_total(
    deltas: Iterable[float], constant: float
) -> tuple[float, float, tuple[float, int, float]]:
    """The largest (Theorem 3.20's total ε)/ε' and (exact δ at ε')/δ', and where the latter is."""
    by_theorem, by_delta, where = 0.0, 0.0, (0.0, 0, 0.0)
    for delta in deltas:
        for target, rounds in GRID:
            epsilon = corollary_epsilon(target, rounds, delta, constant)
            by_theorem = max(by_theorem, theorem_3_20(epsilon, rounds, delta) / target)
            ratio = exact_delta(PureDP(epsilon), rounds, target) / delta
            if ratio > by_delta:
                by_delta, where = ratio, (target, rounds, delta)
    return by_theorem, by_delta, where


@claim(
    "zhang2020-corollary-3.21",
    ZHANG_2020,
    "part 2, Corollary 3.21",
    "For 0 < ε' < 1 and δ' at most 1/2, rounds of ε = ε'/(2√(2k ln(1/δ'))) give (ε', kδ+δ').",
    Verdict.NOT_TIGHT,
    wrong={"constant": 0.5},
)
def corollary(*, constant: float = 2.0) -> Finding:
    """It follows from Theorem 3.20 there: the mean term stays below the half that is left."""
    by_theorem, by_delta, _ = worst_total((1e-12, 1e-6, 1e-2, 0.5), constant)
    return upper_bound(
        max(by_theorem, by_delta),
        1.0,
        "largest (ε' by Theorem 3.20)/(ε' wanted)",
        note="over ε' in {0.05, 0.5, 0.999}, k in {1, 10, 1000}, δ' in {1e-12, 1e-6, 0.01, 0.5}; "
        f"the exact δ is at most {number(by_delta)} δ'",
    )


@claim(
    "zhang2020-corollary-3.21-every-delta",
    ZHANG_2020,
    "part 2, Corollary 3.21",
    "The corollary for every δ' > 0, as printed.",
    Verdict.FAILS,
    wrong={"largest": 0.5},
    slip=True,
)
def corollary_every_delta(*, largest: float = 0.999) -> Finding:
    """Near δ' = 1 the allowed ε grows without limit and the mean term takes over."""
    by_theorem, by_delta, (target, rounds, delta) = worst_total((1e-6, 0.5, largest), 2.0)
    epsilon = corollary_epsilon(target, rounds, delta)
    end = float(brentq(lambda d: theorem_3_20(corollary_epsilon(1, 1, d), 1, d) - 1, 0.5, 0.95))
    return upper_bound(
        by_delta,
        1.0,
        "largest (exact δ at ε')/δ'",
        printed=f"{rounds} rounds of ε = {number(epsilon)} are ({number(target)}, "
        f"{number(delta)})-DP",
        right=f"their δ at {number(target)} is {by_delta * delta:.6f}; Theorem 3.20 supports the "
        f"corollary for δ' up to {number(end)} only",
        note=f"ε' by Theorem 3.20 is up to {number(by_theorem)} times the one wanted; only a δ' "
        "near 1, which nobody wants, is affected",
    )


@claim(
    "zhang2020-bob",
    ZHANG_2020,
    "part 2, example of 10,000 databases",
    "By Theorem 3.20, ε0 < 1/801 keeps Bob's loss over 10,000 databases at 1, but for "
    "probability e^-32.",
    Verdict.DOES_NOT_FOLLOW,
    wrong={"denominator": 700.0},
)
def bob(*, denominator: float = 801.0, rounds: int = 10_000, log_delta: float = -32.0) -> Finding:
    """The theorem's number and the exact one, at ε0 = 1/801.

    The tail Pr[L > 1] is computed twice: from the law's atoms and by scipy's binomial law.
    """
    epsilon, delta = 1 / denominator, math.exp(log_delta)
    by_theorem = theorem_3_20(epsilon, rounds, delta)
    exact = exact_epsilon(PureDP(epsilon), rounds, delta)
    # L = (k - 2 lies) ε: above 1 as long as there are fewer than (k - 1/ε)/2 lies
    most_lies = math.ceil((rounds - denominator) / 2) - 1
    tail = float(binom.cdf(most_lies, rounds, 1 / (1 + math.exp(epsilon))))
    atoms = repeated_atoms(epsilon, rounds)
    witness = math.fsum(math.exp(m) for m in atoms.log_mass[atoms.losses > 1.0])
    agree = math.isclose(tail, witness, rel_tol=1e-9)
    verdict = Verdict.FAILS
    if agree and exact <= 1.0 and tail <= delta:
        verdict = Verdict.HOLDS if by_theorem <= 1.0 else Verdict.DOES_NOT_FOLLOW
    enough = float(brentq(lambda e: theorem_3_20(e, rounds, delta) - 1.0, 1e-6, 1e-2, xtol=1e-15))
    return Finding(
        verdict,
        f"at ε0 = 1/{denominator:g} Theorem 3.20 gives {by_theorem:.6f}; exact {exact:.6f}",
        slack=by_theorem / exact,
        printed=f"ε0 < 1/{denominator:g} gives ε = 1 by Theorem 3.20",
        right=f"Theorem 3.20 gives {by_theorem:.6f} there, and 1 at ε0 = 1/{1 / enough:.2f}; the "
        f"exact ε is {exact:.6f}",
        note=f"Pr[L > 1] = {number(tail)} against e^-32 = {number(delta)}; basic composition "
        f"gives {number(rounds * epsilon)}; the term kε(e^ε-1) was left out",
    )


@claim(
    "zhang2020-bob-corollary",
    ZHANG_2020,
    "part 2, example of 10,000 databases",
    "Corollary 3.21 by itself would ask Bob's databases for ε0 = 1/1600.",
    Verdict.HOLDS,
    wrong={"denominator": 801.0},
)
def bob_by_corollary(*, denominator: float = 1600.0) -> Finding:
    """Corollary 3.21 at ε' = 1, k = 10,000 and δ' = e^-32: half of what the example allows."""
    allowed = corollary_epsilon(1.0, 10_000, math.exp(-32.0))
    return statement(
        math.isclose(allowed, 1 / denominator, rel_tol=1e-9), f"ε0 = 1/{1 / allowed:.2f}"
    )
