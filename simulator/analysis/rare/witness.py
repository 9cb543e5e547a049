"""A measure tilted too far reports one path as if it were all; a milder one shows it.

Where theta is too large every trial takes the same few paths, the weights hardly differ, and the
sample shows no sign of what it misses. But a lower limit for a mean of nonnegative values holds
without any bound on them (betting, Waudby-Smith and Ramdas 2023), under every measure: one that
lies above the upper end of an estimate contradicts it.
"""

from __future__ import annotations

import numpy as np

from simulator.analysis.estimation import Estimate, weighted_lower_limit
from simulator.analysis.estimation.weighted import log_excess
from simulator.analysis.rare.pilot import TRIALS
from simulator.analysis.rare.rehearsal import affordable, rehearse
from simulator.engine.sampling import RoundByRound, Tilted
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.foundations.seeds import Pilot

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75)
FAR_SHARES = (0.03, 0.01, 1e-3, 1e-4, 1e-5)
"""Of a theta that is too large by decades, a tenth is too large as well."""
MILDEST = 0.1
"""Below this theta a far share is hardly other than the experiment itself."""
ERROR = 1e-6
"""Probability that one witness contradicts an interval that holds the truth, at most."""


def refuse_if_contradicted(
    specification: Specification, b: int, epsilon: float, delta: Estimate
) -> None:
    """Raise Refusal where other measures find more than a guess at delta(``epsilon``) allows.

    They are the experiment itself, with as many trials as the sample where these fit a rehearsal,
    and milder thetas than the sample's. Only a guess is held to them, for valid ends keep their
    word anyway.
    """
    if delta.guess is None or not isinstance(specification.sampling, RoundByRound):
        return
    levels = specification.sampling.levels
    theta = float(levels[np.argmax(np.abs(levels))])
    few = affordable(TRIALS, specification.rounds)
    far = [share for share in FAR_SHARES if share * abs(theta) >= MILDEST]
    for number, share in enumerate((*SHARES, *far), start=Pilot.WITNESSES):
        milder = Tilted(share * theta)
        trials = few if share else affordable(specification.trials, specification.rounds)
        try:
            played = rehearse(specification, b, milder, trials, number=number)
        except InvalidInput:  # a theta that leaves no digits says nothing
            continue
        least = weighted_lower_limit(log_excess(played.signed, played.log_weights, epsilon), ERROR)
        if least > delta.guess[1]:
            raise Refusal(
                f"the sample guesses at most {delta.guess[1]:.3g}, but theta {milder.theta:g} "
                f"finds at least {least:.3g}: its paths are not those that count; it is certain "
                f"that delta lies between {max(least, delta.lower):.3g} and {delta.upper:.3g}; try "
                'the method "auto", "guarded" or "steered" with another seed, or more trials'
            )
