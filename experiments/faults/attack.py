"""A generator adversary that processes play."""

from collections.abc import Generator
from typing import Any

import numpy as np

from simulator import Laplace
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE


def press(coins: np.random.Generator) -> Generator[Any, float, None]:
    """Count Alice; after an answer that favours her presence, with half the noise."""
    epsilon = 0.1
    while True:
        answer = yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, epsilon)
        epsilon = 0.2 if answer > 0.5 else 0.1
