"""Zhang 2020, lecture 7, part 2: the Gaussian mechanism."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import laplace, norm

from simulator.data.databases import ADD_REMOVE
from simulator.data.queries import function_query
from simulator.foundations.knobs import Within
from simulator.mechanisms import Gaussian
from simulator.teaching.claims.findings import equal, number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import ALICE, WITH_ALICE, WITHOUT_ALICE
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, Factor, Power
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.theory.laws.gaussian_curve import gaussian_delta

SummedLaw = Annotated[str, "the density that is summed: norm or laplace"]
Sigma = Annotated[float, "standard deviation of the first", Within(1e-3, 10.0)]
OtherSigma = Annotated[float, "standard deviation of the second", Within(1e-3, 10.0)]
Coordinates = Annotated[int, "coordinates of the query", Within(1, 10**5)]


def calibrated_mu(epsilon: float, delta: float, factor: float = 1.0) -> float:
    """Sensitivity over noise at σ = factor √(2 ln(1.25/δ)) Δ/ε, the printed calibration."""
    return epsilon / (factor * math.sqrt(2 * math.log(1.25 / delta)))


@claim(
    "zhang2020-theorem-3.22",
    "part 2, Theorem 3.22",
    "For ε in (0, 1), Gaussian noise of σ ≥ √(2 ln(1.25/δ)) Δ2/ε is (ε, δ)-DP.",
    Verdict.NOT_TIGHT,
    wrong={"factor": 0.5},
)
def inside(*, factor: Factor = 1.0) -> Finding:
    """Exact δ over δ at its largest, for ε up to 0.999 and δ from 1e-12 to 0.9."""
    grid = [(e, d) for e in (0.01, 0.1, 0.5, 0.999) for d in (1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9)]
    ratios = [gaussian_delta(calibrated_mu(e, d, factor), e) / d for e, d in grid]
    worst = int(np.argmax(ratios))
    return upper_bound(
        ratios[worst], 1.0, "largest exact δ / δ", note="at ε = {}, δ = {}".format(*grid[worst])
    )


@claim(
    "zhang2020-theorem-3.22-outside",
    "part 2, Theorem 3.22, condition ε < 1",
    "The condition on ε is needed: for a large ε the same σ is not (ε, δ)-DP. (ours)",
    Verdict.HOLDS,
    wrong={"epsilon": 0.99},
)
def outside(*, epsilon: Epsilon = 15.0, delta: Delta = 1e-6) -> Finding:
    """The library's mechanism at the printed σ, and the least ε at which the print fails."""
    mu = calibrated_mu(epsilon, delta)
    law = Gaussian(ALICE, 1 / mu).law(WITHOUT_ALICE, WITH_ALICE, ADD_REMOVE)
    first = float(brentq(lambda e: gaussian_delta(calibrated_mu(e, delta), e) / delta - 1, 1, 50))
    return statement(
        law.delta(epsilon) > delta,
        f"at ε = {number(epsilon)}, δ = {number(delta)} the exact δ is "
        f"{number(law.delta(epsilon))}; it passes δ from ε = {number(first)} on",
    )


DENSITIES = {"norm": norm, "laplace": laplace}


@claim(
    "zhang2020-sum-of-gaussians",
    "part 2, Laplace versus Gauss",
    "The sum of two independent Gaussians is a Gaussian (which the Laplace law cannot say).",
    Verdict.HOLDS,
    wrong={"law": "laplace"},
)
def sum_of_two(
    *, law: SummedLaw = "norm", sigma: Sigma = 0.8, other_sigma: OtherSigma = 1.5
) -> Finding:
    """The convolution of two densities against the one of the same kind and the summed variance."""
    density, joint = DENSITIES[law], math.hypot(sigma, other_sigma)
    narrow, wide = sorted((sigma, other_sigma))
    gaps = []
    for x in (0.0, 0.7, 2.0, 5.0):
        # in units of the narrow law: quad looks for the mass near 1
        mass = quad(
            lambda u, x=x: density.pdf(u) * density.pdf(x - narrow * u, scale=wide),
            -40,
            40,
            points=[0.0, *(u for u in (x / narrow,) if u < 40)],
            limit=200,
        )[0]
        gaps.append(abs(mass - density.pdf(x, scale=joint)))
    worst = max(gaps)
    seen = "densities agree to 9 digits" if worst < 1e-9 else f"differ by up to {number(worst)}"
    return statement(worst < 1e-9, seen)


@claim(
    "zhang2020-l2-scaling",
    "part 2, Laplace versus Gauss",
    "Gaussian noise is scaled to the L2 sensitivity: of k counts that one person moves, √k "
    "instead of k.",
    Verdict.HOLDS,
    wrong={"power": 1.0},
)
def l2_scaling(
    *, k: Coordinates = 100, epsilon: Epsilon = 0.5, delta: Delta = 1e-6, power: Power = 0.5
) -> Finding:
    """With what power of k the least noise grows when a person moves all k counts by 1."""
    gauss, more = (least_deviation(counts, epsilon, delta) for counts in (k, 4 * k))
    return equal(
        math.log(more / gauss) / math.log(4.0),
        power,
        "power of k",
        relative=1e-6,
        note=f"k = {k}, ε = {number(epsilon)}: standard deviation {number(gauss)} (Gauss, "
        f"δ = {number(delta)}) against {number(math.sqrt(2) * k / epsilon)} (Laplace, δ = 0)",
    )


def least_deviation(counts: int, epsilon: float, delta: float) -> float:
    """The least σ at which the Gaussian mechanism is (ε, δ)-DP, one person being in all counts."""
    query = function_query(lambda people: np.full(counts, float(people.size)), float(counts))

    def excess(log_sigma: float) -> float:
        law = Gaussian(query, math.exp(log_sigma)).law(WITHOUT_ALICE, WITH_ALICE, ADD_REMOVE)
        return law.delta(epsilon) / delta - 1.0

    return math.exp(brentq(excess, math.log(counts) / 2 - 5.0, math.log(counts) / 2 + 20.0))
