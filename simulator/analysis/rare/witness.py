"""A measure tilted too far reports one path as if it were all; a milder one shows it.

Where theta is too large every trial takes the same few paths, the weights hardly differ, and the
sample shows no sign of what it misses. But a lower limit for a mean of nonnegative values holds
without any bound on them (betting, Waudby-Smith and Ramdas 2023), under every measure: one that
lies above the upper end of an estimate contradicts it.
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
FAR_SHARES = (0.03, 0.01, 1e-3, 1e-4, 1e-5)
"""Of a theta that is too large by decades, a tenth is too large as well."""
MILDEST = 0.1
"""Below this theta a far share is hardly other than the experiment itself."""
TRIALS = 2000
"""Trials of one witness."""
ERROR = 1e-6
"""Probability that one witness contradicts an interval that holds the truth, at most."""


@dataclass(frozen=True)
class Held:
    """A guess at a probability, and what must not lie above it.

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
    """Raise Refusal where other measures find more than the guesses allow.

    They are the experiment itself, with as many trials as the sample where these fit a rehearsal,
    and milder thetas than the sample's. Only guesses are held to them, for valid ends keep their
    word anyway.
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
        except InvalidInput:  # a theta that leaves no digits says nothing
            continue
        for held in guesses:
            sample = held.log_sample(played.signed, played.log_weights)
            refuse_above(held, weighted_lower_limit(sample, ERROR), f"theta {milder.theta:g}")


def refuse_above(held: Held, least: float, source: str) -> None:
    """Raise Refusal where a lower limit from another sample lies above a guess."""
    if least > held.most:
        raise Refusal(
            f"the sample guesses a {held.name} of at most {held.most:.3g}, but {source} "
            f"finds at least {least:.3g}: its paths are not those that count; it is certain "
            f"that it lies between {max(least, held.ends[0]):.3g} and {held.ends[1]:.3g}; try "
            'the method "auto", "guarded" or "steered" with another seed, or more trials'
        )
