"""The limit of what can be expected: the best event, known beforehand, with all draws to count it.

The exact log ratio of the answers orders them by how much they favour an input (Neyman and
Pearson), so the best events are its upper tails. For each the standard error of the estimated log
ratio follows from Fisher's information of two binomials, ((1 - p)/p + (1 - q)/q)/n; at 90% a bound
lies 1.28 of them below the log ratio, on average.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv
from scipy.stats import norm

from experiments.suite.mechanisms import StandardMechanism
from simulator.auditing.audits.patterns import Input

FIRST_LOOK, SECOND_LOOK, BATCH = 30_000, 600_000, 200_000
LEAST_HITS = 10.0
"""Events that are expected less often than this are left out."""
FEW = 200.0


def limit(entry: StandardMechanism, draws: int, confidence: float, seed: int) -> float | None:
    """The largest mean bound from ``draws`` in all; None where the likelihood is not known.

    Probabilities are means of e^-L over draws of the exact loss L: within about 1% of the bound.
    """
    if entry.name == "laplace-floats":
        return None
    rng = np.random.default_rng(seed)
    looks = [
        (on(entry, pair, draws // 2, confidence, FIRST_LOOK, rng), pair) for pair in entry.pairs
    ]
    best = max(looks)[1]
    return on(entry, best, draws // 2, confidence, SECOND_LOOK, rng)


def on(
    entry: StandardMechanism,
    pair: tuple[Input, Input],
    n: int,
    confidence: float,
    look: int,
    rng: np.random.Generator,
) -> float:
    """The same on one pair, with n draws on each input, from ``look`` draws of the loss."""
    found = 0.0
    for first, second in (pair, pair[::-1]):
        losses = np.concatenate(
            [
                entry.law.loss(first, second, entry.sample(first, min(look, BATCH), rng))
                for _ in range(max(1, look // BATCH))
            ]
        )
        found = max(found, of_losses(losses, n, confidence))
    return found


def of_losses(losses: np.ndarray, n: int, confidence: float) -> float:
    """The largest mean bound, over the upper tails of the loss on the favoured input."""
    losses = np.sort(losses)[::-1]
    m = len(losses)
    # whole ties only: a part of them is not an event of the answer
    ends = np.append(losses[1:] < losses[:-1] - 1e-9, True) & (np.arange(1, m + 1) >= LEAST_HITS)
    p = (np.arange(1, m + 1) / m)[ends]
    q = (np.cumsum(np.exp(-losses)) / m)[ends]
    keep = (p * n >= LEAST_HITS) & (p < 1.0)
    if not keep.any():
        return 0.0
    p, q = p[keep], np.clip(q[keep], 1e-300, 1.0)
    error = np.sqrt(((1.0 - p) / p + (1.0 - q) / q) / n)
    normal = np.log(p / q) - norm.isf(1.0 - confidence) * error
    # few hits of the other input are not normal: of all hits, the favoured input's are binomial
    share = betaincinv(p * n, q * n + 1.0, 1.0 - confidence)
    few = np.log(share) - np.log1p(-share)
    return float(np.max(np.where(q * n >= FEW, normal, few)))
