"""Tests of guesses by other measures.

If theta is too large every trial takes the same few paths, the weights hardly differ, and the
sample does not show what it misses. A lower limit for a mean of nonnegative values holds under
every measure (betting, Waudby-Smith and Ramdas 2023): one above the upper end of an estimate
contradicts it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.analysis.estimation import Estimate, weighted_lower_limit
from simulator.analysis.estimation.weighted import log_excess
from simulator.analysis.rare.rehearsals import Rehearsals
from simulator.engine.sampling import RoundByRound, Tilted
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.foundations.seeds import Pilot

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75)
"""The thetas of the tests, relative to that of the sample."""
FAR_SHARES = (0.03, 0.01, 1e-3, 1e-4, 1e-5)
"""Further shares, for a theta that is too large by decades."""
MILDEST = 0.1
"""Below this theta a measure hardly differs from the experiment itself."""
TRIALS = 2000
"""Trials of one test."""
ERROR = 1e-6
"""The largest probability that one test contradicts a correct interval."""


@dataclass(frozen=True)
class Held:
    """A guess at a probability, which lower limits are compared with.

    Attributes
    ----------
    name : what is guessed.
    log_sample : the logarithms of the weighted variable, of losses and log-weights.
    most : the upper end of the guess.
    ends : the valid ends.
    """

    name: str
    log_sample: Callable[[np.ndarray, np.ndarray], np.ndarray]
    most: float
    ends: tuple[float, float]


def held_tail(threshold: float, tail: Estimate) -> list[Held]:
    """The guess at a tail, if there is one."""

    def log_sample(signed: np.ndarray, log_weights: np.ndarray) -> np.ndarray:
        return np.where(signed > threshold, log_weights, -np.inf)

    guess = tail.guess
    return [] if guess is None else [Held("tail", log_sample, guess[1], (tail.lower, tail.upper))]


def held_delta(epsilon: float, delta: Estimate) -> list[Held]:
    """The guess at a divergence, if there is one."""
    log_sample = partial(log_excess, epsilon=epsilon)
    guess = delta.guess
    return (
        [] if guess is None else [Held("delta", log_sample, guess[1], (delta.lower, delta.upper))]
    )


def held_epsilon(delta: float, epsilon: Estimate) -> list[Held]:
    """The guess at epsilon(``delta``), if there is one: at its upper end delta is no larger."""
    if epsilon.guess is None:
        return []
    log_sample = partial(log_excess, epsilon=epsilon.guess[1])
    return [Held(f"delta at {epsilon.guess[1]:.4g}", log_sample, delta, (0.0, 1.0))]


def refuse_if_contradicted(specification: Specification, b: int, guesses: list[Held]) -> None:
    """Raise Refusal if lower limits under other measures are above a guess.

    The measures are the experiment itself, with as many trials as the sample if these fit into a
    rehearsal, and smaller thetas than the sample's. Valid ends need no such test.
    """
    if not guesses or not isinstance(specification.sampling, RoundByRound):
        return
    levels = specification.sampling.levels
    theta = float(levels[np.argmax(np.abs(levels))])
    rehearsals = replace(Rehearsals.of(specification, b), first=Pilot.WITNESSES, keep_rounds=False)
    trials = min(TRIALS, rehearsals.fitting)
    if isinstance(specification.adversary, Rule):  # compiled: a second or so for all of them
        rehearsals.budget += 20 * trials * specification.rounds
    rehearsals.budget *= 2  # the plain trials, as many as the sample has, and those of the thetas
    far = [share for share in FAR_SHARES if share * abs(theta) >= MILDEST]
    for share in (*SHARES, *far):
        milder = Tilted(share * theta)
        most = trials if share else min(specification.trials, rehearsals.fitting)
        try:
            played = rehearsals.play(milder, most)
        except Refusal:  # no rounds left
            return
        except InvalidInput:  # weights of this theta have no digits left
            continue
        for held in guesses:
            sample = held.log_sample(played.signed, played.log_weights)
            refuse_above(held, weighted_lower_limit(sample, ERROR), f"theta {milder.theta:g}")


def refuse_above(held: Held, least: float, source: str) -> None:
    """Raise Refusal if a lower limit from another sample is above a guess."""
    if least > held.most:
        raise Refusal(
            f"the sample guesses a {held.name} of at most {held.most:.3g}, but {source} "
            f"finds at least {least:.3g}: the sample misses paths; the certified ends are "
            f"{max(least, held.ends[0]):.3g} and {held.ends[1]:.3g}; try "
            'the method "auto", "guarded" or "steered" with another seed, or more trials'
        )
