"""Mechanisms on random samples, and noise of shared shapes, against densities by scipy."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from simulator import simulate
from simulator.adversaries import Challenge, Rule
from simulator.adversaries.library.fixed_worst_case import fixed_worst_case
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.data.queries import (
    clipped_mean,
    clipped_sum,
    counting_query,
    counting_scores,
    function_query,
)
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.mechanisms import (
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
    SampledWithoutReplacement,
    Staircase,
    TruncatedNoise,
)
from simulator.theory import (
    ApproxDP,
    DiscreteGaussianDP,
    DominatedDP,
    PoissonSubsampledLaw,
    PureDP,
    SubsampledGaussianDP,
    compose_laws,
)

ALICE = counting_query("alice")
EVERYBODY = counting_query(lambda record: True, "everybody")
NOBODY, ONE = Database(), Database(["alice"])
BOBS, BOBS_AND_ALICE = Database({"bob": 2}), Database({"bob": 2, "alice": 1})
REPLACED = Database({"bob": 3}), Database({"bob": 2, "alice": 1})
ONE_AT_MOST = function_query(lambda d: min(d.size, 2), sensitivity=1.0, name="at most two")


def around(noise, values):
    """Density of noise around random values, given as {value: probability}."""
    return lambda y: sum(p * noise(y - u) for u, p in values.items())


def binomial(n, rate):
    return {float(k): float(stats.binom.pmf(k, n, rate)) for k in range(n + 1)}


def discrete_normal(sigma):
    x = np.arange(-200, 201)
    total = np.exp(-((x / sigma) ** 2) / 2).sum()
    return lambda z: np.exp(-((z / sigma) ** 2) / 2) / total


def stairs(epsilon, share):
    def density(z):
        stair = np.floor(np.abs(z))
        return np.exp(-epsilon * (stair + (np.abs(z) - stair >= share)))

    total = 2 * sum(
        math.exp(-epsilon * k) * (share + (1 - share) * math.exp(-epsilon)) for k in range(400)
    )
    return lambda z: density(z) / total


def cut(density, reach, total):
    return lambda z: density(z) * (np.abs(z) <= reach) / total


LAPLACE = stats.laplace(scale=1 / 0.7).pdf
GEOMETRIC = stats.dlaplace(0.7).pmf
NORMAL = stats.norm(scale=0.8).pdf

CASES = {
    "gaussian-of-one": (
        PoissonSubsampled(Gaussian(ALICE, 0.8), 0.3), NOBODY, ONE,
        around(NORMAL, {0.0: 1.0}), around(NORMAL, binomial(1, 0.3)), None,
    ),
    "laplace-among-others": (
        PoissonSubsampled(Laplace(EVERYBODY, 0.7), 0.2), BOBS, BOBS_AND_ALICE,
        around(LAPLACE, binomial(2, 0.2)), around(LAPLACE, binomial(3, 0.2)), None,
    ),
    "geometric-among-others": (
        PoissonSubsampled(Geometric(EVERYBODY, 0.7), 0.2), BOBS, BOBS_AND_ALICE,
        around(GEOMETRIC, binomial(2, 0.2)), around(GEOMETRIC, binomial(3, 0.2)), 1,
    ),
    "any-query": (
        PoissonSubsampled(Gaussian(ONE_AT_MOST, 0.8), 0.5), BOBS, BOBS_AND_ALICE,
        around(NORMAL, binomial(2, 0.5)), around(NORMAL, {0.0: 0.125, 1.0: 0.375, 2.0: 0.5}), None,
    ),
    "without-replacement": (
        SampledWithoutReplacement(Gaussian(ALICE, 0.8), 1, 3), *REPLACED,
        around(NORMAL, {0.0: 1.0}), around(NORMAL, {0.0: 2 / 3, 1.0: 1 / 3}), None,
    ),
    "discrete-gaussian": (
        DiscreteGaussian(ALICE, 1.5), NOBODY, ONE,
        around(discrete_normal(1.5), {0.0: 1.0}), around(discrete_normal(1.5), {1.0: 1.0}), 1,
    ),
    "sampled-discrete-gaussian": (
        PoissonSubsampled(DiscreteGaussian(ALICE, 1.5), 0.4), NOBODY, ONE,
        around(discrete_normal(1.5), {0.0: 1.0}),
        around(discrete_normal(1.5), binomial(1, 0.4)), 1,
    ),
    "staircase": (
        Staircase(ALICE, 0.9, 0.3), NOBODY, ONE,
        around(stairs(0.9, 0.3), {0.0: 1.0}), around(stairs(0.9, 0.3), {1.0: 1.0}), 0.1,
    ),
    "truncated-gaussian": (
        TruncatedNoise(ALICE, "gaussian", 0.8, 2.0), NOBODY, ONE,
        around(cut(NORMAL, 2, 1 - 2 * stats.norm.sf(2.5)), {0.0: 1.0}),
        around(cut(NORMAL, 2, 1 - 2 * stats.norm.sf(2.5)), {1.0: 1.0}), None,
    ),
    "truncated-laplace": (
        TruncatedNoise(ALICE, "laplace", 1 / 0.7, 2.0), NOBODY, ONE,
        around(cut(LAPLACE, 2, -math.expm1(-1.4)), {0.0: 1.0}),
        around(cut(LAPLACE, 2, -math.expm1(-1.4)), {1.0: 1.0}), None,
    ),
}  # fmt: skip


def relation_of(mechanism):
    return {"relation": mechanism.relation} if hasattr(mechanism, "relation") else {}


def pair_of(name):
    mechanism, first, second, *_ = CASES[name]
    return mechanism.pair(first, second, **relation_of(mechanism))


@pytest.mark.parametrize("name", CASES)
def test_losses_are_the_ratios_of_the_densities(name):
    *_, p0, p1, whole = CASES[name]
    pair = pair_of(name)
    answers = np.arange(-6.0, 8.0) if whole == 1 else np.linspace(-4.03, 5.07, 91)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.log(p0(answers)) - np.log(p1(answers))
    possible = (p0(answers) > 0) | (p1(answers) > 0)
    found = np.array([pair.loss(float(y)) for y in answers])
    assert found[possible] == pytest.approx(exact[possible], rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_answers_have_the_density(name, b):
    """A chi-square test, p > 1e-7: a false alarm once in half a million runs of all of them."""
    *_, p0, p1, whole = CASES[name]
    pair, density, noise = pair_of(name), (p0, p1)[b], np.random.default_rng(5)
    draws = np.array([pair.sample(b, noise) for _ in range(8000)])
    if whole == 1:
        cells = np.arange(-4.5, 6.5)
        masses = np.array([float(density((a + c) / 2)) for a, c in pairwise(cells)])
        assert (draws == np.round(draws)).all()
    else:
        cells = np.linspace(-2.5, 3.5, 31)
        fine = np.array([np.linspace(a, c, 401)[:-1] + (c - a) / 800 for a, c in pairwise(cells)])
        masses = np.array([density(y).mean() for y in fine]) * (cells[1] - cells[0])
    counts, _ = np.histogram(draws, cells)
    counts = np.append(counts, len(draws) - counts.sum())
    masses = np.append(masses, 1 - masses.sum())
    kept = masses * len(draws) > 5
    observed = np.append(counts[kept], counts[~kept].sum())
    expected = np.append(masses[kept], masses[~kept].sum()) * len(draws)
    full = expected > 1e-3
    statistic = float(((observed[full] - expected[full]) ** 2 / expected[full]).sum())
    assert stats.chi2.sf(statistic, full.sum() - 1) > 1e-7


@pytest.mark.parametrize(
    "name",
    ["gaussian-of-one", "without-replacement", "discrete-gaussian", "sampled-discrete-gaussian",
     "staircase", "truncated-gaussian", "truncated-laplace"],
)  # fmt: skip
def test_the_law_is_that_of_the_losses(name):
    """Binomial tests at four losses, p > 1e-7 each."""
    mechanism, first, second, *_ = CASES[name]
    law = mechanism.law(first, second, **relation_of(mechanism))
    pair, noise = pair_of(name), np.random.default_rng(6)
    losses = np.array([pair.loss(pair.sample(0, noise)) for _ in range(20_000)])
    low, high = max(law.support[0], -3), min(law.support[1], 3)
    for threshold in np.linspace(low, high, 6)[1:-1]:
        share = law.sf(float(threshold))
        above = int((losses > threshold + 1e-9).sum())
        assert stats.binomtest(above, len(losses), share).pvalue > 1e-7


def in_turn(state, round_, answer, coins):
    return state, round_


def menu(*challenges):
    return Rule(in_turn, challenges, name="in turn")


@pytest.mark.nightly
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE])
def test_a_rule_plays_compiled_and_repeats_uncompiled(relation, recwarn):
    """One round of each; a run whose first trials differ uncompiled would warn."""
    listed = [
        Challenge(first, second, mechanism)
        for mechanism, first, second, *_ in CASES.values()
        if getattr(mechanism, "relation", ADD_REMOVE) == relation
    ]
    played = simulate(
        menu(*listed), ApproxDP(50.0, 0.9), len(listed), 400, seed=4, jobs=1, relation=relation
    )
    assert not list(recwarn)
    assert np.isfinite(played.losses(0)).any()


def test_a_finite_mechanism_on_a_sample_is_the_mean_of_its_tables():
    response = RandomizedResponse(ALICE, 1.0)
    sampled = PoissonSubsampled(response, 0.25)
    law = sampled.law(NOBODY, ONE)
    theory = PoissonSubsampledLaw(response.law(NOBODY, ONE), 0.25).simplest
    assert law.losses == pytest.approx(theory.losses, rel=1e-12)
    assert law.log_masses == pytest.approx(theory.log_masses, rel=1e-12)
    selection = PoissonSubsampled(Exponential(counting_scores(["alice", "bob"]), 0.5), 0.5)
    first, second = selection.law(BOBS, BOBS_AND_ALICE), selection.law(BOBS_AND_ALICE, BOBS)
    assert first.delta(0.05) > 0.0
    assert first.reversed().delta(0.05) == pytest.approx(second.delta(0.05), rel=1e-12)


def test_promises_are_those_of_the_sampled_family():
    assert PoissonSubsampled(Gaussian(ALICE, 2.0), 0.1).guarantee() == SubsampledGaussianDP(
        2.0, 0.1
    )
    laplace = PoissonSubsampled(Laplace(ALICE, 1.0), 0.1).guarantee()
    assert laplace == PureDP(math.log1p(0.1 * math.expm1(1.0)))
    discrete = PoissonSubsampled(DiscreteGaussian(ALICE, 2.0), 0.1).guarantee()
    assert isinstance(discrete, DominatedDP)
    assert discrete.pure_epsilon == math.inf  # rare as its largest losses are
    assert DiscreteGaussian(ALICE, 2.0).guarantee() == DiscreteGaussianDP(2.0, 1.0)
    truncated = TruncatedNoise(ALICE, "gaussian", 0.5, 2.0).guarantee()
    assert isinstance(truncated, ApproxDP)


@pytest.mark.nightly
def test_a_play_stays_below_the_certified_curve():
    """Of a thousand rounds of the sampled Gaussian; the interval misses with 1e-4 at most."""
    mechanism = PoissonSubsampled(Gaussian(ALICE, 1.0), 0.05)
    family = mechanism.guarantee()
    adversary = fixed_worst_case(family, 200)
    assert isinstance(adversary.menu[0].mechanism, PoissonSubsampled)
    result = simulate(adversary, family, 200, 20_000, seed=1, jobs=1)
    law = mechanism.law(NOBODY, ONE)
    for b, direction in ((0, law), (1, law.reversed())):
        truth = compose_laws([(direction, 200)], 1e-6).delta(0.5)
        found = result.delta(0.5, b, confidence=1 - 1e-4)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper


def test_sums_of_samples_are_added_up_however_many_records():
    crowd = Database({"bob": 300, "carol": 90})
    sampled = PoissonSubsampled(Gaussian(EVERYBODY, 5.0), 0.1)
    pair = sampled.pair(crowd, crowd.add("alice"))
    values = binomial(390, 0.1), binomial(391, 0.1)
    p0, p1 = (around(stats.norm(scale=5.0).pdf, one) for one in values)
    for y in (20.0, 39.5, 70.0):
        assert pair.loss(y) == pytest.approx(math.log(p0(y) / p1(y)), rel=1e-8)
    ages = Database({1: 3, 2: 2})
    summed = PoissonSubsampled(Laplace(clipped_sum(lambda age: age, 0, 2), 1.0), 0.5)
    noise = np.random.default_rng(1)
    assert math.isfinite(summed.pair(ages, ages.add(2)).sample(1, noise))


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: PoissonSubsampled(Gaussian(ALICE, 1.0), 1.5), InvalidInput, r"in \[0, 1\]"),
        (lambda: PoissonSubsampled("gaussian", 0.5), InvalidInput, "one number as its answer"),
        (
            lambda: PoissonSubsampled(PoissonSubsampled(Gaussian(ALICE, 1.0), 0.5), 0.5),
            InvalidInput, "one number as its answer",
        ),
        (
            lambda: PoissonSubsampled(Gaussian(ALICE, 1.0), 0.5).guarantee(REPLACE_ONE),
            NotApplicable, "hides a record under add/remove-one",
        ),
        (
            lambda: SampledWithoutReplacement(Gaussian(ALICE, 1.0), 1, 3).guarantee(),
            NotApplicable, "hides a record under replace-one",
        ),
        (
            lambda: SampledWithoutReplacement(Gaussian(ALICE, 1.0), 1, 3).pair(
                BOBS, BOBS_AND_ALICE, REPLACE_ONE
            ),
            Breach, "not neighbours|made for 3 records|sensitivity",
        ),
        (
            lambda: SampledWithoutReplacement(Gaussian(ALICE, 1.0), 4, 3),
            InvalidInput, "a sample of 4",
        ),
        (
            lambda: PoissonSubsampled(Gaussian(ONE_AT_MOST, 1.0), 0.5).pair(
                Database(range(20)), Database(range(21))
            ),
            InvalidInput, "different samples",
        ),
        (lambda: DiscreteGaussian(ALICE, 0.0), InvalidInput, "sigma must be"),
        (lambda: Staircase(ALICE, 1.0, 2.0), InvalidInput, "share"),
        (lambda: TruncatedNoise(ALICE, "cauchy", 1.0, 2.0), InvalidInput, "gaussian"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_line(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


LIE = function_query(
    lambda d: 15.0 if d.size == 1 and d.count_of("alice") else 0.0, sensitivity=1.0, name="lie"
)
HALVES = clipped_sum(lambda value: value, 0.0, 1.0)


def test_a_query_that_lies_on_samples_alone_is_a_breach():
    sampled = PoissonSubsampled(Gaussian(LIE, 1.0), 0.5)
    with pytest.raises(Breach, match="on samples of the two databases lie states"):
        sampled.pair(Database(["x"]), Database(["x", "alice"]))
    fixed = SampledWithoutReplacement(Gaussian(LIE, 1.0), 1, 2)
    with pytest.raises(Breach, match="on samples of the two databases lie states"):
        fixed.pair(Database(["x", "y"]), Database(["x", "alice"]), REPLACE_ONE)


def test_noise_on_the_integers_needs_whole_values_on_samples_too():
    sampled = PoissonSubsampled(Geometric(HALVES, 1.0), 0.5)
    with pytest.raises(InvalidInput, match=r"on a sample this is 0\.5"):
        sampled.pair(Database({0.5: 2}), Database({0.5: 2, 1.0: 1}))


@pytest.mark.nightly
def test_losses_of_far_apart_values_are_finite():
    for mechanism, loss in (
        (DiscreteGaussian(ALICE, 0.02), 1250.0),
        (TruncatedNoise(ALICE, "gaussian", 0.02, 3.0), 1250.0),
    ):
        assert mechanism.pair(NOBODY, ONE).loss(0.0) == pytest.approx(loss, rel=1e-12)
    assert Staircase(ALICE, 750.0, 0.3).pair(NOBODY, ONE).loss(-0.1) == pytest.approx(750.0)
    sampled = PoissonSubsampled(Gaussian(ALICE, 0.01), 0.5)
    assert sampled.pair(NOBODY, ONE).loss(1.0) == pytest.approx(-5000 - math.log(0.5), rel=1e-12)
    assert sampled.pair(NOBODY, ONE).loss(0.0) == pytest.approx(-math.log(0.5), rel=1e-12)
    result = simulate(
        fixed_worst_case(sampled.guarantee(), 3), sampled.guarantee(), 3, 50, seed=1, jobs=1
    )
    assert np.isfinite(result.losses(1)).all()


def test_a_crowd_is_sampled_at_once_and_a_narrow_truncation_too():
    noise, everybody = np.random.default_rng(2), Laplace(EVERYBODY, 1.0)
    assert abs(PoissonSubsampled(everybody, 1e-9).sample(Database({"x": 10**9}), noise)) < 100
    half = PoissonSubsampled(everybody, 0.5).sample(Database({"x": 10**5}), noise)
    assert abs(half - 5e4) < 2e3
    assert abs(TruncatedNoise(ALICE, "gaussian", 1e9, 1.0).sample(ONE, noise) - 1) <= 1
    assert math.isfinite(Staircase(ALICE, 800.0, 0.0).sample(ONE, noise))


def test_at_the_ends_of_the_rate_the_law_and_the_promise_are_the_plain_ones():
    whole = PoissonSubsampled(Gaussian(ALICE, 2.0), 1.0)
    assert whole.law(NOBODY, ONE) == Gaussian(ALICE, 2.0).law(NOBODY, ONE)
    assert PoissonSubsampled(Laplace(ALICE, 1.0), 0.0).guarantee() == PureDP(0.0)


def test_a_mean_over_the_sample_is_one_of_at_least_its_size():
    first, second = Database([0.0, 0.5, 1.0, 1.0]), Database([1.0, 0.5, 1.0, 1.0])
    mean = SampledWithoutReplacement(Laplace(clipped_mean(float, 0, 1, at_least=2), 0.7), 2, 4)
    assert mean.query.sensitivity(REPLACE_ONE) == 0.5
    mean.pair(first, second, REPLACE_ONE)
    of_all = SampledWithoutReplacement(Laplace(clipped_mean(float, 0, 1, size=2), 0.7), 2, 4)
    with pytest.raises(InvalidInput, match="at_least=m"):
        of_all.pair(first, second, REPLACE_ONE)
