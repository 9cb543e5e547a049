"""A defect counts when its own program shows it; how bad it is; which calls come first."""

import math
import sys

import pytest

from simulator.auditing.conformance.compositions import cases, hardness
from simulator.auditing.conformance.defects import Defect, simplest
from simulator.auditing.conformance.events import KINDS, NOTHING, PURE, PrivacyEvent, batch_of
from simulator.auditing.conformance.known_libraries import MODULES, find
from simulator.auditing.conformance.running import ran, shows
from simulator.auditing.conformance.verdicts import Judged, Ruling
from simulator.foundations.errors import NotApplicable
from simulator.theory import Bracket
from simulator.theory.events.named import MECHANISMS


def defect(why="", claimed=math.nan, verdict=Ruling.FAILS, printed="", truth=None):
    judged = Judged(
        library="some", subject="it", case="c", group="c", events=(PrivacyEvent(PURE, 1.0),),
        question="epsilon", at=1e-5, claimed=claimed, truth=truth, verdict=verdict, why=why,
    )  # fmt: skip
    return Defect(
        library="some", version="1", subject="it", verdict=verdict, calls=1, example=judged,
        title=why, claim="", printed=printed,
    )  # fmt: skip


MEMORY = "MemoryError:  (pld_pmf.py:832)"


@pytest.mark.parametrize(
    ("example", "shown"),
    [
        (defect(MEMORY, printed="377.8962156453732"), False),
        (defect(MEMORY, printed="MemoryError"), True),
        (
            defect("MemoryError: std::bad_alloc (basic.py:95)", printed="ValueError: errors"),
            False,
        ),
        (defect("OverflowError: math range error (a.py:1)", printed="OverflowError: math"), True),
        (defect("returns a negative epsilon", -0.5, printed="x\n-0.5"), True),
        (defect("returns a negative epsilon", -0.5, printed="0.5"), False),
        (defect("returns NaN", printed="nan"), True),
        (defect("the process ended with signal 11", printed="0.5"), False),
        (defect("the process ended with signal 11", printed="(ended by signal 11)"), True),
        (
            defect("", 0.5, Ruling.UNSOUND, "0.5", Bracket(1.0, 1.0)),
            True,
        ),
        (
            defect("", 0.5, Ruling.UNSOUND, "1.5", Bracket(1.0, 1.0)),
            False,
        ),
    ],
)
def test_a_defect_is_shown_by_what_its_own_program_prints(example, shown):
    assert shows(example) is shown


def test_a_program_that_a_signal_ends_says_so():
    program = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert ran(program, sys.executable) == "(ended by signal 15)"


@pytest.mark.parametrize(
    ("claimed", "severity"), [(1.0 - 1e-6, "slip"), (0.9, "moderate"), (1 / 97, "grave")]
)
def test_severity_says_how_far_below_the_truth_a_claim_is(claimed, severity):
    found = defect("", claimed, Ruling.UNSOUND, "", Bracket(1.0, 1.0))
    assert found.severity == severity
    assert found.factor == pytest.approx(1.0 / claimed)
    assert defect(MEMORY).severity == "no answer"


def test_the_hard_corners_come_first():
    whole = cases()
    hard = [hardness(case) for case in whole]
    assert hard == sorted(hard, reverse=True)
    assert hard[0] >= 2
    first = whole[: sum(number > 0 for number in hard)]
    assert len(first) < len(whole) / 2
    assert max(sum(event.count for event in case.events) for case in first) >= 10_000
    assert min(case.delta for case in first) <= 1e-14


def test_the_rounds_of_a_trial_have_the_names_of_the_theory():
    assert set(KINDS) - {NOTHING} <= set(MECHANISMS)


@pytest.mark.parametrize(
    ("factors", "shown"), [((1 - 2e-9, 0.99, 0.5), 0.5), ((1 - 1e-9, 0.9999), 0.9999)]
)
def test_the_example_of_a_defect_is_among_the_worst(factors, shown):
    """And not the one with the fewest rounds, if that is hardly wrong."""
    group = [
        Judged(
            library="some", subject="it", case="c", group="c",
            events=(PrivacyEvent(PURE, 1.0, rounds),), question="epsilon", at=1e-5,
            verdict=Ruling.UNSOUND, factor=factor,
        )
        for rounds, factor in enumerate(factors, start=1)
    ]  # fmt: skip
    assert simplest(group).factor == shown


@pytest.mark.parametrize("rate", [0.01, 0.00369, 1 / 3, 0.5, 1.0])
def test_a_rate_is_a_batch_over_records(rate):
    batch, records = batch_of(rate)
    assert batch / records == rate
    assert math.gcd(batch, records) == 1


@pytest.mark.parametrize("rate", [math.pi / 10, 1e-9])
def test_a_rate_that_is_no_such_quotient_is_not_offered(rate):
    with pytest.raises(NotApplicable, match="no batch size over a number of records"):
        batch_of(rate)


def test_the_files_of_the_folder_are_the_libraries():
    expected = {
        "autodp", "diffprivlib", "dp-accelerator", "dp-accounting", "dpcompose", "jax-privacy",
        "opacus", "opake", "opendp", "pld-accounting", "prv-accountant", "riskcal",
        "smartnoise-sql", "tmlt-core",
    }  # fmt: skip
    assert set(MODULES) == expected
    assert all(find(name).name == name for name in MODULES)
