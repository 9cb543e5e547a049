"""Individual filters: the worst queries against plain recursion, and what the wrong rules cost."""

import math

import numpy as np
import pytest

from simulator import PureDP, simulate
from simulator.teaching.games import Standing, find
from simulator.teaching.mechanisms.individual_filter import (
    BOTH,
    UNITS,
    WITHOUT,
    IndividualFilter,
    IndividualGaussian,
    noisy,
)
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.worst import worst_conversation

RULES = ("own", "late", "published", "common")


def plain(rule, unit, queries, epsilon):
    """The largest delta, by recursion over all queries and views, from the rules in words."""
    epsilon_of = [unit, 2 * unit]

    def best(left, spent, out, p0, p1):
        if not left:
            return max(0.0, p0 - math.exp(epsilon) * p1)
        values = []
        for alice, bob in ((1, 0), (0, 1), (1, 1)):
            for cost in (1, 2):
                price = 1 if rule == "late" else cost
                now = tuple(
                    gone or (asked and spend + price > UNITS)
                    for gone, asked, spend in zip(out, (alice, bob), spent)
                )
                paid = tuple(
                    spend + cost * (asked and not gone)
                    for spend, asked, gone in zip(spent, (alice, bob), now)
                )
                laws = []
                for there in (0, 1):  # whether Alice is in the data
                    shown = {}
                    count = (there and alice and not now[0]) + (bob and not now[1])
                    gone = int(there and now[0]) + int(now[1])
                    mark = gone if rule == "published" else 0
                    if rule == "common" and gone:
                        shown["stopped"] = 1.0
                    else:
                        for y, chance in enumerate(noisy(int(count), epsilon_of[cost - 1])):
                            shown[mark, y] = chance
                    laws.append(shown)
                values.append(
                    math.fsum(
                        best(
                            left - 1, paid, now, p0 * laws[0].get(a, 0.0), p1 * laws[1].get(a, 0.0)
                        )
                        for a in {*laws[0], *laws[1]}
                    )
                )
        return max(values)

    return best(queries, (0, 0), (False, False), 1.0, 1.0)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("epsilon", [0.2, 0.6])
def test_the_worst_queries_are_those_of_a_plain_recursion(rule, epsilon):
    game = IndividualFilter(0.4, 2, PureDP(0.8), rule)
    found = worst_conversation(game, WITHOUT, BOTH, epsilon=epsilon)
    assert plain(rule, 0.4, 2, epsilon) == pytest.approx(float(found.delta), abs=1e-11)


def test_noisy_counts_are_geometric_between_their_ends():
    noise = np.random.default_rng(3)
    epsilon, trials = 0.5, 100_000
    for count in range(3):
        up, down = (noise.geometric(1 - math.exp(-epsilon), trials) for _ in range(2))
        found = np.bincount(np.clip(count + up - down, 0, 2), minlength=3) / trials
        # Hoeffding's bound at 1e-8 for each of nine frequencies
        assert np.abs(found - noisy(count, epsilon)).max() < math.sqrt(math.log(2e8) / 2 / trials)


@pytest.mark.sampled(n=5)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("queries", [1, 3, 6])
def test_a_record_never_loses_more_than_its_budget(epsilon, queries):
    right = IndividualFilter(epsilon / UNITS, queries, PureDP(epsilon))
    for experiment in (0, 1):
        found = worst_conversation(right, WITHOUT, BOTH, epsilon=epsilon, experiment=experiment)
        assert found.delta.upper < 1e-10
    late = IndividualFilter(epsilon / UNITS, 3, PureDP(epsilon), "late")
    assert worst_conversation(late, WITHOUT, BOTH, epsilon=epsilon).delta.lower > 1e-3


def test_a_seen_end_of_a_budget_is_caught_at_any_epsilon():
    for rule in ("published", "common"):
        shown = IndividualFilter(0.5, 2, PureDP(1.0), rule)
        assert worst_conversation(shown, WITHOUT, BOTH, epsilon=20.0).delta.lower > 0.99


def press(weights, mechanism):
    def adversary(coins):
        opened = yield WITHOUT, BOTH, mechanism
        for weight in weights:
            yield opened.ask(weight)

    return adversary


def test_gaussian_sums_that_do_not_adapt_are_one_gaussian():
    # the third weight would pass the budget and is left out; 1.0 and 0.6 are paid
    mechanism = IndividualGaussian(1.0, 0.7)
    result = simulate(
        press((1.0, 0.6, 0.5), mechanism), family=mechanism.guarantee(), rounds=4, trials=4000,
        seed=2,
    )  # fmt: skip
    found = result.delta(0.5, confidence=0.999)
    assert found.lower <= gaussian_delta(math.hypot(1.0, 0.6), 0.5) <= found.upper
    assert not found.lower <= gaussian_delta(1.0, 0.5) <= found.upper


@pytest.mark.sampled
@pytest.mark.parametrize("low", [0.3, 0.9])
@pytest.mark.parametrize("high_after", [True, False])
def test_adversaries_that_adapt_stay_below_one_gaussian(low, high_after):
    mechanism = IndividualGaussian(1.0, 1.0)

    def adversary(coins):
        opened = yield WITHOUT, BOTH, mechanism
        weight, total = 1.0, 0.0
        for _ in range(8):
            total += (yield opened.ask(weight)) - 0.5 * weight
            weight = 1.0 if (total > 0) == high_after else low

    result = simulate(adversary, family=mechanism.guarantee(), rounds=9, trials=3000, seed=4)
    # each of four cases is false with probability at most 0.001
    for epsilon in (0.5, 1.5):
        found = result.delta(epsilon, confidence=0.999)
        assert found.lower <= gaussian_delta(math.sqrt(2.0), epsilon)


def test_at_one_query_nothing_is_caught_but_all_bounds_hold():
    outcome = find("individual-filters").play(queries=1, trials=1000)
    assert {j.standing for j in outcome.judged} <= {
        Standing.AGREES, Standing.HOLDS, Standing.NOT_CAUGHT,
    }  # fmt: skip
