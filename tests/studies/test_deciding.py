"""Decisions between tasks, and against bounds: their error, and their resumption."""

import numpy as np
import pytest

from simulator import RandomizedResponse, Result, simulate
from simulator.adversaries import Rule
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.foundations.errors import InvalidInput
from simulator.studies import Quantity, Study, Task, collect
from simulator.studies.deciding import ordered
from simulator.theory import PureDP

pytestmark = pytest.mark.usefixtures("compiles")  # many studies of one game


def always(state, i, answer, coins):
    return state, 0


def answering(name):
    menu = ((WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.2)),)
    return Rule(always, menu, name=name)


TWINS = answering("one"), answering("other")
NAMES = ("press-when-ahead", "stop-when-sure", "fixed-worst-case")


def tasks_of(names, quantity, family="pure:0.2", rounds=20, **others):
    return [Task(name, family, rounds, quantity, **others) for name in names]


def collected(tasks, out=None, **settings):
    return Study.of(collect(tasks, out, jobs=1, **settings))


@pytest.mark.nightly
def test_clear_orders_stop_early_and_close_ones_go_on():
    clear = collected(tasks_of(NAMES[:1] + NAMES[2:], "delta(epsilon=1)"), decide="order")
    assert {p.stopped for p in clear} == {"decided"}
    assert max(p.trials for p in clear) <= 16_000
    same = collected(
        tasks_of(("fixed-worst-case", "double-when-behind"), "delta(epsilon=0.2)", rounds=1),
        decide="order", trials=4000,
    )  # fmt: skip
    assert {p.stopped for p in same} == {"trials"}


@pytest.mark.nightly
def test_decided_intervals_are_apart():
    study = collected(tasks_of(NAMES, "delta(epsilon=1)"), decide="order", trials=32_000)
    for experiment in (0, 1):
        found = sorted(study.filter(experiment=experiment), key=lambda p: p.lower)
        decided = [p for p in found if p.stopped == "decided"]
        assert decided
        for point in decided:
            others = [p for p in found if p.adversary != point.adversary]
            assert all(p.upper < point.lower or p.lower > point.upper for p in others)


@pytest.mark.nightly
def test_wrong_orders_are_as_rare_as_stated():
    """Two adversaries with one truth are told apart with probability 2 * 20% at most.

    Stated: 40%. Seen in 60 studies: at most 33 have probability 0.99 if it were 40%; naive looks
    at 80% each would tell more apart.
    """
    apart = naive = 0
    for seed in range(60):
        games = tasks_of(TWINS, "tail(epsilon=0.3)", rounds=8, seed=seed, experiments=(0,))
        study = collected(games, decide="order", confidence=0.8, trials=16_000)
        apart += any(p.stopped == "decided" for p in study)
        naive += told_apart_naively(seed)
    assert apart <= 24
    assert naive > apart


def told_apart_naively(seed):
    results = [
        simulate(a, PureDP(0.2), 8, 16_000, seed=seed, jobs=1, progress=False, experiments=(0,))
        for a in TWINS
    ]
    above = np.array([result.losses(0) > 0.3 for result in results])
    for n in (1000, 2000, 4000, 8000, 16_000):
        mean = above[:, :n].mean(axis=1)
        error = np.sqrt((mean * (1 - mean) / n).sum())
        if abs(mean[0] - mean[1]) > 0.84 * error:  # two intervals of 40% each side by side
            return True
    return False


def test_a_bound_that_holds_by_far_is_decided():
    quantities = ["delta(epsilon=1)", "bound:zcdp-canonne-kamath-steinke delta(epsilon=1)"]
    study = collected(tasks_of(NAMES[:1], quantities), decide="bounds")
    measured = study.filter(lambda p: not p.quantity.startswith("bound"))
    assert {p.stopped for p in measured} == {"decided"}
    assert all(p.trials < 100_000 for p in measured)


def test_without_a_bound_nothing_is_decided():
    study = collected(tasks_of(NAMES[:1], "delta(epsilon=1)"), decide="bounds", trials=4000)
    assert {p.stopped for p in study} == {"trials"}


@pytest.mark.sampled
@pytest.mark.parametrize("after", [3, 1, 5, 7, 11, 15])
def test_an_interrupted_study_decides_as_a_whole_one(tmp_path, after):
    settings = {"decide": "order", "trials": 32_000, "jobs": 1}
    whole = tmp_path / "whole.csv"
    list(collect(tasks_of(NAMES, "delta(epsilon=1)"), whole, **settings))
    part = tmp_path / "part.csv"
    found = collect(tasks_of(NAMES, "delta(epsilon=1)"), part, **settings)
    for _ in range(after):
        next(found, None)
    found.close()
    list(collect(tasks_of(NAMES, "delta(epsilon=1)"), part, **settings))
    one, other = Study.load(whole), Study.load(part)
    assert len(one) == len(other) == 6
    assert all(a.same_numbers(b) for a, b in zip(one, other))


def test_a_new_adversary_opens_what_it_overlaps(tmp_path):
    out = tmp_path / "study.csv"
    first = collected(tasks_of(NAMES[::2], "delta(epsilon=1)"), out, decide="order")
    assert {p.stopped for p in first} == {"decided"}
    twin = tasks_of((*NAMES[::2], "double-when-behind"), "delta(epsilon=1)")
    both = collected(twin, out, decide="order", trials=100_000)
    assert len(both) == 6
    compared = ordered(both)
    assert all((p.stopped == "decided") == (p.key in compared) for p in both)


def test_an_unknown_decision_is_refused():
    with pytest.raises(InvalidInput, match="a study decides order or bounds, not 'oder'"):
        collected(tasks_of(NAMES, "delta(epsilon=1)"), decide="oder")


def test_moments_are_those_of_a_run():
    (task,) = tasks_of(("fixed-worst-case",), ["mean()", "variance()"], rounds=8)
    study = collected([task], trials=20_000)
    result = simulate("fixed-worst-case", "pure:0.2", 8, 20_000, jobs=1, progress=False)
    assert isinstance(result, Result)
    for b in (0, 1):
        mean, variance = study.filter(experiment=b)
        assert (mean.value, mean.lower, mean.upper) == tuple(
            getattr(result.mean(b), name) for name in ("value", "lower", "upper")
        )
        assert variance.value == result.variance(b).value
    epsilon, rounds = 0.2, 8
    tanh = np.tanh(epsilon / 2)  # of randomized response: Dwork, Rothblum, Vadhan 2010
    assert Quantity.parse(" mean( ) ") == Quantity("mean")
    for b in (0, 1):
        mean, variance = study.filter(experiment=b)
        assert mean.lower <= rounds * epsilon * tanh <= mean.upper
        assert variance.lower <= rounds * epsilon**2 * (1 - tanh**2) <= variance.upper


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("mean(epsilon=1)", "write mean()"),
        ("rare mean()", "write mean()"),
        ("bound:advnced delta(epsilon=1)", "unknown bound 'advnced'; did you mean advanced"),
        ("tail()", "write tail(epsilon=1e-2)"),
        ("epsilon()", "write epsilon(delta=1e-2)"),
    ],
)
def test_what_is_no_quantity_is_refused(text, line):
    with pytest.raises(InvalidInput) as refused:
        Quantity.parse(text)
    assert line in str(refused.value)
