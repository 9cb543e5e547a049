"""Random allocation, against scipy's densities over all sets of steps, and quadrature."""

import itertools
import math
import pickle

import numpy as np
import pytest
from scipy import stats

from simulator.adversaries.contract import Challenge
from simulator.analysis.simulate import simulate
from simulator.auditing.declared.examining import require_declared
from simulator.auditing.declared.verdict import FalseLikelihood
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.data.queries import clipped_sum, counting_query
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.mechanisms import Gaussian, Laplace
from simulator.theory import GaussianDP
from simulator.training import GradientStep, LogisticGradient, RandomAllocation, RandomAllocationDP
from tests.helpers.two_steps import missed

OTHERS = Database([(1.0, 0.3, 1.0), (1.0, -2.0, 0.0), (1.0, 0.3, 1.0), (0.2, 0.1, 0.0)])
ALICE = (3.0, 4.0, 0.0)
WITH_HER = OTHERS.add(ALICE)
STEP = GradientStep(LogisticGradient((0.1, -0.2), 1.0), 0.8, 1.0)
EPOCH = RandomAllocation(STEP, 4, 2, step_size=0.7)
EVERYONE = counting_query(lambda record: True)
COUNT = Gaussian(EVERYONE, 1.0)


def gradient(weights, record, clip=1.0):
    x = np.array(record[:-1])
    found = (1.0 / (1.0 + math.exp(-float(x @ weights))) - record[-1]) * x
    return found * min(1.0, clip / np.linalg.norm(found))


def log_density(answer, taken, epoch):
    """Of the noisy sums where the steps in ``taken`` hold her, step by step."""
    weights, total = np.array(epoch.step.query.weights), 0.0
    for i, (public, noisy) in enumerate(zip(*answer)):
        centre = public + (gradient(weights, ALICE) if i in taken else 0.0)
        total += stats.norm.logpdf(noisy, centre, epoch.step.sigma).sum()
        weights = weights - epoch.step_size * noisy
    return total


@pytest.mark.parametrize(("steps", "selected"), [(1, 1), (4, 1), (4, 2), (4, 4), (5, 3)])
def test_the_loss_is_the_ratio_of_densities_of_all_sets(steps, selected):
    epoch = RandomAllocation(STEP, steps, selected, 0.7)
    pair, turned = epoch.pair(OTHERS, WITH_HER), epoch.pair(WITH_HER, OTHERS)
    noise = np.random.default_rng(3)
    for b in (0, 1, 0, 1):
        answer = pair.sample(b, noise)
        sets = list(itertools.combinations(range(steps), selected))
        present = np.logaddexp.reduce([log_density(answer, s, epoch) for s in sets])
        expected = log_density(answer, (), epoch) - present + math.log(len(sets))
        assert pair.loss(answer) == pytest.approx(expected, rel=1e-9, abs=1e-11)
        assert turned.loss(answer) == -pair.loss(answer)


def test_a_count_is_dealt_in_the_same_way():
    epoch = RandomAllocation(Gaussian(clipped_sum(lambda x: x, -2.0, 2.0), 1.5), 3)
    pair = epoch.pair(Database([0.5, -1.0]), Database([0.5, -1.0, 2.0]))
    answer = pair.sample(1, np.random.default_rng(0))
    assert answer.shape == (2, 3, 1)
    assert answer[0].sum() == -0.5
    seen = (answer[1] - answer[0])[:, 0]
    absent = stats.norm.logpdf(seen, 0.0, 1.5).sum()
    present = [stats.norm.logpdf(seen, 2.0 * np.eye(3)[j], 1.5).sum() for j in range(3)]
    expected = absent - np.logaddexp.reduce(present) + math.log(3.0)
    assert pair.loss(answer) == pytest.approx(expected, rel=1e-12)


def test_play_of_one_of_two_steps_holds_the_quadrature():
    def adversary(epoch):
        def play(coins):
            yield Database(["x"]), Database(["x", "alice"]), epoch

        return simulate(play, GaussianDP(2.0), 1, 900, seed=5, jobs=1, progress=False)

    assert missed(adversary(RandomAllocation(COUNT, 2))) == []
    louder = RandomAllocation(Gaussian(EVERYONE, 0.6), 2)
    assert len(missed(adversary(louder))) > 0


class Unmixed(RandomAllocation):
    """Broken on purpose: it declares the loss of the likeliest step."""

    __slots__ = ()

    def log_mean_ratio(self, seen, terms):
        return float(np.einsum("id,id->i", seen - 0.5 * terms, terms).max())


@pytest.mark.nightly
def test_the_loss_of_the_likeliest_step_is_caught_and_the_mean_is_not():
    for kind, caught in ((RandomAllocation, False), (Unmixed, True)):
        challenge = Challenge(OTHERS, WITH_HER, kind(STEP, 3, 1, 0.5))
        if not caught:
            assert require_declared([challenge], ADD_REMOVE, 5, draws=2048).mechanisms == 1
            continue
        with pytest.raises(FalseLikelihood, match="Unmixed"):
            require_declared([challenge], ADD_REMOVE, 5, draws=2048)


def test_each_record_is_in_as_many_steps_as_stated_and_all_are_alike_likely():
    dealt = RandomAllocation(STEP, 5, 2).dealt(20_000, np.random.default_rng(1))
    assert (dealt.sum(axis=1) == 2).all()
    pairs = (dealt @ (1 << np.arange(5))).tolist()
    counts = [pairs.count(key) for key in set(pairs)]
    assert len(counts) == 10
    assert stats.chisquare(counts).pvalue > 1e-6
    one = RandomAllocation(STEP, 5).dealt(20_000, np.random.default_rng(1))
    assert (one.sum(axis=1) == 1).all()
    assert stats.chisquare(one.sum(axis=0)).pvalue > 1e-6


def test_weights_after_an_epoch_are_those_of_its_steps():
    answer = EPOCH.sample(WITH_HER, np.random.default_rng(0))
    expected = np.array(STEP.query.weights) - 0.7 * answer[1].sum(axis=0)
    np.testing.assert_allclose(EPOCH.weights_after(answer), expected, rtol=1e-12)


def test_what_it_promises():
    assert EPOCH.guarantee() == RandomAllocationDP(0.8, 4, 2)
    assert RandomAllocation(COUNT, 7).guarantee() == RandomAllocationDP(1.0, 7)
    assert pickle.loads(pickle.dumps(EPOCH)) == EPOCH
    assert EPOCH.pair(OTHERS, OTHERS).loss(EPOCH.sample(OTHERS, np.random.default_rng(0))) == 0.0
    for ask in (
        lambda: EPOCH.guarantee(REPLACE_ONE),
        lambda: EPOCH.pair(OTHERS, OTHERS, REPLACE_ONE),
    ):
        with pytest.raises(NotApplicable, match="replace-one"):
            ask()
    with pytest.raises(Breach, match="differ in one record"):
        EPOCH.pair(OTHERS, WITH_HER.add(ALICE))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RandomAllocation(STEP, 2, 3), "cannot take part in 3 of 2 steps"),
        (lambda: RandomAllocation(STEP, 0), "steps"),
        (lambda: RandomAllocation(STEP, 2, 0), "selected"),
        (lambda: RandomAllocation(STEP, 2, step_size=math.nan), "step_size"),
        (lambda: RandomAllocation(STEP, 2, step_size=-1.0), "at least 0"),
        (lambda: RandomAllocation(GradientStep(STEP.query, 1.0, 0.5), 2), "rate 1"),
        (lambda: RandomAllocation(Laplace(EVERYONE, 1.0), 2), "gradient steps, or"),
        (lambda: RandomAllocation(Gaussian(len, 1.0), 2), "query"),
    ],
)
def test_input(build, message):
    with pytest.raises(InvalidInput, match=message):
        build()
