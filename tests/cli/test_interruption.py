"""Ctrl-C in the middle of a long call: gone at once with 130, and what was done is kept."""

import os
import signal
import subprocess
import sys
import time

import pytest

CALL = "import sys; from simulator.cli import main; main()"
ROUNDS, PATIENCE = 1000, 60.0
A_MOMENT = 3.0
"""A second on an idle machine; tests share theirs with others."""


class Call:
    """A command in a session of its own, which a terminal could interrupt as a whole."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-c", CALL, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def interrupt(self):
        """Press Ctrl-C; return (exit code, output, errors, seconds that it took to leave)."""
        pressed = time.monotonic()
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            out, err = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
            raise AssertionError("still running 20 s after Ctrl-C") from None
        return self.process.returncode, out, err, time.monotonic() - pressed


def wait_for_blocks(folder, size):
    until = time.monotonic() + PATIENCE
    log = folder / "blocks.log"
    while not (log.exists() and log.stat().st_size > size):
        assert time.monotonic() < until, "nothing was played"
        time.sleep(0.02)


def lasting(report):
    return {key: value for key, value in report.items() if "second" not in key}


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("library", [True, False])
def test_an_interrupted_run_leaves_at_once_and_keeps_its_blocks(
    dpcompose, adversary_file, tmp_path, library, jobs
):
    """Of a rule and of a generator; another call cannot take the folder over."""
    one_block = 33_000 if library else 1_000
    adversary, out = "fixed-worst-case" if library else adversary_file(), tmp_path / "run"
    settings = ("--family", "pure:0.2", "--rounds", ROUNDS, "--seed", 4, "--json", "--out", out)
    call = Call("run", adversary, *settings, "--trials", 10**7, "--jobs", jobs)
    wait_for_blocks(out, 1.5 * one_block)  # a second one is there, or being written
    code, told, err, seconds = call.interrupt()
    assert (code, told, err.strip().splitlines()[-1]) == (130, "", "interrupted")
    assert seconds < A_MOMENT
    kept = (out / "blocks.log").read_bytes()
    assert len(kept) > one_block
    assert "goes further already" in dpcompose("run", adversary, *settings, "--trials", 5).complaint
    assert (out / "blocks.log").read_bytes() == kept


def test_a_resumed_run_equals_one_that_was_never_interrupted(dpcompose, adversary_file, tmp_path):
    adversary, out = adversary_file(), tmp_path / "run"
    run = ("run", adversary, "--family", "pure:0.2", "--rounds", ROUNDS, "--trials", 270)
    whole = dpcompose(*run, "--seed", 4, "--jobs", 2, "--json").json
    call = Call(*run, "--seed", 4, "--jobs", 1, "--out", out)
    wait_for_blocks(out, 1_500)
    assert call.interrupt()[0] == 130
    played = (out / "blocks.log").stat().st_size
    resumed = dpcompose(*run, "--seed", 4, "--jobs", 2, "--out", out, "--json").json
    assert lasting(resumed) == lasting(whole)
    assert (out / "blocks.log").stat().st_size > played


def test_ctrl_c_before_anything_is_played_is_as_quiet():
    call = Call("check")
    time.sleep(0.6)
    code, out, err, seconds = call.interrupt()
    assert (code, out, err.strip()) == (130, "", "interrupted")
    assert seconds < A_MOMENT
