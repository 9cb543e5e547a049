"""Lecture notes on group privacy and composition: basic and advanced composition."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import equal, number, statement
from simulator.teaching.claims.ledger.shared.exact_values import (
    optimal_delta,
    optimal_epsilon,
    repeated,
)
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, Power, Rounds
from simulator.teaching.claims.ledger.theorems.composition import (
    advanced_composition,
    advanced_epsilon,
    budgets_add_up,
    range_of_delta,
)
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim

OwnDelta = Annotated[float, "the part of δ that the root has for itself, δ'", Within(1e-300, 1.0)]
RootHasItsOwn = Annotated[bool, "whether δ' stands in the root"]
Total = Annotated[float, "the δ̃ that is split", Within(1e-300, 1.0)]
Parts = Annotated[float, "δ of a round is δ̃ over this many times k", Within(0.01, 1000.0)]
Tolerance = Annotated[float, "what counts as about the same", Within(0.0, 1.0)]
OverSum = Annotated[bool, "whether e^ε+1 stands below the line"]
Target = Annotated[float, "the ε̃ that is wanted", Within(1e-6, 1.0)]

claim(
    "group-notes-basic-two",
    "Basic composition, theorem",
    "An ε₁-DP algorithm, then one that is ε₂-DP for every output of the first, are (ε₁+ε₂)-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilons": (0.3, 0.7)},
)(budgets_add_up)

claim(
    "group-notes-basic-corollary",
    "Basic composition, corollary",
    "k adaptive algorithms are Σε_i-DP.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilons": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)},
)(budgets_add_up)

claim(
    "group-notes-budget",
    "Basic composition, interpretation",
    "An algorithm of k steps that are ε/k-DP is ε-DP.",
    Verdict.HOLDS,
    wrong={"epsilons": (0.2,) * 6},
    given={"epsilons": (0.2,) * 5, "claimed": 1.0},
)(budgets_add_up)

claim(
    "group-notes-basic-with-deltas",
    "Advanced composition, first item",
    "Algorithms that are (ε_i, δ_i)-DP are (Σε_i, Σδ_i)-DP together.",
    Verdict.HOLDS,
    wrong={"share": 0.6},
    given={"epsilons": (0.1, 0.3, 0.2, 0.4), "deltas": (1e-3, 5e-4, 2.5e-4, 0.0)},
)(budgets_add_up)

claim(
    "group-notes-advanced-own-delta",
    "Advanced composition, theorem with δ' in the root",
    "(ε, δ)-DP algorithms are (ε̃, kδ+δ')-DP with ε̃ = ε√(2k ln(1/δ')) + kε(e^ε-1)/(e^ε+1). (ours)",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.7},
    given={"leak": 1e-9, "tight": True},
)(advanced_composition)

claim(
    "group-notes-advanced-pure",
    "Advanced composition, note",
    "δ may be 0 (set δ' = δ̃): the theorem then speaks of pure mechanisms.",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.7},
    given={"leak": 0.0, "tight": True},
)(advanced_composition)

claim(
    "group-notes-advanced-range",
    "Advanced composition, theorem",
    "The theorem is stated for every δ' > 0.",
    Verdict.FAILS,
    wrong={"largest": 1.0},
    given={"printed": "δ' > 0"},
    fault=Fault.SLIP,
)(range_of_delta)


@claim(
    "group-notes-basic-tight",
    "Basic composition",
    "Σε_i is tight in general: at δ = 0 no smaller number will do.",
    Verdict.HOLDS,
    wrong={"delta": 1e-3},
)
def basic_is_tight(*, epsilon: Epsilon = 0.1, rounds: Rounds = 50, delta: Delta = 1e-40) -> Finding:
    """The least epsilon of the worst adversary as delta vanishes; at 0.001 far less will do."""
    least = optimal_epsilon(repeated(epsilon, rounds), delta)
    finest = (1.0 + math.exp(-epsilon)) ** -rounds
    claimed = rounds * epsilon
    return statement(
        least >= 0.99 * claimed,
        f"least ε {number(least)} at δ = {delta:g}, kε = {number(claimed)}; the loss is kε with "
        f"probability {number(finest)}",
        printed=f"kε = {number(claimed)} is needed",
        right=f"{number(least)} is enough",
    )


@claim(
    "group-notes-advanced",
    "Advanced composition, theorem",
    "(ε, δ)-DP algorithms are (ε̃, kδ+δ')-DP for every δ' > 0, with "
    "ε̃ = ε√(2k ln(1/δ)) + kε(e^ε-1)/(e^ε+1): δ, not δ', in the root.",
    Verdict.FAILS,
    wrong={"root_has_its_own": True},
    fault=Fault.TRANSCRIPT,
)
def advanced(
    *,
    epsilon: Epsilon = 0.1,
    rounds: Rounds = 100,
    delta: Delta = 1e-10,
    own: OwnDelta = 1e-30,
    root_has_its_own: RootHasItsOwn = False,
) -> Finding:
    """With delta' far below delta the printed total is kδ, less than the exact delta at ε̃.

    A total of k delta has room for k rounds' leaks less k(k-1)/2 delta^2, not for a tail of about
    delta. ``root_has_its_own`` puts delta' in the root.
    """
    inside = own if root_has_its_own else delta
    claimed_epsilon = advanced_epsilon(epsilon, rounds, inside, tight=True)
    exact = optimal_delta(repeated(epsilon, rounds, delta), claimed_epsilon)
    total = rounds * delta + own
    excess = optimal_delta(repeated(epsilon, rounds), claimed_epsilon)
    return Finding(
        Verdict.FAILS if exact > total else Verdict.NOT_TIGHT,
        f"exact δ - kδ at ε̃ = {number(claimed_epsilon)}: {number(exact - rounds * delta)}, "
        f"claimed at most δ' = {number(own)}",
        printed=f"ε√(2k ln(1/δ)) + …: ε̃ = {number(claimed_epsilon)} at kδ + {number(own)}",
        right=f"ε√(2k ln(1/δ')) + …; without leaks δ(ε̃) is already {number(excess)}",
        note="in this transcript of handwriting, which may have slipped; the notes go on with δ'",
        attained=exact - rounds * delta,
        claimed=own,
    )


@claim(
    "group-notes-splitting",
    "Advanced composition, setting δ",
    "δ' = δ̃/2 and δ = δ̃/(2k) make kδ+δ' = δ̃ (basic: ε̃/k and δ̃/k make (ε̃, δ̃)).",
    Verdict.HOLDS,
    wrong={"parts": 1.0},
)
def splitting(*, total: Total = 1e-5, rounds: Rounds = 64, parts: Parts = 2.0) -> Finding:
    """Arithmetic."""
    return equal(rounds * (total / (parts * rounds)) + total / 2.0, total, "kδ + δ'")


@claim(
    "group-notes-small-epsilon",
    "Advanced composition, setting ε",
    "For ε < 1, (e^ε-1)/ε² ≈ ε/2.",
    Verdict.FAILS,
    wrong={"over_sum": True},
    fault=Fault.TRANSCRIPT,
)
def small_epsilon(
    *, epsilon: Epsilon = 0.1, tolerance: Tolerance = 0.01, over_sum: OverSum = False
) -> Finding:
    """The transcript's denominator, and the one that the theorem has: e^epsilon + 1."""
    ratio = math.expm1(epsilon) / (math.exp(epsilon) + 1.0 if over_sum else epsilon**2)
    return equal(
        ratio,
        epsilon / 2.0,
        "left-hand side",
        relative=tolerance,
        printed=f"(e^ε-1)/ε² ≈ ε/2 = {number(epsilon / 2.0)} at ε = {epsilon:g}",
        right=f"(e^ε-1)/ε² = {number(ratio)}; "
        f"(e^ε-1)/(e^ε+1) = {number(math.tanh(epsilon / 2.0))} is meant",
        note="in this transcript of handwriting, which may have slipped; the theorem has e^ε+1",
    )


@claim(
    "group-notes-theta",
    "Advanced composition, setting ε",
    "With δ' = δ̃/2, ε̃ = Θ(ε√(k ln(2/δ̃)) + kε²) for ε < 1.",
    Verdict.HOLDS,
    wrong={"power": 1.0},
)
def theta(*, power: Power = 2.0) -> Finding:
    """The ratio of both sides on a grid stays between tanh(1/2) = 0.462 and √2."""
    ratios = [
        advanced_epsilon(e, k, d / 2.0, tight=True)
        / (e * math.sqrt(k * math.log(2.0 / d)) + k * e**power)
        for e in np.geomspace(1e-6, 0.999, 13)
        for k in (1, 100, 10**6, 10**12)
        for d in (1e-2, 1e-12)
    ]
    low, high = min(ratios), max(ratios)
    return statement(
        low >= math.tanh(0.5) * (1 - 1e-9) and high <= math.sqrt(2.0) * (1 + 1e-9),
        f"the ratio stays within [{number(low)}, {number(high)}]",
        printed="bounded above and below",
    )


@claim(
    "group-notes-setting-epsilon",
    "Advanced composition, setting ε",
    "ε of the order of min(√(ε̃/k), ε̃/√(k ln(2/δ̃))) is enough: √k is the cost of composition.",
    Verdict.HOLDS,
    wrong={"exponent": 0.25},
)
def setting_epsilon(*, target: Target = 1.0, delta: Delta = 1e-6, exponent: Power = 0.5) -> Finding:
    """The theorem's epsilon at that choice, over the target, for k up to 10^8.

    It stays below √2 + 1/2, so it is the order that is right: the choice itself overshoots.
    """
    overshoots = []
    for rounds in (10, 10**3, 10**5, 10**8):
        scaled = rounds ** (2.0 * exponent)
        epsilon = min(
            math.sqrt(target / scaled), target / math.sqrt(scaled * math.log(2.0 / delta))
        )
        overshoots.append(advanced_epsilon(epsilon, rounds, delta / 2.0, tight=True) / target)
    worst = max(overshoots)
    return statement(
        worst <= math.sqrt(2.0) + 0.5,
        f"the theorem then gives at most {number(worst)} times the target",
        printed="ε̃ up to a constant",
        note="not ε̃ itself: divide ε by that factor",
    )
