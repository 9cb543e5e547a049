"""A step of DP-SGD, and its clipped gradients, against scipy and against plain loops."""

import math
import pickle
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from scipy import stats

from simulator.adversaries.contract import Challenge
from simulator.auditing.declared.examining import require_declared
from simulator.auditing.declared.verdict import FalseLikelihood
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.data.queries import exceeded
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.theory import GaussianLaw, PoissonSubsampledLaw, SubsampledGaussianDP
from simulator.training import GradientStep, LogisticGradient
from simulator.training.mechanisms.gradient_step import _log_mixture

RECORDS = [(1.0, 0.3, 1.0), (1.0, -2.0, 0.0), (1.0, 0.3, 1.0), (0.2, 0.1, 0.0)]
OTHERS = Database(RECORDS)
ALICE = (3.0, 4.0, 0.0)  # gradient of length 2.5 at zero weights, clipped to 1
SHORT = (0.6, 0.8, 1.0)  # of length 0.5
WEIGHTS = (0.4, -0.7)
STEP = GradientStep(LogisticGradient((0.0, 0.0), 1.0), 0.8, 0.3)


def by_hand(records, weights, clip):
    total = np.zeros(len(weights))
    for *x, label in records:
        residual = 1.0 / (1.0 + math.exp(-sum(a * b for a, b in zip(weights, x)))) - label
        gradient = residual * np.array(x)
        total += gradient * min(1.0, clip / np.linalg.norm(gradient))
    return total


@pytest.mark.parametrize("clip", [0.05, 0.4, 10.0])
def test_the_gradient_is_that_of_a_plain_loop(clip):
    found = LogisticGradient(WEIGHTS, clip)(OTHERS)
    np.testing.assert_allclose(found, by_hand(RECORDS, WEIGHTS, clip), rtol=1e-12)


def test_without_clipping_it_is_the_slope_of_the_loss():
    def loss(weights):
        margins = [(2.0 * r[-1] - 1.0) * np.dot(weights, r[:-1]) for r in RECORDS]
        return sum(math.log1p(math.exp(-m)) for m in margins)

    step = 1e-6
    slopes = [
        (loss(np.array(WEIGHTS) + step * e) - loss(np.array(WEIGHTS) - step * e)) / (2.0 * step)
        for e in np.eye(2)
    ]
    np.testing.assert_allclose(LogisticGradient(WEIGHTS, 100.0)(OTHERS), slopes, rtol=1e-7)


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE], ids=str)
def test_neighbours_keep_the_sensitivity_and_attain_it(relation):
    query = LogisticGradient((0.0, 0.0), 1.0)
    first = OTHERS.add(ALICE) if relation is REPLACE_ONE else OTHERS
    second = OTHERS.add((3.0, 4.0, 1.0))  # the other label: the opposite gradient
    assert exceeded(query, query(first), query(second), relation) is None
    moved = np.linalg.norm(query(first) - query(second))
    assert moved == pytest.approx(query.l2_sensitivity(relation), rel=1e-12)
    tighter = LogisticGradient((0.0, 0.0), 0.9)
    assert exceeded(tighter, query(first), query(second), relation) is not None


def densities(alice, answer, step=STEP):
    """Scipy's densities of the noisy sum without and with her, given the others' sum."""
    public, noisy = answer
    noise = (step.noise_multiplier * step.query.clip) ** 2 * np.eye(2)
    absent = stats.multivariate_normal.pdf(noisy, public, noise)
    shift = by_hand([alice], step.query.weights, step.query.clip)
    present = stats.multivariate_normal.pdf(noisy, public + shift, noise)
    return absent, step.rate * present + (1.0 - step.rate) * absent


@pytest.mark.parametrize("alice", [ALICE, SHORT])
def test_the_loss_is_the_ratio_of_densities(alice):
    pair = STEP.pair(OTHERS, OTHERS.add(alice))
    turned = STEP.pair(OTHERS.add(alice), OTHERS)
    noise = np.random.default_rng(3)
    for b in (0, 1):
        for _ in range(20):
            answer = pair.sample(b, noise)
            without, with_her = densities(alice, answer)
            expected = math.log(without / with_her)
            assert pair.loss(answer) == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert turned.loss(answer) == -pair.loss(answer)


def test_the_loss_keeps_its_digits_at_a_small_rate_and_far_out():
    rare = GradientStep(STEP.query, 0.8, 1e-12).pair(OTHERS, OTHERS.add(ALICE))
    public, towards = np.zeros(2), np.array([0.6, 0.8])
    near = rare.loss(np.stack([public, towards]))
    assert near == pytest.approx(-1e-12 * math.expm1(0.5 / 0.64), rel=1e-11)
    far = np.stack([public, towards * 1000.0])
    m = (1000.0 - 0.5) / 0.64
    assert rare.loss(far) == pytest.approx(-(m + math.log(1e-12)), rel=1e-14)
    always = GradientStep(STEP.query, 0.8, 1.0).pair(OTHERS, OTHERS.add(ALICE))
    assert always.loss(far) == pytest.approx(-m, rel=1e-14)
    assert GradientStep(STEP.query, 0.8, 0.0).pair(OTHERS, OTHERS.add(ALICE)).loss(far) == 0.0
    assert STEP.pair(OTHERS, OTHERS).loss(far) == 0.0


@pytest.mark.parametrize(("alice", "mu"), [(ALICE, 1.0 / 0.8), (SHORT, 0.5 / 0.8)])
def test_losses_follow_the_law(alice, mu):
    """Binomial tests at five losses in both experiments: a false alarm of 1e-6 in all."""
    more = OTHERS.add(alice)
    law = PoissonSubsampledLaw(GaussianLaw(mu), 0.3)
    assert STEP.law(OTHERS, more).delta(0.1) == pytest.approx(law.delta(0.1), rel=1e-12)
    noise = np.random.default_rng(11)
    for first, second, expected in ((OTHERS, more, law), (more, OTHERS, law.reversed())):
        pair = STEP.pair(first, second)
        losses = np.array([pair.loss(pair.sample(0, noise)) for _ in range(2500)])
        for threshold in (-0.6, -0.2, 0.0, 0.1, 0.25):
            share = float(expected.sf(threshold))
            above = int((losses > threshold).sum())
            assert stats.binomtest(above, len(losses), share).pvalue > 2.5e-8


def test_the_sample_of_the_others_is_alike_in_both_experiments():
    pair = STEP.pair(OTHERS, OTHERS.add(ALICE))
    draws = [
        [tuple(pair.sample(b, np.random.default_rng(s))[0]) for s in range(50)] for b in (0, 1)
    ]
    assert draws[0] == draws[1]
    assert len(set(draws[0])) > 5


@dataclass(frozen=True)
class HalfTheNoise(GradientStep):
    """Broken on purpose: it draws with half of the noise that it declares."""

    def pair(self, database_0, database_1, relation=ADD_REMOVE):
        honest = super().pair(database_0, database_1, relation)
        quiet = GradientStep(self.query, 0.5 * self.noise_multiplier, self.rate)
        drawn = quiet.pair(database_0, database_1, relation)
        return type("Mixed", (), {"sample": staticmethod(drawn.sample), "loss": honest.loss})()


def test_half_the_noise_is_caught_and_the_whole_is_not():
    for kind, caught in ((GradientStep, False), (HalfTheNoise, True)):
        mechanism = kind(STEP.query, 0.8, 0.3)
        challenge = Challenge(OTHERS, OTHERS.add(ALICE), mechanism)
        if not caught:
            assert require_declared([challenge], ADD_REMOVE, 5, draws=2048).mechanisms == 1
            continue
        with pytest.raises(FalseLikelihood, match="HalfTheNoise"):
            require_declared([challenge], ADD_REMOVE, 5, draws=2048)


def test_its_promise_is_that_of_the_family_under_add_remove_alone():
    assert STEP.guarantee() == SubsampledGaussianDP(0.8, 0.3)
    for ask in (
        lambda: STEP.guarantee(REPLACE_ONE),
        lambda: STEP.pair(OTHERS, OTHERS, REPLACE_ONE),
        lambda: STEP.law(OTHERS, OTHERS, REPLACE_ONE),
    ):
        with pytest.raises(NotApplicable, match="replace-one"):
            ask()


def test_answers_and_pickles():
    answer = STEP.sample(OTHERS, np.random.default_rng(0))
    assert answer.shape == (2, 2)
    assert pickle.loads(pickle.dumps(STEP)) == STEP
    assert hash(STEP) == hash(GradientStep(LogisticGradient((0, 0), 1.0), 0.8, 0.3))
    again = STEP.sample(OTHERS, np.random.default_rng(0))
    assert (answer == again).all()
    assert LogisticGradient((0.0, 0.0), 1.0)(Database()).tolist() == [0.0, 0.0]
    empty = STEP.pair(Database(), Database([ALICE]))
    assert empty.sample(1, np.random.default_rng(0)).shape == (2, 2)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: LogisticGradient((), 1.0), "weights"),
        (lambda: LogisticGradient((math.nan,), 1.0), "weights"),
        (lambda: LogisticGradient((1.0,), 0.0), "clip"),
        (lambda: LogisticGradient((1.0,), 1.0)(OTHERS), "1 weights need records"),
        (lambda: LogisticGradient((1.0,), 1.0)(Database(["alice"])), "tuples of finite numbers"),
        (lambda: LogisticGradient((1.0,), 1.0)(Database([(1.0, 0.0), (1.0,)])), "of one length"),
        (lambda: LogisticGradient((1.0,), 1.0)(Database([(math.inf, 0.0)])), "finite"),
        (lambda: LogisticGradient((1.0,), 1.0)(Database([(1.0, 2.0)])), "is 0 or 1"),
        (lambda: GradientStep("count", 1.0, 0.1), "clipped gradient"),
        (lambda: GradientStep(STEP.query, 0.0, 0.1), "noise_multiplier"),
        (lambda: GradientStep(STEP.query, 1.0, 1.1), "rate"),
    ],
)
def test_input(build, message):
    with pytest.raises(InvalidInput, match=message):
        build()


def test_databases_two_records_apart_are_refused():
    with pytest.raises(Breach, match="differ in one record"):
        STEP.pair(OTHERS, OTHERS.add(ALICE).add(SHORT))


@pytest.mark.parametrize("rate", [1e-310, 1e-30, 1e-3, 0.5, 1 - 1e-12])
@pytest.mark.parametrize("m", [-40.0, -1.0, 1e-9, 29.9, 30.0, 40.0, 700.0])
def test_the_mixed_loss_of_extreme_rates(m, rate):
    with mpmath.workdps(400):
        exact = mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(m))
    assert _log_mixture(m, rate) == pytest.approx(float(exact), rel=1e-11, abs=0.0)
