"""Multisets of bins, against a list of all tuples."""

import math
from itertools import product

import numpy as np
import pytest

from simulator.foundations.errors import NotApplicable
from simulator.training.matrices import balls_in_bins
from simulator.training.matrices.occupancies import Occupancies, reach

CASES = [
    (1.0, 4, 4, (1,)),
    (1.2, 5, 15, (1, 0.5)),
    (1.2, 5, 5, (1, 0.5)),
    (1.5, 6, 18, (1, 0.5, 0.3)),
    (1.5, 4, 12, (1, 0.5, 0.3)),
]


def by_tuples(kernel, theta):
    """Ln of the moment, and the law of the occupancies, from all tuples of bins."""
    bins, law = len(kernel), {}
    for chosen in product(range(bins), repeat=theta):
        pairs = sum(kernel[chosen[a], chosen[c]] for a in range(theta) for c in range(a))
        occupied = tuple(np.bincount(chosen, minlength=bins).tolist())
        law[occupied] = law.get(occupied, 0.0) + math.exp(pairs)
    total = sum(law.values())
    return math.log(total) - theta * math.log(bins), {n: w / total for n, w in law.items()}


@pytest.mark.parametrize("case", CASES)
def test_moments_and_draws_are_those_of_all_tuples(case):
    gram = balls_in_bins(*case).gram
    table = Occupancies(gram, 6)
    for theta in (2, 5):
        log_moment, law = by_tuples(gram, theta)
        assert table.log_moment(theta) == pytest.approx(log_moment, abs=1e-12)
        drawn = table.draw(theta, 20_000, np.random.default_rng(5))
        assert set(drawn.sum(axis=0)) == {theta}
        counts = {}
        for n in map(tuple, drawn.T.tolist()):
            counts[n] = counts.get(n, 0) + 1
        often = {n: 20_000 * p for n, p in law.items() if 20_000 * p > 5}
        statistic = sum((counts.get(n, 0) - mean) ** 2 / mean for n, mean in often.items())
        # a normal approximation of chi-square: false alarm about 1e-6 in each of ten
        assert statistic < len(often) + 5 * math.sqrt(2 * len(often)) + 10


def test_a_kernel_without_the_band_has_another_law():
    gram = balls_in_bins(*CASES[1]).gram
    log_moment, _ = by_tuples(gram, 5)
    assert Occupancies(np.diag(np.diagonal(gram)), 5).log_moment(5) < log_moment - 0.01


def test_bins_that_the_first_ones_follow_are_closed_to_a_ring():
    assert reach(balls_in_bins(1, 8, 16, (1, 0.5)).gram) == (1, True)
    assert reach(balls_in_bins(1, 8, 8, (1, 0.5)).gram) == (1, False)
    assert reach(balls_in_bins(1, 8, 16).gram) == (0, False)


def test_a_table_that_is_too_large_says_its_size():
    gram = balls_in_bins(1, 40, 80, np.ones(20)).gram
    with pytest.raises(NotApplicable, match=r"theta = 9 over 40 bins .* has \d.* states"):
        Occupancies(gram, 9)
