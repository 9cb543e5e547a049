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
from simulator.worst.filters import certificate_check
from simulator.worst.filters.certificate_format import Refused, digest_of
from simulator.worst.filters.certified import read_certified
from simulator.worst.filters.plans import certified_filter
from simulator.worst.filters.sampled_budget import FINE_ORDERS, layout, renyi_share, value

EPSILON, DELTA = 2.0, 1e-5


@cache
def small():
    """A filter of few units and two sigmas."""
    return certified_filter("subsampled-gaussian:1,0.1", EPSILON, DELTA, units=24, sigmas=(1, 2.0))


def text_of(document):
    return json.dumps(document | {"digest": digest_of(document)})


def rates_of(filter_, sigma):
    """The rates of a sigma, with their costs in rows."""
    own = [move for move in filter_.moves if move[0] == f"subsampled-gaussian:{sigma!r}"]
    return {rate: falls[0][1] for _, rate, falls in own}


def test_the_check_proves_what_the_search_found():
    first, second = (rates_of(small(), sigma) for sigma in (1.0, 2.0))
    wider = [*second, *[max(second)] * (len(first) - len(second))]  # equal rates stand once
    costs, rates = tuple(first.values()), (tuple(first), tuple(wider))
    found = value(layout(EPSILON, small().rows, (1.0, 2.0), costs, rates))
    proved = small().verify().reached
    assert proved <= DELTA
    assert proved == pytest.approx(found, rel=1e-6)
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
        removal = float(certificate_check.removal(*given))
        addition = float(certificate_check.addition(*given))
    assert removal == pytest.approx(by_sums(sigma, rate, epsilon, added=False), abs=1e-8)
    assert addition == pytest.approx(by_sums(sigma, rate, epsilon, added=True), abs=1e-8)


def test_the_proof_is_above_the_exact_worst_case_of_constant_rounds():
    """The adversary that chooses the direction anew, by another recursion of this package."""
    filter_ = small()
    rate, rounds = filter_.plan[0][1], filter_.rows
    exact = bound("any-direction").on(Composition.repeat(SubsampledGaussianDP(1.0, rate), rounds))
    found, proved = exact.delta(EPSILON), filter_.verify().reached
    assert found.upper <= proved
    assert found.lower > 0.1 * proved  # and a larger rate breaks it
    more = bound("any-direction").on(
        Composition.repeat(SubsampledGaussianDP(1.0, 1.5 * rate), rounds)
    )
    assert more.delta(EPSILON).lower > DELTA


def test_it_admits_more_than_renyi_accounting():
    for rate, cost in list(rates_of(small(), 1.0).items())[::3][:2]:
        published = math.floor(1.0 / renyi_share((EPSILON, DELTA), 1.0, rate, FINE_ORDERS))
        assert small().rows // cost >= 1.1 * published


def cost(sigma, rate):
    """The rows that a round takes."""
    start = small().initial
    admitted, after = small().step(start, *small().price(SubsampledGaussianDP(sigma, rate)))
    assert admitted
    return start[0] - after[0]


def test_costs_are_those_of_the_cell():
    first, second = list(rates_of(small(), 1.0))[:2]
    assert cost(1.0, first) == 1
    assert cost(1.7, first) == 1
    assert cost(1.0, first * 1.001) == 2 == cost(1.9, second)
    assert cost(2.0, second) == 1
    assert small().price(PureDP(0.0))[2:] == (0.0, 0.0)
    assert not small().fresh().admits(SubsampledGaussianDP(1.0, 0.2))
    for guarantee in (SubsampledGaussianDP(0.9, 0.01), PureDP(0.1)):
        with pytest.raises(NotApplicable, match="cannot account for"):
            small().price(guarantee)
    assert not small().fresh().admits(GaussianDP(0.1))  # a sample of rate 1
    running = small().fresh()
    assert not running.admit(1.0, kind="subsampled-gaussian:1.0")
    assert running.admit(first, kind="subsampled-gaussian:1.0")


def test_rounds_run_while_rows_are_left():
    running = small().fresh()
    round_ = SubsampledGaussianDP(1.0, small().plan[0][1])
    for _ in range(small().rows):
        running.spend(round_)
    with pytest.raises(Breach, match="does not admit"):
        running.spend(round_)
    assert small().bounds_delta(EPSILON) == DELTA


def moved(document, change):
    """The document with another rate, kind or fall in each of its moves."""
    return document | {"moves": [move | change(move) for move in document["moves"]]}


UNSOUND = [
    ("rows", lambda d: d | {"rows": d["rows"] + 3}),
    ("epsilon", lambda d: d | {"epsilon": d["epsilon"] * 0.99}),
    ("delta", lambda d: d | {"delta": d["delta"] * 0.98}),
    ("sigma", lambda d: moved(d, lambda m: {"kind": m["kind"].replace(":1.0", ":0.95")})),
    ("rate", lambda d: moved(d, lambda m: {"size": min(m["size"] * 1.03, 1.0)})),
    ("fall", lambda d: moved(d, lambda m: {"falls": [[f[0], 1] for f in m["falls"]]})),
    ("order", lambda d: d | {"moves": d["moves"][::-1]}),
    ("plan", lambda d: d | {"plan": [[*d["plan"][0][:2], d["rows"] + 1]]}),
    ("kind", lambda d: moved(d, lambda m: {"kind": m["kind"].replace(":1.0", ":1.00")})),
    ("start", lambda d: d | {"grid": d["grid"] | {"start": d["grid"]["start"] + 1}}),
    ("step", lambda d: d | {"grid": d["grid"] | {"step": d["grid"]["step"] * 0.98}}),
]


SLOW = ("rows", "epsilon", "sigma", "rate", "fall")


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
        certificate_check.check(json.dumps(document))
    with pytest.raises(Refused) as caught:
        certificate_check.check(text_of(document))
    assert "digest" not in str(caught.value)


def test_text_and_file_give_the_filter_back(tmp_path):
    assert parse_filter(str(small())) == small()
    small().save(tmp_path / "one.json")
    assert read_certified(tmp_path / "one.json") == small()
    document = small().certificate()
    document["moves"][0]["size"] *= 1.1
    (tmp_path / "two.json").write_text(json.dumps(document))
    with pytest.raises(InvalidInput, match="was changed"):
        read_certified(tmp_path / "two.json")


def test_larger_rates_are_caught_when_the_promise_is_used():
    moves = tuple((kind, min(1.2 * rate, 1.0), falls) for kind, rate, falls in small().moves)
    with pytest.raises(NotApplicable, match="proves nothing: the rows reach"):
        replace(small(), moves=moves).bounds_delta(EPSILON)
    assert np.isfinite(small().verify().reached)
