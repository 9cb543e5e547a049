"""Groups, disjoint parts and samples: against explicit pairs and brute force."""

import math

import mpmath
import pytest

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    GaussianDP,
    LaplaceLaw,
    PureDP,
    RenyiDP,
    amplified_by_sampling,
    compose_laws,
    group,
    parallel,
    randomized_response,
)


def test_group_privacy_of_each_kind():
    assert group(PureDP(0.1), 3) == PureDP(0.1 * 3)
    assert group(ZCDP(0.1), 3) == ZCDP(0.1 * 9)
    assert group(GaussianDP(0.5), 4) == GaussianDP(2.0)
    assert group(BoundedRange(0.1), 2) == BoundedRange(0.2)
    assert group(ApproxDP(0.1, 1e-6), 1) == ApproxDP(0.1, 1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.1, 3.0])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_group_delta_is_the_chain_written_out(epsilon, size):
    # P0 <= e^eps P1 + d <= e^eps (e^eps P2 + d) + d <= ...: a sum of d e^(i eps).
    chain = sum(mpmath.mpf(1e-9) * mpmath.exp(i * mpmath.mpf(epsilon)) for i in range(size))
    got = group(ApproxDP(epsilon, 1e-9), size)
    assert got.epsilon == pytest.approx(size * epsilon)
    assert got.delta == pytest.approx(float(chain), rel=1e-12)


def test_group_delta_covers_a_real_chain():
    # Shifted leaky response: three databases in a row, each step (epsilon, delta).
    epsilon, delta = 0.3, 0.01
    chain = [1.0]
    for _ in range(2):
        chain.append(min(1.0, math.exp(epsilon) * chain[-1] + delta))
    start = 0.05
    p = [start]
    for _ in range(2):
        p.append(math.exp(epsilon) * p[-1] + delta)
    both = group(ApproxDP(epsilon, delta), 2)
    assert p[2] - math.exp(both.epsilon) * p[0] == pytest.approx(both.delta, rel=1e-12)


def test_a_group_too_large_is_refused():
    with pytest.raises(NotApplicable, match="reaches 1"):
        group(ApproxDP(1.0, 1e-6), 30)
    with pytest.raises(NotApplicable):
        group(RenyiDP(2.0, 0.1), 2)
    for bad in (0, 1.5, True):
        with pytest.raises(InvalidInput):
            group(PureDP(0.1), bad)


def test_parallel_takes_the_weakest_or_the_weakest_group_of_two():
    parts = [PureDP(0.1), PureDP(0.3), PureDP(0.2)]
    assert parallel(parts) == PureDP(0.3)
    assert parallel(parts, replace_one=True) == PureDP(0.6)
    assert parallel([PureDP(0.3)], replace_one=True) == PureDP(0.6)
    assert parallel([GaussianDP(3.0), GaussianDP(4.0)], replace_one=True) == GaussianDP(8.0)
    assert parallel([ZCDP(0.1), ZCDP(0.3)], replace_one=True) == ZCDP(1.2)
    leaky = [ApproxDP(0.1, 1e-6), ApproxDP(0.2, 1e-9)]
    assert parallel(leaky) == ApproxDP(0.2, 1e-6)
    with pytest.raises(NotApplicable):
        parallel([PureDP(0.1), ZCDP(0.1)])
    with pytest.raises(InvalidInput):
        parallel([])


def test_replacing_one_record_within_a_part_costs_its_group_of_two():
    # A sum over [-1, 1] with Laplace noise of scale 1 is 1-DP under add-or-remove-one; replacing
    # -1 by 1 shifts it by 2, which is Laplace noise of parameter 2.
    promised = parallel([PureDP(1.0), PureDP(0.1)], replace_one=True)
    assert LaplaceLaw(2.0).delta(promised.epsilon) == 0.0
    assert LaplaceLaw(2.0).delta(1.1) == pytest.approx(0.362, abs=5e-4)


@pytest.mark.parametrize("second", [(0.2, 1e-3), (0.9, 1e-9), (0.0, 0.04)])
def test_replacing_one_record_of_leaky_parts_is_covered_wherever_the_two_steps_fall(second):
    parts = [ApproxDP(0.3, 0.02), ApproxDP(*second)]
    promised = parallel(parts, replace_one=True)
    for part in parts:
        assert group(part, 2).implies(promised)
    two = compose_laws([(randomized_response(p.epsilon, p.delta), 1) for p in parts])
    assert two.delta(promised.epsilon).upper <= promised.delta


@pytest.mark.parametrize("epsilon", [1e-8, 0.1, 0.99, 1.01, 5.0, 50.0, 900.0])
@pytest.mark.parametrize("rate", [1e-6, 0.1, 1.0])
def test_subsampled_epsilon_is_that_of_the_mixture(epsilon, rate):
    # Randomized response on the sample: (1 - q) P1 + q P0 against P1, largest log-ratio.
    with mpmath.workdps(400):
        exact = mpmath.log(1 + mpmath.mpf(rate) * (mpmath.exp(mpmath.mpf(epsilon)) - 1))
    got = amplified_by_sampling(PureDP(epsilon), rate).epsilon
    assert got == pytest.approx(float(exact), rel=1e-12)


def test_subsampled_delta_covers_the_mixture_of_the_leaky_pair():
    epsilon, delta, rate = 0.7, 0.01, 0.2
    keep = 1 - delta
    p = keep / (1 + math.exp(-epsilon))
    p0, p1 = [delta, p, keep - p, 0.0], [0.0, keep - p, p, delta]
    sampled = amplified_by_sampling(ApproxDP(epsilon, delta), rate)
    mixed = [rate * a + (1 - rate) * b for a, b in zip(p0, p1)]
    for first, second in ((mixed, p1), (p1, mixed)):
        reached = sum(max(0.0, a - math.exp(sampled.epsilon) * b) for a, b in zip(first, second))
        assert reached <= sampled.delta * (1 + 1e-12)
    forward = sum(max(0.0, a - math.exp(sampled.epsilon) * b) for a, b in zip(mixed, p1))
    assert forward == pytest.approx(sampled.delta, rel=1e-12)


def test_nonsense_rates_and_kinds_are_refused():
    for rate in (0.0, 1.1, math.nan):
        with pytest.raises(InvalidInput):
            amplified_by_sampling(PureDP(0.1), rate)
    with pytest.raises(NotApplicable):
        amplified_by_sampling(GaussianDP(0.1), 0.5)
