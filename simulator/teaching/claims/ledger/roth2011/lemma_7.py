"""Roth 2011, Lecture 4: Lemma 7, how small the mean privacy loss is."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.exact_values import (
    chance_of_truth,
    largest_mean_loss,
    random_pairs,
)
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Rounds, Seed
from simulator.teaching.claims.ledger.theorems.divergences import mean_loss
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim

OfRatio = Annotated[bool, "whether exp(ε) bounds the ratio, and not the loss"]
Pairs = Annotated[int, "random pairs of laws that are tried", Within(1, 1500)]
Shrink = Annotated[float, "the last two links of the chain are multiplied by it", Within(0.0, 1e6)]
OfDeviation = Annotated[bool, "whether the deviation is judged, and not the mean"]

claim(
    "roth2011-lemma-7",
    "Lemma 7",
    "If both max divergences are at most ε, then D(Y‖Z) ≤ ε(e^ε - 1).",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.25},
)(mean_loss)


claim(
    "roth2011-lemma-7-tight",
    "Lemma 7, its tight form",
    "If both max divergences are at most ε, then D(Y‖Z) ≤ ε tanh(ε/2). (ours)",
    Verdict.HOLDS,
    wrong={"factor": 0.95},
    given={"tight": True},
)(mean_loss)


@claim(
    "roth2011-lemma-7-introduction",
    "before Lemma 7",
    "If the maximum privacy loss is bounded by exp(ε), the mean loss is as small as Lemma 7 says.",
    Verdict.FAILS,
    wrong={"of_ratio": True},
    fault=Fault.SLIP,
)
def introduction(*, epsilon: Epsilon = 0.1, of_ratio: OfRatio = False) -> Finding:
    """The loss is a logarithm: it is the ratio of likelihoods that is bounded by exp(epsilon)."""
    largest = epsilon if of_ratio else math.exp(epsilon)
    mean = largest_mean_loss(largest)
    return upper_bound(
        mean,
        epsilon * math.expm1(epsilon),
        f"mean loss of a pair with |loss| ≤ {largest:g}",
        printed=f"maximum loss exp(ε) = {math.exp(epsilon):.4f}, mean loss at most "
        f"{epsilon * math.expm1(epsilon):.4f}",
        right=f"maximum loss ε = {epsilon:g}; with exp(ε) the mean reaches {mean:.4f}",
    )


@claim(
    "roth2011-lemma-7-proof",
    "proof of Lemma 7",
    "Every step of the chain D(Y‖Z) ≤ D(Y‖Z)+D(Z‖Y) = … ≤ ε Σ|Pr[Z=y]-Pr[Y=y]| = "
    "ε Σ(max-min) ≤ ε(e^ε-1) Σ min ≤ ε(e^ε-1) is true.",
    Verdict.HOLDS,
    wrong={"shrink": 0.5},
)
def proof_steps(
    *, epsilon: Epsilon = 0.5, pairs: Pairs = 300, shrink: Shrink = 1.0, seed: Seed = 6
) -> Finding:
    """The numbers of the chain, for random pairs within epsilon and for randomized response."""
    truth = chance_of_truth(epsilon)
    response = np.array([truth, 1.0 - truth])
    found = [*random_pairs(pairs, 7, seed=seed, epsilon=epsilon), (response, response[::-1])]
    broken = sum(_step_fails(p, q, epsilon, shrink) for p, q in found)
    return statement(
        broken == 0, f"the chain breaks for {broken} of {len(found)} pairs within ε = {epsilon:g}"
    )


def _step_fails(p: np.ndarray, q: np.ndarray, epsilon: float, shrink: float) -> bool:
    loss = np.log(p / q)
    most, least = np.maximum(p, q), np.minimum(p, q)
    symmetric = float(p @ loss - q @ loss)
    rewritten = float(p @ (loss - loss) + (q - p) @ -loss)
    chain = [
        float(p @ loss),
        symmetric,
        epsilon * float(np.abs(p - q).sum()),
        epsilon * math.expm1(epsilon) * shrink * float(least.sum()),
        epsilon * math.expm1(epsilon) * shrink,
    ]
    equalities = math.isclose(symmetric, rewritten, rel_tol=1e-9, abs_tol=1e-15) and math.isclose(
        float(np.abs(p - q).sum()), float((most - least).sum()), rel_tol=1e-12
    )
    steps = np.diff(chain) >= -1e-12
    return not (equalities and bool(steps.all()))


@claim(
    "roth2011-lemma-7-scaling",
    "before the proof of Theorem 6",
    "The expected loss of a k-fold composition scales more like √k than like k.",
    Verdict.FAILS,
    wrong={"of_deviation": True},
    fault=Fault.SLIP,
)
def scaling(
    *, epsilon: Epsilon = 0.1, rounds: Rounds = 100, of_deviation: OfDeviation = False
) -> Finding:
    """Four times the rounds: the mean grows fourfold, its standard deviation twofold."""
    growth = _spread(epsilon, 4 * rounds, of_deviation) / _spread(epsilon, rounds, of_deviation)
    return upper_bound(
        growth,
        2.0,
        "growth when k grows fourfold",
        printed="the expected loss grows like √k (twofold)",
        right=f"the expected loss grows like k ({number(growth)}-fold); its deviation like √k",
        note="read of the total loss, as may be meant, it is right up to some 1/ε² rounds",
    )


def _spread(epsilon: float, rounds: int, of_deviation: bool) -> float:
    """Mean or standard deviation of randomized response's loss, from its binomial law."""
    truth = chance_of_truth(epsilon)
    if of_deviation:
        return 2.0 * epsilon * math.sqrt(rounds * truth * (1.0 - truth))
    return epsilon * rounds * (2.0 * truth - 1.0)
