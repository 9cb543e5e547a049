"""The samplers draw from the laws that are stated.

Every test has a fixed seed. Those that compare counts with probabilities raise a false alarm with
probability at most 1e-6 for a correct sampler, over all mechanisms and pairs together.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from experiments.suite.mechanisms import STANDARD
from experiments.suite.mechanisms.discrete import DiscreteLaw
from simulator.analysis.estimation import betting_interval, clopper_pearson

EVERY = pytest.mark.parametrize("entry", STANDARD.values(), ids=list(STANDARD))
DRAWS = 40_000
FALSE_ALARM = 1e-6
TESTS = 4 * sum(len(each.pairs) for each in STANDARD.values())


@EVERY
def test_answers_have_the_shape_that_is_stated(entry):
    for input in entry.pairs[0]:
        answers = entry.sample(input, 7, np.random.default_rng(1))
        assert len(answers) == 7
        assert answers.ndim == (1 if entry.answer == "scalar" else 2)
        again = entry.sample(input, 7, np.random.default_rng(1))
        assert np.array_equal(answers, again)


@pytest.mark.sampled
@EVERY
def test_losses_have_the_mean_that_every_likelihood_ratio_has(entry):
    # E0[exp(-L)] is the mass of input 1 where input 0 has any, at most 1; and E1[exp(L)] the other
    # floats are drawn as the real numbers are, but for bits that this test does not look at
    law = entry.law.real if entry.name == "laplace-floats" else entry.law
    rng = np.random.default_rng(2)
    for pair in entry.pairs:
        top = law.epsilon(*pair)
        for b, sign in ((0, -1.0), (1, 1.0)):
            answers = entry.sample(pair[b], DRAWS, rng)
            losses = sign * law.loss(*pair, answers)
            assert losses.max() <= top + 1e-9
            if 1e-9 < top <= 1.0:  # weights of a bounded range, whose mean betting brackets
                low, high = math.exp(-top), math.exp(top)
                shares = np.clip((np.exp(losses) - low) / (high - low), 0.0, 1.0)
                found = betting_interval(shares, confidence=1 - FALSE_ALARM / TESTS)
                assert found.lower <= (1.0 - low) / (high - low) <= found.upper


@pytest.mark.sampled
@EVERY
def test_events_by_loss_have_the_ratios_that_losses_state(entry):
    # of the event that L lies in a slice, Pr_0 and Pr_1 differ by a factor within the slice
    if entry.name == "laplace-floats":
        pytest.skip("its likelihood is that of real numbers")
    rng = np.random.default_rng(3)
    slices = 5
    confidence = 1 - FALSE_ALARM / (2 * TESTS * slices)
    for pair in entry.pairs:
        losses = [entry.law.loss(*pair, entry.sample(each, DRAWS, rng)) for each in pair]
        finite = np.concatenate(losses)
        finite = finite[np.isfinite(finite)]
        borders = [-np.inf, *np.quantile(finite, np.linspace(0, 1, slices + 1)[1:-1]), np.inf]
        for low, high in itertools.pairwise(borders):
            inside = [(each > low) & (each <= high) & np.isfinite(each) for each in losses]
            both = np.concatenate([x[y] for x, y in zip(losses, inside)])
            if len(both) == 0:
                continue
            counts = [clopper_pearson(int(y.sum()), DRAWS, confidence) for y in inside]
            # Pr_0 = e^L Pr_1 with some L of the slice
            assert counts[0].upper >= math.exp(both.min()) * counts[1].lower
            assert counts[0].lower <= math.exp(min(both.max(), 700.0)) * counts[1].upper


TABLES = [each for each in STANDARD.values() if isinstance(each.law, DiscreteLaw)]


@pytest.mark.sampled(n=5)
@pytest.mark.parametrize("entry", TABLES, ids=lambda each: each.name)
def test_finite_answers_come_as_often_as_the_table_says(entry):
    rng = np.random.default_rng(4)
    inputs = {each for pair in entry.pairs for each in pair}
    for input in sorted(inputs):
        table = entry.law.probabilities(input)
        assert math.fsum(table) == pytest.approx(1.0, abs=1e-12)
        counts = np.bincount(entry.law.place(entry.sample(input, DRAWS, rng)), minlength=len(table))
        assert not counts[table == 0.0].any()
        # answers that are expected less than 100 times count as one, so that chi square holds
        rare = table * DRAWS < 100
        expected = np.append(table[~rare], table[rare].sum()) * DRAWS
        seen = np.append(counts[~rare], counts[rare].sum())
        keep = expected > 0
        chi = ((seen - expected)[keep] ** 2 / expected[keep]).sum()
        assert keep.sum() > 1
        assert expected[keep].min() > 20
        assert stats.chi2.sf(chi, keep.sum() - 1) > FALSE_ALARM / TESTS


def test_a_wrong_sampler_is_seen():
    # the same tests on another mechanism's answers, and on noise of half the scale
    entry, wrong = STANDARD["sparse-vector-1"], STANDARD["sparse-vector-4"]
    input = entry.pairs[0][0]
    table = entry.law.probabilities(input)
    rng = np.random.default_rng(5)
    counts = np.bincount(entry.law.place(wrong.sample(input, DRAWS, rng)), minlength=len(table))
    assert stats.chisquare(counts, table * DRAWS).pvalue < 1e-9
    pair = STANDARD["laplace"].pairs[0]
    answers = np.random.default_rng(6).laplace(pair[0][0], 5.0, DRAWS)
    weights = np.exp(-STANDARD["laplace"].law.loss(*pair, answers))
    low, high = math.exp(-0.1), math.exp(0.1)
    found = betting_interval((weights - low) / (high - low), confidence=1 - FALSE_ALARM / TESTS)
    assert not found.lower <= (1.0 - low) / (high - low) <= found.upper
