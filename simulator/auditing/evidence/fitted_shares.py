"""Estimates of p0/(p0 + p1) by the value of a score, from counts of both inputs in its bins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

_NEWTON_STEPS = 12
_RIDGE = 1.0
"""The weight of the prior at no difference, in the units of a draw."""
_FEW = 24
"""The largest number of bins whose shares are estimated without a model."""
_AMONG_EVENTS = 6.0
_AMONG_SCORES = 1.0
"""Nats for the choice among the events of all scores, or among all scores."""


@dataclass(frozen=True)
class FittedShares:
    """Shares by bin, and the price of their choice.

    Attributes
    ----------
    shares : estimates of p0/(p0 + p1), shape (k,).
    price : nats by which the growth on the same draws is too large: half a nat per parameter that
        was fitted, and the logarithm of the number of those to choose from.
    event : whether the shares are those of an event and the rest: one number on a fixed event.
    """

    shares: np.ndarray
    price: float
    event: bool = False


def frequencies(counts: np.ndarray) -> np.ndarray:
    """Shares of input 0 in counts of shape (..., 2, k)."""
    return np.asarray((counts[..., 0, :] + 0.5) / (counts.sum(axis=-2) + 1.0))


def masses(shares: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The laws of the bins on both inputs that the shares and the total counts imply; (..., k)."""
    total = counts.sum(axis=-2)
    first, second = (
        law / np.maximum(law.sum(axis=-1, keepdims=True), 1e-300)
        for law in (total * shares, total * (1.0 - shares))
    )
    return first, second


def estimates(counts: np.ndarray, line: np.ndarray | None) -> Iterator[FittedShares]:
    """Estimates of different complexity.

    Parameters
    ----------
    counts : of both inputs, shape (2, k).
    line : the shares of :func:`logistic`, shape (k,), if the score is an estimate of the log ratio.
    """
    used = int(np.count_nonzero(counts.any(axis=0)))
    if used <= _FEW:
        yield FittedShares(frequencies(counts), 0.5 * used + _AMONG_SCORES)
    if line is not None and used > 2:
        yield FittedShares(line, 0.5 * 2 + _AMONG_SCORES)
        yield rising(counts)


def split(counts: np.ndarray, below: int) -> FittedShares:
    """Shares of the event that the bin is one of the first ``below``, and of the rest."""
    two = np.stack([counts[:, :below].sum(axis=1), counts[:, below:].sum(axis=1)], axis=1)
    shares = np.repeat(frequencies(two), [below, counts.shape[1] - below])
    return FittedShares(shares, _AMONG_EVENTS, event=True)


def rising(counts: np.ndarray) -> FittedShares:
    """Shares that rise with the score, by isotonic regression; the last bin apart."""
    plain = frequencies(counts)
    weights = counts.sum(axis=0) + 1.0
    found = isotonic_regression(plain[:-1], weights=weights[:-1])
    shares = np.concatenate([np.clip(found.x, 1e-9, 1.0 - 1e-9), plain[-1:]])
    return FittedShares(shares, 0.5 * len(found.blocks) + _AMONG_SCORES)


def logistic(centres: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Shares whose log odds are linear in the score (Platt 1999); the last bin apart.

    Parameters
    ----------
    centres, counts : shapes (..., k - 1) and (..., 2, k).
    """
    ones, total = counts[..., 0, :-1], counts[..., :-1].sum(axis=-2)
    n = np.maximum(total.sum(axis=-1, keepdims=True), 1.0)
    apart = centres - (centres * total).sum(axis=-1, keepdims=True) / n
    variance = (apart**2 * total).sum(axis=-1, keepdims=True) / n
    x = apart / np.sqrt(np.maximum(variance, 1e-300))
    level, slope = np.zeros(n.shape), np.zeros(n.shape)
    for _ in range(_NEWTON_STEPS):
        p = _sigmoid(level + slope * x)
        rest, weight = ones - total * p, total * p * (1.0 - p)
        up = [
            (a * rest).sum(axis=-1, keepdims=True) - _RIDGE * t for a, t in ((1, level), (x, slope))
        ]
        a, b, d = ((each * weight).sum(axis=-1, keepdims=True) for each in (1.0, x, x * x))
        a, d = a + _RIDGE, d + _RIDGE
        steps = [(d * up[0] - b * up[1]), (a * up[1] - b * up[0])]
        steps = [np.clip(each / (a * d - b * b), -2.0, 2.0) for each in steps]
        level, slope = level + steps[0], slope + steps[1]
        if max(np.abs(each).max(initial=0.0) for each in steps) < 1e-9:
            break
    return np.concatenate([_sigmoid(level + slope * x), frequencies(counts)[..., -1:]], axis=-1)


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(z, -30.0, 30.0))))
