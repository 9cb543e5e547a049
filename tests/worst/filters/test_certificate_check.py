"""The check of planned filters: its lemmas against other computations, and changed certificates."""

import ast
import copy
import json
import math
from decimal import Context, Decimal, localcontext
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from simulator.theory import bound
from simulator.theory.bounds.composition import Composition
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.worst.filters import certificate_check, certificate_format
from simulator.worst.filters.certificate_check import ProofRows
from simulator.worst.filters.certificate_format import Move, Refused, digest_of
from simulator.worst.filters.certified import small_cost
from simulator.worst.filters.planned_lattice import Mean, PlanLattice, PlanRows
from simulator.worst.filters.plans import certified_filter
from tests.helpers.cases import case

EPSILON, DELTA = 1.0, 1e-3


@cache
def small():
    """A filter of few rows, and all kinds but Gaussians."""
    return certified_filter(
        "pure:0.3+laplace:0.25+range:0.4", EPSILON, DELTA, plan="pure:0.2,laplace:0.1", spare=0.03
    )


@cache
def pooled():
    """A filter with Gaussians and a pool."""
    return certified_filter("gdp:0.12+pure:0.1", EPSILON, DELTA, 1e-4, plan="gdp:0.1", pool=0.2)


def text_of(document, *, sign=True):
    if sign:
        document = document | {"digest": digest_of(document)}
    return json.dumps(document)


def test_the_checker_is_short_and_shares_no_code_with_the_search():
    own = set()
    for module in (certificate_check, certificate_format):
        source = Path(module.__file__).read_text(encoding="utf-8")
        assert source.count("\n") <= 400
        nodes = list(ast.walk(ast.parse(source)))
        names = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
        names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
        own |= {name for name in names if name.startswith("simulator")}
    assert own == {"simulator.worst.filters.certificate_format"}


@pytest.mark.sampled
@pytest.mark.parametrize("made", [small, pooled])
def test_it_proves_what_the_search_left_room_for(made):
    filter_ = made()
    proved = certificate_check.check(json.dumps(filter_.certificate())).reached
    assert 0.2 * DELTA < proved <= filter_.delta - filter_.rounds_delta


# the lemmas


def test_smaller_laplace_rounds_are_post_processings():
    """Lemma 1: the noise of a larger scale is that of a smaller one plus independent noise."""
    scale, larger = 1.0, 1.7
    share = (scale / larger) ** 2

    def density(x, b):
        return mpmath.exp(-abs(x) / b) / (2 * b)

    for x in (0.0, 0.3, 2.0):
        added = mpmath.quad(
            lambda y, x=x: density(x - y, scale) * density(y, larger), [-60, 0, x, 60]
        )
        mixed = share * density(x, scale) + (1 - share) * added
        assert float(mixed) == pytest.approx(float(density(x, larger)), rel=1e-9)


def test_the_divergence_of_laplace_noise():
    for size in (0.1, 1.3):
        for x in (-2.0, -0.5, 0.0, 0.05, 0.7, 1.4):
            own = float(certificate_check.laplace_delta(Decimal(x).exp(), Decimal(size)))
            exact = mpmath.quad(
                lambda y, s=size, x=x: (
                    max(mpmath.exp(-abs(y)) - mpmath.exp(x - abs(y - s)), mpmath.mpf(0)) / 2
                ),
                sorted({-40, 0, size, min(max((size - x) / 2, -39), 39), 40}),
            )
            with case(size, x):
                assert own == pytest.approx(float(exact), rel=1e-6, abs=1e-9)
    law = LaplaceLaw(0.4)
    assert float(
        certificate_check.laplace_delta(Decimal("0.1").exp(), Decimal("0.4"))
    ) == pytest.approx(
        float(law.hockey_stick(0.1)) if hasattr(law, "hockey_stick") else 1 - math.exp(-0.15)
    )


def gaussian_delta(u, t):
    mu = mpmath.sqrt(t)
    x = mpmath.log(u)
    return mpmath.ncdf(mu / 2 - x / mu) - u * mpmath.ncdf(-mu / 2 - x / mu)


@pytest.mark.parametrize(("epsilon", "reserve"), [(0.01, 1e-4), (0.1, 0.02), (0.7, 0.3), (0.02, 1)])
def test_a_small_round_costs_what_lemma_6_says(epsilon, reserve):
    cost = small_cost(epsilon, reserve)
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
    with localcontext(Context(prec=60)):
        mean = certificate_check.gaussian(square, step)
    losses, weights = (np.array(column) for column in zip(*mean.pairs, strict=True))
    losses, infinite = losses * float(step), mean.infinite
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


def rows_of(step, reach, pad):
    """Rows of the check on a lattice, the second one to be stored."""
    return ProofRows(1, step, (-reach, reach), pad)


def test_the_mean_over_laplace_noise_is_above_the_exact_one_and_close():
    step, size, reach = 0.02, 0.3, 100
    with localcontext(Context(prec=60)):
        move = Move("laplace", 0.0, size, ((1, 1),))
        (mean,) = certificate_check.means(move, Decimal(step))
        rows = rows_of(step, reach, mean.reach + 2)
    found = mean.of_row(rows, 0)
    x = step * np.arange(-reach, reach + 1)
    exact = np.where(
        x >= size, 0.0, np.where(x <= -size, -np.expm1(x), -np.expm1((x - size) / 2.0))
    )
    assert (found >= exact).all()
    assert (found - exact).max() < 1e-12  # the chord is exact at the lattice's points


def test_the_mean_over_bounded_range_is_above_every_pair_and_close():
    """Lemma 3, against a thousand pairs."""
    step, width, reach = 0.02, 12, 80
    size = step * width
    with localcontext(Context(prec=60)):
        mean = certificate_check.RangeMean(Decimal(step) * width, Decimal(step))
        rows = rows_of(step, reach, width + 2)
    x = step * np.arange(-reach, reach + 1)
    smooth = 1.0 - np.exp(x) / (1.0 + np.exp(3.0 * x)) ** (1 / 3)  # convex and decreasing in u
    rows.store(1, smooth)
    found = mean.of_row(rows, 1)
    u, values = np.exp(step * np.arange(-reach - width - 2, reach + width + 3)), rows.values[1]
    best = np.zeros(len(x))
    for t in np.linspace(0.0, size, 1001):
        high = -math.expm1(t - size) / -math.expm1(-size)
        pair = high * np.interp(np.exp(x - t), u, values)
        pair += (1.0 - high) * np.interp(np.exp(x - t + size), u, values)
        best = np.maximum(best, pair)
    inside = slice(width, -width)
    assert (found >= best)[inside].all()
    assert (found - best)[inside].max() < 0.02 * (best - smooth)[inside].max()


def test_two_rounds_of_bounded_range_are_the_adaptive_optimum():
    """.303365 at eps = 1 and E = 0; without adaptivity it is .288317, composed pairs .322606."""
    lattice = PlanLattice(step=1 / 64, first=-400, start=0, last=400)
    mean = Mean(("range", 1.0), lattice)
    rows = PlanRows(lattice, mean.reach + 2)
    row = rows.payoff
    for _ in range(2):
        row = rows.extended(mean(row, rows.pad))
    found = rows.at_start(row, 0.0)
    assert 0.303365 <= found < 0.3036
    adaptive = bound("bounded-range-adaptive")
    exact = adaptive.on(Composition.repeat(BoundedRange(1.0), 2)).delta(0.0)
    assert exact.lower <= found <= exact.upper * 1.002


# changed certificates


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
    return number + 1 if type(number) is int else math.nextafter(number, math.inf)


@pytest.mark.sampled
@pytest.mark.parametrize("made", [small, pooled])
def test_a_certificate_changed_in_any_number_is_refused(made):
    document = made().certificate()
    paths = numbers_in(document)
    assert len(paths) > 40
    for path in paths:
        with pytest.raises(Refused, match=r"digest|version is not 1"):
            certificate_check.check(text_of(changed(document, path, next_to), sign=False))


def reached(document):
    """The delta that the rows of a document of pure, Laplace and range moves reach, in floats."""
    grid = document["grid"]
    lattice = PlanLattice(**grid)
    means = [Mean((m["kind"], m["size"]), lattice) for m in document["moves"]]
    rows = PlanRows(lattice, max(mean.reach for mean in means) + 2)
    table = [rows.payoff]
    for n in range(1, document["rows"] + 1):
        best = table[-1][rows.pad : -rows.pad].copy()
        for move, mean in zip(document["moves"], means):
            fall = next((f for r, f in reversed(move["falls"]) if r <= n), 0)
            if fall:
                np.maximum(best, mean(table[n - fall], rows.pad), out=best)
        table.append(rows.extended(best))
    return rows.at_start(table[-1], document["epsilon"])


@pytest.mark.parametrize("most", [6, pytest.param(60, marks=pytest.mark.nightly)])
@pytest.mark.nightly
def test_a_certificate_of_its_own_digest_proves_what_its_rows_reach(most):
    """Every fall and size in turn, made better for an adversary: accepted where it is sound."""
    document = small().certificate()
    assert reached(document) <= DELTA
    refused = accepted = 0
    paths = [p for p in numbers_in(document) if p[0] == "moves" and p[-1] != 0]
    for path in paths[:: len(paths) // most]:
        other = changed(document, path, lambda x: max(x - 2, 1) if type(x) is int else 1.001 * x)
        try:
            proved, why = certificate_check.check(text_of(other)).reached, ""
        except Refused as error:
            proved, why = math.inf, str(error)
        if "rows reach" in why:
            assert reached(other) > 0.999 * DELTA
            refused += 1
        elif not why:
            assert reached(other) <= proved * (1 + 1e-9) <= DELTA * (1 + 1e-9)
            accepted += 1
    assert refused > 1
    assert accepted > 1


UNSOUND = [
    (("epsilon",), lambda x: x * 0.98),
    (("delta",), lambda x: x * 0.5),
    (("rounds_delta",), lambda x: x + 9e-4),
    (("rows",), lambda x: x + 1),
    (("plan", 0, 1), lambda x: x * 10),
    (("plan", 0, 2), lambda x: x + 3),
    (("moves", 0, "size"), lambda x: x * 1.5),
    (("moves", 0, "falls", 0, 0), lambda x: 0),
    (("moves", 0, "falls", 0, 1), lambda x: -1),
    (("grid", "step"), lambda x: x * 1.01),
    (("grid", "first"), lambda x: 1),
    (("grid", "start"), lambda x: x + 1),
    (("grid", "last"), lambda x: 3),
    (("pool", "squares"), lambda x: x * 4),
    (("pool", "floor"), lambda x: x * 60),
    (("pool", "floor"), lambda x: 0.0),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("path", "change"), UNSOUND)
def test_an_unsound_number_is_refused_with_a_digest_of_its_own(path, change):
    document = changed(pooled().certificate(), path, change)
    with pytest.raises(Refused) as caught:
        certificate_check.check(text_of(document))
    assert "\n" not in str(caught.value)
    assert "digest" not in str(caught.value)


@pytest.mark.parametrize("wrong", [None, [], "x", -1, [[]], {}, math.nan, True, [{}], 10**400])
@pytest.mark.parametrize("name", ["moves", "plan", "rows", "grid", "pool", "delta"])
def test_a_wrong_value_is_refused_in_one_line(name, wrong):
    with pytest.raises(Refused) as caught:
        certificate_check.check(text_of(small().certificate() | {name: wrong}))
    assert "\n" not in str(caught.value)


def test_the_sound_direction_is_accepted():
    document = changed(small().certificate(), ("delta",), lambda x: 1.01 * x)
    assert certificate_check.check(text_of(document)).reached <= DELTA


@pytest.mark.parametrize("text", ["", "[]", "{", "3", '{"dpcompose": 1}', "[" * 100_000])
def test_what_is_no_certificate_is_refused(text):
    with pytest.raises(certificate_check.Refused):
        certificate_check.check(text)


def test_a_name_that_stands_twice_is_refused():
    """The first of two deltas is what another reader may take."""
    text = text_of(small().certificate())
    twice = text.replace('"epsilon"', '"epsilon": 0.5, "epsilon"', 1)
    with pytest.raises(Refused, match="two members of an object have one name"):
        certificate_check.check(twice)
