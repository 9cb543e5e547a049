"""Moments of the loss that are refused."""

import pytest

from simulator import simulate
from simulator.engine.sampling import Tilted
from simulator.foundations.errors import InvalidInput


def test_moments_of_weighted_losses_are_refused():
    result = simulate(
        "press-when-ahead", "pure:0.2", 5, 20, seed=1, sampling=Tilted(1.0), jobs=1, progress=False
    )
    for moment in (result.mean, result.variance):
        with pytest.raises(InvalidInput, match="those of plain play"):
            moment()
