"""Zhang 2020, lecture 7, part 2: advanced composition, its corollary, and Bob's databases."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated

from scipy.optimize import brentq
from scipy.stats import binom

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.exact_values import (
    optimal_delta,
    optimal_epsilon,
    repeated,
)
from simulator.teaching.claims.ledger.shared.parameters import Constant, Rounds
from simulator.teaching.claims.ledger.theorems.composition import (
    advanced_composition,
    advanced_epsilon,
    range_of_delta,
)
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.theory.pld.response_atoms import repeated_atoms

Largest = Annotated[float, "the largest value that is claimed for", Within(1e-12, 1e12)]
Denominator = Annotated[float, "the number below the line", Within(1.0, 1e9)]
LogDelta = Annotated[float, "ln δ", Within(-700.0, -1e-9)]

claim(
    "zhang2020-theorem-3.20",
    "part 2, Theorem 3.20, with δ = 0",
    "k rounds of ε-DP are (ε', δ')-DP for ε' = √(2k ln(1/δ')) ε + kε(e^ε-1).",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.5},
    given={"rounds": 1000},
)(advanced_composition)

claim(
    "zhang2020-theorem-3.20-deltas",
    "part 2, Theorem 3.20",
    "k rounds of (ε, δ)-DP are (ε', kδ+δ')-DP.",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.5},
    given={"leak": 1e-7},
)(advanced_composition)

claim(
    "zhang2020-theorem-3.20-range",
    "part 2, Theorem 3.20",
    "The theorem is stated for all ε, δ, δ' ≥ 0.",
    Verdict.FAILS,
    wrong={"largest": 1.0},
    fault=Fault.SLIP,
)(range_of_delta)


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
            by_theorem = max(by_theorem, advanced_epsilon(epsilon, rounds, delta) / target)
            ratio = optimal_delta(repeated(epsilon, rounds), target) / delta
            if ratio > by_delta:
                by_delta, where = ratio, (target, rounds, delta)
    return by_theorem, by_delta, where


@claim(
    "zhang2020-corollary-3.21",
    "part 2, Corollary 3.21",
    "For 0 < ε' < 1 and δ' at most 1/2, rounds of ε = ε'/(2√(2k ln(1/δ'))) give (ε', kδ+δ').",
    Verdict.NOT_TIGHT,
    wrong={"constant": 0.5},
)
def corollary(*, constant: Constant = 2.0) -> Finding:
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
    "part 2, Corollary 3.21",
    "The corollary for every δ' > 0, as printed.",
    Verdict.FAILS,
    wrong={"largest": 0.5},
    fault=Fault.SLIP,
)
def corollary_every_delta(*, largest: Largest = 0.999) -> Finding:
    """Near δ' = 1 the allowed ε grows without limit and the mean term takes over."""
    by_theorem, by_delta, (target, rounds, delta) = worst_total((1e-6, 0.5, largest), 2.0)
    epsilon = corollary_epsilon(target, rounds, delta)
    end = float(brentq(lambda d: advanced_epsilon(corollary_epsilon(1, 1, d), 1, d) - 1, 0.5, 0.95))
    return upper_bound(
        by_delta,
        1.0,
        "largest (exact δ at ε')/δ'",
        printed=f"{rounds} rounds of ε = {number(epsilon)} are ({number(target)}, "
        f"{number(delta)})-DP",
        right=f"their δ at {number(target)} is {by_delta * delta:.6f}; Theorem 3.20 supports the "
        f"corollary for δ' up to {number(end)} only",
        note=f"ε' by Theorem 3.20 is up to {number(by_theorem)} times the one wanted; only a δ' "
        "near 1, which has no use, is affected",
    )


@claim(
    "zhang2020-bob",
    "part 2, example of 10,000 databases",
    "With δ' = e^-32 it suffices that ε0 < 1/801, to keep Bob's loss over 10,000 databases at 1; "
    "the theorem of that δ' is 3.20.",
    Verdict.DOES_NOT_FOLLOW,
    wrong={"denominator": 700.0},
)
def bob(
    *, denominator: Denominator = 801.0, rounds: Rounds = 10_000, log_delta: LogDelta = -32.0
) -> Finding:
    """The theorem's number and the exact one, at ε0 = 1/801.

    The tail Pr[L > 1] is computed twice: from the law's atoms and by scipy's binomial law.
    """
    epsilon, delta = 1 / denominator, math.exp(log_delta)
    by_theorem = advanced_epsilon(epsilon, rounds, delta)
    exact = optimal_epsilon(repeated(epsilon, rounds), delta)
    # L = (k - 2 lies) ε: above 1 as long as there are fewer than (k - 1/ε)/2 lies
    most_lies = math.ceil((rounds - denominator) / 2) - 1
    tail = float(binom.cdf(most_lies, rounds, 1 / (1 + math.exp(epsilon))))
    atoms = repeated_atoms(epsilon, rounds)
    witness = math.fsum(math.exp(m) for m in atoms.log_mass[atoms.losses > 1.0])
    agree = math.isclose(tail, witness, rel_tol=1e-9)
    verdict = Verdict.FAILS
    if agree and exact <= 1.0 and tail <= delta:
        verdict = Verdict.HOLDS if by_theorem <= 1.0 else Verdict.DOES_NOT_FOLLOW
    # one round of ε = 1 has e-1 > 1, and 1e7 rounds of 1e-6 at e^-700 a tenth: between is the root
    enough = float(
        brentq(lambda e: advanced_epsilon(e, rounds, delta) - 1.0, 1e-6, 1.0, xtol=1e-15)
    )
    root_alone = math.sqrt(-2.0 * rounds * log_delta)
    return Finding(
        verdict,
        f"at ε0 = 1/{denominator:g} Theorem 3.20 gives {by_theorem:.6f}; exact {exact:.6f}",
        slack=by_theorem / exact,
        printed=f"with δ' = e^{log_delta:g}, ε0 < 1/{denominator:g} suffices for ε = 1",
        right=f"Theorem 3.20 gives {by_theorem:.6f} there, and 1 at ε0 = 1/{1 / enough:.2f}; the "
        f"exact ε is {exact:.6f}",
        note=f"Pr[L > 1] = {number(tail)} against e^{log_delta:g} = {number(delta)}; basic "
        f"composition gives {number(rounds * epsilon)}; without the term kε(e^ε-1) it would be 1 "
        f"at ε0 = 1/{number(root_alone)}",
        attained=tail,
        claimed=delta,
    )


@claim(
    "zhang2020-bob-corollary",
    "part 2, example of 10,000 databases",
    "Corollary 3.21 by itself would ask Bob's databases for ε0 = 1/1600. (ours)",
    Verdict.HOLDS,
    wrong={"denominator": 801.0},
)
def bob_by_corollary(*, denominator: Denominator = 1600.0) -> Finding:
    """Corollary 3.21 at ε' = 1, k = 10,000 and δ' = e^-32: half of what the example allows."""
    allowed = corollary_epsilon(1.0, 10_000, math.exp(-32.0))
    return statement(
        math.isclose(allowed, 1 / denominator, rel_tol=1e-9), f"ε0 = 1/{1 / allowed:.2f}"
    )
