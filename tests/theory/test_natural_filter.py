"""The natural filter: decisions against other arithmetic, tables, and how far it is passed."""

import itertools
import math
from functools import cache

import numba
import numpy as np
import pytest
from scipy.stats import binom, norm

from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.theory import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    FiniteLaw,
    GaussianDP,
    GaussianLaw,
    LaplaceLaw,
    NaturalFilter,
    PureDP,
    RenyiDP,
    compose_laws,
    parse_filter,
    randomized_response,
)
from simulator.theory.filters.natural import DominatingPair, Kind

SPEC = NaturalFilter(1.0, 1e-5)
KNOWN = (0.025, 0.2)


def response(epsilon, delta=0.0):
    return DominatingPair(epsilon, Kind.RESPONSE, delta)


def binomial_delta(counts, epsilon):
    """delta(epsilon) of randomized responses (parameter: rounds, leak), by scipy's binomials."""
    losses, masses, kept = np.zeros(1), np.ones(1), 1.0
    for (parameter, leak), rounds in counts.items():
        truthful = np.arange(rounds + 1)
        law = binom.pmf(truthful, rounds, 1.0 / (1.0 + math.exp(-parameter)))
        losses = np.add.outer(losses, (2 * truthful - rounds) * parameter).ravel()
        masses = np.outer(masses, law).ravel()
        kept *= (1.0 - leak) ** rounds
    gains = -np.expm1(np.minimum(epsilon - losses, 0.0))
    return 1.0 - kept + kept * float(masses @ gains)


@pytest.mark.parametrize(
    ("spec", "prices", "most"),
    [
        (SPEC, ((0.025, 0.0), (0.2, 0.0)), (130, 9)),
        (NaturalFilter(0.7, 1e-3), ((0.1, 0.0), (0.15, 0.0), (0.3, 0.0)), (12, 8, 5)),
        (SPEC, ((0.1, 1e-6), (0.15, 0.0)), (14, 9)),
    ],
    ids=["two", "three", "leaky"],
)
def test_a_menu_admits_the_counts_that_binomials_admit(spec, prices, most):
    """Every count vector in a box, one step from an admitted one, by both ways of deciding."""
    pairs, plain = [response(*price) for price in prices], type(spec).step
    step, start, numbers = spec.over_menu(pairs)
    reached = {(0,) * len(prices): (start, spec.initial)}
    refused = 0
    for counts in itertools.product(*(range(n) for n in most)):
        if counts not in reached:
            continue
        for j, pair in enumerate(pairs):
            after = (*counts[:j], counts[j] + 1, *counts[j + 1 :])
            delta = binomial_delta(dict(zip(prices, after)), spec.epsilon)
            assert abs(delta / spec.delta - 1.0) > 1e-9  # no tie: the witness can decide
            tabled, state = step(reached[counts][0], *numbers[j])
            direct, listed = plain(reached[counts][1], *pair)
            assert tabled == direct == (delta <= spec.delta)
            laws = tuple((randomized_response(*p), n) for p, n in zip(prices, after))
            assert spec.admits_composition(laws) == direct
            refused += not direct
            if direct:
                reached[after] = state, listed
            else:
                assert state == reached[counts][0]
    assert refused > 5
    assert all(n < m for counts in reached for n, m in zip(counts, most))  # the box held them all


def test_gaussians_add_up_in_the_squares():
    def delta(mu):
        upper = norm.sf(1.0 / mu - mu / 2)
        return upper - math.e * norm.cdf(-mu / 2 - 1.0 / mu)

    step, state, numbers = SPEC.over_menu([SPEC.price(GaussianDP(mu)) for mu in (0.05, 0.12)])
    counts = [0, 0]
    for j in [0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1] * 5:
        after = [counts[0] + (j == 0), counts[1] + (j == 1)]
        admitted, state = step(state, *numbers[j])
        mu = math.sqrt(after[0] * 0.05**2 + after[1] * 0.12**2)
        assert admitted == (delta(mu) <= 1e-5)
        counts = after if admitted else counts
    assert 0 < sum(counts) < 55


def test_laws_of_other_kinds_are_composed_numerically():
    for n in range(3, 9):
        parts = ((LaplaceLaw(0.2), n), (GaussianLaw(0.05), 2))
        found = compose_laws(parts, 1e-7).delta(1.0)
        assert SPEC.admits_composition(parts) == (found.upper <= 1e-5)
    # randomized response of the same epsilon fits less often
    for law, most in ((LaplaceLaw(0.05), 31), (randomized_response(0.05), 30)):
        assert SPEC.admits_composition(((law, most),))
        assert not SPEC.admits_composition(((law, most + 1),))


def test_both_directions_must_keep_the_budget():
    one_sided = FiniteLaw.from_probabilities([0.5, 0.5, 0.0], [0.4, 0.4, 0.2])
    spec = NaturalFilter(1.0, 0.1)
    assert compose_laws([(one_sided, 1)]).delta(1.0).upper < 0.1
    assert not spec.admits_composition(((one_sided, 1),))
    assert not spec.admits_composition(((one_sided.reversed(), 1),))
    assert NaturalFilter(1.0, 0.3).admits_composition(((one_sided, 1),))


def test_what_is_exactly_the_budget_fits():
    running = SPEC.fresh()
    assert running.admits(ApproxDP(1.0, 1e-5))
    assert not running.admits(ApproxDP(1.0, 1.001e-5))
    running.spend(ApproxDP(1.0, 1e-5))
    for harmless in (PureDP(0.0), GaussianDP(0.0), ZCDP(0.0)):
        running.spend(harmless)
    assert not running.admits(PureDP(1e-3))
    with pytest.raises(Breach, match="natural filter does not admit"):
        running.spend(PureDP(1e-3))


def overshoot(menu, spec, cell):
    """The largest delta(epsilon) of any adaptive adversary that the filter admits.

    Losses are whole multiples of ``cell``; ``net`` counts cells above minus epsilon.
    """
    step, start, numbers = spec.over_menu([response(e) for e in menu])
    goal = round(spec.epsilon / cell)

    @cache
    def value(state, net):
        best = max(0.0, -math.expm1(-(net - goal) * cell))
        for e, number in zip(menu, numbers):
            admitted, after = step(state, *number)
            if admitted:
                jump, p = round(e / cell), 1.0 / (1.0 + math.exp(-e))
                best = max(best, p * value(after, net + jump) + (1 - p) * value(after, net - jump))
        return best

    return value(start, 0)


def test_an_adaptive_adversary_passes_the_promise_where_laws_cannot_be_ordered():
    assert overshoot(KNOWN, SPEC, 0.025) == pytest.approx(2.81e-5, abs=0.005e-5)
    for alone in KNOWN:  # of one law any two compositions can be ordered
        assert overshoot((alone,), SPEC, 0.025) <= 1e-5


def test_what_it_does_not_keep_bounds_nothing():
    assert not NaturalFilter.proved
    assert "Not sound" in NaturalFilter.__doc__
    assert (SPEC.bounds_delta(1.0), SPEC.bounds_epsilon(1e-5)) == (1.0, math.inf)


@pytest.mark.parametrize(
    ("pairs", "admitted"),
    [
        ((response(0.0),), 20),
        ((response(0.2), DominatingPair(0.2, Kind.LAPLACE), response(0.0)), 5 + 6),
    ],
    ids=["harmless", "two kinds"],
)
def test_the_table_compiles(pairs, admitted):
    step, state, numbers = SPEC.over_menu(pairs)
    compiled, rounds = numba.njit(step), 0
    for number in list(numbers) * (20 // len(pairs)):
        found = compiled(state, *number)
        assert found == step(state, *number)
        rounds += found[0]
        state = found[1]
    assert rounds == admitted
    assert SPEC.over_menu(()).numbers == []


def test_more_entries_of_one_price_share_their_count():
    step, state, numbers = SPEC.over_menu([response(0.2), response(0.2)])
    rounds = 0
    while (found := step(state, *numbers[rounds % 2]))[0]:
        state, rounds = found[1], rounds + 1
    assert rounds == 5


def test_text_round_trips():
    assert str(SPEC) == "natural:1.0,1e-05"
    assert parse_filter(str(SPEC)) == SPEC == parse_filter("natural:1,1e-5,0")


@pytest.mark.parametrize(
    "numbers", [(0.0, 1e-5), (-1.0, 1e-5), (1.0,), (1.0, 1.0), (1.0, 0.1, 0.1)]
)
def test_bad_numbers_are_refused_in_one_line(numbers):
    with pytest.raises(InvalidInput) as refused:
        NaturalFilter(*numbers)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("guarantee", [ZCDP(0.1), RenyiDP(2.0, 0.1)], ids=str)
def test_a_guarantee_without_a_dominating_pair_is_refused(guarantee):
    with pytest.raises(NotApplicable, match="natural filter cannot account for") as refused:
        SPEC.fresh().admits(guarantee)
    assert str(guarantee) in str(refused.value)


def test_a_bounded_range_round_costs_what_its_pure_epsilon_costs():
    assert SPEC.price(BoundedRange(0.2)) == SPEC.price(PureDP(0.2)) == response(0.2)


@pytest.mark.parametrize("prices", [((1e-4, 0.0),), ((1e-3, 0.0), (2e-3, 0.0)), ((1e-300, 0.0),)])
def test_a_menu_with_too_many_states_is_refused_in_one_line(prices):
    with pytest.raises(NotApplicable, match="natural filter") as refused:
        SPEC.over_menu([response(*price) for price in prices])
    assert "1048576" in str(refused.value)
    assert "\n" not in str(refused.value)
