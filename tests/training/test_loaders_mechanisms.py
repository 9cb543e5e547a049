"""Steps as data loaders make them: losses against densities by plain loops, and broken variants."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from simulator.adversaries.contract import Challenge
from simulator.auditing.declared.examining import require_declared
from simulator.auditing.declared.verdict import FalseLikelihood
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database, Group
from simulator.data.queries import clipped_sum
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.mechanisms import Gaussian
from simulator.theory import GaussianDP, SubsampledGaussianDP
from simulator.training import DividedStep, DrawnByWeight, ShuffledBatches


def value(record):
    return record[1]


def batch(record):
    return record[0]


STEP = Gaussian(clipped_sum(value, -1.0, 1.0), 0.8)
OTHERS = [(i, -1.0) for i in range(5)]
ABSENT, PRESENT = Database([*OTHERS, ("a", 0.0)]), Database([*OTHERS, ("a", 1.0)])


def ratio_over_orders(answer, sigma):
    """Over all orders of the six records, in batches of two, with two passes."""
    densities = []
    for database in (ABSENT, PRESENT):
        values = [r[1] for r in database]
        total = 0.0
        for order in permutations(values):
            sums = np.array(order).reshape(3, 2).sum(axis=1)
            total += math.exp(stats.norm.logpdf(answer, sums, sigma).sum())
        densities.append(total)
    return math.log(densities[0] / densities[1])


def test_the_loss_of_a_shuffle_is_the_ratio_over_all_orders():
    pair = ShuffledBatches(STEP, 3, 2).pair(ABSENT, PRESENT, REPLACE_ONE)
    noise = np.random.default_rng(0)
    for b in (0, 1):
        answer = pair.sample(b, noise)
        assert answer.shape == (2, 3)
        assert pair.loss(answer) == pytest.approx(ratio_over_orders(answer, 0.8), rel=1e-9)


def test_batches_formed_first_are_shuffled_whole():
    """Her batch-mates have another gradient than the other batches, so they say where she is."""
    mates = [(0, 1.0), (1, -1.0), (1, -1.0), (2, -1.0), (2, -1.0)]
    first, second = Database([*mates, (0, 0.0)]), Database([*mates, (0, 1.0)])
    pair = ShuffledBatches(STEP, 3, 1, batch).pair(first, second, REPLACE_ONE)
    noise = np.random.default_rng(0)
    for b in (0, 1):
        answer = pair.sample(b, noise)
        likely = [
            sum(
                math.exp(stats.norm.logpdf(answer[0], order, 0.8).sum())
                for order in permutations(sums)
            )
            for sums in ((1.0, -2.0, -2.0), (2.0, -2.0, -2.0))
        ]
        assert pair.loss(answer) == pytest.approx(math.log(likely[0] / likely[1]), rel=1e-9)


def test_a_shuffle_has_as_many_means_as_places():
    pair = ShuffledBatches(Gaussian(STEP.query, 1e-3), 3).pair(ABSENT, PRESENT, REPLACE_ONE)
    noise = np.random.default_rng(4)
    seen = [tuple(np.round(pair.sample(1, noise)[0])) for _ in range(600)]
    counts = [seen.count(place) for place in {*seen}]
    assert {*seen} == {(0.0, -2.0, -2.0), (-2.0, 0.0, -2.0), (-2.0, -2.0, 0.0)}
    assert stats.chisquare(counts).pvalue > 1e-6


def density(whole, first_mean, sigma):
    mean = np.append(first_mean, np.zeros(len(whole) - 1))
    return math.exp(stats.norm.logpdf(whole, mean, sigma).sum())


@pytest.mark.parametrize("divisor", ["public", "floor", "sample"])
def test_the_loss_of_a_divided_step_is_the_ratio_of_densities(divisor):
    """Seven coordinates in full, of which the answer keeps the first and the sum of squares."""
    without = Database([("x", 1.0)] * 9)
    with_her = without.add(("a", 0.5))
    kind = DividedStep(STEP, 0.2, 7, divisor)
    pair, turned = kind.pair(without, with_her), kind.pair(with_her, without)
    noise = np.random.default_rng(1)
    for b in (0, 1, 0, 1):
        answer = pair.sample(b, noise)
        m, public, first, squares = answer
        rest = noise.standard_normal(6)
        whole = np.array([first, *(rest * math.sqrt(squares / (rest @ rest)))])
        sizes = {
            "public": (1.8, 1.8, 1.8),
            "floor": (1.0, 2.0, 2.0),  # 0.2 * 9 and 0.2 * 10, rounded down
            "sample": (max(m, 1.0), max(m, 1.0), m + 1.0),
        }[divisor]
        zero, out, held = (
            density(whole, total / size, 0.8 / size)
            for size, total in zip(sizes, (public, public, public + 0.5))
        )
        expected = math.log(zero / (0.8 * out + 0.2 * held))
        assert pair.loss(answer) == pytest.approx(expected, rel=1e-9, abs=1e-11)
        assert turned.loss(answer) == -pair.loss(answer)
    assert kind.guarantee() == SubsampledGaussianDP(0.8, 0.2)


def test_the_loss_of_a_weighted_sample_is_the_ratio_of_densities():
    weight = {"x": 1.0, "a": 6.0}
    first = Database([("x", 0.0)] * 4 + [("a", 0.0)])
    second = first.remove(("a", 0.0)).add(("a", 1.0))
    kind = DrawnByWeight(STEP, 3, lambda record: weight[record[0]], 5)
    pair = kind.pair(first, second, REPLACE_ONE)
    assert pair.share == pytest.approx(0.6)
    noise = np.random.default_rng(1)
    for b in (0, 1):
        answer = pair.sample(b, noise)
        one = sum(stats.binom.pmf(k, 3, 0.6) * stats.norm.pdf(answer, k, 0.8) for k in range(4))
        expected = math.log(stats.norm.pdf(answer, 0.0, 0.8) / one)
        assert pair.loss(answer) == pytest.approx(expected, rel=1e-9)
    assert kind.guarantee(REPLACE_ONE) == SubsampledGaussianDP(0.8, 0.6)


def test_what_a_shuffle_promises():
    assert ShuffledBatches(STEP, 3).guarantee(REPLACE_ONE) == GaussianDP(2.0 / 0.8)
    assert ShuffledBatches(STEP, 3, 4).guarantee(REPLACE_ONE) == GaussianDP(4.0 / 0.8)
    with pytest.raises(NotApplicable, match="replace-one"):
        ShuffledBatches(STEP, 3).guarantee(ADD_REMOVE)


@pytest.mark.parametrize(
    ("play", "error", "message"),
    [
        (lambda: ShuffledBatches(STEP, 4).pair(ABSENT, PRESENT), Breach, "4 batches of equal"),
        (
            lambda: ShuffledBatches(STEP, 3).pair(ABSENT, Database([(i, 0.5) for i in range(6)])),
            Breach,
            "differ in 6 records",
        ),
        (
            lambda: ShuffledBatches(STEP, 1).pair(
                Database([(0, 0.1), (1, 0.2), (2, 0.3)]), Database([(0, 0.1), (1, 0.2), (2, 0.4)])
            ),
            NotApplicable,
            "other records, in their values, are equal",
        ),
        (lambda: ShuffledBatches(STEP, 3, 1, batch).pair(ABSENT, PRESENT), Breach, "cannot hold"),
        (lambda: ShuffledBatches("sum", 3), InvalidInput, "clipped sum"),
        (lambda: ShuffledBatches(STEP, 0), InvalidInput, "batches"),
        (lambda: DividedStep(STEP, 0.1, 1), InvalidInput, "coordinates"),
        (lambda: DividedStep(STEP, 0.1, 2, "batch"), InvalidInput, "one of public"),
        (lambda: DividedStep(STEP, 1.1, 2), InvalidInput, "rate"),
        (lambda: DrawnByWeight(STEP, 7, batch, 6), InvalidInput, "7 draws"),
        (
            lambda: DrawnByWeight(STEP, 2, lambda r: 1.0, 6).pair(ABSENT, PRESENT),
            NotApplicable,
            "have value 0",
        ),
        (
            lambda: DrawnByWeight(STEP, 2, lambda r: 1.0, 6).pair(ABSENT, ABSENT),
            Breach,
            "one of which",
        ),
    ],
)
def test_input(play, error, message):
    with pytest.raises(error, match=message):
        play()


class OfThePublicSize(DividedStep):
    """Broken on purpose: it draws with the size of the sample, and declares a public one."""

    __slots__ = ()

    def pair(self, database_0, database_1, relation=ADD_REMOVE):
        drawn = DividedStep.pair(self, database_0, database_1, relation)
        public = DividedStep(self.step, self.rate, self.coordinates, "public")
        declared = public.pair(database_0, database_1, relation)
        return type("Mixed", (), {"sample": staticmethod(drawn.sample), "loss": declared.loss})()


def test_draws_follow_the_declared_likelihoods():
    without = Database([("x", 1.0)] * 9)
    heavy = Database([("x", 0.0)] * 4 + [("a", 0.0)])
    drawn = DrawnByWeight(STEP, 3, lambda record: 6.0 if record[0] == "a" else 1.0, 5)
    cases = [
        (ABSENT, PRESENT, ShuffledBatches(STEP, 3, 2), REPLACE_ONE),
        (heavy, heavy.remove(("a", 0.0)).add(("a", 1.0)), drawn, REPLACE_ONE),
        (without, without.add(("a", 0.5)), DividedStep(STEP, 0.5, 40, "sample"), ADD_REMOVE),
    ]
    for *challenge, relation in cases:
        assert require_declared([Challenge(*challenge)], relation, 5, draws=2048).mechanisms == 1
    broken = Challenge(*cases[2][:2], OfThePublicSize(STEP, 0.5, 40, "sample"))
    with pytest.raises(FalseLikelihood, match="OfThePublicSize"):
        require_declared([broken], ADD_REMOVE, 5, draws=2048)


def test_shuffled_batches_have_no_meaning_for_a_group():
    others = Database({"others": 2})
    batches = ShuffledBatches(Gaussian(clipped_sum(None, 0.0, 1.0), 1.0), 2)
    with pytest.raises(NotApplicable, match="batches of equal size"):
        batches.pair(others, others.add("hers", 2), Group(ADD_REMOVE, 2))
