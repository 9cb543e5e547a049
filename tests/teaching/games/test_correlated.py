"""Correlated records: the law of the answers by enumeration of all histories, and its bounds."""

import math
from itertools import pairwise, product

import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput
from simulator.teaching.games import Standing, find
from simulator.teaching.games.library.correlated import Chain
from simulator.theory import FiniteLaw
from tests.helpers.cases import case

CORRELATED = find("correlated")


def enumerated(chain):
    """P(answers | secret) summed over every history, by answers."""
    truth = 1.0 / (1.0 + math.exp(-chain.epsilon))
    laws = [{}, {}]
    for bits in product((0, 1), repeat=chain.records):
        history = 0.5
        for here, there in pairwise(bits):
            history *= chain.flip if here != there else 1.0 - chain.flip
        secret = bits[chain.place - 1]
        for answers in product((0, 1), repeat=chain.records):
            chance = math.prod(truth if a == b else 1.0 - truth for a, b in zip(answers, bits))
            laws[secret][answers] = laws[secret].get(answers, 0.0) + 2.0 * history * chance
    return [np.array(list(law.values())) for law in laws]


@pytest.mark.parametrize("place", [1, 2, 4, 5])
@pytest.mark.parametrize("flip", [0.01, 0.2, 0.5])
def test_the_law_is_that_of_all_histories(place, flip):
    chain = Chain(0.7, 5, flip, place)
    expected = FiniteLaw.from_probabilities(*enumerated(chain))
    found = FiniteLaw.from_probabilities(*chain.laws())
    assert found.support == pytest.approx(expected.support, rel=1e-9)
    assert chain.worst_answers() == pytest.approx(expected.support[1], rel=1e-9)
    for epsilon in (0.0, 0.7, 1.4):
        assert found.delta(epsilon) == pytest.approx(expected.delta(epsilon), rel=1e-9, abs=1e-15)


def test_the_bounds_hold_for_random_chains_and_are_attained_at_the_ends():
    draws = np.random.default_rng(9)
    tightest = math.inf
    for _ in range(300):
        records = int(draws.integers(1, 11))
        chain = Chain(
            float(draws.uniform(0.01, 3.0)),
            records,
            float(draws.uniform(0.001, 0.5)),
            int(draws.integers(1, records + 1)),
        )
        with case(str(chain)):
            attained = chain.worst_answers()
            assert chain.epsilon * (1 - 1e-12) <= attained <= chain.quilt_bound() * (1 + 1e-12)
            assert chain.quilt_bound() <= records * chain.epsilon * (1 + 1e-12)
            if chain.records > 2:
                tightest = min(tightest, chain.quilt_bound() / attained)
    assert tightest < 1.2
    independent = Chain(0.5, 6, 0.5, 3)
    assert independent.quilt_bound() == pytest.approx(0.5)
    assert independent.worst_answers() == pytest.approx(0.5)
    assert Chain(0.5, 6, 1e-9, 3).worst_answers() == pytest.approx(3.0, rel=1e-6)


def test_a_quilt_with_half_of_its_influence_is_exceeded():
    """Were a quilt's record to cost half of what it says, the bound would be false somewhere."""

    class Half(Chain):
        def quilt_bound(self):
            steps = [
                min(
                    [
                        length * self.epsilon,
                        *(
                            (d - 1) * self.epsilon + math.atanh((1 - 2 * self.flip) ** d)
                            for d in range(1, length + 1)
                        ),
                    ]
                )
                for length in (self.place - 1, self.records - self.place)
            ]
            return self.epsilon + sum(steps)

    chains = [Half(3.0, 6, flip, 3) for flip in np.linspace(0.01, 0.49, 40)]
    assert any(chain.worst_answers() > chain.quilt_bound() for chain in chains)


@pytest.mark.parametrize("records", [1, 2, 3, 5])
def test_the_parity_by_enumeration(records):
    """All records with either parity, and all answers."""
    epsilon = 0.8
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    laws = np.zeros((2, 2**records))
    for bits in product((0, 1), repeat=records):
        for i, answers in enumerate(product((0, 1), repeat=records)):
            chance = math.prod(truth if a == b else 1.0 - truth for a, b in zip(answers, bits))
            laws[sum(bits) % 2, i] += chance / 2 ** (records - 1)
    loss = np.abs(np.log(laws[0] / laws[1])).max()
    outcome = CORRELATED.play(epsilon=epsilon, records=records, trials=100)
    row = outcome.row("nothing else is known")
    assert row.upper == pytest.approx(loss, rel=1e-9)
    assert row.upper <= epsilon * (1 + 1e-12)


def test_the_promise_for_one_record_is_caught():
    outcome = CORRELATED.play(trials=1000)
    caught = [each for each in outcome.judged if each.standing is Standing.CAUGHT]
    assert len(caught) == 2
    honest = CORRELATED.play(trials=1000, flip=0.5)
    assert not [each for each in honest.judged if each.standing is Standing.CAUGHT]
    assert honest.as_expected


def test_hostile_knobs_are_one_line_or_numbers():
    with pytest.raises(InvalidInput, match="flip goes from"):
        CORRELATED.play(flip=0.0)
    for changes in (
        {"records": 1},
        {"records": 10, "epsilon": 3.0, "flip": 0.001},
        {"records": 10, "epsilon": 0.01},
        {"place": 10},
        {"at": 0.0},
        {"at": 10.0},
    ):
        with case(str(changes)):
            outcome = CORRELATED.play(trials=100, **changes)
            assert outcome.as_expected
            assert not any(math.isnan(row.upper) for row in outcome.rows)
