"""Losses are log-likelihood ratios of independently computed laws, and keep the guarantee."""

import numpy as np
import pytest
from scipy import stats

from simulator.data.queries import histogram_query
from simulator.mechanisms import Gaussian, Laplace
from tests.helpers.cases import case
from tests.helpers.mechanism_cases import (
    ALICE,
    CASES,
    EVERYONE,
    OTHERS,
    Discrete,
    case_draws,
    draws,
)

THETAS = [-3.0, -1.0, -0.5, -0.25, 0.0, 0.3, 1.0, 5.0, 60.0]
LEAKS = [c for c in CASES if c.name.startswith("leaky") and c.mechanism.delta > 0]
CLOSED = [c for c in CASES if c not in LEAKS]


def answers_of(one):
    return np.unique(np.r_[case_draws(one, 0)[:500], case_draws(one, 1)[:500]])


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("one", CASES, ids=str)
def test_the_loss_is_the_log_likelihood_ratio(one):
    answers = answers_of(one)
    expected = one.witness.loss(answers)
    losses = np.array([one.pair.loss(answer) for answer in answers])
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(losses[~finite], expected[~finite])
    # the witnesses round ln p once per density, whose size is that of the far tails
    size = 1 + np.abs(expected[finite])
    np.testing.assert_allclose(losses[finite] / size, expected[finite] / size, atol=2e-11)


@pytest.mark.sampled(n=10)
@pytest.mark.parametrize("one", CASES, ids=str)
def test_exchanging_the_databases_changes_the_sign(one):
    reverse = one.mechanism.pair(one.database_1, one.database_0, one.relation)
    for answer in answers_of(one)[::7]:
        assert reverse.loss(answer) == pytest.approx(-one.pair.loss(answer), rel=1e-14)
        direct = one.mechanism.log_likelihood_ratio(
            answer, one.database_0, one.database_1, one.relation
        )
        assert direct == one.pair.loss(answer)


def test_no_loss_exceeds_the_guarantee():
    for one in CLOSED:
        with case(one):
            losses = np.array([one.pair.loss(answer) for answer in answers_of(one)])
            assert np.abs(losses).max() <= one.largest_loss * (1 + 1e-12)
            promised = one.mechanism.guarantee(one.relation).pure_epsilon
            assert one.largest_loss <= promised * (1 + 1e-12)


@pytest.mark.parametrize("name", ["Laplace up", "Laplace down", "geometric up", "Laplace large"])
def test_the_guarantee_is_attained(name):
    one = next(c for c in CASES if c.name == name)
    losses = np.abs([one.pair.loss(answer) for answer in answers_of(one)])
    assert losses.max() == pytest.approx(one.mechanism.epsilon, rel=1e-14)


def test_half_the_noise_breaks_the_guarantee():
    broken = Laplace(ALICE, 1.0).pair(OTHERS, EVERYONE)
    losses = [broken.loss(answer) for answer in draws(broken, n=100)]
    assert np.abs(losses).max() > Laplace(ALICE, 0.5).guarantee().pure_epsilon


@pytest.mark.parametrize("one", CASES, ids=str)
def test_psi_is_the_cumulant_generating_function(one):
    for theta in THETAS:
        with case("theta", theta):
            psi = one.pair.tilted(theta)[0]
            assert psi == pytest.approx(one.witness.psi(theta), rel=1e-12, abs=1e-12)


def test_psi_vanishes_where_both_laws_have_mass_one():
    for one in CLOSED:
        with case(one):
            assert one.pair.tilted(0.0)[0] == pytest.approx(0.0, abs=4e-14)
            assert one.pair.tilted(-1.0)[0] == pytest.approx(0.0, abs=4e-14)


@pytest.mark.parametrize("one", CASES, ids=str)
def test_the_stated_law_has_the_same_transform(one):
    law = one.mechanism.law(one.database_0, one.database_1, one.relation)
    kept = np.log1p(-law.infinite_mass)
    for theta in (-1.5, -0.25, 0.7):
        with case("theta", theta):
            expected = one.witness.psi(theta) + kept
            assert float(law.log_mgf(theta)) == pytest.approx(expected, rel=1e-11, abs=1e-12)


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("one", CASES, ids=str)
def test_the_stated_law_is_that_of_the_sampled_losses(one):
    law = one.mechanism.law(one.database_0, one.database_1, one.relation)
    losses = np.array([one.pair.loss(answer) for answer in case_draws(one, 0)[:5_000]])
    for point in np.unique(np.quantile(losses, [0.1, 0.3, 0.5, 0.7, 0.9], method="nearest")):
        # just beside an atom, so that its rounding does not matter
        for at in (point - 1e-7, point + 1e-7):
            hits = int(np.sum(losses > at))
            chance = min(max(law.sf(float(at)), 0.0), 1.0)
            assert stats.binomtest(hits, len(losses), chance).pvalue > 1e-6


WEIGHED = [
    (one, theta)
    for one in CLOSED
    for theta in (-1.0, 0.3, 1.0)
    if abs(theta) * one.largest_loss <= 2  # beyond, the weights' range makes the test powerless
]


def weights_are_fair(pair, psi, theta, largest_loss, n=1_000):
    """Hoeffding's test that the weights average to one; false alarm at most 1e-6."""
    noise, tilted = np.random.default_rng(23), pair.tilted(theta)
    losses = np.array([pair.loss(pair.sample_tilted(tilted, noise)) for _ in range(n)])
    weights = np.exp(psi - theta * losses)
    reach = abs(theta) * largest_loss
    width = np.exp(psi + reach) - np.exp(psi - reach)
    return abs(weights.mean() - 1) <= width * np.sqrt(np.log(2e6) / (2 * n)) + 1e-14


@pytest.mark.parametrize("theta", [-1.0, 0.3, 1.0])
def test_importance_weights_average_to_one(theta):
    for one in (one for one, weighed in WEIGHED if weighed == theta):
        with case(one):
            assert weights_are_fair(one.pair, one.pair.tilted(theta)[0], theta, one.largest_loss)


def test_weights_of_another_law_are_caught():
    claimed, played = (Laplace(ALICE, e).pair(OTHERS, EVERYONE) for e in (0.5, 1.0))
    assert not weights_are_fair(played, claimed.tilted(1.0)[0], 1.0, 1.0)


@pytest.mark.parametrize("mechanism", [Laplace, Gaussian])
def test_a_vector_whose_one_coordinate_moves_has_the_law_of_that_coordinate(mechanism):
    query = histogram_query(["alice", "bob"])
    vector, scalar = mechanism(query, 0.5), mechanism(ALICE, 0.5)
    assert vector.law(OTHERS, EVERYONE) == scalar.law(OTHERS, EVERYONE)
    pair = vector.pair(OTHERS, EVERYONE)
    answer = np.array([0.3, 5.0])
    assert pair.loss(answer) == pytest.approx(scalar.pair(OTHERS, EVERYONE).loss(0.3), rel=1e-14)


def test_noisy_max_witness_is_not_the_code_under_test():
    one = next(c for c in CASES if c.name == "noisy max 0.8")
    assert isinstance(one.witness, Discrete)
    assert np.exp(one.witness.logs[0]).sum() == pytest.approx(1, abs=1e-12)
