"""What is certain about a composition's epsilon, against answers found another way."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Composition,
    FiniteLaw,
    GaussianDP,
    GaussianLaw,
    LaplaceLaw,
    PureDP,
    RenyiDP,
)
from simulator.theory.bounds.certified_epsilon import certified_epsilon


def gaussian_epsilon(mu, delta):
    """Balle and Wang 2018, Theorem 8, inverted."""

    def excess(epsilon):
        lost = math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        return norm.cdf(mu / 2 - epsilon / mu) - lost - delta

    return brentq(excess, 0.0, 50.0, xtol=1e-13)


def test_one_round_of_randomized_response_is_the_closed_form():
    delta, epsilon = 0.01, 0.3
    p = 1.0 / (1.0 + math.exp(-epsilon))
    truth = math.log((p - delta) / (1.0 - p))
    found = certified_epsilon([(PureDP(epsilon), 1)], delta)
    assert found.lower <= truth <= found.upper
    assert found.width < 1e-9


@pytest.mark.parametrize("rounds", [[(GaussianDP(0.1), 100)], [(GaussianLaw(0.1), 100)]])
def test_gaussians_are_one_gaussian(rounds):
    truth = gaussian_epsilon(1.0, 1e-6)
    found = certified_epsilon(rounds, 1e-6)
    assert found.lower * (1 - 1e-9) <= truth <= found.upper * (1 + 1e-9)
    assert found.width < 1e-4


def test_a_mixture_of_families_is_composed_of_the_pairs_that_dominate_them():
    # delta of one randomized response beside one Gaussian: the average over its two losses
    epsilon, mu, delta = 0.5, 1.0, 1e-4
    found = certified_epsilon([(PureDP(epsilon), 1), (GaussianDP(mu), 1)], delta)
    assert found.width < 1e-4

    def composed(total):
        p = 1.0 / (1.0 + math.exp(-epsilon))
        one = lambda e: norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu)  # noqa: E731
        return p * one(total - epsilon) + (1 - p) * one(total + epsilon)

    truth = brentq(lambda total: composed(total) - delta, 0.0, 50.0, xtol=1e-13)
    assert found.lower * (1 - 1e-9) <= truth <= found.upper * (1 + 1e-9)


def test_of_laws_the_worse_direction_counts():
    # P0 = (1, 0), P1 = (0.9, 0.1): in this direction the loss is ln(1/0.9), in the other infinite
    law = FiniteLaw(np.array([math.log(1 / 0.9)]), np.array([0.0]), 0.0, 0.1)
    assert certified_epsilon([(law, 1)], 0.05).lower == math.inf
    assert certified_epsilon([(law.reversed(), 1)], 0.05).lower == math.inf
    assert certified_epsilon([(law, 1)], 0.0).lower == math.inf
    assert certified_epsilon([(law, 1)], 0.2).upper == 0.0


def test_without_delta_the_largest_losses_add_up():
    assert certified_epsilon([(LaplaceLaw(0.25), 8), (PureDP(0.5), 2)], 0.0).lower == 3.0
    assert certified_epsilon([(PureDP(0.5), 2)], 0.0).upper == 1.0
    assert certified_epsilon([(GaussianLaw(0.1), 1)], 0.0).lower == math.inf


@pytest.mark.parametrize(
    "composition",
    [
        Composition.of((PureDP(0.1), 500), (PureDP(0.2), 300)),
        Composition.repeat(ApproxDP(0.1, 1e-9), 50),
        Composition.repeat(BoundedRange(0.2), 30),
        Composition.repeat(ZCDP(0.01), 10),
    ],
    ids=str,
)
def test_every_family_with_a_known_lower_end_is_enclosed(composition):
    found = certified_epsilon(composition, 1e-6)
    assert 0.0 < found.lower <= found.upper < math.inf


def test_where_nothing_is_known_from_below_there_is_no_answer():
    with pytest.raises(NotApplicable, match="no lower end"):
        certified_epsilon([(RenyiDP(2.0, 0.1), 3)], 1e-6)
    with pytest.raises(NotApplicable, match="give the law"):
        certified_epsilon([(ZCDP(0.1), 3), (LaplaceLaw(0.1), 1)], 1e-6)


@pytest.mark.parametrize(
    ("rounds", "delta", "line"),
    [
        ([], 1e-6, "at least one round"),
        (3, 1e-6, "pairs"),
        ([PureDP(0.1)], 1e-6, "pairs"),
        ([(0.1, 100)], 1e-6, "guarantee or a law, not 0.1"),
        ([(PureDP(0.1), 0)], 1e-6, "at least 1"),
        ([(PureDP(0.1), 1)], 1.0, "delta"),
        ([(PureDP(0.1), 1)], -1e-6, "delta"),
    ],
)
def test_bad_input_gets_one_line(rounds, delta, line):
    with pytest.raises(InvalidInput, match=line) as refused:
        certified_epsilon(rounds, delta)
    assert "\n" not in str(refused.value)
