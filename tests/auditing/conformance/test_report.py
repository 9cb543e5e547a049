"""The report: what it says of broken accountants, and that its programs run."""

from __future__ import annotations

import json
import os
import sys

import pytest

from simulator.auditing.conformance.accountants import Limits, try_accountants
from simulator.auditing.conformance.client import Worker
from simulator.auditing.conformance.compositions import Case, cases
from simulator.auditing.conformance.defects import distinct, kind_of_failure
from simulator.auditing.conformance.events import APPROX, GAUSSIAN, PURE, PrivacyEvent, listed, read
from simulator.auditing.conformance.known_libraries import MODULES, find, why_absent
from simulator.auditing.conformance.report import (
    LibraryReport,
    disagreeing,
    rows,
    to_json,
    to_markdown,
)
from simulator.auditing.conformance.running import ran
from simulator.auditing.conformance.verdicts import Ruling, judge
from simulator.foundations.errors import InvalidInput
from simulator.runner.store.provenance import provenance
from simulator.theory import Bracket

CASES = [
    Case("count", (PrivacyEvent(PURE, 0.5, 3),), 1e-6, "pure"),
    Case("repeated", (PrivacyEvent(PURE, 0.5, 1),) * 3, 1e-6, "pure"),
]


@pytest.fixture(scope="module")
def report():
    found = try_accountants("broken", CASES, worker=Worker("tests.auditing.conformance.broken"))
    return LibraryReport(found, defects=distinct(found, []))


def test_rows_count_every_call_once(report):
    found = rows(report)
    for row in found:
        counted = sum(row[str(ruling)] for ruling in Ruling if str(ruling) in row)
        assert counted == row["calls"]
    offered = [one for one in report.found.judged if one.verdict != Ruling.NOT_OFFERED]
    assert sum(row["calls"] for row in found) == len(offered) == 34


def test_the_page_has_each_defect_with_both_truths(report):
    page = to_markdown([report], provenance(), len(CASES), 10.0)
    assert "### 1. " in page
    for defect in report.defects:
        assert defect.claim in page
        assert all(truth in page for truth in defect.truths)
    assert "claims less than the truth of pure rounds" in page


def test_json_can_be_read_and_has_no_infinities(report):
    text = to_json([report], provenance(), len(CASES))
    found = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    (library,) = found["libraries"]
    assert len(library["defects"]) == len(report.defects)
    assert all(defect["version"] for defect in library["defects"])


def test_answers_that_depend_on_the_writing_are_counted(report):
    judged = report.found.judged
    assert disagreeing([one for one in judged if one.subject == "sound"]) == 0
    assert disagreeing([one for one in judged if one.subject == "ignores counts"]) == 1


def test_failures_that_differ_in_numbers_only_are_one_kind():
    first, second = "reads (0.1, -2e-05)", "reads (3.5, -0.25)"
    assert kind_of_failure(first) == kind_of_failure(second)
    assert kind_of_failure("A: b 1 (x.py:3)") == kind_of_failure("A: c 2 (x.py:3)")
    assert kind_of_failure("A: b (x.py:3)") != kind_of_failure("A: b (x.py:4)")


@pytest.mark.parametrize(
    ("claimed", "ruling"),
    [
        (1.0, Ruling.SOUND),
        (1.0 - 1e-12, Ruling.SOUND),
        (1.0 - 1e-6, Ruling.UNSOUND),
        (1.05, Ruling.SOUND),
        (1.2, Ruling.LOOSE),
        (float("inf"), Ruling.LOOSE),
        (float("nan"), Ruling.FAILS),
        (-0.1, Ruling.FAILS),
    ],
)
def test_a_claim_is_judged(claimed, ruling):
    assert judge("epsilon", claimed, Bracket(1.0, 1.0 + 1e-7))[0] == ruling


def test_a_program_is_run_by_itself():
    assert ran("print(1 + 1)", sys.executable) == "2"
    assert ran("print(3); 1 / 0", sys.executable) == "3\nZeroDivisionError: division by zero"
    assert ran("print(4)", os.path.relpath(sys.executable)) == "4"
    assert ran("import time; time.sleep(9)", sys.executable, 0.2) == "(no end within 0.2 s)"


def test_events_survive_the_way_to_a_worker():
    events = [event for case in cases(share=0.05) for event in case.events]
    assert list(read(json.loads(json.dumps(listed(events))))) == events


@pytest.mark.parametrize(
    ("kind", "parameter", "more"),
    [
        ("gauss", 1.0, {}),
        (GAUSSIAN, 0.0, {}),
        (GAUSSIAN, float("nan"), {}),
        (GAUSSIAN, 1.0, {"count": 0}),
        (PURE, 1.0, {"delta": 0.1}),
        (APPROX, 1.0, {"delta": 1.0}),
        (GAUSSIAN, 1.0, {"rate": 0.5}),
    ],
)
def test_an_event_that_makes_no_sense_is_refused(kind, parameter, more):
    with pytest.raises(InvalidInput):
        PrivacyEvent(kind, parameter, **more)


def test_limits_are_positive():
    with pytest.raises(InvalidInput):
        Limits(seconds=0.0)


@pytest.mark.parametrize("name", [name for name in MODULES if name != "dpcompose"])
def test_an_installed_library_makes_programs_that_run(name):
    library = find(name)
    if absent := why_absent(library):
        pytest.skip(absent)
    with Worker(f"simulator.auditing.libraries.{MODULES[name]}") as worker:
        loaded = worker.start()
        assert "error" not in loaded
        for subject in [one for one in loaded["subjects"] if one["role"] == "accountant"][:1]:
            events = listed([PrivacyEvent(subject["kinds"][0], 0.1, 3)])
            request = {"do": "snippet", "subject": subject["name"], "events": events}
            request |= {"question": "epsilon", "at": 1e-5}
            text = worker.ask(request, 30.0)["text"]
            assert "Error" not in ran(text, sys.executable)
