"""Zhang 2020, lecture 7, part 3: admissible noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.optimize import brentq
from scipy.stats import gamma

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, NoiseFactor, Power
from simulator.teaching.claims.ledger.zhang2020.smooth import scaled_laplace_delta, worst_delta
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim

BetaFactor = Annotated[float, "the printed β is multiplied by it", Within(0.01, 100.0)]
Top = Annotated[float, "where the noise ends", Within(1.0, 1000.0)]
Repaired = Annotated[bool, "whether δ(1+e^(ε/2))/2 is claimed instead of δ"]


def dilation_leak(epsilon: float, beta: float) -> float:
    """Largest excess of Lap(1) over e^{ε/2} times itself stretched or shrunk by up to e^β."""
    steps = np.linspace(-beta, beta, 41)
    return max(scaled_laplace_delta((0.0, 0.0), (1.0, math.exp(-s)), epsilon / 2) for s in steps)


def sliding_leak(epsilon: float, alpha: float) -> float:
    """Largest excess of Lap(1) over e^{ε/2} times itself moved by up to α."""
    return max(
        scaled_laplace_delta((0.0, shift), (1.0, 1.0), epsilon / 2)
        for shift in np.linspace(0.0, alpha, 9)
    )


def printed_beta(epsilon: float, delta: float) -> float:
    """β = ε/(2 ln(1/δ)), as printed."""
    return epsilon / (2 * math.log(1 / delta))


@claim(
    "zhang2020-laplace-admissible",
    "part 3, example of the Laplace distribution",
    "Lap(1) is admissible with α = ε/2 and β = ε/(2 ln(1/δ)), for ε up to 1 and δ up to 0.1.",
    Verdict.NOT_TIGHT,
    wrong={"beta_factor": 2.0},
)
def laplace_admissible(*, beta_factor: BetaFactor = 1.0) -> Finding:
    """Sliding and dilation against δ/2, exactly, for ε in {0.1, 0.5, 1}, δ from 1e-8 to 0.1."""
    worst = 0.0
    for epsilon in (0.1, 0.5, 1.0):
        slide = sliding_leak(epsilon, epsilon / 2)
        for delta in (1e-8, 1e-4, 1e-2, 0.1):
            beta = beta_factor * printed_beta(epsilon, delta)
            worst = max(worst, max(slide, dilation_leak(epsilon, beta)) / (delta / 2))
    return upper_bound(
        worst,
        1.0,
        "largest excess / (δ/2)",
        note="ln(1/δ) as printed; the paper's ln(2/δ) is smaller still. Sliding needs no δ at all",
    )


@claim(
    "zhang2020-laplace-admissible-every",
    "part 3, example of the Laplace distribution",
    "Lap(1) is admissible with these α and β for every ε and δ: no range is printed.",
    Verdict.FAILS,
    wrong={"epsilon": 1.0},
    fault=Fault.SLIP,
)
def laplace_admissible_every(*, epsilon: Epsilon = 12.0, delta: Delta = 1e-6) -> Finding:
    """For a large ε the stretch costs more than δ/2."""
    leak = dilation_leak(epsilon, printed_beta(epsilon, delta))
    first = brentq(
        lambda e: dilation_leak(e, printed_beta(e, delta)) / (delta / 2) - 1, 0.5, 15.0, xtol=1e-6
    )
    return upper_bound(
        leak,
        delta / 2,
        "excess of the dilation",
        printed=f"at most δ/2 = {number(delta / 2)} at ε = {number(epsilon)}",
        right=f"{number(leak)}; at δ = {number(delta)} it is right up to ε = {first:.4g}",
        note="no range of ε is printed; the others of the lecture that have one ask ε < 1",
    )


@claim(
    "zhang2020-smooth-laplace-algorithm",
    "part 3, example of the Laplace distribution",
    "f(x) + (2S(x)/ε) Lap(1), with S β-smooth at β = ε/(2 ln(1/δ)), is (ε, δ)-DP.",
    Verdict.NOT_TIGHT,
    wrong={"noise": 1.0},
)
def smooth_algorithm(
    *, epsilon: Epsilon = 1.0, delta: Delta = 1e-3, noise: NoiseFactor = 2.0
) -> Finding:
    """S by e^β up or down while f moves by up to both S(x) and S(y); and the median's own pairs."""
    beta = printed_beta(epsilon, delta)
    scale = noise / epsilon
    leak = max(
        scaled_laplace_delta((0.0, shift), (scale, scale * math.exp(sign * beta)), epsilon)
        for sign in (-1, 1)
        for shift in np.linspace(0.0, min(1.0, math.exp(sign * beta)), 9)
    )
    of_median = worst_delta(scale, beta, epsilon)
    return upper_bound(
        max(leak, of_median),
        delta,
        f"δ({number(epsilon)})",
        note=f"δ = {number(delta)}; for the median of 5 values in 0..4 it is {number(of_median)}",
    )


@dataclass(frozen=True)
class CutNoise:
    """Noise of density proportional to e^(-x/2) on [0, top] and to (1 + |x|/8)^-3 below 0.

    Sliding it by 1 and dilating it a little both cost no more than e^(1/2), but for what lies at
    the end: there the second loss falls upon what the first has left.
    """

    top: float

    def density(self, x: np.ndarray) -> np.ndarray:
        """Up to the factor ``mass``."""
        below = (1.0 + np.abs(np.minimum(x, 0.0)) / 8.0) ** -3.0
        return np.where(
            x < 0.0, below, np.where(x <= self.top, np.exp(-np.clip(x, 0.0, self.top) / 2.0), 0.0)
        )

    def cumulative(self, x: np.ndarray) -> np.ndarray:
        """The integral of the density up to x."""
        below = 4.0 * (1.0 + np.abs(np.minimum(x, 0.0)) / 8.0) ** -2.0
        return np.where(x < 0.0, below, 4.0 - 2.0 * np.expm1(-np.clip(x, 0.0, self.top) / 2.0))

    @property
    def mass(self) -> float:
        """The whole integral of the density."""
        return float(self.cumulative(np.array(self.top)))

    def excess(self, factor: float, stretch: float = 1.0, shift: float = 0.0) -> float:
        """The largest Pr[Z in S] - factor Pr[Z in stretch S + shift] over all sets S.

        The set is the union of the small cells in whose middle the first density is the larger; a
        cell's probabilities are exact.
        """
        ends = (np.array([0.0, self.top]) - shift) / stretch
        cells = np.linspace(-50.0, self.top + 2.0, 14_401)
        edges = np.unique(np.concatenate([cells, [-1e9, 0.0, self.top], ends]))
        middle = (edges[1:] + edges[:-1]) / 2.0
        image = stretch * middle + shift
        chosen = self.density(middle) > factor * stretch * self.density(image)
        gain = np.diff(self.cumulative(edges))
        gain -= factor * np.diff(self.cumulative(stretch * edges + shift))
        return float(gain[chosen].sum() / self.mass)


def cut_noise_parameters(noise: CutNoise, epsilon: float) -> tuple[float, float]:
    """(beta, delta) at which ``noise`` is (1, beta)-admissible: the β where both leaks are equal.

    Both grow with the size of the change, so they are largest at the ends of its range; changes
    between are tried as well.
    """
    half = math.exp(epsilon / 2.0)
    slides = max(noise.excess(half, shift=shift) for shift in np.linspace(-1.0, 1.0, 9))

    def dilates(beta: float) -> float:
        return max(noise.excess(half, math.exp(x)) for x in np.linspace(-beta, beta, 5))

    beta = float(brentq(lambda b: noise.excess(half, math.exp(b)) / slides - 1.0, 1e-3, 0.2))
    return beta, 2.0 * max(slides, dilates(beta))


@claim(
    "zhang2020-admissible-noise-theorem",
    "part 3, Calibrating Noise to Sensitivity, theorem",
    "With any (α, β)-admissible h and β-smooth S, f(x) + (S(x)/α) Z is (ε, δ)-DP.",
    Verdict.FAILS,
    wrong={"repaired": True},
)
def admissible_theorem(*, top: Top = 20.0, repaired: Repaired = False) -> Finding:
    """Noise whose end both properties cut: S(x) = e^β s, S(y) = s, the values of f s apart.

    One property after the other multiplies the second's δ/2 by the first's e^{ε/2}, and gives
    δ(1 + e^{ε/2})/2, which ``repaired`` claims. The noise is made for ε = 1.
    """
    epsilon = 1.0
    noise = CutNoise(top)
    beta, delta = cut_noise_parameters(noise, epsilon)
    chained = noise.excess(math.exp(epsilon), math.exp(beta), 1.0)
    provable = delta * (1.0 + math.exp(epsilon / 2.0)) / 2.0
    return upper_bound(
        chained / delta,
        provable / delta if repaired else 1.0,
        f"δ({number(epsilon)}) over the δ of the claim",
        printed=f"(ε, δ)-DP, (ε, δ) = ({number(epsilon)}, {number(delta)}) for this noise",
        right=f"δ({number(epsilon)}) = {number(chained)}, {number(chained / delta)} times as much; "
        f"the two properties give δ(1+e^(ε/2))/2 = {number(provable)}",
        note=f"h ∝ e^(-x/2) on [0, {top:g}] and ∝ (1+|x|/8)^-3 below 0 is (1, {number(beta)})-"
        "admissible; true of Laplace noise, which slides at no δ",
    )


def largest_beta(dimension: int, epsilon: float, delta: float) -> float:
    """The largest dilation that a product of Laplace laws bears with e^{ε/2} and δ/2.

    The L1 norm follows the Gamma(d) law; the loss of a stretch by e^λ is |z|(e^λ - 1) - dλ.
    """
    norm = gamma(dimension)

    def excess(stretch: float) -> float:
        edge = (epsilon / 2 + dimension * stretch) / math.expm1(stretch)
        grown = norm.sf(math.exp(stretch) * edge)
        return float(norm.sf(edge) - math.exp(epsilon / 2) * grown) / (delta / 2) - 1.0

    def shrunk(stretch: float) -> float:
        edge = (dimension * stretch - epsilon / 2) / -math.expm1(-stretch)
        if edge <= 0.0:
            return -1.0
        kept = norm.cdf(math.exp(-stretch) * edge)
        return float(norm.cdf(edge) - math.exp(epsilon / 2) * kept) / (delta / 2) - 1.0

    return float(brentq(lambda s: max(excess(s), shrunk(s)), 1e-6, 3.0, xtol=1e-9))


@claim(
    "zhang2020-laplace-admissible-dimension",
    "part 3, example of the Laplace distribution",
    "In dimension d the product of Laplace laws is admissible with β of the order of "
    "ε/(√d ln(1/δ)).",
    Verdict.HOLDS,
    wrong={"power": 0.0},
)
def admissible_in_dimension(
    *, epsilon: Epsilon = 0.5, delta: Delta = 1e-4, power: Power = 0.5
) -> Finding:
    """The largest β there is, times d^power ln(1/δ)/ε, must stay away from 0 as d grows."""
    dimensions = (1, 4, 16, 64, 256, 1024)
    scaled = [
        largest_beta(d, epsilon, delta) * d**power * math.log(1 / delta) / epsilon
        for d in dimensions
    ]
    return statement(
        min(scaled) > 0.25,
        "largest β √d ln(1/δ)/ε for d = 1, 4, ..., 1024: " + ", ".join(f"{c:.3f}" for c in scaled),
        note=f"ε = {number(epsilon)}, δ = {number(delta)}",
    )
