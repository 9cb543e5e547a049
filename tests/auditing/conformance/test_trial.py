"""The trial catches what is broken, clears what is sound, and outlives a hang."""

import math
import time
from collections import Counter

import pytest

from simulator.auditing.conformance import Limits, Truths, cases
from simulator.auditing.conformance.accountants import LibraryTrial, try_accountants
from simulator.auditing.conformance.client import Lost, Worker
from simulator.auditing.conformance.compositions import Case
from simulator.auditing.conformance.defects import distinct
from simulator.auditing.conformance.events import (
    APPROX,
    GAUSSIAN,
    NOTHING,
    PURE,
    PrivacyEvent,
    merged,
)
from simulator.auditing.conformance.protocol import Spend
from simulator.auditing.conformance.searched import worst_of_filter, worst_of_odometer
from simulator.auditing.conformance.spending import (
    FILTER_PLAYERS,
    events_of,
    play_filter,
    play_odometer,
)
from simulator.auditing.conformance.verdicts import Ruling

STUBBORN = "tests.auditing.conformance.stubborn"
BROKEN = "tests.auditing.conformance.broken"
CASES = [
    Case("gaussian", (PrivacyEvent(GAUSSIAN, 0.5, 4),), 1e-5, "gaussian"),
    Case("pure", (PrivacyEvent(PURE, 0.5, 3), PrivacyEvent(PURE, 0.2, 2)), 1e-6, "pure"),
    Case("approx", (PrivacyEvent(APPROX, 0.1, 10, 1e-7),), 1e-5, "approx"),
]


@pytest.fixture(scope="module")
def worker():
    with Worker(BROKEN, megabytes=1024) as running:
        running.start()
        yield running


@pytest.fixture(scope="module")
def judged():
    """The trial, and {accountant: its verdicts}."""
    trial = try_accountants("broken", CASES, worker=Worker(BROKEN))
    found = {}
    for one in trial.judged:
        found.setdefault(one.subject, []).append(one)
    return trial, found


@pytest.mark.parametrize(
    ("accountant", "verdict"),
    [
        ("sound", Ruling.SOUND),
        ("halves", Ruling.UNSOUND),
        ("a little short", Ruling.UNSOUND),
        ("NaN", Ruling.FAILS),
        ("negative", Ruling.FAILS),
        ("None", Ruling.FAILS),
        ("raises", Ruling.FAILS),
        ("doubles", Ruling.LOOSE),
    ],
)
def test_each_accountant_gets_its_verdict(judged, accountant, verdict):
    verdicts = judged[1][accountant]
    assert len(verdicts) == 6
    assert {one.verdict for one in verdicts} == {verdict}


@pytest.mark.parametrize(
    ("accountant", "words"),
    [
        ("raises", "ZeroDivisionError: as it happens (broken.py"),
        ("None", "the answer is not a number but None"),
        ("negative", "negative"),
    ],
)
def test_a_failure_says_what_it_was(judged, accountant, words):
    assert all(words in one.why for one in judged[1][accountant])


def test_a_count_that_is_ignored_is_one_defect_confirmed_twice(judged):
    trial, found = judged
    assert {one.verdict for one in found["ignores counts"]} == {Ruling.UNSOUND, Ruling.NOT_OFFERED}
    trial = LibraryTrial(name="broken", judged=found["ignores counts"])
    defects = distinct(trial, [])
    assert {defect.title for defect in defects} == {
        f"claims less than the truth of {kind} rounds" for kind in ("gaussian", "pure")
    }
    pure = next(defect for defect in defects if "pure" in defect.title)
    assert pure.calls == 2  # rounds with a leak too, which add nothing to what pure ones show
    assert pure.where == "at delta up to 1e-05"
    assert all(defect.confirmed and len(defect.truths) == 2 for defect in defects)


def test_a_sound_accountant_has_no_defect(judged):
    assert distinct(LibraryTrial(name="broken", judged=judged[1]["sound"]), []) == []


@pytest.fixture(scope="module")
def stubborn():
    """{accountant: its verdicts}, the deadline being half a second."""
    limits = Limits(seconds=0.5)
    trial = try_accountants("stubborn", CASES[1:2], limits=limits, worker=Worker(STUBBORN))
    return {name: [one for one in trial.judged if one.subject == name] for name in NAMES}


NAMES = ("hangs", "dies", "devours", "answers")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("accountant", "words"),
    [("hangs", "no answer within 0.5 s"), ("dies", "exit code 3"), ("devours", "MemoryError")],
)
def test_a_hang_a_crash_and_a_full_memory_are_failures(stubborn, accountant, words):
    found = stubborn[accountant]
    assert [one.verdict for one in found] == [Ruling.FAILS, Ruling.FAILS]
    assert all(words in one.why for one in found)


def test_they_cost_their_own_calls_only(stubborn):
    found = [one.verdict for one in stubborn["answers"]]
    assert len(found) == 2
    assert set(found) <= {Ruling.SOUND, Ruling.LOOSE}


def test_a_lost_worker_is_gone_within_its_deadline():
    with Worker(STUBBORN) as running:
        running.start()
        began = time.monotonic()
        request = {"do": "value", "subject": "hangs", "question": "epsilon", "at": 1e-6}
        with pytest.raises(Lost, match=r"within 0\.2 s"):
            running.ask(request | {"events": [["pure", 0.1, 1, 0.0, 1.0, "add-remove"]]}, 0.2)
        assert time.monotonic() - began < 5.0
        assert running.lost


def test_calls_beyond_the_total_are_counted_and_not_made():
    limits = Limits(seconds=5.0, total=1e-9)
    trial = try_accountants("broken", CASES[:1], limits=limits, worker=Worker(BROKEN))
    assert set(trial.skipped.values()) == {1}
    assert len(trial.judged) == len(trial.skipped)


def verdicts(plays):
    """{adversary: verdicts over all promises}."""
    found = {}
    for play in plays:
        found.setdefault(play.adversary, set()).add(play.verdict)
    return found


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "caught_by", "ruling"),
    [
        ("charges what it refused", "after a refusal", Ruling.FAILS),
        ("runs what it refused", "after a refusal", Ruling.FAILS),
        ("one too many", "small, then large", Ruling.UNSOUND),
        ("root of squares", "small, then large", Ruling.UNSOUND),
        ("forgets delta", "delta alone", Ruling.UNSOUND),
        ("takes NaN", "NaN", Ruling.FAILS),
        ("takes negative", "negative", Ruling.FAILS),
    ],
)
def test_each_broken_filter_is_caught(worker, name, caught_by, ruling):
    found = verdicts(play_filter(worker, "broken", name))
    assert ruling in found[caught_by]


@pytest.mark.nightly
def test_a_sound_filter_is_cleared(worker):
    found = verdicts(play_filter(worker, "broken", "sums"))
    assert set(found) == set(FILTER_PLAYERS)
    assert set().union(*found.values()) == {Ruling.SOUND}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "ruling"),
    [
        ("totals", {Ruling.SOUND}),
        ("largest delta only", {Ruling.SOUND, Ruling.UNSOUND}),
        ("root only", {Ruling.SOUND, Ruling.UNSOUND}),
        ("reads NaN", {Ruling.FAILS}),
    ],
)
def test_each_broken_odometer_is_caught(worker, name, ruling):
    plays = list(play_odometer(worker, "broken", name))
    assert {play.verdict for play in plays} == ruling


@pytest.mark.parametrize(
    ("name", "ruling"), [("sums", Ruling.SOUND), ("half price", Ruling.UNSOUND)]
)
def test_the_search_plays_the_admission_rule_itself(worker, name, ruling):
    (play,) = worst_of_filter(worker, "broken", name)
    assert play.verdict == ruling
    assert play.truth is not None


@pytest.mark.parametrize(
    ("name", "ruling"), [("totals", Ruling.SOUND), ("root only", Ruling.UNSOUND)]
)
def test_the_search_stops_an_odometer_when_it_suits_it(worker, name, ruling):
    (play,) = worst_of_odometer(worker, "broken", name)
    assert play.verdict == ruling


@pytest.mark.nightly
def test_a_play_that_breaks_a_promise_is_confirmed_a_second_way(worker):
    plays = list(play_filter(worker, "broken", "root of squares"))
    (defect,) = distinct(LibraryTrial(name="broken"), plays)
    assert defect.verdict == Ruling.UNSOUND
    assert defect.confirmed
    assert len(defect.truths) == 2


def test_what_a_play_admitted_is_an_event_each():
    spends = [Spend(0.1), Spend(0.1), Spend(0.2, 1e-6), Spend(math.nan), Spend(0.0)]
    found = events_of(spends)
    assert [(e.kind, e.parameter, e.count, e.delta) for e in found] == [
        (APPROX, 0.2, 1, 1e-6),
        (PURE, 0.1, 2, 0.0),
    ]


def test_compositions_are_a_function_of_the_seed():
    assert cases() == cases()
    assert cases(seed=13) != cases()
    assert len(cases()) >= 300
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)


def test_compositions_cover_what_is_asked_for():
    whole = cases()
    rounds = {sum(event.count for event in case.events) for case in whole}
    assert {1, 10_000} <= rounds
    assert {case.delta for case in whole} >= {1e-2, 1e-15}
    kinds = Counter(event.kind for case in whole for event in case.events)
    assert min(kinds.values()) >= 20
    assert len([case for case in whole if len({e.kind for e in case.events}) > 1]) >= 30
    assert kinds[NOTHING] >= 20


@pytest.mark.nightly
def test_other_ways_of_writing_have_the_truth_of_their_group():
    groups = {}
    for case in cases(share=0.1):
        groups.setdefault(case.group, []).append(case)
    related = [group for group in groups.values() if len(group) > 1]
    assert related
    for group in related:
        truths = {merged(case.events) for case in group}
        assert len(truths) == 1


@pytest.mark.nightly
def test_the_packages_own_accountants_are_sound():
    """The reduced trial: no claim of ours is unsound, and none fails."""
    trial = try_accountants("dpcompose", cases(share=0.04), truths=Truths())
    assert len(trial.judged) >= 60
    assert not trial.absent
    assert not trial.skipped
    allowed = {Ruling.SOUND, Ruling.LOOSE, Ruling.NOT_OFFERED}
    assert [one for one in trial.judged if one.verdict not in allowed] == []
    assert distinct(trial, []) == []
