"""Lecture notes on group privacy and composition: private Lloyd's as an adaptive interaction."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.claims.cast import Playing, play
from simulator.claims.model import Finding, Verdict
from simulator.claims.played import seen_within
from simulator.claims.registry import claim
from simulator.data.databases import Database
from simulator.mechanisms.lloyd_step import LloydStep, lloyd_centres
from simulator.theory.guarantees import PureDP


@claim(
    "group-notes-lloyd-total",
    "Lloyd's algorithm, theorem",
    "T iterations with ε' = ε/(2T), each from the last noisy centres, are ε-DP in all.",
    Verdict.HOLDS,
    wrong={"split": 1.0},
)
def lloyd_played(
    *,
    epsilon: float = 1.0,
    iterations: int = 3,
    trials: int = 400,
    split: float = 2.0,
    seed: int = 24,
) -> Finding:
    """Two clusters in the unit L1 ball; Alice is a point on its border."""
    cloud = [(0.5, 0.2), (0.4, 0.3), (0.6, 0.1), (-0.5, -0.1), (-0.3, -0.4), (-0.4, -0.2)]
    without = Database(cloud)
    pair = (without, without.add((1.0, 0.0)))
    per_release = epsilon / (split * iterations)

    def lloyd(coins: np.random.Generator) -> Playing:
        centres: Any = ((0.1, 0.0), (-0.1, 0.0))
        while True:
            answer = yield (*pair, LloydStep(centres, per_release))
            centres = lloyd_centres(answer, otherwise=coins.uniform(-0.5, 0.5, size=(2, 2)))

    result = play(lloyd, PureDP(2 * per_release), iterations, trials, seed=seed)
    return seen_within(result, epsilon, note=f"{iterations} iterations each")
