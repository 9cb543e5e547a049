"""Certified filters: their checker accepts no changed number, and no adversary gets past them."""

import ast
import copy
import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import (
    ApproxDP,
    BoundedRange,
    Composition,
    GaussianDP,
    PureDP,
    WhitehouseFilter,
    ZCDPFilter,
    bound,
    parse_filter,
)
from simulator.worst import CertifiedFilter, certified_filter, read_certified, worst_case
from simulator.worst.filters import certificate_check, certificates
from simulator.worst.filters.certified_budget import value
from simulator.worst.filters.sum_budgets import budget_of

EPSILON, DELTA, LARGEST = 1.0, 1e-6, 0.5


@cache
def small():
    """A filter of few rows."""
    return certified_filter(f"pure:{LARGEST}", EPSILON, DELTA, units=60, reserve=1.5)


@cache
def of_small_rounds():
    """A filter whose largest round is below the costs of its first cells."""
    return certified_filter("pure:0.05", 2.0, 1e-3, 1e-4, units=40, reserve=2.0)


def text_of(document, *, sign=True):
    if sign:
        document = document | {"digest": certificate_check.digest_of(document)}
    return json.dumps(document)


# the checker


def test_the_checker_imports_nothing_of_the_project_and_is_short():
    path = Path(certificate_check.__file__)
    source = path.read_text(encoding="utf-8")
    assert source.count("\n") < 400
    nodes = list(ast.walk(ast.parse(source)))
    names = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    assert not any(name.startswith("simulator") for name in names)


@cache
def of_an_order():
    """A filter that charges less than eps^2 for large rounds."""
    return certified_filter("pure:0.5", EPSILON, DELTA, units=60, reserve=1.5, order=12.0)


@pytest.mark.parametrize("made", [small, of_small_rounds, of_an_order])
def test_the_checker_proves_what_the_search_found(made):
    filter_ = made()
    proved = certificate_check.check(json.dumps(filter_.certificate()))
    assert proved <= filter_.delta - filter_.rounds_delta
    assert proved == pytest.approx(value(filter_.layout), rel=1e-9)
    assert proved > 0.99 * (filter_.delta - filter_.rounds_delta)


def numbers_in(value, path=()):
    """The paths of all numbers of a document."""
    if isinstance(value, dict):
        return [p for name, each in value.items() for p in numbers_in(each, (*path, name))]
    if isinstance(value, list):
        return [p for i, each in enumerate(value) for p in numbers_in(each, (*path, i))]
    return [path] if type(value) in (int, float) else []


def changed(document, path, change):
    """A copy with one number changed."""
    found = copy.deepcopy(document)
    *inner, last = path
    place = found
    for step in inner:
        place = place[step]
    place[last] = change(place[last])
    return found


def next_to(number):
    """A number next to it, of the same type."""
    return number + 1 if type(number) is int else math.nextafter(number, math.inf)


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_certificate_changed_in_any_number_is_refused(every):
    document = small().certificate()
    paths = numbers_in(document)
    assert len(paths) > 600
    lists = [path for path in paths if type(path[-1]) is int]
    for path in [path for path in paths if type(path[-1]) is str] + lists[::every]:
        other = changed(document, path, next_to)
        with pytest.raises(certificate_check.Refused, match=r"digest|version is not 1"):
            certificate_check.check(text_of(other, sign=False))


SLOW = ("units", "epsilon", "rounds_delta", "reserve", "grid")
"""Changes whose refusal takes the whole recursion are tried by night, but for three."""
UNSOUND = [
    (("unit",), lambda x: x * 1.01),
    (("units",), lambda x: x + 1),
    (("budget",), lambda x: x * 1.0001),
    (("budget",), lambda x: math.nextafter(x, 2.0) + 1e-16),
    (("epsilon",), lambda x: x * 0.999),
    (("delta",), lambda x: x * 0.99),
    (("rounds_delta",), lambda x: x + 1e-8),
    (("largest",), lambda x: x * 0.4),
    (("reserve",), lambda x: x * 1.1),
    (("reserve",), lambda x: x * 0.9),
    (("grid", "step"), lambda x: x * 1.001),
    (("grid", "start"), lambda x: x + 1),
    (("grid", "start"), lambda x: x - 10),
    (("grid", "cells", 30), lambda x: x + 1),
    (("grid", "cells", 0), lambda x: x + 1),
    (("table", "cost", 0), lambda x: x * 0.999),
    (("table", "cost", 100), lambda x: x * 0.999),
    (("table", "cost", -1), lambda x: x * 0.999),
    (("table", "x", 40), lambda x: x * 1.001),
    (("table", "x", -2), lambda x: x * 1.0001),
]


@pytest.mark.parametrize(
    ("path", "change"),
    [
        pytest.param(path, change, marks=[pytest.mark.nightly] if path[0] in SLOW else [])
        for path, change in UNSOUND
    ],
)
def test_an_unsound_number_is_refused_with_a_digest_of_its_own(path, change):
    document = changed(small().certificate(), path, change)
    with pytest.raises(certificate_check.Refused) as caught:
        certificate_check.check(text_of(document))
    assert "\n" not in str(caught.value)
    assert "digest" not in str(caught.value)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -1.0, "1", None, True, [], 10**400])
@pytest.mark.parametrize("name", ["unit", "units", "delta", "grid", "table"])
def test_a_wrong_value_is_refused_in_one_line(name, wrong):
    document = small().certificate() | {name: wrong}
    with pytest.raises(certificate_check.Refused) as caught:
        certificate_check.check(text_of(document))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "3", '{"dpcompose": 1}', "[" * 100_000])
def test_what_is_no_certificate_is_refused(text):
    with pytest.raises(certificate_check.Refused):
        certificate_check.check(text)


def test_the_sound_direction_is_accepted():
    document = changed(small().certificate(), ("delta",), lambda x: x * 1.01)
    assert certificate_check.check(text_of(document)) <= DELTA


# the lemmas, against other computations


def gaussian_delta(u, t):
    mu = mpmath.sqrt(t)
    x = mpmath.log(u)
    return mpmath.ncdf(mu / 2 - x / mu) - u * mpmath.ncdf(-mu / 2 - x / mu)


@pytest.mark.parametrize(("epsilon", "reserve"), [(0.01, 1e-4), (0.1, 0.02), (0.7, 0.3), (0.02, 1)])
def test_a_small_round_costs_what_lemma_4_says(epsilon, reserve):
    cost = certificates.small_cost(epsilon, reserve)
    p = 1 / (1 + mpmath.exp(-epsilon))

    def gap(share):
        """The least difference over u with only a share of the excess over eps^2."""
        after = reserve + epsilon**2 + share * (cost - epsilon**2)
        found = []
        for x in np.linspace(-6, 6, 49) * math.sqrt(reserve):
            u = mpmath.exp(x)
            both = p * gaussian_delta(u * mpmath.exp(-epsilon), reserve)
            both += (1 - p) * gaussian_delta(u * mpmath.exp(epsilon), reserve)
            found.append(gaussian_delta(u, after) - both)
        return min(found)

    assert gap(1.0) >= 0.0
    assert gap(0.0) < 0.0  # without the excess it fails


def test_kernel_of_the_gaussian_is_above_it_and_close():
    from decimal import Decimal

    square, step = Decimal("0.01"), Decimal("0.02")
    reach, weights, infinite = certificate_check.gaussian_kernel(square, step)
    losses = np.arange(-reach, reach + 1) * float(step)
    assert weights.sum() + infinite == pytest.approx(1.0, abs=1e-14)
    for x in np.linspace(-0.5, 0.7, 61):
        spread = infinite + weights @ np.maximum(0.0, -np.expm1(np.minimum(x - losses, 0.0)))
        exact = float(gaussian_delta(mpmath.exp(x), 0.01))
        assert exact * (1.0 - 1e-13) <= spread <= exact + 0.01
    mu = 0.1
    for x in (-0.3, 0.0, 0.2, 0.5):
        plain = ndtr(mu / 2 - x / mu) - math.exp(x) * ndtr(-mu / 2 - x / mu)
        found = certificate_check.gaussian_delta(Decimal(x), square)
        assert float(found) == pytest.approx(plain, rel=1e-11)


# the filter


PAGE = Path(__file__).parents[2] / "experiments" / "site" / "pages" / "howto" / "certified.md"


def cost_of_the_page(path):
    """The function that the how-to page shows to authors of other libraries."""
    program = PAGE.read_text(encoding="utf-8").rpartition("```\nimport")[2].partition("```")[0]
    names = {}
    exec("import" + program.replace("filter.json", str(path)), names)
    return names["cost_of"]


@pytest.mark.parametrize("made", [small, of_small_rounds, of_an_order])
def test_the_table_costs_what_the_filter_charges_or_little_more(made, tmp_path):
    filter_ = made()
    filter_.save(tmp_path / "own.json")
    cost_of = cost_of_the_page(tmp_path / "own.json")
    top = min(filter_.largest, math.sqrt(filter_.budget) * (1 - 1e-9))
    generator = np.random.default_rng(5)
    for epsilon in (*generator.uniform(0.0, top, 300), *np.geomspace(1e-7 * top, top, 300)):
        own, looked_up = filter_.cost(epsilon), cost_of(epsilon)
        assert own <= looked_up * (1.0 + 1e-9)
        assert looked_up <= own * certificates.FINENESS**2
        assert filter_.shape.cost(np.array(epsilon)) <= own * (1.0 + 1e-9)


def test_the_cost_of_an_order_is_a_renyi_divergence():
    shape = of_an_order().shape
    for epsilon in (1e-4, 0.05, 0.3, 2.0, 40.0):
        renyi = PureDP(epsilon).renyi(1.0 + shape.order) * 2.0 / (1.0 + shape.order)
        assert float(shape.cost(np.array(epsilon))) == pytest.approx(renyi, rel=1e-10)
        assert float(shape.epsilons(np.array(renyi))) == pytest.approx(epsilon, rel=1e-9)
    assert of_an_order().cost(0.1) < 0.93 * small().cost(0.1)
    assert rounds_of(of_an_order(), 0.03) > 0.97 * rounds_of(small(), 0.03)


def test_it_admits_more_than_the_published_filters():
    filter_ = certified_filter("pure:0.5", EPSILON, DELTA, units=150)
    published = [
        budget_of(kind(EPSILON, DELTA), 0.2).certain for kind in (WhitehouseFilter, ZCDPFilter)
    ]
    published[1] *= 2.0  # rho is below eps^2 / 2
    assert filter_.budget > 1.08 * max(published)
    assert 0.0525 < filter_.budget < 0.0549  # above, multiples of .007 break it
    assert rounds_of(filter_, 0.1) == 10  # as basic composition does
    for epsilon in (0.005, 0.02, 0.1, 0.2):
        rounds = rounds_of(filter_, epsilon)
        exact = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(epsilon), rounds))
        assert exact.delta(EPSILON).upper <= DELTA * (1 + 1e-9)


def rounds_of(filter_, epsilon):
    running, rounds = filter_.fresh(), 0
    while running.admit(epsilon):
        rounds += 1
    return rounds


@pytest.mark.parametrize(
    "menu",
    [
        pytest.param(
            ",".join(f"randomized-response:{i * 0.01:.2f}" for i in range(3, 23, 3)),
            marks=pytest.mark.nightly,
        ),
        ",".join(f"randomized-response:{i * 0.021:.3f}" for i in range(2, 11)),
        "randomized-response:0.025,randomized-response:0.2",
        "gaussian:0.1,randomized-response:0.15",
    ],
)
def test_no_adversary_that_the_search_finds_gets_past(menu):
    found = worst_case(menu, filter=small(), epsilon=EPSILON, seconds=2, tolerance=0.05)
    assert found.verdict == "sound"
    assert found.delta.lower > 0.005 * DELTA


def test_a_larger_budget_is_caught_by_the_check_and_by_an_adversary():
    broken = replace(small(), unit=small().unit * 1.25, basic=False)
    with pytest.raises(NotApplicable, match="proves nothing: the rows reach"):
        broken.bounds_delta(EPSILON)
    menu = ",".join(f"randomized-response:{i * 0.02:.2f}" for i in range(1, 13))
    found = worst_case(menu, filter=broken, epsilon=EPSILON, seconds=2, tolerance=0.2)
    assert found.delta.lower > DELTA
    assert found.verdict == "broken"


def test_an_accountant_admits_charges_and_has_what_remains():
    filter_ = replace(small(), delta=2e-6, rounds_delta=1e-6, basic=False)
    running = filter_.fresh()
    assert running.charged == 0.0
    assert running.remaining == filter_.budget
    assert running.admit(0.1)
    assert running.admit(0.1, 4e-7)
    assert not running.admit(0.1, 7e-7)
    assert running.charged == pytest.approx(2 * filter_.cost(0.1), rel=1e-9)
    assert running.remaining == pytest.approx(filter_.budget - running.charged)
    assert not running.admit(0.3)
    assert running.admit(0.0)
    before = running.charged
    running.spend(GaussianDP(0.02))
    assert running.charged - before == pytest.approx(0.02**2, rel=1e-9)


def test_prices():
    costs_only = replace(small(), basic=False)
    assert small().price(PureDP(0.1)) == (0.1, 0.0)
    assert small().price(ApproxDP(0.1, 1e-7)) == (0.1, 1e-7)
    assert costs_only.price(GaussianDP(0.1)) == (-0.1, 0.0)
    for filter_ in (small(), costs_only):
        assert filter_.price(BoundedRange(0.1)) == (-BoundedRange(0.1).gdp_mu, 0.0)
    assert small().price(BoundedRange(0.5)) == (0.5, 0.0)  # too much for the costs' budget
    assert small().cost(0.6) == math.inf == small().cost(0.4)
    assert small().cost(-0.1) == pytest.approx(0.01)
    assert small().cost(0.0) == 0.0


class SquaresOfMu:
    """Admit while mu^2 adds up to at most a budget; states are hundredths."""

    initial = 0

    def __init__(self, mu):
        self.most = round(100 * mu * mu)

    def admit(self, state, guarantee):
        spent = state + round(100 * guarantee.gdp_mu**2)
        return spent <= self.most, spent


def test_gaussians_lose_what_one_of_their_sum_of_squares_does():
    """The largest sound budget of mu^2 is exact: no adaptive choice of sigma changes it."""
    mu = 0.5
    found = worst_case("gaussian:0.2,gaussian:0.3", filter=SquaresOfMu(mu), epsilon=1.0, seconds=4)
    exact = GaussianDP(mu).hockey_stick(1.0)
    assert found.delta.lower <= exact * (1 + 1e-9)
    assert found.delta.upper == pytest.approx(exact, rel=0.05)
    wider = worst_case("gaussian:0.2,gaussian:0.3", filter=SquaresOfMu(0.6), epsilon=1.0, seconds=4)
    assert wider.delta.lower > exact


def test_the_gaussian_filter_is_exact():
    filter_ = parse_filter("gaussian:1,1e-6")
    assert parse_filter(str(filter_)) == filter_
    assert filter_.mu**2 == pytest.approx(0.05603, rel=1e-3)
    curve = GaussianDP(filter_.mu).hockey_stick
    assert curve(1.0) <= 1e-6 < GaussianDP(filter_.mu * (1 + 1e-9)).hockey_stick(1.0)
    running = filter_.fresh()
    for _ in range(4):
        running.spend(GaussianDP(filter_.mu / 2 * (1 - 1e-12)))
    assert not running.admits(GaussianDP(1e-4))
    assert filter_.price(BoundedRange(0.1))[0] == BoundedRange(0.1).gdp_mu
    menu = "gaussian:0.1,gaussian:0.2"
    found = worst_case(menu, filter=filter_, epsilon=1.0, seconds=2, tolerance=0.2)
    assert 0.1 * DELTA < found.delta.lower <= DELTA


def test_a_gaussian_round_leaves_basic_composition():
    running = small().fresh()
    running.spend(GaussianDP(0.2))
    assert not running.admit(0.2)  # two thirds of the budget are left, and all of epsilon
    assert running.admit(0.1)


@pytest.mark.parametrize("basic", [True, False])
def test_text_and_file_give_the_filter_back(tmp_path, basic):
    filter_ = replace(small(), basic=basic)
    assert parse_filter(str(filter_)) == filter_
    small().save(tmp_path / "one.json")
    assert read_certified(tmp_path / "one.json") == small()
    assert parse_filter(f"certified:{tmp_path / 'one.json'}") == small()
    text = (tmp_path / "one.json").read_text()
    (tmp_path / "two.json").write_text(text.replace(repr(small().unit), repr(small().unit * 1.01)))
    with pytest.raises(InvalidInput, match="was changed"):
        read_certified(tmp_path / "two.json")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (("gaussian:1", 1.0, 1e-6), "pure:EPSILON"),
        (("pure:0", 1.0, 1e-6), "pure:EPSILON"),
        (("pure:0.5", -1.0, 1e-6), "epsilon must be a positive number"),
        (("pure:0.5", 1.0, 0.5), "1e-15 to 0.1"),
        (("pure:0.5", 1.0, 1e-6, 1e-6), "needs delta above rounds_delta"),
        (("pure:0.5", math.nan, 1e-6), "epsilon must be finite"),
    ],
)
def test_wrong_input_is_one_line(call, error):
    with pytest.raises((InvalidInput, NotApplicable), match=error) as caught:
        certified_filter(*call)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["certified:1", "certified:", "certified:1,2,3,4,5,6,7,x"])
def test_wrong_text_is_one_line(text):
    with pytest.raises(InvalidInput, match="neither"):
        parse_filter(text)
    assert isinstance(small(), CertifiedFilter)


def test_a_name_that_stands_twice_is_refused(tmp_path):
    """The first of two budgets is what another reader may take."""
    text = json.dumps(small().certificate())
    twice = '{"budget": 9.0, ' + text[1:]
    assert json.loads(twice) == json.loads(text)
    with pytest.raises(certificate_check.Refused, match="two members of an object have one name"):
        certificate_check.check(twice)
    path = tmp_path / "twice.json"
    path.write_text(twice)
    with pytest.raises(InvalidInput, match="is not a certificate of a filter"):
        read_certified(path)


def test_the_rounding_of_the_check_is_left_room_for():
    found = certified_filter("pure:0.5", 1.0, 1e-13, units=60)
    assert 0.9e-13 < found.verify() < 1e-13
    with pytest.raises(NotApplicable, match="within the rounding of sums of epsilons"):
        certified_filter("pure:0.5", 20.0, 1e-15, units=60)
