"""What a pull request is shown of broken accountants."""

from xml.etree import ElementTree

import pytest

from simulator.auditing.conformance.accountants import LibraryTrial, try_accountants
from simulator.auditing.conformance.client import Worker
from simulator.auditing.conformance.compositions import Case
from simulator.auditing.conformance.defects import distinct
from simulator.auditing.conformance.events import PURE, PrivacyEvent
from simulator.auditing.conformance.report import LibraryReport, rows
from simulator.auditing.conformance.summaries import to_comment, to_junit

CASES = [Case("count", (PrivacyEvent(PURE, 0.5, 3),), 1e-6, "pure")]
ABSENT = LibraryReport(LibraryTrial(name="gone", absent="gone is not installed"))


@pytest.fixture(scope="module")
def report():
    found = try_accountants("broken", CASES, worker=Worker("tests.auditing.conformance.broken"))
    return LibraryReport(found, defects=distinct(found, []))


def test_junit_has_a_case_for_each_subject_and_a_failure_for_each_broken_one(report):
    whole = ElementTree.fromstring(to_junit([report, ABSENT]))
    broken, absent = whole
    cases = {case.get("name"): case for case in broken}
    assert list(cases) == [row["subject"] for row in rows(report)]
    guilty = {defect.subject for defect in report.defects if defect.counts}
    assert {name for name, case in cases.items() if case.find("failure") is not None} == guilty
    assert broken.get("failures") == str(len(guilty))
    assert 0 < len(guilty) < len(cases)
    assert absent.get("errors") == "1"
    assert absent.find("testcase/error").get("message") == "gone is not installed"


def test_characters_that_xml_forbids_are_left_out(report):
    report.defects[0].claim += "\x1b[31m \ud800"
    ElementTree.fromstring(to_junit([report]))


def test_a_comment_is_short_and_begins_with_the_worst(report):
    text = to_comment([report, ABSENT])
    assert len(text) < 10_000
    assert "| gone | absent: gone is not installed |" in text
    listed = [line for line in text.splitlines() if line.startswith("- ")]
    assert "(grave)" in listed[0]
    assert "No defect found." in to_comment([ABSENT])
