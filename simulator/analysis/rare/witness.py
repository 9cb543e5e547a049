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

from simulator.analysis.estimation import weighted_lower_limit
from simulator.analysis.estimation.weighted import log_excess
from simulator.analysis.rare.reading import RareEvent
from simulator.analysis.rare.rehearsal import Rehearsals
from simulator.engine.sampling import RoundByRound, Tilted
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.foundations.seeds import Pilot
from simulator.foundations.ties import beyond

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


def guesses_of(event: RareEvent, rounds: int, delta: float | None) -> list[Held]:
    """The guesses at the divergence, at the tail, and at the epsilon of ``delta``.

    At the upper end of the last one the divergence is at most ``delta``.
    """
    threshold = beyond(event.epsilon, rounds)
    found = [
        Held(name, log_sample, estimate.guess[1], (estimate.lower, estimate.upper))
        for name, estimate, log_sample in (
            ("delta", event.delta, partial(log_excess, epsilon=event.epsilon)),
            ("tail", event.tail, lambda signed, logs: np.where(signed > threshold, logs, -np.inf)),
        )
        if estimate.guess is not None
    ]
    if delta is not None and event.at_delta is not None and event.at_delta.guess is not None:
        high = event.at_delta.guess[1]
        log_sample = partial(log_excess, epsilon=high)
        found.append(Held(f"delta at {high:.4g}", log_sample, delta, (0.0, 1.0)))
    return found


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
    if specification.is_read:  # compiled: a second or so for all of them
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
            f"{max(least, held.ends[0]):.3g} and {held.ends[1]:.3g}; try another seed, or more "
            "trials"
        )
