"""A library is held to what it says, and to the mechanism that it was given."""

from __future__ import annotations

import dataclasses
import math
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from simulator.auditing.commands.conform import QUICK
from simulator.auditing.conformance import worker
from simulator.auditing.conformance.accountants import LibraryTrial, Truths
from simulator.auditing.conformance.client import Worker
from simulator.auditing.conformance.compositions import cases
from simulator.auditing.conformance.defects import distinct, raised
from simulator.auditing.conformance.events import (
    GAUSSIAN,
    PURE,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
)
from simulator.auditing.conformance.known_libraries import MODULES, find, why_absent
from simulator.auditing.conformance.protocol import Reading, Spend
from simulator.auditing.conformance.report import LibraryReport, to_markdown
from simulator.auditing.conformance.running import show
from simulator.auditing.conformance.spending import SpendingPlay, SpendingTable, read_true
from simulator.auditing.conformance.verdicts import Judged, Ruling, failed, judge
from simulator.auditing.conformance.worker import numbers
from simulator.auditing.libraries.autodp import truthful
from simulator.auditing.libraries.dp_accounting import noise_parameter
from simulator.foundations.errors import NotApplicable
from simulator.runner.store.provenance import provenance
from simulator.theory import Bracket
from simulator.theory.laws.gaussian_curve import gaussian_epsilon

mpmath = pytest.importorskip("mpmath", reason="mpmath is the second way, an extra of the trial")
EPSILONS = [10.0 ** (i / 7.0) for i in range(-35, 11)] + [20.0, 0.132, 35.0]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_response_given_to_a_library_is_no_more_private_than_the_one_asked_about(epsilon):
    with mpmath.workdps(60):
        p, q = mpmath.mpf(truthful(epsilon)), mpmath.mpf(noise_parameter(epsilon))
        for given in (mpmath.log(p / (1 - p)), mpmath.log((2 - q) / q)):
            assert given >= epsilon * (1 - 1e-10)


def test_a_claim_for_the_mechanism_it_was_given_is_not_called_unsound():
    """At epsilon = 20 the chance nearest to it is that of an epsilon smaller by 4e-8."""
    p = mpmath.mpf(truthful(20.0))
    with mpmath.workdps(60):
        claim = float(mpmath.log((p - mpmath.mpf("1e-4")) / (1 - p)))
    asked = 20.0 + math.log1p(-1e-4) - 1e-12
    assert judge("epsilon", claim, Bracket(asked, asked + 1e-11))[0] == Ruling.SOUND
    nearest = mpmath.mpf(1.0 / (1.0 + math.exp(-20.0)))
    with mpmath.workdps(60):
        claim = float(mpmath.log((nearest - mpmath.mpf("1e-4")) / (1 - nearest)))
    assert judge("epsilon", claim, Bracket(asked, asked + 1e-11))[0] == Ruling.UNSOUND


def test_no_chance_of_a_true_answer_is_1():
    with pytest.raises(NotApplicable, match=r"epsilon 40\.0"):
        truthful(40.0)


def judged(claimed, verdict=Ruling.UNSOUND, **changes):
    """A call on three pure rounds of 0.5, whose truth is 1.4999988 or so at 1e-6."""
    events = (PrivacyEvent(PURE, 0.5, 3),)
    made = Judged(
        library="broken",
        subject="halves",
        case="a",
        group="a",
        events=events,
        question="epsilon",
        at=1e-6,
        claimed=claimed,
        truth=Bracket(1.49999, 1.5),
        verdict=verdict,
        factor=claimed / 1.5,
    )
    return dataclasses.replace(made, **changes)


def reported(*calls, played=()):
    trial = LibraryTrial(name="broken", version="1", judged=list(calls))
    return LibraryReport(trial, defects=distinct(trial, list(played)))


def test_what_the_library_warns_of_is_shown_and_not_counted():
    report = reported(judged(0.75, documented="it says so"))
    (defect,) = report.defects
    assert (defect.confirmed, defect.counts) == (True, False)
    page = to_markdown([report], provenance(), 1, 10.0)
    assert "| broken | 1 | 0 | 0 | 1 |" in page
    assert "documented and not counted" in page


def test_a_warning_that_answers_fall_short_excuses_no_exception():
    failure = judged(math.nan, Ruling.FAILS, why="E: no (x.py:1)", documented="may fall short")
    (defect,) = reported(failure).defects
    assert defect.counts


def test_the_page_says_up_to_which_delta_claims_are_unsound():
    calls = [
        judged(0.75),
        judged(0.5, at=1e-8),
        judged(1.5, Ruling.SOUND, at=1e-3),
        judged(1.9, Ruling.LOOSE, at=1e-2),
        judged(1.5, Ruling.SOUND, at=1e-9),
        judged(1.5, Ruling.SOUND, at=1e-3, subject="another"),
    ]
    (defect,) = reported(*calls).defects
    assert defect.where == "at delta up to 1e-06; of 2 claims at a larger delta none is"


def test_other_kinds_of_events_say_nothing_of_larger_deltas():
    sampled = (PrivacyEvent(SUBSAMPLED_GAUSSIAN, 1.0, 3, rate=0.1),)
    sound = judged(1.5, Ruling.SOUND, at=1e-3, events=sampled)
    (defect,) = reported(judged(0.75), sound).defects
    assert defect.where == "at delta 1e-06"


@pytest.mark.parametrize(
    ("printed", "confirmed"), [("0.75", True), ("1.6", False), ("1e", False), ("", False)]
)
def test_a_claim_that_its_program_does_not_repeat_is_unconfirmed(monkeypatch, printed, confirmed):
    (defect,) = reported(judged(0.75)).defects
    monkeypatch.setattr(Worker, "start", lambda self: {})
    monkeypatch.setattr(
        Worker, "ask", lambda self, request, seconds: {"text": f"print({printed!r})"}
    )
    show(defect, Worker("tests.auditing.conformance.broken"), sys.executable)
    assert defect.confirmed is confirmed
    assert defect.counts is confirmed


def played(why, verdict=Ruling.FAILS, reading=(0.0, 0.0)):
    return SpendingPlay(
        library="broken",
        subject="totals",
        role="odometer",
        adversary="a",
        spends=(Spend(0.1, 0.0),),
        admitted=(True,),
        promise=Reading(*reading),
        opened=(1e-9,),
        verdict=verdict,
        why=why,
    )


def test_an_odometer_that_raises_is_not_said_to_announce_anything():
    why = "ZeroDivisionError: float division by zero (odometer.py:32)"
    assert raised(why)
    (defect,) = reported(played=[played(why)]).defects
    assert defect.claim == f"1 x (0.1, 0.0): {why}"


def test_one_missing_check_is_one_defect():
    first = played("takes (-4.9, 0.0), which is no guarantee; then it reads (0.1, 0.0)")
    second = played("takes (0.1, -0.5), which is no guarantee")
    third = played("reads NaN")
    found = reported(played=[first, second, third]).defects
    assert sorted(defect.calls for defect in found) == [1, 2]


@pytest.mark.parametrize(
    ("reading", "absurd", "ruling", "words"),
    [
        ((math.nan, 0.0), Spend(math.nan), Ruling.SOUND, "reads NaN after (nan, 0.0)"),
        ((math.nan, 0.0), None, Ruling.FAILS, "reads NaN"),
        ((-0.1, 0.0), None, Ruling.FAILS, "reads (-0.1, 0.0)"),
        (
            (0.1, -0.1),
            Spend(0.1, -0.1),
            Ruling.FAILS,
            "takes (0.1, -0.1), which is no guarantee; then it reads (0.1, -0.1)",
        ),
    ],
)
def test_what_an_odometer_reads_after_what_is_no_guarantee(reading, absurd, ruling, words):
    table = SpendingTable(Worker("tests.auditing.conformance.broken"), "totals", 1.0)
    table.spends, table.admitted = [Spend(0.1)], [True]
    found, _, why = read_true(table, Reading(*reading), absurd)
    assert (found, why) == (ruling, words)


def test_only_the_stated_words_decline():
    reply = {"error": "ValueError", "message": "delta is too small for us", "place": "a.py:1"}
    assert failed(reply, ("too small",)) == (
        Ruling.DECLINES,
        "ValueError: delta is too small for us (a.py:1)",
    )
    for declines in ((), ("too large",)):
        assert failed(reply, declines) == (Ruling.FAILS, failed(reply, ("too small",))[1])


@pytest.mark.parametrize("name", [name for name in MODULES if name != "dpcompose"])
def test_what_a_library_is_quoted_for_is_in_its_source(name):
    """Words by which exceptions decline, and warnings that are quoted, are the library's own."""
    library = find(name)
    if absent := why_absent(library):
        pytest.skip(absent)
    with Worker(f"simulator.auditing.libraries.{MODULES[name]}") as worker:
        subjects = worker.start()["subjects"]
    source = source_of(library.packages[0])
    for subject in subjects:
        for words in subject["declines"]:
            assert words in source
        for text in (subject["claims"], subject["documented"]):
            for quoted in text.split('"')[1::2]:
                assert " ".join(quoted.split()) in source


def source_of(package: str) -> str:
    """All of a package's Python, its white space as single spaces."""
    (folder,) = find_spec(package).submodule_search_locations
    texts = [path.read_text(errors="replace") for path in sorted(Path(folder).rglob("*.py"))]
    return " ".join(" ".join(texts).split())


def test_the_oldest_version_that_is_tried_is_the_one_that_is_asked_for():
    """The extras and the adapters say the same."""
    root = Path(__file__).resolve().parents[3]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    asked = {}
    of_names = {"opake-accounting": "opake-dpsgd", "tmlt.core": "tmlt-core"}
    for name in ("conform", "conform-smartnoise", "conform-opake", "conform-tmlt"):
        asked |= dict(
            one.split(">=") for one in extras["optional-dependencies"][name] if ">=" in one
        )
    for name in MODULES:
        if name != "dpcompose":
            found = find(name)
            assert found.least == asked[of_names.get(found.distribution, found.distribution)]


@pytest.mark.parametrize(
    ("version", "least", "older"),
    [
        ("0.14.2", "0.16", True),
        ("0.16.0", "0.16", False),
        ("0.6.10", "0.6.6", False),
        ("1.6.0rc1", "1.6", False),
        ("0.2.3.1", "0.2.3", False),
        ("0.9", "", False),
    ],
)
def test_versions_are_compared_by_their_numbers(version, least, older):
    assert (numbers(version) < numbers(least)) is older


def test_a_version_older_than_the_adapter_is_not_tried(monkeypatch):
    monkeypatch.setattr(worker, "version", lambda name: "0.1")
    library = dataclasses.replace(
        find("dpcompose"), least="0.2", load=lambda: pytest.fail("loaded")
    )
    with pytest.raises(ImportError, match=r"version 0\.1 is older than 0\.2"):
        worker.Session(library).load()


def test_a_quick_trial_finds_an_accountant_that_forgets_what_a_replaced_record_moves():
    """It takes the noise over one record's norm for that over what a replaced record moves."""
    truths, verdicts = Truths(), []
    for case in cases(share=QUICK.share):
        if {(event.kind, event.relation) for event in case.events} != {(GAUSSIAN, "replace-one")}:
            continue
        mu = math.hypot(*(event.parameter * math.sqrt(event.count) for event in case.events))
        for factor in (1.0, 2.0):
            claimed = gaussian_epsilon(factor * mu, case.delta) * (1 + 1e-9)
            verdict, _, _ = judge("epsilon", claimed, truths.answer(case, "epsilon", case.delta))
            verdicts.append((factor, verdict))
    assert verdicts
    assert set(verdicts) == {(1.0, Ruling.UNSOUND), (2.0, Ruling.SOUND)}
