"""Filters: no adversary gets past them, their rules compile, and a broken one is caught."""

import math
from contextlib import suppress
from fractions import Fraction
from functools import cache

import mpmath
import numba
import numpy as np
import pytest

from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.theory import ApproxDP, BoundedRange, Composition, GaussianDP, PureDP, bound
from simulator.theory.filters.advanced import RogersFilter, WhitehouseFilter
from simulator.theory.filters.gaussian import GaussianFilter
from simulator.theory.filters.named import FILTERS, filter_class, parse_filter
from simulator.theory.filters.renyi import RenyiFilter, ZCDPFilter
from simulator.theory.filters.residue import ResidueFilter
from simulator.theory.filters.rules import realised_step, sum_step
from simulator.theory.filters.sums import SumFilter
from simulator.theory.laws.gaussian_curve import gaussian_mu

EPSILON, DELTA = 1.0, 0.05
CLASSES = {name: filter_class(name) for name in FILTERS}
PROVED = {name: kind for name, kind in CLASSES.items() if kind.proved}
EVERY = [kind(EPSILON, DELTA) for kind in PROVED.values()]


def worst_delta(step, initial, menu, epsilon, most_rounds):
    """The largest delta(epsilon) that any adaptive adversary reaches, by exhaustive recursion.

    The adversary picks from a menu of epsilons, each answered by randomized response, and may stop
    at any time; ``net`` counts answers for experiment 0 minus answers against it.
    """

    @cache
    def value(state, net, rounds):
        loss = sum(n * e for n, e in zip(net, menu))
        best = max(0.0, -math.expm1(epsilon - loss))
        if rounds == most_rounds:
            return best
        for i, e in enumerate(menu):
            admitted, after = step(state, e, 0.0)
            if not admitted:
                continue
            p = 1.0 / (1.0 + math.exp(-e))
            up, down = ((*net[:i], net[i] + s, *net[i + 1 :]) for s in (1, -1))
            best = max(
                best, p * value(after, up, rounds + 1) + (1 - p) * value(after, down, rounds + 1)
            )
        return best

    return value(initial, (0,) * len(menu), 0)


@pytest.mark.sampled
@pytest.mark.parametrize("spec", EVERY, ids=str)
@pytest.mark.parametrize("menu", [(0.1, 0.4), (0.25, 1.0), (0.05, 0.15)])
def test_no_adaptive_adversary_gets_past(spec, menu):
    reached = worst_delta(type(spec).step, spec.initial, menu, EPSILON, most_rounds=14)
    assert reached <= DELTA


def forgetful_step(state, epsilon, delta):
    """A broken filter: it forgets the deviation and counts the drift alone."""
    squares, leaked, error, budget, leak_budget, log_inverse = state
    squares += epsilon * epsilon
    if squares / 2.0 > budget:
        return False, state
    return True, (squares, leaked, error, budget, leak_budget, log_inverse)


def test_a_forgetful_filter_is_caught():
    initial = WhitehouseFilter(EPSILON, DELTA).initial
    assert worst_delta(forgetful_step, initial, (0.25, 1.0), EPSILON, most_rounds=10) > DELTA


@pytest.mark.sampled(n=6)
@pytest.mark.parametrize("kind", CLASSES.values(), ids=list(CLASSES))
@pytest.mark.parametrize("epsilon", [0.01, 0.05])
def test_greedy_rounds_keep_the_promise_and_spend_a_good_part(kind, epsilon):
    promised = kind(2.0, 1e-6)
    running, rounds = promised.fresh(), 0
    while running.admits(PureDP(epsilon)):
        running.spend(PureDP(epsilon))
        rounds += 1
    exact = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(epsilon), rounds))
    assert exact.epsilon(1e-6).value <= 2.0
    # The later filters admit more rounds than the earlier ones where many small rounds are asked.
    if kind in (WhitehouseFilter, ZCDPFilter, RenyiFilter) and epsilon == 0.01:
        assert exact.epsilon(1e-6).value > 1.6
    with pytest.raises(Breach, match=promised.name):
        running.spend(PureDP(epsilon))
    assert running.fresh().admits(PureDP(epsilon))


@pytest.mark.nightly
def test_order_of_the_filters_by_how_much_they_admit():
    admitted = {}
    for kind in CLASSES.values():
        running, rounds = kind(1.0, 1e-6).fresh(), 0
        while running.admits(PureDP(0.005)):
            running.spend(PureDP(0.005))
            rounds += 1
        admitted[kind.name] = rounds
    assert admitted["sum"] == 200
    assert admitted["rogers"] < admitted["whitehouse"] < admitted["zcdp"]


def test_a_refused_round_costs_nothing_and_a_cheaper_one_may_follow():
    running = SumFilter(1.0).fresh()
    for _ in range(9):
        running.spend(PureDP(0.1))
    before = running.state
    assert not running.admits(PureDP(0.2))
    with pytest.raises(Breach):
        running.spend(PureDP(0.2))
    assert running.state == before
    running.spend(PureDP(0.1))  # ten times 0.1 is 1, whatever the floats say
    assert not running.admits(PureDP(1e-6))


def test_the_rounds_own_deltas_are_limited():
    with_room = WhitehouseFilter(1.0, 1e-5, rounds_delta=5e-6).fresh()
    for _ in range(5):
        with_room.spend(ApproxDP(0.01, 1e-6))
    assert not with_room.admits(ApproxDP(0.01, 1e-6))
    assert with_room.admits(PureDP(0.01))
    assert not WhitehouseFilter(1.0, 1e-5).fresh().admits(ApproxDP(0.01, 1e-9))


@pytest.mark.sampled
@pytest.mark.parametrize("kind", PROVED.values(), ids=list(PROVED))
def test_rules_compile_and_agree_with_python(kind):
    fixed = {SumFilter: 1e-4, RogersFilter: 5e-5}
    spec = kind(1.5, 1e-4, fixed.get(kind, 1e-5))
    compiled = numba.njit(kind.step)
    state = spec.initial
    for epsilon, delta in [(0.02, 0.0), (0.3, 1e-6), (0.05, 2e-6), (9.0, 0.0), (0.1, 1e-3)] * 4:
        plain, jitted = kind.step(state, epsilon, delta), compiled(state, epsilon, delta)
        assert plain[0] == jitted[0]
        assert jitted[1] == pytest.approx(plain[1], rel=1e-14)
        state = plain[1]
    # below 0 the residue filter has -mu of a Gaussian round
    for nonsense in (math.nan, -100.0 if kind is ResidueFilter else -0.1):
        assert not compiled(state, nonsense, 0.0)[0]
        assert not kind.step(state, 0.01, nonsense)[0]
    assert not kind.step(state, 1e6, 0.0)[0]


def test_gaussian_and_bounded_range_rounds_are_priced_by_their_divergence():
    spec = ZCDPFilter(1.0, 1e-6)
    epsilon, _ = spec.price(GaussianDP(0.3))
    assert PureDP(epsilon).zcdp_rho == pytest.approx(0.045, rel=1e-12)
    assert PureDP(epsilon).zcdp_rho >= 0.045
    assert spec.price(BoundedRange(0.2))[0] < 0.2
    renyi = RenyiFilter(1.0, 1e-6)
    epsilon, _ = renyi.price(GaussianDP(0.3))
    assert PureDP(epsilon).renyi(renyi.alpha) == pytest.approx(renyi.alpha * 0.045, rel=1e-12)
    with pytest.raises(NotApplicable, match="gdp"):
        SumFilter(1.0).fresh().admits(GaussianDP(0.3))


def test_the_converted_budgets_meet_the_promise():
    spec = ZCDPFilter(1.0, 1e-6)
    total = bound("zcdp-canonne-kamath-steinke").on(Composition.repeat(GaussianDP(1.0), 1))
    assert total.epsilon(1e-6).value > 1.0
    for delta in (1e-300, 0.9):
        assert ZCDPFilter(1.0, delta).rho > 0.0
    mu = math.sqrt(2 * spec.rho)
    fitted = bound("zcdp-canonne-kamath-steinke").on(Composition.repeat(GaussianDP(mu), 1))
    assert fitted.epsilon(1e-6).value == pytest.approx(1.0, rel=1e-9)
    renyi = RenyiFilter(1.0, 1e-6)
    budget, alpha = renyi.initial[3], renyi.initial[5]
    converted = budget + math.log(1 / (alpha * 1e-6)) / (alpha - 1) + math.log(1 - 1 / alpha)
    assert converted == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("kind", PROVED.values(), ids=list(PROVED))
def test_the_budget_admits_what_it_is_and_nothing_above(kind):
    spec = kind(1.0, 1e-6)
    assert not spec.fresh().admits(PureDP(1.0 + 5e-13))
    assert not spec.fresh().admits(PureDP(math.nextafter(1.0, 2.0)))


@pytest.mark.parametrize(("rounds", "total"), [(10, 1.0), (3, 0.3), (1000, 100.0), (10**5, 1e4)])
def test_decimals_that_add_up_to_the_budget_are_admitted_and_not_a_bit_more(rounds, total):
    running = SumFilter(total).fresh()
    for _ in range(rounds):
        running.spend(PureDP(0.1))
    for more in (1e-3, 1e-15 * total, 3e-16 * total):
        assert not running.admits(PureDP(more))
    leaky = WhitehouseFilter(1.0, 0.5, rounds_delta=1e-6).fresh()
    for _ in range(10):
        leaky.spend(ApproxDP(0.01, 1e-7))
    assert not leaky.admits(ApproxDP(0.01, 1e-20))


def test_what_rounding_takes_from_a_sum_is_kept_beside_it():
    """Rounds of very different sizes: both sums, with their errors, are those of fractions."""
    sizes = (2.0 ** np.random.default_rng(5).uniform(-60.0, -4.0, 300)).tolist()
    budget = sum(map(Fraction, sizes))
    for one in (0, 1):
        state = (0.0, 0.0, 0.0, 0.0, 2.0, 2.0)
        for size in sizes:
            admitted, state = sum_step(state, *((size, 0.0) if one == 0 else (0.0, size)))
            assert admitted
        assert abs(Fraction(state[2 * one]) + Fraction(state[2 * one + 1]) - budget) < 2.0**-95
    state = (0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 700.0, 2.0)
    for size in sizes:
        admitted, state = realised_step(state, 0.0, size)
        assert admitted
    assert abs(Fraction(state[3]) + Fraction(state[4]) - budget) < 2.0**-95


@pytest.mark.parametrize("kind", [kind for kind in PROVED.values() if kind is not ResidueFilter])
def test_what_is_admitted_keeps_the_budget_in_fifty_digits(kind):
    # The theorem's own inequality, recomputed from the rounds: never passed, not even by an ulp.
    spec = kind(1.0, 1e-6)
    running, rounds = spec.fresh(), 0
    while running.admits(PureDP(0.01)):
        running.spend(PureDP(0.01))
        rounds += 1
    with mpmath.workdps(50):
        e, d, k = mpmath.mpf(0.01), mpmath.mpf(1e-6), rounds
        if kind is SumFilter:
            assert rounds == 100
            return
        q, log = k * e**2, mpmath.log(1 / d)
        if kind is WhitehouseFilter:
            spent = mpmath.sqrt(2 * q * log) + q / 2
        elif kind is RogersFilter:
            h = 1 / (mpmath.mpf("28.04") * log)
            root = (q + h) * (2 + mpmath.log(q / h + 1)) * mpmath.log(2 / d)
            spent = k * e * mpmath.expm1(e) / 2 + mpmath.sqrt(root)
        elif kind is ZCDPFilter:
            spent = k * e * mpmath.tanh(e / 2) / mpmath.mpf(spec.rho)
        else:
            theta = mpmath.mpf(spec.alpha) - 1
            moment = mpmath.cosh((theta + 0.5) * e) / mpmath.cosh(e / 2)
            conversion = mpmath.log((theta + 1) * d) - theta * mpmath.log(theta / (theta + 1))
            spent = (k * mpmath.log(moment) - conversion) / theta
        assert spent <= 1


def test_a_part_that_a_filter_cannot_keep_is_refused():
    for spec in (SumFilter(1.0, 1e-5, 1e-5), RogersFilter(1.0, 1e-5, 5e-6)):
        assert parse_filter(str(spec)) == spec
    for kind in (SumFilter, RogersFilter):
        with pytest.raises(InvalidInput, match=r"rounds_delta = 1e-06"):
            kind(1.0, 1e-5, 1e-6)


def test_numbers_of_every_kind_are_taken():
    spec = WhitehouseFilter(Fraction(1, 2), np.float32(0.25), 0)
    assert (spec.epsilon, spec.delta, spec.rounds_delta) == (0.5, 0.25, 0.0)
    for bad in ("x", None, 10**400, math.nan, 1e101):
        with pytest.raises(InvalidInput):
            SumFilter(bad)


def test_text_round_trips_and_nonsense_is_refused():
    for spec in (*EVERY, CLASSES["natural"](EPSILON, DELTA)):
        assert parse_filter(str(spec)) == spec
    assert parse_filter("sum:1") == SumFilter(1.0)
    for text in ("", "sum", "sum:x", "sum:1,2,3,4", "azuma:1", "sum:-1", "sum:1,1", "rogers:1"):
        with pytest.raises(InvalidInput):
            parse_filter(text)
    for bad in ((RogersFilter, 1.0, 0.5), (ZCDPFilter, 1.0, 0.0), (WhitehouseFilter, 1, 0.1, 0.1)):
        with pytest.raises(InvalidInput):
            bad[0](*bad[1:])


@pytest.mark.parametrize("kind", CLASSES.values(), ids=list(CLASSES))
@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 700.0, 1e99])
@pytest.mark.parametrize("delta", [1e-300, 0.3])
def test_extreme_promises_are_kept_or_refused_in_one_line(kind, epsilon, delta):
    with suppress(InvalidInput, NotApplicable):
        running = kind(epsilon, delta).fresh()
        for guarantee in (PureDP(1e-200), GaussianDP(1e-100), BoundedRange(1e-9), PureDP(0.0)):
            with suppress(NotApplicable):
                assert running.admits(guarantee) in (True, False)


def test_the_gaussian_budget_is_that_of_the_curve():
    mu = gaussian_mu(1.0, 1e-6)
    for share, granted in ((1 - 1e-6, True), (1 + 1e-6, False)):
        assert GaussianFilter(1.0, 1e-6).fresh().admits(GaussianDP(mu * share)) is granted
        running = GaussianFilter(1.0, 1e-6).fresh()
        running.spend(GaussianDP(mu * 0.6))
        assert running.admits(GaussianDP(mu * 0.8 * share)) is granted
