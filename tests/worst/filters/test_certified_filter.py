"""Filters with a plan: the limit of any filter is reached, and no adversary gets past them."""

import json
import math
import pickle
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simulator.data import ADD_REMOVE
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.mechanisms import Laplace
from simulator.theory import ApproxDP, BoundedRange, GaussianDP, PureDP, bound, parse_filter
from simulator.theory.bounds.composition import Composition
from simulator.worst import worst_case
from simulator.worst.filters.admitted import most_rounds
from simulator.worst.filters.certificate_check import check
from simulator.worst.filters.certificate_format import digest_of
from simulator.worst.filters.certified import CertifiedFilter, read_certified, small_cost
from simulator.worst.filters.planned_rows import largest_useful, search
from simulator.worst.filters.plans import certified_filter, parse_kinds, parse_plan
from simulator.worst.filters.schedules import planned_rounds
from tests.helpers.cases import case
from tests.helpers.games import ALICE

EPSILON, DELTA = 1.0, 1e-4
PURE = "pure:0.1*3,pure:0.04"


@cache
def of(family="pure:0.5", plan=PURE, delta=DELTA, leaks=0.0, **others):
    """A filter with a plan at (1, delta)."""
    return certified_filter(family, EPSILON, delta, leaks, plan=plan, **others)


def rounds_of(filter_, *schedule):
    """How many rounds of a schedule, its last size repeated, are admitted."""
    running, count = filter_.fresh(), 0
    while running.admit(schedule[min(count, len(schedule) - 1)]):
        count += 1
    return count


def test_it_admits_as_many_planned_rounds_as_any_sound_filter():
    for size in (0.05, 0.04, 0.1):
        with case(size):
            filter_ = of(plan=f"pure:{size}")
            assert rounds_of(filter_, size) == most_rounds((EPSILON, DELTA), size)
    rounds = rounds_of(of(), 0.1, 0.1, 0.1, 0.04)
    exact = bound("murtagh-vadhan")
    deltas = [
        exact.on(Composition.of((PureDP(0.1), 3), (PureDP(0.04), n - 3))).delta(EPSILON).lower
        for n in (rounds, rounds + 1)
    ]
    assert deltas[0] <= DELTA < deltas[1]


def test_a_plan_of_many_sizes_loses_little():
    sizes = [0.1 / i**0.3 for i in range(1, 120)]
    filter_ = of(plan=tuple(f"pure:{size!r}" for size in sizes))
    rounds = rounds_of(filter_, *sizes)
    keeps = bound("murtagh-vadhan-rounded")
    most = next(
        n
        for n in range(rounds, 120)
        if keeps.on(Composition.of(*((PureDP(s), 1) for s in sizes[: n + 1]))).delta(EPSILON).lower
        > DELTA
    )
    assert 0.97 * most <= rounds <= most


def test_gaussian_rounds_are_admitted_as_the_exact_budget_allows():
    filter_ = of("gdp:0.1+pure:0.1", "gdp:0.1", delta=1e-3)
    exact = parse_filter("gaussian:1,1e-3")
    assert planned_rounds(filter_, "gdp", 0.1) == math.floor(exact.mu**2 / 0.01)


def value(filter_, sizes):
    """The largest delta of an adversary that plays randomized responses under the filter.

    By recursion over the filter's own rows, on multiples of a hundredth; a lower end, exact up to
    rounding. Basic composition is left out.
    """
    steps, reach = [round(100 * size) for size in sizes], 400
    x = 0.01 * np.arange(-reach, reach + 1)  # the loss less epsilon
    rows = [np.maximum(0.0, -np.expm1(-np.maximum(x, 0.0)))]
    prices = [filter_.price(PureDP(s)) for s in sizes]
    for n in range(1, filter_.rows + 1):
        best = rows[-1].copy()
        for k, price in zip(steps, prices):
            admitted, after = filter_.step((float(n), *filter_.initial[1:]), *price)
            if not admitted:
                continue
            row = np.concatenate([np.zeros(k), rows[int(after[0])], np.zeros(k)])
            row[len(row) - k :] = -np.expm1(-(x[-1] + 0.01 * np.arange(1, k + 1)))
            wins = 1.0 / (1.0 + math.exp(-0.01 * k))
            best = np.maximum(best, wins * row[2 * k :] + (1.0 - wins) * row[: len(x)])
        rows.append(best)
    return float(rows[-1][reach - round(100 * EPSILON)])


def test_no_recursion_over_other_grids_gets_past_it():
    for filter_ in (of(), of(spare=0.1), of(plan="pure:0.05", spare=0.02), of(pool=0.05)):
        filter_ = replace(filter_, basic=False, pool=0.0, floor=0.0)
        for sizes in ([0.1, 0.04], [0.01 * k for k in range(1, 30)], [0.07, 0.03, 0.11, 0.02]):
            assert value(filter_, sizes) <= DELTA
    assert value(replace(of(), basic=False), [0.1, 0.04]) > 0.85 * DELTA


def test_lower_falls_are_caught_by_the_check_and_by_the_recursion():
    """Each fall in turn is made one less: the check refuses exactly what an adversary uses."""
    filter_ = replace(of(), basic=False)
    refused = 0
    for i, (kind, size, falls) in enumerate(filter_.moves):
        if (kind, size) in {("pure", 0.1), ("pure", 0.04)} or i % 6:
            continue
        fewer = tuple((row, max(fall - max(2, fall // 4), 1)) for row, fall in falls if fall)
        moves = (*filter_.moves[:i], (kind, size, fewer), *filter_.moves[i + 1 :])
        broken = replace(filter_, moves=moves)
        try:
            assert broken.verify().reached <= DELTA
        except NotApplicable:
            refused += 1
    assert refused >= 5
    one = tuple(
        (kind, size, ((1, 1),) if size == 0.1 else falls) for kind, size, falls in filter_.moves
    )
    broken = replace(filter_, moves=one)
    assert value(broken, [0.1, 0.04]) > 2 * DELTA
    with pytest.raises(NotApplicable, match="the rows reach"):
        broken.bounds_delta(EPSILON)


def test_larger_rounds_than_are_listed_lose_too_much_alone():
    families = {"pure": PureDP, "range": BoundedRange, "gdp": GaussianDP}
    for promise in ((0.001, 0.1), (1.0, 1e-6), (1.0, 0.1), (20.0, 0.1)):
        for kind, size in largest_useful(promise).items():
            with case(kind, promise):
                lost = (
                    1.0 - math.exp((promise[0] - size) / 2.0)
                    if kind == "laplace"
                    else families[kind](size).hockey_stick(promise[0])
                )
                assert lost > promise[1]
    filter_ = of("pure:1e9+laplace:1e9", "pure:0.05")
    assert max(filter_.largest.values()) < 2.0
    assert not filter_.fresh().admit(1e6)
    assert not filter_.fresh().admit(1e6, kind="laplace")


@pytest.mark.sampled
@pytest.mark.parametrize(
    "menu",
    [
        ",".join(f"randomized-response:{i * 0.021:.3f}" for i in range(1, 10)),
        pytest.param(
            ",".join(f"randomized-response:{i / 300:.17g}" for i in range(3, 90, 7)),
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            ",".join(f"randomized-response:{i * 0.007:.3f}" for i in range(2, 40, 5)),
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            ",".join(
                f"randomized-response:{e:.17g}"
                for e in np.random.default_rng(8).uniform(0.005, 0.3, 9)
            ),
            marks=pytest.mark.nightly,
        ),
        "laplace:0.02,laplace:0.07,randomized-response:0.03",
    ],
)
def test_no_adversary_that_the_search_finds_gets_past(menu):
    filter_ = of("pure:0.5+laplace:0.5", "laplace:0.02", spare=0.02)
    found = worst_case(menu, filter=filter_, epsilon=EPSILON, seconds=2, tolerance=0.1)
    assert found.verdict == "sound"
    assert DELTA >= found.delta.lower > 0.02 * DELTA


def test_basic_composition_is_part_of_it_and_ends_the_rows():
    filter_ = of(plan="pure:0.02")
    assert rounds_of(filter_, 0.25) == 4
    running = filter_.fresh()
    assert running.rows_left == filter_.rows
    assert running.admit(0.5)
    assert running.admit(0.5)
    assert running.rows_left == -1  # only basic composition is left, and spent
    assert not running.admit(0.01)
    assert running.admit(0.0)
    assert not running.spec.step(running.state, *filter_.price(PureDP(0.6)))[0]
    costs_only = replace(filter_, basic=False)
    assert not costs_only.fresh().admit(0.5)


def test_a_gaussian_round_leaves_basic_composition():
    running = of("pure:0.1+gdp:0.06", "pure:0.05").fresh()
    assert running.admit(0.05, kind="gdp")
    assert not running.admit(0.5)


def test_the_pool_is_for_small_rounds_at_lemma_4():
    filter_ = of(plan="pure:0.05", pool=0.1)
    cost = small_cost(0.005, filter_.floor)
    assert 0.005**2 < cost < 1.05 * 0.005**2
    running = replace(filter_, basic=False).fresh()
    count = 0
    while running.rows_left == filter_.rows and running.admit(0.005):
        count += 1
    assert count - 1 == math.floor(filter_.pool / cost)
    assert running.rows_left == filter_.rows - 1
    before = running.state
    assert running.admit(0.05)  # a planned round leaves the pool
    assert running.state[1] == before[1]
    without = of(plan="pure:0.05")
    assert filter_.rows < without.rows
    unsound = replace(filter_, pool=2.0 * filter_.pool)
    with pytest.raises(NotApplicable, match="proves nothing"):
        unsound.verify()


def test_prices():
    filter_ = of("pure:0.2+laplace:0.3+range:0.3", "pure:0.1", spare=0.05)
    assert filter_.largest == {"laplace": 0.3, "pure": 0.2, "range": 0.3}
    kinds = [filter_.moves[filter_.price(g)[0]][:2] for g in (PureDP(0.1), BoundedRange(0.3))]
    assert kinds == [("pure", 0.1), ("range", 0.3)]
    assert filter_.price(PureDP(0.0)) == (-2, -1.0, 0.0, 0.0)
    assert filter_.price(ApproxDP(0.05, 1e-7))[2:] == (0.05, 1e-7)
    own = filter_.price_of(Laplace(ALICE, 0.3), ADD_REMOVE)
    assert filter_.moves[own[0]][:2] == ("laplace", 0.3)
    assert filter_.price(PureDP(0.29))[0] == -1
    only = of("laplace:0.5", "laplace:0.05")
    with pytest.raises(NotApplicable, match="certified filter of laplace cannot account for"):
        only.price(PureDP(0.1))


def test_the_program_of_the_page_moves_as_the_filter_does():
    page = Path(__file__).parents[3] / "experiments" / "site" / "pages" / "howto" / "deploy.md"
    program = page.read_text(encoding="utf-8").partition("\ndef next_row")[2].partition("\n\n")[0]
    filter_ = replace(of(), basic=False)
    names = {"certificate": filter_.certificate()}
    exec("def next_row" + program, names)
    generator = np.random.default_rng(4)
    for size in (*generator.uniform(0.0, 0.6, 100), 0.1, 0.04):
        row, start = int(generator.integers(1, filter_.rows + 1)), filter_.initial
        admitted, after = filter_.step((float(row), *start[1:]), *filter_.price(PureDP(size)))
        assert names["next_row"]("pure", size, row) == (int(after[0]) if admitted else None)


def drawn_plan(generator):
    """A family, a promise and options of a filter: one to four kinds, or sampled Gaussians."""

    def log_uniform(low, high):
        found = math.exp(generator.uniform(math.log(low), math.log(high)))
        return float(f"{found:.{generator.choice([1, 2, 17])}g}")

    epsilon, delta = log_uniform(0.03, 6.0), log_uniform(1e-12, 0.08)
    if generator.random() < 0.1:
        family = f"subsampled-gaussian:{log_uniform(0.8, 4.0)!r},{log_uniform(0.003, 0.9)!r}"
        return (family, max(epsilon, 0.5), max(delta, 1e-8)), {
            "units": int(generator.integers(2, 60))
        }
    kinds = ["pure", "laplace", "range", "gdp"]
    kinds = sorted(generator.choice(kinds, int(generator.integers(1, 5)), replace=False))
    largest = {kind: epsilon * log_uniform(0.1, 2.0) for kind in kinds}
    plan = []
    for _ in range(int(generator.integers(1, 4))):
        kind = str(generator.choice(kinds))
        rounds = str(generator.choice(["", *(f"*{n}" for n in range(1, 12))]))
        plan.append(f"{kind}:{min(largest[kind] * log_uniform(0.1, 1.0), largest[kind])!r}{rounds}")
    others = {
        "pool": [0.001, 0.02, 0.3], "spare": [0.001, 0.02, 0.5],
        "sizes": [(epsilon * log_uniform(0.03, 1.0), epsilon * log_uniform(0.03, 1.0))],
    }  # fmt: skip
    others = {n: each[generator.integers(len(each))] for n, each in others.items()}
    others = {name: each for name, each in others.items() if generator.random() < 0.3}
    leaks = delta * float(generator.choice([0.0, 0.0, 0.5, 0.99]))
    family = "+".join(f"{kind}:{size!r}" for kind, size in largest.items())
    return (family, epsilon, delta, leaks), {"plan": plan, **others}


@pytest.mark.parametrize(
    "numbers", [(5, 14, 16, 33, 35), pytest.param(range(100), marks=pytest.mark.nightly)]
)
def test_the_maker_never_writes_what_the_check_refuses(numbers, tmp_path):
    """A plan of which not even the first round fits is one line."""
    made = 0
    for number in numbers:
        given, others = drawn_plan(np.random.default_rng([21, number]))
        with case(number, *given, others):
            try:
                found = certified_filter(*given, **others)
            except NotApplicable as error:
                if "not even the first round" in str(error):
                    continue
                raise
            path = tmp_path / f"{number}.json"
            found.save(path)
            delta, leaks = (*given, 0.0)[2:4]
            assert check(path.read_text()).reached < delta - leaks
            made += 1
    assert made >= 0.75 * len(numbers)


@pytest.mark.nightly
def test_the_search_does_not_see_all_that_the_check_does_and_tries_again():
    family, plan = "laplace:0.5+range:0.2", "laplace:0.2*3,range:0.05"
    found = certified_filter(family, 1.0, 1e-5, plan=plan)
    assert 0.99e-5 < found.verify().reached < 1e-5
    limit = (1.0, 1e-5)
    alone = search(limit, parse_kinds(family), parse_plan(plan), sizes=(), pool=0.0, spare=0.0)
    broken = replace(found, plan=alone.plan, moves=alone.moves, lattice=alone.lattice)
    with pytest.raises(NotApplicable, match=r"the rows reach 1\.00005e-05"):
        broken.verify()


def test_what_the_plan_spares_lowers_other_prices():
    plain, spared = of(plan="pure:0.02"), of(plan="pure:0.02", spare=0.1)
    assert 0.98 * plain.rows < spared.rows < plain.rows
    costs_only = [replace(each, basic=False) for each in (plain, spared)]
    rounds = [planned_rounds(each, "pure", 0.04) for each in costs_only]
    assert rounds[1] > 1.03 * rounds[0]


def test_rounds_with_a_delta_take_theirs_from_it():
    filter_ = of(delta=2e-4, leaks=1e-4)
    running = filter_.fresh()
    assert not running.admit(0.1, 2e-4)
    assert running.admit(0.1, 6e-5)
    assert not running.admit(0.1, 6e-5)
    assert running.admit(0.1)
    assert filter_.rows == of().rows
    assert filter_.bounds_delta(EPSILON) == 2e-4


@pytest.mark.parametrize("basic", [True, False])
def test_text_file_and_pickle_give_the_filter_back(tmp_path, basic):
    filter_ = replace(of(pool=0.05), basic=basic)
    assert parse_filter(str(filter_)) == filter_ == pickle.loads(pickle.dumps(filter_))
    path = tmp_path / "one.json"
    of(pool=0.05).save(path)
    assert read_certified(path) == of(pool=0.05) == parse_filter(f"certified:{path}")
    document = json.loads(path.read_text())
    document["moves"][3]["falls"][0][1] += 1
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidInput, match="it was changed"):
        read_certified(path)


@pytest.mark.parametrize("form", ["{path}", "{text}", "{text},rows-only"])
def test_a_file_or_a_text_that_proves_nothing_is_refused_when_it_is_read(tmp_path, form):
    """A forged table with a digest of its own, which a play used to follow."""
    document = of().certificate()
    document["moves"] = [move | {"falls": [[1, 1]]} for move in document["moves"]]
    document["digest"] = digest_of(document)
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidInput, match=r"the rows reach .* above delta") as refused:
        parse_filter("certified:" + form.format(path=path, text=json.dumps(document)))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("family", "others", "error"),
    [
        ("pure:0.5", {"plan": "pure:0.6"}, "not within the family"),
        ("pure:0.5", {"plan": "laplace:0.1"}, "not within the family"),
        ("pure:0.5", {"plan": ""}, "must be of pure, laplace"),
        ("pure:0.5", {"plan": ()}, "needs a round"),
        ("pure:0.5", {"plan": "pure:0.1*0"}, "a whole number of rounds"),
        ("pure:0.5", {"plan": "pure:0.1*x"}, "a whole number of rounds"),
        ("pure:0.5", {"plan": "pure:-1"}, "must be above 0"),
        ("pure:0.5", {"plan": "pure:nan"}, "must be finite"),
        ("pure:0.5", {"plan": "zcdp:1"}, "must be of pure"),
        ("pure:0.5+pure:0.2", {"plan": "pure:0.1"}, "each kind once"),
        ("laplace:0.5*2", {}, "each kind once"),
        ("pure:0.5", {}, "has the filter residue:1.0,0.0001, which needs no certificate"),
        ("gdp:0.5", {}, "has the filter gaussian:1.0,0.0001"),
        ("zcdp:1", {}, "must be of pure"),
        ("pure:0.5", {"plan": "pure:0.1", "units": 9}, "units and sigmas are of"),
        ("subsampled-gaussian:1,0.1", {"plan": "pure:0.1"}, "have no plan"),
        ("subsampled-gaussian:1,0", {}, "must be above 0"),
        ("subsampled-gaussian:1,0.1", {"units": 1}, "units must be at least 2"),
        ("subsampled-gaussian:0.001,0.5", {}, "lose too much at once for 1000 units"),
        ("pure:30", {"plan": "pure:20"}, "not even the first round"),
        ("pure:0.5", {"plan": "pure:0.000001"}, "too small beside epsilon"),
        ("pure:0.5", {"plan": "pure:0.1", "pool": 2.0}, "pool's share"),
        ("pure:0.5", {"plan": "pure:0.1", "pool": 1e-12}, "too small a share"),
        ("pure:0.5", {"plan": "pure:0.50000001"}, "the plan's pure:0.50000001 is not within"),
        ("pure:0.5", {"plan": "pure:0.1", "spare": -1.0}, "spare share"),
        ("pure:0.5", {"plan": "pure:0.1", "sizes": (0.0,)}, "a size"),
        ("pure:0.5", {"sizes": (0.1,)}, "give a plan"),
        ("pure:0.5", {"plan": "pure:0.1", "rounds_delta": 1e-4}, "delta above rounds_delta"),
    ],
)
def test_wrong_input_is_one_line(family, others, error):
    with pytest.raises((InvalidInput, NotApplicable), match=error) as caught:
        certified_filter(family, EPSILON, DELTA, **others)
    assert "\n" not in str(caught.value)


def test_sampled_gaussians_leave_room_for_the_rounding_of_epsilon():
    """At (20, 1e-12) that is some 2% of delta, which six searches did not give away."""
    made = certified_filter("subsampled-gaussian:1,0.5", 20.0, 1e-12, units=4, sigmas=(1.0,))
    assert made.verify().reached < 1e-12 - 20.0 * 2.0**-50


def test_a_delta_within_the_rounding_of_epsilon_is_one_line():
    with pytest.raises(NotApplicable, match="within the rounding"):
        certified_filter("pure:1", 20.0, 1e-15, plan="pure:0.5")


@pytest.mark.parametrize(
    "text",
    [
        "certified:",
        "certified:1",
        "certified:1,rows-only",
        "certified:{}",
        "certified:[1]",
        "certified:/no/such.json",
    ],
)
def test_wrong_text_is_one_line(text):
    with pytest.raises(InvalidInput):
        parse_filter(text)
    assert isinstance(of(), CertifiedFilter)


def test_a_play_that_is_not_priced_raises_one_line():
    with pytest.raises(InvalidInput, match="delta"):
        of().fresh().admit(0.1, -1.0)
    with pytest.raises(InvalidInput, match="a round is of"):
        of().fresh().admit(0.1, kind="zcdp")
    with pytest.raises(NotApplicable, match="cannot account"):
        of().fresh().spend(GaussianDP(0.1))
