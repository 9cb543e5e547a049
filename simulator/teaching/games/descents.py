"""What games of gradient descent share: Alice's part of the data, and a play of the steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.analysis.simulate import simulate
from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.engine.sampling import Tilted
from simulator.teaching.games.rows import GameRow, played
from simulator.teaching.mechanisms.descents import LastIterate, Remembering
from simulator.theory.laws.gaussian_curve import gaussian_epsilon_bracket

EVERYONE = Database({"alice": 1, "others": 99})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")


def steps_played(
    quantity: str,
    mechanism: LastIterate | Remembering,
    mu: float,
    delta: float,
    *,
    trials: int,
    seed: int,
) -> GameRow:
    """The epsilon at ``delta`` of the last iterate, played step by step, tilted to that epsilon.

    ``mu`` is that of the last iterate.
    """

    def train(coins: np.random.Generator) -> Any:
        yield WITHOUT, EVERYONE, mechanism

    theta = gaussian_epsilon_bracket(mu, delta).upper / mu**2 - 0.5  # its mean loss is epsilon
    result = simulate(
        train, family=mechanism.guarantee(), rounds=1, trials=trials, seed=seed,
        sampling=Tilted(max(0.0, theta)),
    )  # fmt: skip
    return played(quantity, "its steps, played", result.epsilon(delta, confidence=0.999))
