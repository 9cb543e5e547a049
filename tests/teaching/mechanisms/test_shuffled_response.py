"""Shuffled responses: the law of the count by real shuffles, by enumeration, and in play."""

import numpy as np
import pytest

from simulator import simulate
from simulator.data.databases import REPLACE_ONE, Database
from simulator.data.queries import counting_query
from simulator.foundations.errors import InvalidInput
from simulator.teaching.mechanisms import ShuffledResponse
from simulator.theory import ShuffledDP, shuffled_law
from tests.helpers.mechanism_cases import chi_square

YES = counting_query("yes")


def test_the_law_is_that_of_enumerated_histograms():
    truth = 1.0 / (1.0 + np.exp(-1.0))
    table = [[truth, 1.0 - truth], [1.0 - truth, truth]]
    mechanism = ShuffledResponse(YES, 1.0, 9)
    for ones in (0, 3, 8):
        databases = [Database({"yes": k, "no": 9 - k}) for k in (ones, ones + 1)]
        inputs = [[1] * k + [0] * (9 - k) for k in (ones, ones + 1)]
        law, exact = mechanism.law(*databases, REPLACE_ONE), shuffled_law(table, *inputs)
        for epsilon in (0.0, 0.3, 0.8):
            assert law.delta(epsilon) == pytest.approx(exact.delta(epsilon), rel=1e-10)


@pytest.mark.parametrize("wrong", [False, True])
def test_the_count_is_that_of_reports_drawn_one_by_one(wrong):
    """A chi-squared test at 1e-4; a report whose epsilon is a fifth larger is found."""
    mechanism, n, ones = ShuffledResponse(YES, 1.2 if wrong else 1.0, 60), 60, 20
    noise = np.random.default_rng(3)
    bits = np.arange(n) < ones
    lies = noise.random((20_000, n)) < 1.0 / (1.0 + np.e)
    counts = (noise.permuted(bits ^ lies, axis=1)).sum(axis=1)
    first, _ = mechanism.probabilities(ones, ones + 1, REPLACE_ONE)
    seen = np.bincount(counts - round(counts.mean()) + mechanism.middle, minlength=first.size)
    assert (chi_square(seen, first) < 1e-4) == wrong


def test_it_plays_in_the_family_of_shuffles_alone():
    mechanism = ShuffledResponse(YES, 1.0, 100)
    no = Database({"no": 100})

    def always(coins):
        while True:
            yield no, no.replace("no", "yes"), mechanism

    law = mechanism.law(no, no.replace("no", "yes"), REPLACE_ONE)
    result = simulate(always, ShuffledDP(1.0, 100), 1, 4000, relation=REPLACE_ONE, progress=False)
    found = result.delta(0.1, confidence=0.9999)
    assert found.lower <= law.delta(0.1) <= found.upper
    with pytest.raises(Exception, match="family"):
        simulate(always, ShuffledDP(1.0, 101), 1, 2, relation=REPLACE_ONE, progress=False)


@pytest.mark.parametrize(("epsilon", "reports"), [(0.0, 9), (-1.0, 9), (1.0, 0), (1.0, 10**6)])
def test_bad_parameters_are_refused(epsilon, reports):
    with pytest.raises(InvalidInput):
        ShuffledResponse(YES, epsilon, reports)


def test_counts_that_cannot_be_are_refused():
    mechanism = ShuffledResponse(YES, 1.0, 9)
    for values in ((0, 2), (9, 10), (-1, 0)):
        with pytest.raises(InvalidInput, match="cannot have bit 1"):
            mechanism.probabilities(*values, REPLACE_ONE)
