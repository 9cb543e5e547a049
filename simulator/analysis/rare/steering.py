"""Learn theta(rounds played, loss so far) by the cross-entropy method.

Among measures that tilt by a table, the one closest in relative entropy to the zero-variance
measure maximises the weighted log-likelihood of the paths that reach the event (Rubinstein and
Kroese 2004). Within a cell of the table that is concave in theta, sum of w (theta c - psi(theta)),
and Newton's step needs only psi' and psi''. The level is raised in stages to that of the event, so
that some paths reach it at every stage.
"""

from __future__ import annotations

import contextlib
import math

import numpy as np
import scipy

from simulator.analysis.estimation.inversion import point_epsilon
from simulator.analysis.rare.pilot import (
    ELITE,
    laws_of_elite,
    relative_error,
    theta_of_delta,
    typical_theta,
)
from simulator.analysis.rare.rehearsal import Rehearsal, Rehearsals, plain
from simulator.engine.outcomes.loss_sample import excess
from simulator.engine.sampling import (
    TABLE_BITS,
    THETA_BITS,
    RoundByRound,
    Steered,
    Tilted,
    phase_of,
    rounded,
)
from simulator.foundations.errors import Refusal
from simulator.foundations.stages import in_stages
from simulator.foundations.ties import beyond

PHASES, COLUMNS = 24, 48
"""The shape of the table: phases of the rounds, and intervals of the loss."""
LEVELS = 48
"""The number of distinct thetas of a table."""
STAGES = 40
POLISHING = 3
"""Stages after the event is reached."""
THETAS = 4
"""Single thetas that are tried before a table is learnt."""
SMOOTHING = 0.8
"""The standard deviation, in cells, by which a table is smoothed."""
MOST_TILT = 30.0
"""theta times the largest loss of a round, at most."""
PRIOR = 1e-3
"""The weight of the overall theta in every cell, relative to the largest weight of a cell."""


def steer(
    rehearsals: Rehearsals, epsilon: float, start: RoundByRound | None = None
) -> tuple[RoundByRound, float]:
    """A steered measure for delta(``epsilon``), and its relative error.

    ``start`` is a measure to begin with, such as one theta. The relative error is that of one
    trial on held-out draws. Raises Refusal if the stages, or the budget, do not reach
    ``epsilon``.
    """
    rounds = rehearsals.specification.rounds
    sampling: RoundByRound = start or plain()
    best: RoundByRound = sampling
    least = math.inf
    polished = 0
    for _ in in_stages(range(STAGES), "learning to steer, at most"):
        try:
            played = rehearsals.play(sampling)
        except Refusal:  # the budget is spent
            break
        level = elite_level(played.signed)
        hits = np.count_nonzero(played.signed > beyond(epsilon, rounds))
        if level >= epsilon or hits > 0.5 * ELITE * len(played.signed):
            level = epsilon
            polished += 1
            error = relative_error(played, epsilon)
            if error < least:
                best, least = sampling, error
            if polished > POLISHING:
                return best, least
        weights = elite_weights(played, level)
        if not weights.any():
            break
        sampling = improved(played, weights, rounds)
    if math.isinf(least):
        raise Refusal(
            f"steering did not reach a loss of {epsilon:g} in {STAGES} stages: the adversary may "
            "never lose that much; give a smaller epsilon"
        )
    return best, least


def aim(rehearsals: Rehearsals, delta: float) -> tuple[float, RoundByRound]:
    """An approximate epsilon(``delta``), and a measure where it is typical.

    It begins with the theta whose bound on epsilon(``delta``) is least for the laws of the largest
    losses. If no theta suffices, the level is raised in stages until the epsilon of the sample is
    among its typical losses. Raises Refusal if the stages do not suffice.
    """
    sampling: RoundByRound = plain()
    played = rehearsals.plain()
    for step in in_stages(range(STAGES), "finding epsilon, at most"):
        found = point_epsilon(played.signed, played.log_weights, math.log(delta))
        level = elite_level(played.signed)
        if found <= level and (sampling == plain() or found >= np.quantile(played.signed, 0.02)):
            return found, sampling
        if step < THETAS:
            laws = laws_of_elite(played)
            with contextlib.suppress(Refusal):
                theta = typical_theta(laws, found) if step else theta_of_delta(laws, delta)
                sampling = Tilted(float(rounded(theta, THETA_BITS)))
                played = rehearsals.play(sampling)
                continue
        if found <= level:
            return found, sampling
        weights = elite_weights(played, level)
        if not weights.any():
            break
        sampling = improved(played, weights, rehearsals.specification.rounds)
        played = rehearsals.play(sampling)
    raise Refusal(
        f"no stage of steering made epsilon({delta:g}) typical: give a larger delta, or an epsilon"
    )


def elite_level(signed: np.ndarray) -> float:
    """The loss that an ELITE share of the trials exceed; infinite ones count as the largest."""
    finite = signed[np.isfinite(signed)]
    largest = float(finite.max()) if finite.size else 0.0  # quantiles of infinities are NaN
    return float(np.quantile(np.minimum(signed, largest), 1.0 - ELITE))


def elite_weights(played: Rehearsal, level: float) -> np.ndarray:
    """Each trial's share of the event {loss > level}, up to a factor, shape (trials,)."""
    factor = excess(played.signed, level)
    hit = factor > 0.0
    if not hit.any():
        return np.zeros(len(factor))
    logs = played.log_weights[hit] + np.log(factor[hit])
    weights = np.zeros(len(factor))
    weights[hit] = np.exp(logs - logs.max())
    # no single path may decide the table
    return np.minimum(weights, weights.sum() / 50.0)


def improved(played: Rehearsal, weights: np.ndarray, rounds: int) -> Steered:
    """One Newton step of the cross-entropy problem, cell by cell."""
    chosen = np.flatnonzero(weights)
    kept = played.rounds_of(chosen)
    so_far = kept.so_far()
    w = np.broadcast_to(weights[chosen, None], so_far.shape)
    low, high = float(so_far.min()), float(so_far.max())
    margin = 1e-9 + 0.02 * (high - low)
    low, high = low - margin, high + margin
    phases = np.broadcast_to(phase_of(rounds, min(PHASES, rounds)), so_far.shape)
    columns = np.minimum((so_far - low) * (COLUMNS / (high - low)), COLUMNS - 1).astype(np.intp)
    curvature = w * kept.curvatures
    push = w * (kept.losses - kept.slopes) + curvature * kept.thetas

    def table(amount: np.ndarray) -> np.ndarray:
        cells = np.zeros((min(PHASES, rounds), COLUMNS))
        np.add.at(cells, (phases, columns), amount)
        return scipy.ndimage.gaussian_filter(cells, SMOOTHING, mode="nearest")

    numerator, denominator = table(push), table(curvature)
    overall = push.sum() / max(curvature.sum(), 1e-300)
    prior = PRIOR * denominator.max() + 1e-300
    thetas = (numerator + prior * overall) / (denominator + prior)
    # without curvature Newton's step is unbounded; beyond this tilt an answer is nearly certain
    steepest = MOST_TILT / max(float(np.abs(kept.losses).max(initial=0.0)), 1e-300)
    thetas = np.clip(thetas, -steepest, steepest)
    return quantised(thetas, (low, high))


def quantised(thetas: np.ndarray, span: tuple[float, float]) -> Steered:
    """The table with its thetas rounded to LEVELS quantiles, and all to few bits.

    Cells that differ by rounding errors alone then have the same level.
    """
    thetas, (low, high) = rounded(thetas, TABLE_BITS), rounded(span, TABLE_BITS).tolist()
    levels = np.unique(rounded(np.quantile(thetas, np.linspace(0.0, 1.0, LEVELS)), TABLE_BITS))
    edges = 0.5 * (levels[1:] + levels[:-1])
    return Steered(levels, np.searchsorted(edges, thetas).astype(np.int64), (low, high))
