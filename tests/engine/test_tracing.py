"""Every way through a step is found once, and what cannot be enumerated is refused."""

import math

import numpy as np
import pytest

from simulator.engine.enumerated.programs import RoundMatters
from simulator.errors import NotApplicable
from tests.helpers.step_ways import ways

CONTINUOUS = (0.0, 0.0)
WHOLE = (1.0, 0.0)


def found(step, answer=CONTINUOUS, rounds=(1, 1), state=0):
    return sorted(ways(step, state, rounds, answer), key=lambda way: (way.first, way.low, way.move))


def test_an_answer_is_cut_at_every_threshold_that_it_is_compared_with():
    def step(state, i, answer, coins):
        if answer < -1.0:
            return state, 0
        return (state + 1, 1) if 2.0 * answer - 1.0 >= 0.5 else (state, 2)

    cells = [(way.low, way.high, way.state, way.move) for way in found(step)]
    assert cells == [(-math.inf, -1.0, 0, 0), (-1.0, 0.75, 0, 2), (0.75, math.inf, 1, 1)]


def test_the_threshold_of_a_whole_answer_lies_between_its_atoms():
    strict = found(lambda state, i, answer, coins: (state, int(answer < 2)), WHOLE)
    closed = found(lambda state, i, answer, coins: (state, int(answer <= 2)), WHOLE)
    assert [way.high for way in strict] == [1.5, math.inf]
    assert [way.high for way in closed] == [2.5, math.inf]
    exact = found(lambda state, i, answer, coins: (state, int(answer == 2)), WHOLE)
    assert [(way.low, way.high, way.move) for way in exact] == [
        (-math.inf, 1.5, 0),
        (1.5, 2.5, 1),
        (2.5, math.inf, 0),
    ]


def test_rounds_are_cut_where_they_are_compared_and_nowhere_else():
    def step(state, i, answer, coins):
        return state, int(3 <= i < 7)

    assert [(way.first, way.last, way.move) for way in found(step, 0.0, (1, 9))] == [
        (1, 2, 0),
        (3, 6, 1),
        (7, 9, 0),
    ]


@pytest.mark.parametrize("step", [
    lambda state, i, answer, coins: (state, i % 2),
    lambda state, i, answer, coins: (state, 1 if math.sqrt(i) > 2.0 else 0),
    lambda state, i, answer, coins: (state, (0, 1, 0, 1)[i]),
    lambda state, i, answer, coins: (state, int(i + 1 > 2)),
])  # fmt: skip
def test_a_step_that_computes_with_the_round_is_traced_round_by_round(step):
    with pytest.raises(RoundMatters):
        found(step, 0.0, (1, 3))
    assert [way.move for way in found(step, 0.0, (2, 2))] == [step(0, 2, 0.0, None)[1]]


@pytest.mark.parametrize(("draw", "chance"), [
    (lambda coins: coins.random() < 0.3, 0.3),
    (lambda coins: not coins.random() >= 0.3, 0.3),
    (lambda coins: coins.uniform(-1.0, 1.0) > 0.5, 0.25),
    (lambda coins: coins.normal(1.0, 2.0) < 1.0, 0.5),
    (lambda coins: coins.exponential(2.0) < 2.0 * math.log(2.0), 0.5),
    (lambda coins: coins.integers(5) == 2, 0.2),
    (lambda coins: coins.integers(3, 7) > 5, 0.25),
    (lambda coins: int(4 * coins.random()) == 1, 0.25),
    (lambda coins: 0.2 < coins.random() <= 0.9, 0.7),
    (lambda coins: coins.random() < 0.5 and coins.random() < 0.5, 0.25),
])  # fmt: skip
def test_coins_are_branches_with_their_probabilities(draw, chance):
    def step(state, i, answer, coins):
        return state, 1 if draw(coins) else 0

    all_ways = found(step, 0.0)
    assert math.fsum(way.probability for way in all_ways) == pytest.approx(1.0, abs=1e-15)
    taken = math.fsum(way.probability for way in all_ways if way.move == 1)
    assert taken == pytest.approx(chance, abs=1e-15)


@pytest.mark.parametrize(("draw", "chance"), [
    (lambda coins: coins.standard_normal() > 6.0, 0.5 * math.erfc(6.0 * math.sqrt(0.5))),
    (lambda coins: coins.standard_normal() < -9.0, 0.5 * math.erfc(9.0 * math.sqrt(0.5))),
    (lambda coins: coins.normal(1.0, 2.0) >= 25.0, 0.5 * math.erfc(12.0 * math.sqrt(0.5))),
    (lambda coins: abs(coins.standard_normal()) < 1e-13, 1e-13 * math.sqrt(2.0 / math.pi)),
    (lambda coins: 8.0 < coins.standard_normal() < 8.0 + 2.0**-40,
     math.exp(-32.0 - 8.0 * 2.0**-41) * 2.0**-40 / math.sqrt(2.0 * math.pi)),
    (lambda coins: coins.standard_exponential() > 45.0, math.exp(-45.0)),
    (lambda coins: coins.exponential(2.0) < 2e-15, 1e-15),
    (lambda coins: 30.0 < coins.standard_exponential() < 30.0 + 2.0**-40,
     math.exp(-30.0) * 2.0**-40),
])  # fmt: skip
def test_a_rare_coin_keeps_its_digits(draw, chance):
    all_ways = found(lambda s, i, a, coins: (s, int(draw(coins))), 0.0)
    taken = math.fsum(way.probability for way in all_ways if way.move)
    assert taken == pytest.approx(chance, rel=1e-11)


def test_the_ways_agree_with_the_step_on_numbers_that_are_known():
    def step(state, i, answer, coins):
        if abs(answer) > 1.5 and i != 4:
            return (state[0] + 1, min(state[1], 2.0)), 2
        if max(answer, 0.25) > 0.5:
            return (0, 3.0), 1
        return state, 1 if -answer / 2.0 < 0.1 and i >= 2 else 0

    all_ways = found(step, CONTINUOUS, (1, 8), (5, 7.0))
    rng = np.random.default_rng(3)
    for answer, i in zip(rng.normal(0.0, 2.0, 500).tolist(), rng.integers(1, 9, 500).tolist()):
        (way,) = [w for w in all_ways if w.low < answer < w.high and w.first <= i <= w.last]
        assert (way.state, way.move) == step((5, 7.0), i, answer, None)


@pytest.mark.parametrize(("step", "why"), [
    (lambda state, i, answer, coins: (state + answer, 0), "answer as a number in its state"),
    (lambda state, i, answer, coins: ((state, answer), 0), "within each other"),
    (lambda state, i, answer, coins: (coins.random(), 0), "coin as a number in its state"),
    (lambda state, i, answer, coins: (state, int(math.exp(answer) > 2.0)), "exp of a number"),
    (lambda state, i, answer, coins: (state, int(answer)), "unbounded"),
    (lambda state, i, answer, coins: (state, int(answer * answer > 2.0)), "product of two"),
    (lambda state, i, answer, coins: (state, int(coins.random() < coins.random())), "comparison"),
    (lambda state, i, answer, coins: (state, int(answer < coins.random())), "comparison"),
    (lambda state, i, answer, coins: (state, coins.binomial(3, 0.5)), "coins.binomial"),
    (lambda state, i, answer, coins: (state, int(np.isnan(answer))), "a call of isnan"),
    (lambda state, i, answer, coins: (state, [0, 1][7]), "may stop"),
])  # fmt: skip
def test_what_cannot_be_enumerated_is_refused_in_one_line(step, why):
    with pytest.raises(NotApplicable, match=why) as refused:
        found(step)
    assert "\n" not in str(refused.value)


def test_infinite_thresholds_are_no_cut():
    def step(state, i, answer, coins):
        return state, 1 if i < math.inf and -math.inf < answer < math.inf else 0

    for answer in (CONTINUOUS, WHOLE):
        (way,) = found(step, answer, (1, 5))
        assert (way.first, way.last, way.low, way.high) == (1, 5, -math.inf, math.inf)
        assert way.move == 1
