"""Zhang 2020, lecture 7, part 2: the Gaussian mechanism."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import laplace, norm

from simulator.claims.cast import ALICE, WITH_ALICE, WITHOUT_ALICE
from simulator.claims.findings import number, statement, upper_bound
from simulator.claims.model import Finding, Verdict
from simulator.claims.registry import claim
from simulator.data.databases import ADD_REMOVE
from simulator.mechanisms import Gaussian
from simulator.theory.gaussian_curve import gaussian_delta


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
def inside(*, factor: float = 1.0) -> Finding:
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
def outside(*, epsilon: float = 15.0, delta: float = 1e-6) -> Finding:
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
def sum_of_two(*, law: str = "norm", first: float = 0.8, second: float = 1.5) -> Finding:
    """The convolution of two densities against the one of the same kind and the summed variance."""
    density, joint = DENSITIES[law], math.hypot(first, second)
    gaps = []
    for x in (0.0, 0.7, 2.0, 5.0):
        mass = quad(
            lambda y, x=x: density.pdf(y, scale=first) * density.pdf(x - y, scale=second),
            -40,
            40,
            points=(0.0, x),
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
    wrong={"k": 1},
)
def l2_scaling(*, k: int = 100, epsilon: float = 0.5, delta: float = 1e-6) -> Finding:
    """Noise of one count when a person moves all k by 1: Laplace at k/ε, Gauss at √k/μ.

    μ is the exact one for (ε, δ).
    """
    mu = float(brentq(lambda m: gaussian_delta(m, epsilon) / delta - 1, 1e-3, 5))
    gauss, by_laplace = math.sqrt(k) / mu, math.sqrt(2) * k / epsilon
    return statement(
        gauss < by_laplace,
        f"k = {k}, ε = {number(epsilon)}: standard deviation {number(gauss)} (Gauss, "
        f"δ = {number(delta)}) against {number(by_laplace)} (Laplace, δ = 0)",
    )
