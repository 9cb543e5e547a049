r"""Evidence against a claim (epsilon, delta) by estimated likelihood ratios of draws of both laws.

Let c = e^epsilon, and let u0 and u1 be functions of an answer with 0 <= u0 <= m0 and
0 <= u1 <= m1. If (P0, P1) keeps the claim in both directions, then

    E0[u0] - c E1[u0] <= delta m0,    E1[u1] - c E0[u1] <= delta m1,

because u0/m0 is a mean of indicators of events. For a pair of draws, x from P0 and y from P1, take

    f0(x) = l0 + u0(x) - c u1(x),    f1(y) = l1 + u1(y) - c u0(y),
    l0 + l1 + delta (m0 + m1) = 2,   c m0 <= l1,   c m1 <= l0.

Both are nonnegative, and E0[f0] + E1[f1] <= 2; so E0[f0] E1[f1] <= 1, whatever u0 and u1 are.
Products of f0(x) f1(y) over pairs, each chosen from earlier draws, are nonnegative
supermartingales: they reach 1/alpha with probability at most alpha, ever (Ville 1939).

With w = p0/(p0 + p1) at an answer, the choice

    u0 = clip((c l0 + l1) w/c - l0, 0, m0),    u1 = clip((l0 + c l1) (1 - w)/c - l1, 0, m1)

with the best l and m has the largest mean growth E0[ln f0] + E1[ln f1] of all: f0 = p0/q0 and
f1 = p1/q1, where (q0, q1) is the nearest pair that keeps the claim, in Kullback-Leibler divergence
(the reverse information projection). At delta = 0 the bounds m are at their largest.

Sources: Gruenwald, de Heide and Koolen, "Safe testing", 2024, Theorem 1, for the projection; the
factorisation is that of Turner, Ly and Gruenwald, "Generic E-variables for exact sequential
k-sample tests that allow for optional stopping", 2024, for convex sets of pairs of laws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

_STEPS = 9
_ROUNDS = 4
_LARGEST = 1.0 - 1e-9
"""The largest part of the bounds m that is used, so that no factor is 0."""
_DOWN = 1.0 - 1e-12
"""A factor for the rounding of both functions."""
_CURVATURE = 4.0
"""Half the second derivative of the growth in the tilt, near equal laws."""
_CAPS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.0003)
"""Parts of the largest bounds m to choose among, for delta > 0."""
_REFINED = ((0.5, 0.7, 0.85, 1.0, 1.2, 1.4, 2.0), (0.93, 1.0, 1.1))
"""Factors of both bounds that are tried after the best pair, in two passes."""


@dataclass(frozen=True)
class RatioBet:
    """Factors of the evidence by class of answers.

    Attributes
    ----------
    first, second : f0 and f1, shape (k,).
    rate : the mean growth of the log-evidence per pair of draws, if the estimates are true.
    """

    first: np.ndarray
    second: np.ndarray
    rate: float

    def logs(self, boldness: float) -> tuple[np.ndarray, np.ndarray]:
        """Ln of the factors of a bet between none (``boldness`` 0) and this one (1)."""
        first, second = (1.0 + boldness * (f - 1.0) for f in (self.first, self.second))
        return np.log(first * _DOWN), np.log(second * _DOWN)


def factors(
    share: np.ndarray,
    epsilon: np.ndarray,
    delta: np.ndarray,
    tilt: np.ndarray,
    caps: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """f0 and f1 for answers with these estimates of p0/(p0 + p1); all are broadcast.

    Parameters
    ----------
    share : of each class of answers, in [0, 1].
    epsilon, delta : the claim.
    tilt : l0/(l0 + l1), in (0, 1).
    caps : m0 and m1 as parts of the largest that are allowed.
    """
    c = np.exp(epsilon)
    total = 2.0 / (1.0 + delta / c * (caps[0] * (1.0 - tilt) + caps[1] * tilt))
    l0, l1 = tilt * total, (1.0 - tilt) * total
    u0 = np.minimum(np.maximum((l0 + l1 / c) * share - l0, 0.0), caps[0] * _LARGEST * l1 / c)
    u1 = np.minimum(
        np.maximum((l0 / c + l1) * (1.0 - share) - l1, 0.0), caps[1] * _LARGEST * l0 / c
    )
    return l0 + u0 - c * u1, l1 + u1 - c * u0


def best_bet(
    share: np.ndarray,
    masses: tuple[np.ndarray, np.ndarray],
    epsilon: float,
    delta: float,
    least: float = 0.0,
) -> RatioBet:
    """The bet with the largest mean growth under the estimated laws.

    Parameters
    ----------
    share : the estimate of p0/(p0 + p1) by class of answers, shape (k,).
    masses : the estimated laws of the classes on both inputs, each of shape (k,).
    least : a growth below which the search may end early.
    """

    def best_of(caps: np.ndarray) -> tuple[float, float, np.ndarray]:
        rates, tilts = best_tilts(
            share[None], (masses[0][None], masses[1][None]), np.array([epsilon]),
            np.array([delta]), caps=caps, least=np.array([least]),
        )  # fmt: skip
        place = int(np.argmax(rates))
        return float(rates[place]), float(tilts[place]), caps[place]

    best, tilt, caps = best_of(_bounds(delta))
    for some in _REFINED if delta > 0.0 and best >= least else ():
        near = caps * np.array(list(product(some, some)))
        found = best_of(near[near.max(axis=1) <= 1.0])
        best, tilt, caps = max((best, tilt, caps), found, key=lambda each: each[0])
    first, second = factors(
        share, np.array(epsilon), np.array(delta), np.array(tilt), (caps[0], caps[1])
    )
    return RatioBet(first, second, best)


def _bounds(delta: float) -> np.ndarray:
    if delta == 0.0:
        return np.ones((1, 2))
    kinds = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
    return np.array([(cap * a, cap * b) for cap, (a, b) in product(_CAPS, kinds)])


def best_tilts(
    share: np.ndarray,
    masses: tuple[np.ndarray, np.ndarray],
    epsilon: np.ndarray,
    delta: np.ndarray,
    *,
    caps: np.ndarray,
    least: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The largest mean growth of each of several estimates, and its tilt, each of shape (e,).

    The growth is concave in the tilt where the estimates fit the masses; the search narrows a grid,
    and ends early where a growth of ``least`` is out of reach.

    Parameters
    ----------
    share, masses : shapes (e, k), or (1, k) for the same in all.
    epsilon, delta, least : shape (e,), or (1,) for the same in all.
    caps : shape (e, 2), or (1, 2).
    """
    e = max(len(each) for each in (share, epsilon, delta, caps, least))
    share, first_law, second_law = (
        np.broadcast_to(each, (e, each.shape[1])) for each in (share, *masses)
    )
    epsilon, delta, least = (np.broadcast_to(each, (e,)) for each in (epsilon, delta, least))
    caps = np.broadcast_to(caps, (e, 2))
    low, high = np.zeros(e), np.ones(e)
    best, tilt = np.full(e, -math.inf), np.full(e, 0.5)
    some = np.arange(e)
    for _ in range(_ROUNDS):
        width = (high[some] - low[some]) / (_STEPS + 1)
        grid = low[some, None] + width[:, None] * np.arange(1, _STEPS + 1)
        first, second = factors(
            share[some, None], epsilon[some, None, None], delta[some, None, None], grid[..., None],
            (caps[some, 0, None, None], caps[some, 1, None, None]),
        )  # fmt: skip
        values = np.einsum("etk,ek->et", np.log(first), first_law[some])
        values += np.einsum("etk,ek->et", np.log(second), second_law[some])
        place = np.argmax(values, axis=1)
        value, at = (each[np.arange(len(some)), place] for each in (values, grid))
        better = value > best[some]
        best[some] = np.where(better, value, best[some])
        tilt[some] = np.where(better, at, tilt[some])
        hope = best[some] + _CURVATURE * width**2 >= least[some]
        low[some] = np.maximum(tilt[some] - width, 0.0)
        high[some] = np.minimum(tilt[some] + width, 1.0)
        some = some[hope]
        if not len(some):
            break
    return best, tilt
