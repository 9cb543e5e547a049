"""Whatever a library or its interpreter does, the trial goes on and says what it was in a line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simulator.auditing.conformance import Limits, cases
from simulator.auditing.conformance.accountants import LONGEST_CALL, try_accountants
from simulator.auditing.conformance.client import Lost, Worker
from simulator.auditing.conformance.compositions import Case
from simulator.auditing.conformance.defects import distinct
from simulator.auditing.conformance.events import PURE, PrivacyEvent
from simulator.auditing.conformance.spending import play_filter
from simulator.auditing.conformance.verdicts import Ruling
from simulator.foundations.errors import InvalidInput
from tests.auditing.conformance.rubbish import MADE

RUBBISH = "tests.auditing.conformance.rubbish"
CASES = [Case("pure", (PrivacyEvent(PURE, 0.5, 3),), 1e-6, "pure")]


@pytest.fixture(scope="module")
def trial():
    return try_accountants(
        "rubbish", CASES, limits=Limits(seconds=20.0), worker=Worker(RUBBISH, megabytes=1024)
    )


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize(
    ("name", "ruling", "words"),
    [
        ("NaN", Ruling.FAILS, "returns NaN"),
        ("infinite", Ruling.LOOSE, "claims infinity"),
        ("minus infinity", Ruling.FAILS, "returns a negative"),
        ("text", Ruling.FAILS, "the answer is not a number but '3.0'"),
        ("nothing", Ruling.FAILS, "the answer is not a number but None"),
        ("list", Ruling.FAILS, "the answer is not a number but [1.0, 2.0]"),
        ("complex", Ruling.FAILS, "the answer is not a number but 1j"),
        ("huge", Ruling.FAILS, "OverflowError"),
        ("truth value", Ruling.FAILS, "the answer is not a number but True"),
        ("declines", Ruling.DECLINES, "out of reach"),
        ("writes rubbish", Ruling.FAILS, "the process wrote what is no reply: b'not a reply'"),
        ("writes a number", Ruling.FAILS, "the process wrote what is no reply: b'3'"),
        ("writes without end", Ruling.FAILS, "the process wrote what is no reply"),
    ],
)
def test_each_answer_has_its_verdict(trial, name, ruling, words):
    found = [one for one in trial.judged if one.subject == name]
    assert len(found) == 2
    assert {one.verdict for one in found} == {ruling}
    assert all(words in one.why for one in found)


def test_every_subject_was_asked(trial):
    assert {one.subject for one in trial.judged} == set(MADE)


def test_what_a_library_prints_is_no_reply(trial):
    found = [one for one in trial.judged if one.subject == "prints"]
    assert [one.claimed for one in found] == [1.5, 1.5]


def test_what_a_library_declines_is_no_defect(trial):
    assert "declines" not in {defect.subject for defect in distinct(trial, [])}


@pytest.mark.parametrize("python", ["/nonexistent/python", os.path.dirname(__file__), "a\0b"])
def test_an_interpreter_that_cannot_be_started_is_said(python):
    with Worker(RUBBISH, python=python) as worker, pytest.raises(Lost, match="cannot be started"):
        worker.start()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo hello", "no reply: b'hello'"),
        ("echo 1", "no reply: b'1'"),
        ("echo '{}'", "does not run the worker"),
        ("exit 3", "exit code 3"),
        ("kill -9 $$", "SIGKILL"),
    ],
)
def test_what_is_no_python_leaves_the_library_absent(tmp_path, script, words):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    trial = try_accountants("rubbish", CASES, worker=Worker(RUBBISH, python=str(python)))
    assert words in trial.absent
    assert not trial.judged


def once(tmp_path) -> str:
    """An interpreter that can be started once, and never again."""
    python = tmp_path / "python"
    python.write_text(
        f"#!/bin/sh\n[ -e {tmp_path}/used ] && exit 3\ntouch {tmp_path}/used\n"
        f'exec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    return str(python)


def test_a_library_that_cannot_be_imported_twice_costs_its_calls(tmp_path):
    worker = Worker("tests.auditing.conformance.stubborn", python=once(tmp_path), megabytes=1024)
    trial = try_accountants("stubborn", CASES, limits=Limits(seconds=0.5), worker=worker)
    assert {one.verdict for one in trial.judged} == {Ruling.FAILS}
    assert len(trial.judged) == 8
    assert "exit code 3" in trial.judged[-1].why


def test_a_filter_whose_process_cannot_be_started_again_fails(tmp_path):
    with Worker("tests.auditing.conformance.broken", python=once(tmp_path)) as worker:
        worker.start()
        worker.stop()
        plays = play_filter(worker, "broken", "sums")
        assert "exit code 3" in next(iter(plays)).why


@pytest.mark.parametrize("share", [0.0, -1.0, 1.5, float("nan"), float("inf")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(InvalidInput, match="share"):
        cases(share=share)


def test_a_call_may_not_take_longer_than_the_system_can_wait():
    with pytest.raises(InvalidInput, match="seconds must be at most"):
        Limits(seconds=2.0 * LONGEST_CALL)


PROGRAM = """
from simulator.auditing.conformance import accountants
from simulator.auditing.conformance import client
from simulator.foundations import children
from tests.auditing.conformance.test_rubbish import CASES, RUBBISH
with children.interruptible():
    accountants.try_accountants("rubbish", CASES, worker=client.Worker(RUBBISH))
"""


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_killed_trial_leaves_no_process(tmp_path, number):
    root, busy = Path(__file__).resolve().parents[3], tmp_path / "busy"
    environment = os.environ | {"BUSY": str(busy), "PYTHONPATH": str(root)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=root, env=environment, stderr=subprocess.DEVNULL
    ) as parent:
        until(lambda: busy.exists() and busy.read_text())
        parent.send_signal(number)
        assert parent.wait(60) != 0
    worker = int(busy.read_text())
    until(lambda: not running(worker))


def until(done):
    end = time.monotonic() + 60.0
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


def running(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
