"""Zhang 2020, lecture 7, part 3: smooth sensitivity, and noise in proportion to it."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Annotated

import numpy as np

from simulator.data.databases import REPLACE_ONE
from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, NoiseFactor, Seed
from simulator.teaching.claims.ledger.zhang2020.sensitivity import (
    Values,
    all_values,
    local_sensitivity,
    median,
)
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.mechanisms.median import smooth_sensitivity

Beta = Annotated[float, "how fast smooth sensitivity decays", Within(1e-9, 100.0)]
Decay = Annotated[float, "the exponent of the decay is multiplied by it", Within(0.0, 100.0)]
LocalAt = Annotated[str, "where local sensitivity is taken: D or D'"]

N, TOP = 5, 4


def scaled_laplace_delta(
    centres: tuple[float, float], scales: tuple[float, float], epsilon: float
) -> float:
    """Hockey-stick divergence at ``epsilon`` of centre + Lap(scale) for two centres and scales.

    The loss is linear between the two centres and outside; each piece is cut where it crosses
    ``epsilon``, and the cells above are summed from the laws' tails.
    """
    (c0, c1), (b0, b1) = centres, scales

    def loss(y: float) -> float:
        return math.log(b1 / b0) + abs(y - c1) / b1 - abs(y - c0) / b0

    far = 800.0 * max(b0, b1)  # e^-800 lies beyond
    knots = [min(centres) - far, *sorted(centres), max(centres) + far]
    cuts = list(knots)
    for low, high in pairwise(knots):
        if (loss(low) - epsilon) * (loss(high) - epsilon) < 0:
            share = (epsilon - loss(low)) / (loss(high) - loss(low))
            cuts.append(low + share * (high - low))
    total = 0.0
    for low, high in pairwise(sorted(cuts)):
        if loss((low + high) / 2) > epsilon:
            total += mass(low, high, c0, b0) - math.exp(epsilon) * mass(low, high, c1, b1)
    return max(0.0, total)


def mass(low: float, high: float, centre: float, scale: float) -> float:
    """Probability of a cell [low, high] without the centre inside, under centre + Lap(scale)."""
    near, far = sorted((abs(low - centre), abs(high - centre)))
    return 0.5 * (math.exp(-near / scale) - math.exp(-far / scale))


def distance(x: Values, y: Values) -> int:
    """In how many values two databases of one size differ, as multisets."""
    return sum(abs(x.count(v) - y.count(v)) for v in set(x) | set(y)) // 2


@cache
def table() -> tuple[list[Values], np.ndarray, np.ndarray]:
    """All databases of N values in 0..TOP, their local sensitivities and their distances."""
    databases = all_values(N, TOP)
    local = np.array([local_sensitivity(x, TOP) for x in databases])
    return databases, local, np.array([[distance(x, y) for y in databases] for x in databases])


def smoothed(local: np.ndarray, distances: np.ndarray, beta: float) -> np.ndarray:
    """Max over D' of LS(D') e^{-β d(D, D')} at every D; ``distances`` are of all pairs, square."""
    return np.asarray((local * np.exp(-beta * distances)).max(axis=1))


def smooth(beta: float) -> np.ndarray:
    """S*(D) = max over D' of LS(D') e^{-β d(D, D')}, by trying every D'."""
    _, local, distances = table()
    return smoothed(local, distances, beta)


@claim(
    "zhang2020-smooth-sensitivity",
    "part 3, Definition 1 (smooth sensitivity)",
    "S*(D) = max LS(D') e^{-β d(D', D)} is the smallest β-smooth upper bound on the local "
    "sensitivity.",
    Verdict.HOLDS,
    wrong={"decay": 2.0},
)
def smallest_smooth_bound(*, beta: Beta = 0.4, decay: Decay = 1.0, seed: Seed = 46) -> Finding:
    """Both defining properties, and minimality, for all databases of 5 values in 0..4.

    Of the median's local sensitivities, and of random ones. The least bound is built from LS by
    raising it to e^-β times a neighbour's until nothing moves.
    """
    databases, of_median, distances = table()
    draws = np.random.default_rng(seed)
    above, smooth_enough, off = True, True, 0.0
    for local in (of_median, *draws.exponential(size=(5, len(databases)))):
        bound = smoothed(local, distances, decay * beta)
        least = local
        for _ in range(N):
            near = np.where(distances <= 1, least, 0.0)
            least = np.maximum(least, (math.exp(-beta) * near).max(1))
        above &= bool((bound >= local).all())
        smooth_enough &= all(
            (bound[i] <= math.exp(beta) * bound[distances[i] == 1] * (1 + 1e-12)).all()
            for i in range(len(databases))
        )
        off = max(off, float(np.abs(bound - least).max()))
    by_formula = [
        smooth_sensitivity(np.array(x, dtype=float), 0.0, TOP, beta, REPLACE_ONE) for x in databases
    ]
    return statement(
        above and smooth_enough and off < 1e-9 and np.allclose(smooth(decay * beta), by_formula),
        f"{len(databases)} databases: {'all' if above else 'not all'} bounded, "
        f"{'' if smooth_enough else 'not '}β-smooth, "
        + ("equal to the least such bound" if off < 1e-9 else f"off the least by {number(off)}"),
        note="the library's formula for the median agrees",
    )


@claim(
    "zhang2020-smooth-sensitivity-repeated",
    "part 3, Calibrating Noise to Sensitivity, later definition",
    "S*(D) = max over D' of LS(D) e^{-ε d(D, D')} is smooth.",
    Verdict.FAILS,
    wrong={"local_at": "D'"},
    fault=Fault.TRANSCRIPT,
)
def later_definition(*, local_at: LocalAt = "D", epsilon: Epsilon = 0.4) -> Finding:
    """With LS(D) inside, the maximum is at D' = D and gives the local sensitivity back."""
    databases, local, distances = table()
    decay = np.exp(-epsilon * distances)
    inside = local[:, None] if local_at == "D" else local[None, :]
    bound = (inside * decay).max(axis=1)
    near = distances == 1
    worst = max(
        math.inf if small == 0.0 < large else large / small if small else 1.0
        for i in range(len(databases))
        for small, large in [(bound[near[i]].min(), bound[i])]
    )
    return upper_bound(
        worst,
        math.exp(epsilon),
        "largest ratio between neighbours",
        printed=f"LS(D) inside, and a ratio of at most e^ε = {number(math.exp(epsilon))}",
        right=f"ratio {number(worst)}, for this is LS(D) itself; LS(D') must stand inside",
    )


def worst_delta(scale_factor: float, beta: float, epsilon: float) -> float:
    """Largest δ(ε) of median + Lap(scale_factor S*) between neighbours, S* at decay β."""
    databases, _, distances = table()
    scales = scale_factor * smooth(beta)
    return max(
        scaled_laplace_delta((median(x), median(databases[j])), (scales[i], scales[j]), epsilon)
        for i, x in enumerate(databases)
        for j in np.flatnonzero(distances[i] == 1)
    )


@claim(
    "zhang2020-smooth-noise-example",
    "part 3, Calibrating Noise to Sensitivity, later slide",
    "Noise Lap(S*/ε), with S* decaying by e^-ε a step, is given beside Lap(GS/ε); we read it as "
    "the same promise, ε-DP.",
    Verdict.FAILS,
    wrong={"noise": 2.0, "decay": 0.5 / math.log(1e4), "delta": 1e-4},
    fault=Fault.READING,
)
def later_noise(
    *, epsilon: Epsilon = 0.5, noise: NoiseFactor = 1.0, decay: Decay = 1.0, delta: Delta = 0.0
) -> Finding:
    """The median of 5 values in 0..4, over all pairs of neighbours; decay in units of ε.

    The wrong variant is the lecture's own earlier recipe, 2S*/ε with β = ε/(2 ln(1/δ)).
    """
    leak = worst_delta(noise / epsilon, decay * epsilon, epsilon)
    return upper_bound(
        leak,
        delta,
        f"δ({number(epsilon)})",
        printed="as an example, noise Lap(S*/ε), in the place of Lap(GS/ε), which is ε-DP; no "
        "guarantee is named",
        right=f"it is not ε-DP: δ({number(epsilon)}) = {number(leak)}, and no finite ε has δ = 0; "
        "Lap(2S*/ε) with β = ε/(2 ln(1/δ)) is (ε, δ)-DP, as the slides before say",
        note="S* is taken with LS(D') inside, as first defined",
    )
