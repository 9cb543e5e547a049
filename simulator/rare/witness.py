"""A measure tilted too far reports one path as if it were all; a milder one shows it.

Where theta is too large every trial takes the same few paths, the weights hardly differ, and the
sample shows no sign of what it misses. But a lower limit for a mean of nonnegative values holds
without any bound on them (betting, Waudby-Smith and Ramdas 2023), under every measure: one that
lies above the upper end of an estimate contradicts it.
"""

from __future__ import annotations

from simulator.errors import Refusal
from simulator.estimation import Estimate, weighted_lower_limit
from simulator.estimation.weighted import log_excess
from simulator.play.sampling import Tilted
from simulator.play.specification import Specification
from simulator.rare.pilot import TRIALS
from simulator.rare.rehearsal import affordable, rehearse
from simulator.seeds import Pilot

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75)
ERROR = 1e-6
"""Probability that one witness contradicts an interval that holds the truth, at most."""


def refuse_if_contradicted(
    specification: Specification, b: int, epsilon: float, tilted: Tilted, delta: Estimate
) -> None:
    """Raise Refusal where a milder theta finds more than the estimate of delta(``epsilon``) allows.

    Only an asymptotic interval is held to it, for the others keep their word anyway.
    """
    if not delta.method.startswith("asymptotic"):
        return
    trials = affordable(TRIALS, specification.rounds)
    for number, share in enumerate(SHARES, start=Pilot.WITNESSES):
        milder = Tilted(share * tilted.theta)
        played = rehearse(specification, b, milder, trials, number=number)
        least = weighted_lower_limit(log_excess(played.signed, played.log_weights, epsilon), ERROR)
        if least > delta.upper:
            raise Refusal(
                f"theta {tilted.theta:g} found {delta.value:.3g}, but theta {milder.theta:g} finds "
                f"at least {least:.3g}: its paths are not those that count; try a theta between "
                'them, or method="auto", "steered" or "doob"'
            )
