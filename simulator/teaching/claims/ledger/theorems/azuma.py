"""Azuma's inequality, in the range of a step: compared with exact tails, and applied."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from scipy.stats import binom

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, upper_bound
from simulator.teaching.claims.ledger.shared.exact_values import chance_of_truth
from simulator.teaching.claims.ledger.shared.parameters import Constant, Delta, Epsilon, Rounds
from simulator.teaching.claims.model import Finding
from simulator.theory.bounds.concentration import azuma_tail

Effect = Annotated[float, "maximum effect of a round on the sum, in ε", Within(0.01, 100.0)]

_ROUNDS = (1, 4, 25, 400)


def tails_stay_below(*, epsilon: Epsilon = 0.3, constant: Constant = 2.0) -> Finding:
    """Exact tails over exp(-constant t^2/Σ(range)^2): of losses, and of walks that stop at a goal.

    The loss of a round lies in an interval of length 2 epsilon; so does the step of a fair walk of
    +-epsilon, which by the reflection principle stands at its goal or beyond with probability
    Pr[S >= t] + Pr[S > t] when it stops there.
    """
    truth = chance_of_truth(epsilon)
    losses, walks, stopped = (
        max(
            _excess(tail, excess, rounds, constant)
            for rounds in _ROUNDS
            for tail, excess in _walk_tails(rounds, chance, stops)
        )
        for chance, stops in ((truth, False), (0.5, False), (0.5, True))
    )
    return upper_bound(
        max(losses, walks, stopped),
        1.0,
        "largest exact tail over the bound",
        note=f"of losses alone {number(losses)}",
    )


def azuma_gives_delta(
    *, epsilon: Epsilon = 0.1, rounds: Rounds = 100, delta: Delta = 1e-6, effect: Effect = 2.0
) -> Finding:
    """The maximum effect of a round is the range 2 epsilon; 4 epsilon leaves the fourth root."""
    t = math.sqrt(2.0 * rounds * -math.log(delta)) * epsilon
    given = azuma_tail(t, rounds * (effect * epsilon) ** 2)
    return upper_bound(given, delta, "Azuma's tail at t", note=f"effect of a round {effect:g}ε")


def _walk_tails(rounds: int, chance: float, stops: bool) -> list[tuple[float, float]]:
    """(Pr[S - E S >= t], t) in units of half the range, for every t > 0 that S can reach."""
    ups = np.arange(rounds + 1)
    excess = 2.0 * (ups - rounds * chance)
    tails = binom.sf(ups - 1, rounds, chance)
    if stops:
        tails = tails + binom.sf(ups, rounds, chance)
    return [(float(p), float(t)) for p, t in zip(tails, excess) if t > 0.0 and p > 0.0]


def _excess(tail: float, excess: float, rounds: int, constant: float) -> float:
    """Tail over exp(-constant t^2 / (range^2 k)), capped where it would overflow."""
    return math.exp(min(math.log(tail) + constant * excess**2 / (4.0 * rounds), 700.0))
