"""Roth 2011, Lecture 4: Theorem 6, advanced composition, compared with the exact answer."""

from __future__ import annotations

import math
from typing import Annotated

from simulator.analysis.estimation import tail_violation
from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import play, press_when_ahead
from simulator.teaching.claims.ledger.shared.exact_values import optimal_epsilon
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, Factor, Seed
from simulator.teaching.claims.ledger.theorems.composition import (
    advanced_composition,
    advanced_epsilon,
    range_of_delta,
)
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import worse_experiment
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound
from simulator.theory.guarantees.pure import ApproxDP, PureDP

Rounds = Annotated[int, "rounds k", Within(1, 200)]
Trials = Annotated[int, "plays of each experiment", Within(1, 6000)]
Leaky = Annotated[bool, "whether the rounds have δs too"]

claim(
    "roth2011-theorem-6",
    "Theorem 6",
    "k adaptive ε-DP mechanisms are (ε', δ')-DP with ε' = √(2k ln(1/δ'))·ε + kε(e^ε-1).",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.5},
)(advanced_composition)


@claim(
    "roth2011-theorem-6-played",
    "Theorem 6",
    "“Press when ahead” on the Laplace mechanism passes Theorem 6's ε' with probability at most "
    "δ', in both experiments.",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.05},
)
def advanced_composition_played(
    *,
    epsilon: Epsilon = 0.2,
    rounds: Rounds = 40,
    delta: Delta = 0.05,
    trials: Trials = 1200,
    factor: Factor = 1.0,
    seed: Seed = 7,
) -> Finding:
    """Tails of both experiments, at a family-wise false-alarm probability of 1e-6."""
    result = play(
        press_when_ahead(epsilon / 2, epsilon), PureDP(epsilon), rounds, trials, seed=seed
    )
    threshold = factor * advanced_epsilon(epsilon, rounds, delta)
    what = f"Pr[loss > {threshold:.3g}]"
    return worse_experiment(result, what, tail_violation, threshold, delta, rounds=rounds)


def unequal_rounds(*, delta: Delta = 1e-6, leaky: Leaky = False, factor: Factor = 1.0) -> Finding:
    """Unequal budgets a few dozen times each, ``leaky`` or not, against the exact answer."""
    rounds = Composition.of((PureDP(0.05), 60), (PureDP(0.1), 40), (PureDP(0.2), 20))
    if leaky:
        rounds = Composition.of((ApproxDP(0.05, 1e-6), 50), (ApproxDP(0.15, 1e-7), 50))
    total = delta + rounds.leaks
    claimed = bound("advanced").on(rounds).epsilon(total).value
    return upper_bound(
        optimal_epsilon(rounds, total), factor * claimed, f"least ε at δ = {total:.6g}"
    )


claim(
    "roth2011-theorem-6-heterogeneous",
    "Theorem 6, its proof with rounds of unequal ε_i",
    "ε_i-DP mechanisms are (√(2 ln(1/δ') Σε_i²) + Σε_i(e^{ε_i}-1), δ')-DP together. (ours)",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.7},
)(unequal_rounds)

claim(
    "roth2011-theorem-6-with-deltas",
    "Theorem 6, with (ε_i, δ_i) rounds",
    "(ε_i, δ_i)-DP mechanisms are within the same ε' at δ' + Σδ_i. (ours)",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.6},
    given={"delta": 1e-4, "leaky": True},
)(unequal_rounds)

claim(
    "roth2011-theorem-6-range",
    "Theorem 6",
    "The theorem is stated for all ε, δ' ≥ 0.",
    Verdict.FAILS,
    wrong={"largest": 1.0},
    fault=Fault.SLIP,
)(range_of_delta)


@claim(
    "roth2011-theorem-6-improves",
    "before Definition 2",
    "A little δ buys a lot of ε: for many rounds Theorem 6 is below kε.",
    Verdict.HOLDS,
    wrong={"epsilon": 0.7},
)
def improves(*, epsilon: Epsilon = 0.1, delta: Delta = 1e-6) -> Finding:
    """It needs e^epsilon - 1 < 1, and k >= 2 ln(1/delta) / (2 - e^epsilon)^2."""
    room = 1.0 - math.expm1(epsilon)
    if room <= 0.0:
        return statement(False, f"for no k at ε = {epsilon:g}", right="only for ε < ln 2 = 0.693")
    first = math.floor(2.0 * -math.log(delta) / room**2) + 1
    better = advanced_epsilon(epsilon, first, delta) < first * epsilon
    worse_before = advanced_epsilon(epsilon, first - 1, delta) >= (first - 1) * epsilon
    gain = 10_000 * epsilon / advanced_epsilon(epsilon, 10_000, delta)
    return statement(
        better and worse_before,
        f"from k = {first} on at ε = {epsilon:g}, δ' = {delta:g}; "
        f"{number(gain)} times less at k = 10000",
        note="never for ε ≥ ln 2 = 0.693",
    )
