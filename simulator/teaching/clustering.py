"""k-means as an interaction: Lloyd's algorithm whose every step is a private mechanism.

The step itself is :class:`simulator.teaching.mechanisms.lloyd_step.LloydStep`; here is the adaptive
algorithm around it, played by :func:`simulator.simulate` like any other adversary, and what its
views say about the centres. Source: lecture notes on group privacy and composition, private
Lloyd's; Blum, Dwork, McSherry and Nissim 2005.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from simulator.data.databases import Database
from simulator.foundations.errors import InvalidInput
from simulator.teaching.mechanisms.lloyd_step import LloydStep, lloyd_centres

Floats = NDArray[np.float64]
Centres = tuple[tuple[float, ...], ...]


def into_unit_ball(points: ArrayLike, lower: Sequence[float], upper: Sequence[float]) -> Floats:
    """Points of shape (n, d) moved and scaled so that the box [lower, upper] fits |x|_1 <= 1.

    The box must be public: it may not depend on the points. Raises InvalidInput for an empty box
    or a point outside.
    """
    given = np.asarray(points, dtype=float)
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    if given.ndim != 2 or low.shape != high.shape or low.shape != given.shape[1:]:
        raise InvalidInput("points have shape (n, d), and the box two corners of d coordinates")
    if not (low < high).all():
        raise InvalidInput("the box is empty: every lower coordinate must be below the upper one")
    if not ((low <= given) & (given <= high)).all():
        raise InvalidInput("a point lies outside the public box; state a larger one")
    scaled: NDArray[np.float64] = (2.0 * given - low - high) / (high - low) / given.shape[1]
    return scaled


def private_lloyd(
    database_0: Database, database_1: Database, start: Centres, epsilon: float
) -> Callable[[np.random.Generator], Generator[Any, Any, None]]:
    """Lloyd's algorithm as an adversary: each round requests a noisy step from the last centres.

    Parameters
    ----------
    database_0, database_1 : neighbours whose records are points of the unit L1 ball.
    start : the first centres, chosen without the data.
    epsilon : of the counts and of the sums of a step, which is 2 epsilon-DP.
    """

    def lloyd(coins: np.random.Generator) -> Generator[Any, Any, None]:
        centres = start
        while True:
            answer = yield database_0, database_1, LloydStep(centres, epsilon)
            centres = clipped(lloyd_centres(answer, centres))

    return lloyd


def centres_seen(answers: Iterable[Floats], start: Centres) -> list[Centres]:
    """The centres after each step of :func:`private_lloyd`, from a view's answers."""
    path = [start]
    for answer in answers:
        path.append(clipped(lloyd_centres(answer, path[-1])))
    return path[1:]


def clipped(centres: Centres) -> Centres:
    """Each coordinate clipped to [-1, 1], where the points are: post-processing."""
    return tuple(tuple(np.clip(centre, -1.0, 1.0).tolist()) for centre in centres)


def plain_lloyd(points: ArrayLike, start: ArrayLike, steps: int) -> Floats:
    """The centres that Lloyd's algorithm without noise reaches, shape (k, d), by scipy."""
    return np.asarray(
        scipy.cluster.vq.kmeans2(np.asarray(points), np.asarray(start), iter=steps, minit="matrix")[
            0
        ]
    )


def clustering_cost(points: ArrayLike, centres: ArrayLike) -> float:
    """Sum over the points of the squared distance to the closest centre."""
    return float(
        (scipy.cluster.vq.vq(np.asarray(points, dtype=float), np.asarray(centres))[1] ** 2).sum()
    )
