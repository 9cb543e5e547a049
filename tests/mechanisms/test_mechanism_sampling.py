"""Every sampler draws from the law that it states.

Each test fails a correct sampler with probability at most 1e-6; with about 400 of them the whole
file's false-alarm probability, over the choice of its fixed seed, is below 1e-3.
"""

import numpy as np
import pytest

from simulator.data.queries import function_query, histogram_query
from simulator.mechanisms import Laplace, RandomizedResponse
from tests.helpers.cases import case
from tests.helpers.mechanism_cases import ALICE, CASES, EVERYONE, OTHERS, case_draws, draws, laplace

LEVEL = 1e-6
THETAS = [-3.0, -1.0, -0.5, 0.3, 1.0, 60.0]


@pytest.mark.parametrize("one", CASES, ids=str)
def test_the_sampler_has_the_stated_law(one):
    for b in (0, 1):
        with case("b", b):
            assert one.witness.p_value(case_draws(one, b), b) > LEVEL


@pytest.mark.sampled(n=12)
@pytest.mark.parametrize("one", CASES, ids=str)
def test_sampling_one_database_is_playing_it_against_itself(one):
    noise = np.random.default_rng(3)
    sample = [one.mechanism.sample(one.database_1, noise, one.relation) for _ in range(1_000)]
    assert one.witness.p_value(np.array(sample), 1) > LEVEL


@pytest.mark.parametrize("one", CASES, ids=str)
def test_the_tilted_sampler_has_the_tilted_law(one):
    for theta in THETAS:
        pair, noise = one.pair, np.random.default_rng(17)
        tilted = pair.tilted(theta)
        sample = np.array([pair.sample_tilted(tilted, noise) for _ in range(3_000)])
        with case("theta", theta):
            assert one.witness.tilted_p_value(sample, theta) > LEVEL


def test_laplace_with_half_the_noise_it_claims_is_caught():
    honest = laplace("claimed", ALICE, 0.5, OTHERS, EVERYONE)
    broken = Laplace(ALICE, 1.0).pair(OTHERS, EVERYONE)
    assert honest.witness.p_value(draws(broken)) < LEVEL


def test_randomized_response_that_lies_too_little_is_caught():
    one = next(c for c in CASES if c.name == "randomized response up")
    broken = RandomizedResponse(ALICE, 0.9).pair(OTHERS, EVERYONE)
    assert one.witness.p_value(draws(broken)) < LEVEL


@pytest.mark.parametrize("name", ["Laplace up", "geometric three up", "randomized response up"])
def test_a_tilt_of_the_wrong_sign_is_caught(name):
    one = next(c for c in CASES if c.name == name)
    noise = np.random.default_rng(17)
    tilted = one.pair.tilted(-1.0)
    sample = np.array([one.pair.sample_tilted(tilted, noise) for _ in range(3_000)])
    assert one.witness.tilted_p_value(sample, 1.0) < LEVEL


def test_vector_laplace_draws_every_coordinate_independently():
    query = histogram_query(["alice", "bob"])
    pair = Laplace(query, 0.5).pair(OTHERS, EVERYONE)
    sample = draws(pair, 1)
    up = laplace("", ALICE, 0.5, OTHERS, EVERYONE).witness
    bob = laplace("", function_query(lambda d: 1.0, 1.0), 0.5, OTHERS, EVERYONE).witness
    assert up.p_value(sample[:, 0], 1) > LEVEL
    assert bob.p_value(sample[:, 1]) > LEVEL
    # the signs of the two noises agree half the time
    agree = np.sum((sample[:, 0] > 1) == (sample[:, 1] > 1))
    assert abs(agree - len(sample) / 2) < 5 * np.sqrt(len(sample)) / 2  # 5 sigma: 6e-7
