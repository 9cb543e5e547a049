"""``Tilted.pilot``: a measure chosen on held-out draws, then frozen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.analysis.rare.pilot import pilot_tilt
from simulator.analysis.rare.rehearsal import plain
from simulator.analysis.rare.rehearsals import Rehearsals
from simulator.analysis.rare.steering import aim, steer
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.engine.sampling import RoundByRound, Sampling, Tilted
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.theory.filters.interface import Filter
from simulator.theory.guarantees.interface import Guarantee

ROUNDS = 1_000_000
"""The largest number of rounds for choosing a measure without a number of trials."""


def choose_measure(
    adversary: Callable[..., Any],
    family: Guarantee,
    rounds: int,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    experiment: int = 0,
    steered: bool = False,
    seed: int = 0,
    relation: Relation = ADD_REMOVE,
    filter: Filter | None = None,
) -> Sampling:
    """Choose theta for the divergence at ``epsilon``, or near where it is ``delta``.

    Parameters
    ----------
    adversary, family, rounds, seed, relation, filter : as for ``simulate``.
    steered : learn a theta for each round and loss so far, instead of one theta.

    Returns a ``Tilted``, or a ``Steered`` if ``steered``. Its draws are not used by any result.
    Raises InvalidInput, and Refusal if no measure reaches the event.
    """
    if (epsilon is None) == (delta is None):
        raise InvalidInput("give the epsilon to aim at, or the delta")
    s = Specification(
        adversary, family, rounds, 1, seed, relation=relation, sampling=plain(), filter=filter
    )
    rehearsals = Rehearsals(s, experiment, ROUNDS)
    start: RoundByRound | None = None
    if epsilon is None:
        assert delta is not None
        epsilon, start = aim(s, experiment, delta, rehearsals)
    if steered:
        return steer(s, experiment, epsilon, rehearsals, start=start)[0]
    return pilot_tilt(s, experiment, epsilon, rehearsals)[0]


Tilted.pilot = staticmethod(choose_measure)
