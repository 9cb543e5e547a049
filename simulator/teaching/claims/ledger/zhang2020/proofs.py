"""Zhang 2020, lecture 7, part 2: the two proofs of privacy, step by step."""

from __future__ import annotations

import math
from itertools import product
from typing import Annotated

import numpy as np

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Factor, Seed
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim

Sensitivity = Annotated[float, "L1 sensitivity that the noise is made for", Within(1e-6, 1e6)]
Cases = Annotated[int, "random cases that are tried", Within(1, 10_000)]
Norm = Annotated[int, "1 or 2: the norm in which points are small", Within(1, 2)]
Outcomes = Annotated[int, "outcomes to choose among (all combinations are listed)", Within(2, 7)]


@claim(
    "zhang2020-laplace-proof",
    "part 2, proof for the Laplace mechanism",
    "Every step of p_x(z)/p_y(z) = Π exp(ε(|f(y)_i-z_i|-|f(x)_i-z_i|)/Δf) ≤ Π exp(ε|f(x)_i-f(y)_i|/"
    "Δf) = exp(ε‖f(x)-f(y)‖₁/Δf) ≤ e^ε is true.",
    Verdict.HOLDS,
    wrong={"norm": 2},
)
def laplace_chain(
    *,
    epsilon: Epsilon = 0.7,
    sensitivity: Sensitivity = 3.0,
    cases: Cases = 2000,
    norm: Norm = 1,
    seed: Seed = 33,
) -> Finding:
    """The logarithms of the chain at random answers of random values within the sensitivity.

    The first is that of the ratio of the printed densities. ``norm`` 2 takes the other norm in the
    third place.
    """
    draws = np.random.default_rng(seed)
    scale = sensitivity / epsilon
    broken = 0
    for _ in range(cases):
        f_x = draws.normal(scale=5.0, size=4)
        change = draws.laplace(size=4)
        f_y = f_x + change * draws.random() * sensitivity / np.abs(change).sum()
        z = f_x + draws.laplace(scale=3.0 * scale, size=4)
        densities = [np.exp(-np.abs(f - z) / scale) / (2.0 * scale) for f in (f_x, f_y)]
        chain = [
            math.log(densities[0].prod() / densities[1].prod()),
            float((np.abs(f_y - z) - np.abs(f_x - z)).sum()) / scale,
            float(np.abs(f_x - f_y).sum()) / scale,
            float(np.linalg.norm(f_x - f_y, ord=norm)) / scale,
            epsilon,
        ]
        steps = np.diff(chain)
        broken += bool(abs(steps[0]) > 1e-9 or abs(steps[2]) > 1e-12 or steps.min() < -1e-9)
    return statement(broken == 0, f"the chain breaks in {broken} of {cases} cases")


@claim(
    "zhang2020-exponential-proof-factors",
    "part 2, proof for the exponential mechanism",
    "Both factors, of the weights of r and of the two normalisers, are at most e^{ε/2}.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def two_factors(
    *, epsilon: Epsilon = 0.8, outcomes: Outcomes = 5, share: Factor = 1.0, seed: Seed = 14
) -> Finding:
    """Random scores of ``outcomes``; each rises by Δu = 1, falls by 1 or stays, all ways."""
    changes = np.array(list(product((-1.0, 0.0, 1.0), repeat=outcomes)))
    of_weights, of_sums = 0.0, 0.0
    for scores in np.random.default_rng(seed).normal(scale=3.0, size=(20, outcomes)):
        before, after = (np.exp(epsilon / 2 * u) for u in (scores, scores + changes))
        of_weights = max(of_weights, float((before / after).max()))
        of_sums = max(of_sums, float((after.sum(axis=1) / before.sum()).max()))
    return upper_bound(
        math.log(max(of_weights, of_sums)),
        share * epsilon / 2,
        "logarithm of the larger factor",
        note=f"of the weights {number(math.log(of_weights))}, of the normalisers "
        f"{number(math.log(of_sums))}",
    )
