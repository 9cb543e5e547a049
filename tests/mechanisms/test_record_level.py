"""Noise for one record, against groups of records."""

from itertools import pairwise

import pytest

from simulator import simulate
from simulator.data import (
    ADD_REMOVE,
    Database,
    Group,
    counting_query,
    histogram_query,
)
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.mechanisms import (
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    RandomizedResponse,
    RecordLevel,
)
from simulator.theory import GaussianDP, PureDP
from simulator.theory.guarantees.transforms import group

COUNT = counting_query("hers")
OTHERS = Database({"others": 2})


@pytest.mark.parametrize(
    "mechanism", [Laplace(COUNT, 0.4), Gaussian(COUNT, 2.0), Geometric(COUNT, 0.4)], ids=repr
)
def test_noise_for_one_record_under_a_group(mechanism):
    """The loss at some answers, from the loss of the mechanism at a query three times as large."""
    release, three = RecordLevel(mechanism), Group(ADD_REMOVE, 3)
    hers = OTHERS.add("hers", 3)
    pair = release.pair(OTHERS, hers, three)
    steps = [OTHERS.add("hers", i) for i in range(4)]
    for answer in (-2.0, 0.0, 1.0, 2.0, 5.0):
        chain = sum(mechanism.pair(here, there).loss(answer) for here, there in pairwise(steps))
        assert pair.loss(answer) == pytest.approx(chain, rel=1e-12)
    assert release.guarantee(three) == group(mechanism.guarantee(), 3)
    assert release.guarantee() == mechanism.guarantee()
    law = release.law(OTHERS, hers, three)
    assert law.delta(0.3) <= group(mechanism.guarantee(), 3).hockey_stick(0.3) * (1 + 1e-12)
    assert law.delta(0.3) > mechanism.law(OTHERS, OTHERS.add("hers")).delta(0.3)
    assert release.law(OTHERS, OTHERS, three).support == (0.0, 0.0)
    with pytest.raises(Breach, match=r"states L1 sensitivity 3 under groups of 3"):
        release.pair(OTHERS, OTHERS.add("hers", 4), three)


def test_without_the_wrapper_the_noise_is_for_the_group():
    three, hers = Group(ADD_REMOVE, 3), OTHERS.add("hers", 3)
    law = Laplace(COUNT, 0.4).law(OTHERS, hers, three)
    assert law.support[1] == pytest.approx(0.4)
    assert Gaussian(COUNT, 2.0).guarantee(three) == GaussianDP(1.5)


def test_a_play_that_is_not_within_the_group_is_a_breach():
    release = RecordLevel(Laplace(COUNT, 0.4))

    def four(coins):
        yield OTHERS, OTHERS.add("hers", 4), release

    with pytest.raises(Breach, match="not neighbours"):
        simulate(four, PureDP(2.0), 1, 100, relation=Group(ADD_REMOVE, 3), jobs=1)
    with pytest.raises(Breach, match=r"promises pure:1\.6, outside the family pure:0\.4"):
        simulate(four, PureDP(0.4), 1, 100, relation=Group(ADD_REMOVE, 4), jobs=1)


def test_what_is_not_wrapped():
    with pytest.raises(InvalidInput, match="only a mechanism with one real answer is wrapped"):
        RecordLevel(3)
    scores = Exponential(histogram_query("ab"), 0.4)
    with pytest.raises(NotApplicable):
        RecordLevel(scores).pair(OTHERS, OTHERS.add("a", 2), Group(ADD_REMOVE, 2))
    answer = RecordLevel(RandomizedResponse(COUNT, 0.4))
    assert answer.law(OTHERS, OTHERS.add("hers"), Group(ADD_REMOVE, 2)).support[1] == pytest.approx(
        0.4
    )
