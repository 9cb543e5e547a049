"""The certified filter of sampled Gaussians: against other computations, and broken on purpose."""

import copy
import json
import math
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.theory import (
    Composition,
    GaussianDP,
    PureDP,
    SubsampledGaussianDP,
    bound,
    parse_filter,
)
from simulator.worst import SampledFilter, certified_filter, read_certified
from simulator.worst.filters import sampled_check
from simulator.worst.filters.certificate_check import Refused, digest_of
from simulator.worst.filters.sampled_budget import FINE_ORDERS, renyi_share, value

EPSILON, DELTA = 2.0, 1e-5


@cache
def small():
    """A filter of few units and two sigmas."""
    return certified_filter("subsampled-gaussian:1,0.1", EPSILON, DELTA, units=24, sigmas=(1, 2.0))


def text_of(document):
    return json.dumps(document | {"digest": digest_of(document)})


def test_the_check_proves_what_the_search_found():
    assert isinstance(small(), SampledFilter)
    proved = sampled_check.check(json.dumps(small().certificate()))
    assert proved <= DELTA
    assert proved == pytest.approx(value(small().layout), rel=1e-6)
    assert proved > 0.99 * DELTA


def by_sums(sigma, rate, epsilon, *, added):
    """The divergence of either pair, by the trapezoidal rule."""
    x = np.linspace(-10.0 * sigma, 1.0 + 10.0 * sigma, 200_001)
    without = norm.pdf(x, 0.0, sigma)
    mixed = (1.0 - rate) * without + rate * norm.pdf(x, 1.0, sigma)
    p, q = (without, mixed) if added else (mixed, without)
    return np.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0.0), x)


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.1), (2.0, 0.4), (0.8, 1.0)])
@pytest.mark.parametrize("epsilon", [-0.3, -0.02, 0.0, 0.03, 0.3])
def test_divergences_of_lemma_2(sigma, rate, epsilon):
    with localcontext(Context(prec=60)):
        given = Decimal(epsilon).exp(), 1 / Decimal(sigma) ** 2, Decimal(rate)
        removal = float(sampled_check.removal(*given))
        addition = float(sampled_check.addition(*given))
    assert removal == pytest.approx(by_sums(sigma, rate, epsilon, added=False), abs=1e-8)
    assert addition == pytest.approx(by_sums(sigma, rate, epsilon, added=True), abs=1e-8)


def test_the_proof_is_above_the_exact_worst_case_of_constant_rounds():
    """The adversary that chooses the direction anew, by another recursion of this package."""
    filter_ = small()
    rate, rounds = filter_.rates[0][0], filter_.units
    exact = bound("any-direction").on(Composition.repeat(SubsampledGaussianDP(1.0, rate), rounds))
    found = exact.delta(EPSILON)
    assert found.upper <= filter_.verify()
    assert found.lower > 0.1 * filter_.verify()  # and a larger rate breaks it
    more = bound("any-direction").on(
        Composition.repeat(SubsampledGaussianDP(1.0, 1.5 * rate), rounds)
    )
    assert more.delta(EPSILON).lower > DELTA


def test_it_admits_more_than_renyi_accounting():
    filter_ = small()
    for place in (0, 3):
        rate, cost = filter_.rates[0][place], filter_.costs[place]
        published = math.floor(1.0 / renyi_share((EPSILON, DELTA), 1.0, rate, FINE_ORDERS))
        assert filter_.units // cost >= 1.1 * published


def test_costs_are_those_of_the_cell():
    filter_ = small()
    first, second = filter_.rates[0][:2]
    assert filter_.cost(1.0, first) == 1
    assert filter_.cost(1.7, first) == 1
    assert filter_.cost(1.0, first * 1.001) == 2 == filter_.cost(1.9, second)
    assert filter_.cost(2.0, second) == 1
    assert filter_.price(PureDP(0.0)) == (0.0, 0.0)
    for guarantee in (SubsampledGaussianDP(0.9, 0.01), SubsampledGaussianDP(1.0, 0.2)):
        with pytest.raises(NotApplicable, match="covers sigma from 1"):
            filter_.price(guarantee)
    for guarantee in (PureDP(0.1), GaussianDP(0.1)):
        with pytest.raises(NotApplicable):
            filter_.price(guarantee)


def test_rounds_run_while_units_are_left():
    running = small().fresh()
    round_ = SubsampledGaussianDP(1.0, small().rates[0][0])
    for _ in range(small().units):
        running.spend(round_)
    with pytest.raises(Breach, match="does not admit"):
        running.spend(round_)
    assert small().bounds_delta(EPSILON) == DELTA


UNSOUND = [
    ("units", lambda d: d | {"units": d["units"] + 3}),
    ("epsilon", lambda d: d | {"epsilon": d["epsilon"] * 0.99}),
    ("delta", lambda d: d | {"delta": d["delta"] * 0.98}),
    ("sigma", lambda d: d | {"sigmas": [0.95, 2.0]}),
    ("cost", lambda d: d | {"rates": [[r * 1.03 for r in row] for row in d["rates"]]}),
    ("order", lambda d: d | {"costs": d["costs"][::-1]}),
    ("node", lambda d: d | {"grid": d["grid"] | {"nodes": d["grid"]["nodes"][::3]}}),
    ("start", lambda d: d | {"grid": d["grid"] | {"start": d["grid"]["start"] + 1}}),
    ("step", lambda d: d | {"grid": d["grid"] | {"step": d["grid"]["step"] * 0.98}}),
]


SLOW = ("units", "epsilon", "sigma", "node", "step")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(c, id=name, marks=[pytest.mark.nightly] if name in SLOW else [])
        for name, c in UNSOUND
    ],
)
def test_an_unsound_number_is_refused(change):
    document = change(copy.deepcopy(small().certificate()))
    with pytest.raises(Refused, match="digest"):
        sampled_check.check(json.dumps(document))
    with pytest.raises(Refused) as caught:
        sampled_check.check(text_of(document))
    assert "digest" not in str(caught.value)


@pytest.mark.parametrize("name", ["rates", "costs", "sigmas", "units", "grid"])
@pytest.mark.parametrize("wrong", [None, [], "x", -1, [[]], {}, math.nan])
def test_a_wrong_value_is_refused_in_one_line(name, wrong):
    with pytest.raises(Refused) as caught:
        sampled_check.check(text_of(small().certificate() | {name: wrong}))
    assert "\n" not in str(caught.value)


def test_text_and_file_give_the_filter_back(tmp_path):
    assert parse_filter(str(small())) == small()
    small().save(tmp_path / "one.json")
    assert read_certified(tmp_path / "one.json") == small()
    document = small().certificate()
    document["rates"][0][0] *= 1.1
    (tmp_path / "two.json").write_text(json.dumps(document))
    with pytest.raises(InvalidInput, match="was changed"):
        read_certified(tmp_path / "two.json")
    for text in ("sampled:1", "sampled:1,1e-6,5/1/2", "sampled:1,1e-6,x/1/1/0.1"):
        with pytest.raises(InvalidInput):
            parse_filter(text)


def test_larger_rates_are_caught_when_the_promise_is_used():
    rates = tuple(tuple(min(1.2 * rate, 1.0) for rate in row) for row in small().rates)
    with pytest.raises(NotApplicable, match="proves nothing: the rows reach"):
        replace(small(), rates=rates).bounds_delta(EPSILON)
    assert np.isfinite(small().verify())
