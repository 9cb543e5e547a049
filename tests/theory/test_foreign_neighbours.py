"""Events of dp_accounting under both relations, against the databases that they are about.

The witness is a sum of records in [-C, C] with noise, written out: the record v = C is added to the
others, or replaced by v' = -C. Hockey-stick divergences come from quadrature of the two densities,
epsilons of compositions from an own transform that rounds every loss down, and so are below the
truth.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binom

from simulator.theory import events
from tests.helpers.dp_events import dp, noise, sampled

RELATIONS = ("add-remove", "replace-one")
OTHER = {"add-remove": 0.0, "replace-one": -1.0}
"""What stands in place of the record 1 in the other database, with C = 1."""
EPSILONS = (0.0, 0.4, 1.1, 2.3)


def normal(x, mean, sigma):
    return math.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2.0 * math.pi))


def laplace(x, mean, scale):
    return math.exp(-abs(x - mean) / scale) / (2.0 * scale)


def divergence(p, q, epsilon, marks):
    """The hockey-stick divergence of two densities; the larger of both orders."""

    def of(one, other):
        parts = [-60.0, *sorted(marks), 60.0]
        return math.fsum(
            quad(lambda x: max(one(x) - math.exp(epsilon) * other(x), 0.0), a, b, limit=400)[0]
            for a, b in itertools.pairwise(parts)
        )

    return max(of(p, q), of(q, p))


def of_sums(density, scale, weights, others=0.0):
    """Both densities of a sum in which 1, or what is in its place, is counted with a probability.

    ``weights`` maps a number of copies to its probability; where there is none, ``others`` is
    added, as a fixed size draws another record for it.
    """

    def of(value):
        return lambda x: math.fsum(
            weight * density(x, copies * value + (0.0 if copies else others), scale)
            for copies, weight in weights.items()
        )

    return of


PLAIN = {
    "Gaussian": (noise(1.3), normal, 1.3),
    "Laplace": (dp("LaplaceDpEvent", noise_multiplier=1.7), laplace, 1.7),
    "truncated, all drawn": (
        dp("TruncatedSubsampledGaussianDpEvent", dataset_size=9, sampling_probability=1.0,
           truncated_batch_size=9, noise_multiplier=1.3), normal, 1.3),
    "Poisson, all drawn": (sampled(noise(1.3), 1.0), normal, 1.3),
}  # fmt: skip


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", PLAIN)
def test_continuous_noise_on_a_sum(name, relation):
    event, density, scale = PLAIN[name]
    account = events.from_dp_accounting(event, relation)
    of = of_sums(density, scale, {1: 1.0})
    for epsilon in EPSILONS:
        exact = divergence(of(1.0), of(OTHER[relation]), epsilon, (-1.0, 0.0, 1.0))
        found = account.delta(epsilon)
        assert found.lower <= exact + 1e-8
        assert exact <= found.upper + 1e-8
        assert found.upper <= exact + 1e-4


def test_randomized_response_replaces_a_record():
    p, buckets = 0.3, 4
    event = dp("RandomizedResponseDpEvent", noise_parameter=p, num_buckets=buckets)
    account = events.from_dp_accounting(event, "replace-one")
    masses = np.full((2, buckets), p / buckets)
    masses[0, 0] += 1.0 - p
    masses[1, 1] += 1.0 - p
    for epsilon in EPSILONS:
        exact = np.maximum(masses[0] - math.exp(epsilon) * masses[1], 0.0).sum()
        found = account.delta(epsilon)
        assert found.lower <= exact * (1 + 1e-9)
        assert exact <= found.upper * (1 + 1e-9)


def test_a_poisson_sample_with_and_without_the_record():
    account = events.from_dp_accounting(sampled(noise(1.1), 0.2))
    of = of_sums(normal, 1.1, {0: 0.8, 1: 0.2})
    for epsilon in EPSILONS[:3]:
        exact = divergence(of(1.0), of(0.0), epsilon, (0.0, 1.0))
        found = account.delta(epsilon)
        assert found.lower <= exact + 1e-8
        assert exact <= found.upper + 1e-8


@pytest.mark.parametrize(("event", "density", "scale"), [
    (noise(1.1), normal, 1.1), (dp("LaplaceDpEvent", noise_multiplier=1.5), laplace, 1.5),
])  # fmt: skip
def test_a_sample_without_replacement_of_a_replaced_record(event, density, scale):
    """Two of ten; all others are -1, so that the sum moves by 2 where the record is drawn."""
    drawn = dp("SampledWithoutReplacementDpEvent", source_dataset_size=10, sample_size=2,
               event=event)  # fmt: skip
    account = events.from_dp_accounting(drawn, "replace-one")
    of = of_sums(density, scale, {0: 0.8, 1: 0.2}, others=-1.0)
    for epsilon in EPSILONS[:3]:
        exact = divergence(of(1.0), of(-1.0), epsilon, (-1.0, 0.0, 1.0))
        found = account.delta(epsilon)
        assert found.lower <= exact + 1e-8
        assert exact <= found.upper + 1e-8
        assert found.upper <= exact + 1e-4


@pytest.mark.sampled
@pytest.mark.parametrize("others", [-1.0, 0.0])
def test_a_sample_with_replacement_of_a_replaced_record(others):
    """Three draws from ten; the other draws add ``others`` each."""
    size, many, scale = 10, 3, 6.0
    drawn = dp("SampledWithReplacementDpEvent", source_dataset_size=size, sample_size=many,
               event=dp("LaplaceDpEvent", noise_multiplier=scale))  # fmt: skip
    account = events.from_dp_accounting(drawn, "replace-one")

    def of(value):
        return lambda x: math.fsum(
            binom.pmf(copies, many, 1 / size)
            * laplace(x, copies * value + (many - copies) * others, scale)
            for copies in range(many + 1)
        )

    for epsilon in (0.0, 0.1):
        exact = divergence(of(1.0), of(-1.0), epsilon, range(-3, 4))
        assert exact <= account.delta(epsilon).upper + 1e-8


def composed_below(p, q, rounds, delta, step=1.6e-4):
    """An epsilon below that of a composition of the pair of densities at ``delta``.

    Every loss is rounded down to a grid, by less than twice its step, and those beyond 40 wrap.
    """
    x = np.linspace(-12.0, 12.0, 300_001)
    middles, size = 0.5 * (x[1:] + x[:-1]), 1 << 19
    cells = np.floor(np.log(p(middles) / q(middles)) / step).astype(int) - 1
    law = np.bincount(cells % size, weights=p(middles) * np.diff(x), minlength=size)
    total = np.maximum(np.fft.irfft(np.fft.rfft(law) ** rounds), 0.0)
    losses, tail = np.arange(1, size // 2) * step, total[1 : size // 2]
    return brentq(
        lambda epsilon: (tail * np.maximum(-np.expm1(epsilon - losses), 0.0)).sum() - delta,
        0.0,
        40.0,
    )


def gaussian(mean):
    return lambda x: np.exp(-0.5 * (x - mean) ** 2) / math.sqrt(2.0 * math.pi)


def test_a_hundred_samples_of_a_thousand_records():
    """All others are -1: the sum moves by 2 wherever the record is drawn."""
    drawn = dp("SampledWithoutReplacementDpEvent", source_dataset_size=1000, sample_size=10,
               event=noise(1.0))  # fmt: skip
    hundred = dp("SelfComposedDpEvent", event=drawn, count=100)
    upper = events.from_dp_accounting(hundred, "replace-one").epsilon(1e-5).upper

    def with_it(x):
        return 0.99 * gaussian(-1.0)(x) + 0.01 * gaussian(1.0)(x)

    reached = composed_below(with_it, gaussian(-1.0), 100, 1e-5)
    assert 6.4 < reached <= upper < 1.05 * reached


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_accountant_of_dp_accounting_agrees(relation):
    """Its answers are pessimistic: above our lower end, and not far above the upper one."""
    pytest.importorskip("dp_accounting", reason="dp_accounting is installed for `make conform`")
    from dp_accounting import dp_event as theirs
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
    from dp_accounting.privacy_accountant import NeighboringRelation

    from simulator.auditing.accountants import CertifiedDpAccountant

    chosen = {"add-remove": "ADD_OR_REMOVE_ONE", "replace-one": "REPLACE_ONE"}[relation]
    which = NeighboringRelation[chosen]
    event = theirs.SelfComposedDpEvent(theirs.GaussianDpEvent(5.0), 7)
    claimed = PLDAccountant(which).compose(event).get_epsilon(1e-6)
    found = CertifiedDpAccountant(which).compose(event).bracket(1e-6)
    assert found.lower <= claimed <= found.upper * 1.002
