"""k of t steps, against lists of all subsets, Gaussians, balls in bins and counted draws."""

import math
from itertools import combinations, product

import numpy as np
import pytest

from simulator.analysis.estimation import betting_interval
from simulator.errors import InvalidInput, NotApplicable
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.training.matrices import balls_in_bins, estimate_allocation, random_subset
from simulator.training.matrices.subset_tables import SubsetTable
from simulator.training.matrices.subsets import subset_addition, subset_removal
from simulator.training.mechanisms.random_allocation import log_mean_of_sets

SURE = 1 - 1e-6
"""The confidence of each interval below, all with fixed seeds."""


@pytest.mark.parametrize(
    ("steps", "selected", "theta"), [(4, 2, 3), (5, 3, 2), (3, 3, 2), (5, 1, 4)]
)
def test_moments_and_draws_are_those_of_all_subsets(steps, selected, theta):
    subsets, law = list(combinations(range(steps), selected)), {}
    for chosen in product(subsets, repeat=theta):
        n = np.bincount([j for each in chosen for j in each], minlength=steps)
        weight = math.exp(0.7 * float((n * (n - 1)).sum()) / 2)
        law[tuple(n.tolist())] = law.get(tuple(n.tolist()), 0.0) + weight
    total = sum(law.values())
    table = SubsetTable(0.7, steps, selected, theta)
    expected = math.log(total) - theta * math.log(len(subsets))
    assert table.log_moment(theta) == pytest.approx(expected, abs=1e-12)
    counts = {}
    for n in map(tuple, table.draw(theta, 20_000, np.random.default_rng(5)).T.tolist()):
        counts[n] = counts.get(n, 0) + 1
    assert set(counts) <= set(law)
    often = {n: 20_000 * weight / total for n, weight in law.items() if 20_000 * weight > 5 * total}
    statistic = sum((counts.get(n, 0) - mean) ** 2 / mean for n, mean in often.items())
    # a normal approximation of chi-square: false alarm about 1e-6 in each
    assert statistic < len(often) + 5 * math.sqrt(2 * len(often)) + 10


def test_the_ratio_is_the_mean_over_all_subsets():
    pair, rng = random_subset(0.8, 9, 4), np.random.default_rng(3)
    scores = rng.normal(size=(9, 5)) * np.array([1, 3, 10, 60, 300])
    losses = scores - pair.half_squares[:, None]
    expected = [log_mean_of_sets(each, 4) for each in losses.T]
    np.testing.assert_allclose(pair.log_ratio(scores), expected, rtol=1e-12)


def test_all_steps_are_one_gaussian():
    found = estimate_allocation(
        random_subset(2.0, 3, 3), epsilon=2.0, draws=20_000, confidence=SURE
    )
    exact = gaussian_delta(math.sqrt(3) / 2.0, 2.0)
    for each in (found.removal, found.addition):
        assert each.lower <= exact <= each.upper < 1.2 * exact


def test_one_step_is_one_bin():
    one, other = (
        estimate_allocation(pair, epsilon=1.0, draws=20_000, confidence=SURE)
        for pair in (random_subset(1.0, 20), balls_in_bins(1.0, 20, 20))
    )
    for direction in ("removal", "addition"):
        first, second = getattr(one, direction), getattr(other, direction)
        assert max(first.lower, second.lower) <= min(first.upper, second.upper)


def test_a_delta_that_can_be_counted_is_what_plain_draws_count():
    sigma, steps, selected, epsilon = 1.5, 8, 3, 1.5
    pair = random_subset(sigma, steps, selected)
    found = estimate_allocation(pair, epsilon=epsilon, draws=20_000, confidence=SURE)
    rng = np.random.default_rng(9)
    noise = rng.standard_normal((steps, 50_000)) / sigma
    held = rng.random((steps, 50_000)).argsort(axis=0) < selected
    present, absent = pair.log_ratio(noise + held / sigma**2), pair.log_ratio(noise)
    for each, losses in ((found.removal, present), (found.addition, -absent)):
        counted = betting_interval(-np.expm1(np.minimum(epsilon - losses, 0.0)), SURE)
        assert max(counted.lower, each.lower) <= min(counted.upper, each.upper)
        assert 1e-3 < each.value < 0.2


@pytest.mark.parametrize("measure", [subset_removal, subset_addition])
def test_weights_keep_their_bound(measure):
    found = measure(random_subset(1.0, 20, 3), 2.0)
    losses, log_weights = found.draw(20_000, np.random.default_rng(11))
    excess = log_weights + np.log(np.maximum(-np.expm1(np.minimum(2.0 - losses, 0.0)), 1e-300))
    assert found.log_bound(2.0) - 6.0 < excess.max() <= found.log_bound(2.0)


@pytest.mark.nightly
def test_rare_deltas_have_both_ends():
    found = estimate_allocation(random_subset(1.0, 20, 3), delta=1e-8, draws=10_000)
    assert found.removal.upper < 1.02 * found.removal.lower
    assert found.addition.upper < 1.02 * found.addition.lower


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 3, 1), "sigma must be above 0"),
        ((math.nan, 3, 1), "sigma must be finite, not nan"),
        ((0.01, 3, 1), "sigma 0.01 is too small"),
        ((1.0, 3, 4), "selected must be at most steps, not 4 of 3"),
        ((1.0, 3, 0), "selected must be at least 1, not 0"),
        ((1.0, 300, 101), "selected must be at most 100, not 101"),
        ((1.0, 2.5, 1), "steps must be a whole number, not 2.5"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        random_subset(*arguments)


def test_a_table_that_is_too_large_says_its_size():
    with pytest.raises(NotApplicable, match=r"theta = 20 and 30 of 60 steps has .* states"):
        SubsetTable(1.0, 60, 30, 20)
