"""DP-SGD as an interaction: the losses of canaries against the certified composition."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from simulator.adversaries import make
from simulator.analysis.simulate import simulate
from simulator.analysis.verification import library_adversaries
from simulator.auditing import audit_answers
from simulator.data.databases import ADD_REMOVE, Database
from simulator.data.queries import counting_query
from simulator.mechanisms import Gaussian
from simulator.theory import (
    GaussianDP,
    GaussianLaw,
    PoissonSubsampledLaw,
    SubsampledGaussianDP,
    compose_laws,
)
from simulator.training import (
    BallsInBins,
    BallsInBinsDP,
    GradientStep,
    LogisticGradient,
    RandomAllocation,
    RandomAllocationDP,
)
from simulator.training.adversaries.canaries import (
    CLIP,
    Training,
    accuracy,
    logit,
    mislabelled,
    patient,
    plain_weights,
    train_allocated,
    train_in_bins,
    train_with,
    tumours,
)
from simulator.worst import CertifiedFilter
from simulator.worst.filters.planned_lattice import PlanLattice
from tests.helpers.two_steps import missed

FAMILY, ROUNDS, TRIALS = SubsampledGaussianDP(1.0, 0.3), 10, 200
POINTS = (0.0, 0.4, 0.8, 1.5)


@cache
def played(canary):
    training = train_with(canary, FAMILY.sigma, FAMILY.rate)
    return training, simulate(
        training, FAMILY, ROUNDS, TRIALS, seed=4, jobs=1, keep_views=TRIALS, progress=False
    )


@cache
def certified(experiment):
    law = PoissonSubsampledLaw(GaussianLaw(1.0 / FAMILY.sigma), FAMILY.rate)
    composed = compose_laws([(law, ROUNDS)], 1e-4)
    return composed.reversed() if experiment else composed


def measured(result, experiment):
    """At a false alarm of 1e-6 in each call: eight of them are made of one result."""
    return [(e, result.delta(e, experiment, 1.0 - 1e-6)) for e in POINTS]


def outside(result, experiments=(0, 1)):
    """Where an interval misses the certified curve."""
    return [
        (e, b)
        for b in experiments
        for e, found in measured(result, b)
        if found.upper < certified(b).delta(e).lower or found.lower > certified(b).delta(e).upper
    ]


def clipped_norms(training, view, canary):
    weights, norms = training.start, []
    for answer in view.answers:
        gradient = LogisticGradient(weights, CLIP)(Database([canary]))
        norms.append(math.hypot(*gradient))
        weights = training.moved(weights, answer)
    return norms


def test_training_without_noise_learns():
    assert accuracy(plain_weights(60), tumours()) > 0.95
    assert accuracy((0.0,) * 31, tumours()) < 0.7


@pytest.mark.nightly
def test_training_by_epochs_loses_the_curve_of_an_allocation():
    """The canary's gradient has the largest length in every step, so it is the curve itself."""
    training = train_allocated(mislabelled(), 1.0, 2)
    family = RandomAllocationDP(1.0, 2)
    result = simulate(training, family, 1, 1000, seed=4, jobs=1, progress=False)
    assert missed(result) == []
    quiet = train_allocated(patient(0.5), 1.0, 2)
    assert len(missed(simulate(quiet, family, 1, 1000, seed=4, jobs=1, progress=False))) > 0


def test_training_by_epochs_learns_and_goes_on_from_its_last_weights():
    training = train_allocated(mislabelled(), 1.0, 10)
    result = simulate(
        training, RandomAllocationDP(1.0, 10), 3, 20, seed=1, jobs=1, keep_views=20, progress=False
    )
    models = [training.weights_after(view.answers) for view in result.views]
    assert np.mean([accuracy(weights, tumours()) for weights in models]) > 0.9
    view = result.views[3]
    used = [c.mechanism.step.query.weights for c in result.replay(view).challenges]
    assert used == [training.weights_after(view.answers[:i]) for i in range(3)]


@pytest.mark.nightly
def test_training_in_bins_with_correlated_noise_is_one_round():
    """Two steps of one epoch, with noise that cancels in part in their sum."""
    training = train_in_bins(mislabelled(), 1.0, 2, 1, coefficients=(1.0, 0.9))
    result = simulate(training, GaussianDP(2.0), 1, 1000, seed=4, jobs=1, progress=False)
    gradients = LogisticGradient(training.epoch.step.query.weights, CLIP)(Database([mislabelled()]))
    assert math.hypot(*gradients) == pytest.approx(CLIP)
    assert missed(result, means=((1.0, 0.9), (0.0, 1.0))) == []
    assert len(missed(result)) > 0


@pytest.mark.nightly
def test_private_training_learns_as_well():
    training, result = played(mislabelled())
    models = [training.weights_after(view.answers) for view in result.views[:50]]
    assert np.mean([accuracy(weights, tumours()) for weights in models]) > 0.9


@pytest.mark.sampled
@pytest.mark.parametrize("canary", [mislabelled(), patient(0.0)], ids=["mislabelled", "hardest"])
def test_the_strongest_canaries_lose_what_is_certified(canary):
    training, result = played(canary)
    for view in result.views[:20]:
        assert clipped_norms(training, view, canary) == pytest.approx([CLIP] * ROUNDS, rel=1e-12)
    assert outside(result) == []
    assert certified(1).delta(0.0).lower > 0.3  # intervals that hold the curve are not vacuous
    assert all(found.upper < 0.6 for _, found in measured(result, 1))


def test_a_usual_patient_loses_less():
    training, result = played(patient(0.5))
    assert max(max(clipped_norms(training, view, patient(0.5))) for view in result.views) <= CLIP
    found = result.delta(0.4, 1, 1.0 - 1e-6)
    assert found.upper < certified(1).delta(0.4).lower


@dataclass(frozen=True)
class QuietPair:
    """Draws with half of the noise that the losses are of."""

    drawn: object
    honest: object

    def sample(self, b, noise):
        return self.drawn.sample(b, noise)

    def loss(self, answer):
        return self.honest.loss(answer)


@dataclass(frozen=True)
class QuietStep(GradientStep):
    """Broken on purpose."""

    def pair(self, database_0, database_1, relation=ADD_REMOVE):
        quiet = GradientStep(self.query, 0.5 * self.noise_multiplier, self.rate)
        pairs = [type(self).__base__.pair(s, database_0, database_1) for s in (quiet, self)]
        return QuietPair(*pairs)


def test_half_the_noise_is_outside_the_certified_curve():
    training = train_with(mislabelled(), FAMILY.sigma, FAMILY.rate)

    def quiet(coins):
        playing = training(coins)
        challenge = next(playing)
        while True:
            step = challenge.mechanism
            quiet_step = QuietStep(step.query, step.noise_multiplier, step.rate)
            answer = yield challenge.database_0, challenge.database_1, quiet_step
            challenge = playing.send(answer)

    result = simulate(
        quiet, FAMILY, ROUNDS, TRIALS, seed=4, jobs=1, experiments=(1,), progress=False
    )
    assert len(outside(result, (1,))) > 0


def test_the_last_weights_of_a_view_are_those_that_the_adversary_would_use_next():
    training, result = played(mislabelled())
    view = result.views[3]
    used = [challenge.mechanism.query.weights for challenge in result.replay(view).challenges]
    assert used == [training.weights_after(view.answers[:i]) for i in range(ROUNDS)]


def test_the_last_weights_alone_tell_less_than_the_view():
    """Both from the same trials, at delta = 0.05; each bound fails with probability 1e-6."""
    training, result = played(mislabelled())
    scores = [
        np.array(
            [
                logit(training.weights_after(view.answers), mislabelled())
                for view in result.views
                if view.experiment == b
            ]
        )
        for b in (0, 1)
    ]
    found = audit_answers(
        *scores, claimed=FAMILY, delta=0.05, confidence=1.0 - 1e-6, bits=False, stop_early=False
    )
    assert found.epsilon < 0.5 * result.epsilon(0.05, 1, 1.0 - 1e-6).lower
    assert found.epsilon <= certified(1).epsilon(0.05).upper


def test_the_adversary_of_the_library_is_this_training():
    adversary = make("dp-sgd", SubsampledGaussianDP(2.0, 0.05), 7)
    assert adversary == train_with(mislabelled(), 2.0, 0.05)
    assert isinstance(adversary, Training)
    assert adversary.database_1.remove(mislabelled()) == adversary.database_0 == tumours()
    by_epochs = make("dp-sgd", RandomAllocationDP(2.0, 20, 3), 7)
    assert by_epochs == train_allocated(mislabelled(), 2.0, 20, 3)
    in_bins = make("dp-sgd", BallsInBinsDP(2.0, 5, 3, (1.0, 0.5)), 1)
    assert in_bins == train_in_bins(mislabelled(), 2.0, 5, 3, coefficients=(1.0, 0.5))
    real = train_with(patient(0.0), 2.0, 0.05)
    assert real.database_1 == tumours()


def test_no_noise_makes_weights_that_a_step_refuses():
    loud = train_with(mislabelled(), 1e99, 1e-6)
    result = simulate(loud, SubsampledGaussianDP(1e99, 1e-6), 5, 3, seed=0, jobs=1, progress=False)
    assert np.isfinite(result.losses(0)).all()


def played_epoch(epoch, family, trials=20_000):
    def adversary(coins):
        yield Database(["x"]), Database(["x", "alice"]), epoch

    return simulate(adversary, family, 1, trials, seed=6, jobs=1, experiments=(1,), progress=False)


@pytest.mark.nightly
def test_epochs_have_the_curves_of_brackets_and_draws():
    """Of plain prototypes of both, made apart; each interval has a false alarm of 1e-6."""
    count = Gaussian(counting_query(lambda record: True), 1.0)
    found = played_epoch(RandomAllocation(count, 100), RandomAllocationDP(1.0, 100))
    at = found.delta(0.2980, 1, 1.0 - 1e-6)
    assert at.lower <= 1e-3 <= at.upper < 3e-3
    norm = math.hypot(1.0, 0.5)
    banded = (1.0 / norm, 0.5 / norm)
    training = BallsInBins(Gaussian(count.query, 3.0), 10, 10, banded)
    found = played_epoch(training, BallsInBinsDP(3.0, 10, 10, banded))
    at = found.delta(2.0, 1, 1.0 - 1e-6)
    assert at.lower <= 1.50e-4 <= at.upper < 2e-3


def test_a_filter_ends_the_training():
    """Steps run while units are left; refused ones cost nothing and move no weight."""
    kind = "subsampled-gaussian:1.0"
    filter_ = CertifiedFilter(
        2.0,
        1e-5,
        plan=((kind, 0.02, 5),),
        moves=((kind, 0.02, ((1, 1),)), (kind, 0.05, ((2, 2),))),
        lattice=PlanLattice(0.125, -40, 16, 40),
    )
    result = simulate(
        "dp-sgd", "subsampled-gaussian:1,0.05", 4, 2, seed=1, filter=filter_, keep_views=1, jobs=1
    )
    for view in result.views:
        assert [np.ndim(answer) > 0 for answer in view.answers] == [True, True, False, False]


def test_dp_sgd_is_among_the_adversaries_that_are_checked_in_its_family():
    names = library_adversaries(SubsampledGaussianDP(1.0, 0.01), 3)
    assert "dp-sgd" in names
