"""Changed structures of certificates: none is accepted that admits more than is true.

Every list and every object is dropped, duplicated, merged, put in another order, emptied or
shortened, and numbers are changed, with a digest made anew. Each mutant is judged by a second
checker too, and each that is accepted is held against an adversary that plays a fine grid of sizes.
"""

import copy
import json
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from simulator.worst import certified_filter, worst_case
from simulator.worst.filters import certificate_check
from simulator.worst.filters.certificate_format import Refused, digest_of, read
from simulator.worst.filters.certified import CertifiedFilter, small_cost
from tests.helpers.independent_checker import NotProved, proved_delta, small_round_fits
from tests.helpers.played_rows import played

BASES = {
    "mixed": ("pure:0.6+laplace:0.6+range:0.6", 1.0, 0.02, 0.0, {"plan": "pure:0.3,laplace:0.3"}),
    "pure": ("pure:1.2", 1.0, 0.02, 0.001, {"plan": "pure:0.5,pure:0.2", "sizes": (0.6,)}),
    "pooled": ("gdp:0.3+pure:0.4", 1.0, 0.01, 0.0, {"plan": "gdp:0.2", "pool": 0.2}),
    "sampled": ("subsampled-gaussian:1,0.4", 1.0, 0.01, 0.0, {"units": 5, "sigmas": (1.0, 2.0)}),
}
KERNELS, POOLS = cache(certificate_check.means), cache(certificate_check.gaussian)
TIGHTER = {"mixed": 1e-2, "pure": 1e-12, "pooled": 1e-12, "sampled": 3e-2}
"""How much less the rows of the second checker may reach than those of the first, relatively.

It has the largest pair of bounded range between two points of the lattice, and spreads losses of
sampled Gaussians less widely. Other kinds have no such difference.
"""
ROUNDING = 1e-12


@cache
def base(name):
    """A certificate of few rows, with every third move outside the plan."""
    family, epsilon, delta, leaks, others = BASES[name]
    document = certified_filter(family, epsilon, delta, leaks, **others).certificate()
    planned = [run[:2] for run in document["plan"]]
    moves = document["moves"]
    last = {move["kind"]: i for i, move in enumerate(moves)}
    kept = [
        move
        for i, move in enumerate(moves)
        if i % 4 == 0
        or len(moves) < 20
        or i in last.values()
        or [move["kind"], move["size"]] in planned
    ]
    return document | {"moves": kept}


@pytest.fixture(autouse=True)
def _kernels_once(monkeypatch):
    """Most mutants have the kernels of their base, which take most of the time of a check."""
    monkeypatch.setattr(certificate_check, "means", KERNELS)
    monkeypatch.setattr(certificate_check, "gaussian", POOLS)


def places(value, path=()):
    """The paths of all lists and objects."""
    if not isinstance(value, dict | list):
        return []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(p for name, each in items for p in places(each, (*path, name)))]


def at(document, path):
    """The value there."""
    for step in path:
        document = document[step]
    return document


def in_list(found, generator):
    """Change a list."""
    i, j = (int(generator.integers(len(found))) for _ in range(2)) if found else (0, 0)
    match int(generator.integers(8)):
        case 0 if found:
            del found[i]
        case 1 if found:
            found.insert(j, copy.deepcopy(found[i]))
        case 2 if found:
            found[i], found[j] = found[j], found[i]
        case 3:
            found.clear()
        case 4:
            del found[i:]
        case 5 if len(found) > 1:  # two neighbours become one
            i = min(i, len(found) - 2)
            first, second = found[i : i + 2]
            if type(first) is type(second) and not isinstance(first, str):
                found[i : i + 2] = [first | second if isinstance(first, dict) else first + second]
        case 6 if found:
            found[i] = number(found[i], generator)
        case _:
            generator.shuffle(found)


def in_object(found, generator):
    """Change an object."""
    if not found:
        return
    name, other = (str(generator.choice(list(found))) for _ in range(2))
    match int(generator.integers(7)):
        case 0:
            del found[name]
        case 1:
            found[name] = copy.deepcopy(found[other])
        case 2:
            found[name], found[other] = found[other], found[name]
        case 3:
            found.clear()
        case 4:
            found[f"{name}s"] = found[name]
        case _:
            found[name] = number(found[name], generator)


def number(value, generator):
    """Another number, of the same type; of what is none, something else."""
    if type(value) is int:
        return value + int(generator.choice([-3, -1, 1, 2, 1000]))
    if type(value) is float:
        return value * float(generator.choice([0.0, 0.5, 0.9, 0.999, 1.001, 1.1, 2.0, -1.0]))
    return [None, True, "pure", 0, math.nan, [], {}][int(generator.integers(7))]


def in_moves(document, generator):
    """Change moves, most of which stay of the right shape: often to an adversary's gain."""
    moves = document["moves"]
    i = int(generator.integers(len(moves)))
    move, other = moves[i], moves[max(i - 1, 0)]
    pair = move["falls"][int(generator.integers(len(move["falls"])))]
    match int(generator.integers(6)):
        case 0:
            move["size"] *= float(generator.choice([0.99, 1.001, 1.05, 1.3]))
        case 1:
            pair[1] = max(pair[1] + int(generator.choice([-2, -1, 1])), 0)
        case 2:
            pair[0] = max(pair[0] - 1, pair[1])
        case 3 if len(moves) > 1:
            del moves[i]
        case 4:  # two neighbours become one, with the falls of the smaller
            move["falls"] = copy.deepcopy(other["falls"])
        case _:
            del move["falls"][1:]


def mutant(name, generator):
    """A certificate with one to three changes, and a digest of its own."""
    document = copy.deepcopy(base(name))
    shaped = bool(generator.random() < 0.4)
    for _ in range(int(generator.integers(1, 4))):
        if shaped:
            in_moves(document, generator)
            continue
        listed = places(document)
        place = at(document, listed[int(generator.integers(len(listed)))])
        (in_object if isinstance(place, dict) else in_list)(place, generator)
    return document | {"digest": digest_of(document)}


def verdict(document):
    """What is proved, or why nothing is, and the delta that the rows reach, if any."""
    try:
        proved = certificate_check.check(json.dumps(document))
    except Refused as error:
        return None, str(error), error.reached
    return proved, "", proved.reached


def second_verdict(document):
    """The same of the second checker: whether it is proved, and the delta of its rows, if any."""
    try:
        return True, proved_delta(json.dumps(document))
    except NotProved as error:
        return False, error.reached


def hold(name, count, seed):
    """Try mutants; how many are accepted, and refused by what their rows reach.

    Both checkers refuse the same shapes, and their rows reach the same. They may judge otherwise
    only where the promise lies between the two.
    """
    generator, accepted, beyond = np.random.default_rng(seed), 0, 0
    for _ in range(count):
        document = mutant(name, generator)
        proved, why, rows = verdict(document)
        also, second = second_verdict(document)
        assert "\n" not in why
        assert (rows is None) == (second is None), why
        if rows is None:
            continue
        assert rows * (1.0 - TIGHTER[name]) <= second <= rows * (1.0 + ROUNDING)
        promised = document["delta"] - document["rounds_delta"]
        if also != (proved is not None):
            assert also
            assert second <= promised <= rows * (1.0 + ROUNDING)
        if proved is None:
            beyond += 1
            continue
        accepted += 1
        assert played(document) <= promised
        assert proved.reached <= promised
        for kind, size, rounds in proved.admits:  # the sentence is that of the filter
            filter_ = CertifiedFilter.of(read(json.dumps(document)), basic=True)
            running = filter_.fresh()
            admitted = 0
            while admitted <= rounds and running.admit(size, kind=kind):
                admitted += 1
            assert admitted == rounds
    return accepted, beyond


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize(
    ("name", "count"), [("mixed", 20), ("pure", 40), ("pooled", 12), ("sampled", 12)]
)
def test_no_mutant_is_accepted_that_admits_more_than_is_true(name, count):
    accepted, _ = hold(name, count, 11)
    assert accepted > 1


@pytest.mark.nightly
@pytest.mark.parametrize("name", BASES)
def test_no_mutant_of_many_is_accepted_that_admits_more_than_is_true(name):
    accepted, beyond = hold(name, 10_000, 12)
    assert accepted > 800
    assert beyond > 160


def half(move, step):
    """The means of a checker that takes each round for one of half its size."""
    return KERNELS(replace(move, size=move.size / 2.0), step)


def none_of_pure(move, step):
    """The means of a checker whose recursion plays no pure round: what was forged once."""
    return [] if move.kind == "pure" else KERNELS(move, step)


@pytest.mark.parametrize("broken", [half, none_of_pure])
def test_a_broken_checker_is_found(broken, monkeypatch):
    monkeypatch.setattr(certificate_check, "means", broken)
    with pytest.raises(AssertionError):
        hold("mixed", 80, 11)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "menu"),
    [
        ("mixed", "laplace:0.3,laplace:0.5,randomized-response:0.3"),
        ("pure", "randomized-response:0.2,randomized-response:0.35,randomized-response:0.5"),
    ],
)
def test_no_adversary_that_the_search_finds_gets_past_an_accepted_mutant(name, menu):
    generator, tried, lowers = np.random.default_rng(13), set(), []
    while len(tried) < 8:
        document = mutant(name, generator)
        moves = json.dumps(document["moves"])
        if moves in tried or verdict(document)[0] is None:
            continue
        tried.add(moves)
        filter_ = CertifiedFilter.of(read(json.dumps(document)), basic=False)
        found = worst_case(menu, filter=filter_, epsilon=document["epsilon"], seconds=2)
        assert found.delta.lower <= document["delta"] - document["rounds_delta"]
        lowers.append(found.delta.lower)
    assert max(lowers) > 0.3 * base(name)["delta"]


def test_a_certificate_of_another_shape_is_refused():
    """One whose table lay in no cell of its recursion admitted 998 rounds of epsilon = 10."""
    x = [math.tanh(1e-5), math.tanh(5.0) * (1 - 1e-9)]
    forged = {
        "dpcompose": "certificate of a privacy filter", "version": 1, "covers": "anything",
        "epsilon": 1.0, "delta": 1e-6, "rounds_delta": 0.0, "largest": 10.0, "budget": 1.0,
        "table": {"x": x, "cost": [1e-3, 1e-3]}, "unit": 1e-3, "units": 1001, "reserve": 1e-5,
        "grid": {"step": 0.01, "first": -9, "start": 99, "last": 200, "cells": [1], "ends": [10.0]},
    }  # fmt: skip
    with pytest.raises(Refused, match="must have the members"):
        certificate_check.check(json.dumps(forged | {"digest": digest_of(forged)}))


@pytest.mark.parametrize("kind", ["pure", "laplace", "range"])
@pytest.mark.parametrize("empty", ["moves", "falls", "plan", "rows", "move"])
def test_what_is_empty_proves_nothing(kind, empty):
    """The attack of a list that is empty where the other half of the proof reads another one."""
    document = copy.deepcopy(base("mixed"))
    own = [move for move in document["moves"] if move["kind"] == kind]
    document["plan"] = [[kind, own[0]["size"], 1]]
    match empty:
        case "moves":
            document["moves"] = []
        case "falls":
            own[0]["falls"] = []
        case "plan":
            document["plan"] = []
        case "rows":
            document["rows"] = 0
        case "move":
            own[0].clear()
    with pytest.raises(Refused, match=r"must be a list, and not empty|whole number|members"):
        certificate_check.check(json.dumps(document | {"digest": digest_of(document)}))


def test_words_in_the_file_are_refused():
    document = base("pure") | {"covers": "any zCDP mechanism at cost 0", "largest": 5.0}
    with pytest.raises(Refused, match="must have the members"):
        certificate_check.check(json.dumps(document | {"digest": digest_of(document)}))


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("name", BASES)
def test_the_base_is_accepted_and_the_second_checker_agrees(name):
    document = base(name)
    document |= {"digest": digest_of(document)}
    proved, why, rows = verdict(document)
    assert not why
    assert second_verdict(document)[0]
    assert proved.reached == rows
    least = document["delta"] - document["rounds_delta"]
    if name != "pooled":  # what plays has no pool
        assert 0.3 * least < played(document) <= least


@pytest.mark.parametrize(
    ("square", "step"), [(1e10, 1e3), (1e9, 1.0), (1e-6, 0.5)], ids=["wide", "pool", "narrow"]
)
def test_a_gaussian_that_the_lattice_does_not_hold_is_refused_at_once(square, step):
    """Its tail far out would be a series without end."""
    with pytest.raises(Refused, match="grid:"):
        certificate_check.gaussian(Decimal(square), Decimal(step))


@pytest.mark.nightly
def test_many_moves_of_wide_laws_are_refused_before_hours_of_kernels(monkeypatch):
    document = base("pooled")
    text = json.dumps(document | {"digest": digest_of(document)})
    weights = sum(k.work for m in read(text).moves for k in KERNELS(m, Decimal(read(text).step)))
    for most, refused in ((weights, False), (weights - 1, True)):
        monkeypatch.setattr(certificate_check, "MOST_WEIGHTS", most)
        assert (verdict(json.loads(text))[1] == "grid: too fine for all moves") == refused


def test_the_rounding_of_the_sum_of_deltas_is_not_given_away():
    """Sums of epsilons and of deltas are each compared within their own rounding."""
    document = base("pure") | {"delta": 0.9, "rounds_delta": 0.5}
    rows = verdict(document | {"digest": digest_of(document)})[2]
    both = Fraction(rows) + Fraction(0.5) + Fraction(document["epsilon"]) / 2**50
    for more, holds in ((Fraction(1, 4), False), (Fraction(2), True)):
        document["delta"] = float(both + more * Fraction(0.5) / 2**50)
        document["digest"] = digest_of(document)
        assert (verdict(document)[0] is not None) == holds


@pytest.mark.parametrize("version", [True, 1.0, 2])
def test_a_version_that_only_equals_one_is_refused_by_both(version):
    document = base("pure") | {"version": version}
    document["digest"] = digest_of(document)
    assert verdict(document)[:2] == (None, "its version is not 1")
    assert second_verdict(document) == (False, None)


def test_a_delta_of_one_promises_nothing():
    document = base("pure") | {"delta": 1.0}
    document["digest"] = digest_of(document)
    assert verdict(document)[:2] == (None, "delta: must be below 1, a larger one promises nothing")
    assert second_verdict(document) == (False, None)


@pytest.mark.parametrize("epsilon", [1e-3, 0.05, 0.2])
@pytest.mark.parametrize("ratio", [0.01, 0.3, 1.0])
def test_a_small_round_takes_from_the_pool_what_it_costs(epsilon, ratio):
    """By total variation in 40 digits; two thirds of the cost do not hold."""
    floor = epsilon * epsilon / ratio
    cost = small_cost(epsilon, floor)
    assert small_round_fits(epsilon, floor, cost)
    assert not small_round_fits(epsilon, floor, cost / 1.5)
