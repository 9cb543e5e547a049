"""The strongest mechanism of a family has just the family's promise."""

import numpy as np
import pytest

from simulator.adversaries.contract import Challenge
from simulator.adversaries.registry import make
from simulator.theory import ZCDP, GaussianDP


@pytest.mark.parametrize(
    ("family", "sigma"), [(ZCDP(0.5), 1.0), (ZCDP(0.02), 5.0), (GaussianDP(0.25), 4.0)]
)
def test_the_noise_of_the_worst_gaussian(family, sigma):
    challenge = next(make("fixed-worst-case", family, 3)(np.random.default_rng(0)))
    challenge = Challenge(*challenge)
    assert challenge.mechanism.sigma == pytest.approx(sigma, rel=1e-15)
