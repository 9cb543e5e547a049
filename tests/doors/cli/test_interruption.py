"""Ctrl-C in the middle of a long call: gone at once with 130, and what was done is kept."""

import re

import pytest

from tests.helpers.interrupting import A_MOMENT, Call, hears_signals, wait_for, wait_for_blocks

ROUNDS = 1000


def lasting(report):
    return {key: value for key, value in report.items() if "second" not in key}


@pytest.mark.nightly
@pytest.mark.parametrize("jobs", [2, 1])
@pytest.mark.parametrize("library", [True, False])
def test_an_interrupted_run_leaves_at_once_and_keeps_its_blocks(
    dpcompose, adversary_file, tmp_path, library, jobs
):
    """Of a rule and of a generator; another call cannot take the folder over."""
    one_block = 33_000 if library else 1_000
    adversary, out = "fixed-worst-case" if library else adversary_file(), tmp_path / "run"
    settings = ("--family", "pure:0.2", "--rounds", ROUNDS, "--seed", 4, "--json", "--out", out)
    call = Call("simulate", adversary, *settings, "--trials", 10**7, "--jobs", jobs)
    wait_for_blocks(out, 1.5 * one_block)  # a second one is there, or being written
    code, told, err, seconds = call.interrupt()
    assert (code, told) == (130, "")
    assert re.fullmatch(
        rf"interrupted; \d+ of \d+ blocks are stored in {out}; the same command resumes from there",
        err.strip().splitlines()[-1],
    )
    assert seconds < A_MOMENT
    kept = (out / "blocks.log").read_bytes()
    assert len(kept) > one_block
    assert (
        "goes further already"
        in dpcompose("simulate", adversary, *settings, "--trials", 5).complaint
    )
    assert (out / "blocks.log").read_bytes() == kept


def test_a_resumed_run_equals_one_that_was_never_interrupted(dpcompose, adversary_file, tmp_path):
    """The adversary waits after 120 of 200 trials, so that the run cannot end before."""
    begun, goes_on, out = tmp_path / "begun", tmp_path / "goes on", tmp_path / "run"
    waits = adversary_file(
        "\n\ndef waits(coins):\n"
        "    import pathlib, time\n"
        f"    begun, goes_on = pathlib.Path({str(begun)!r}), pathlib.Path({str(goes_on)!r})\n"
        "    with begun.open('a') as log:\n"
        "        log.write('.')\n"
        "    while begun.stat().st_size > 120 and not goes_on.exists():\n"
        "        time.sleep(0.02)\n"
        "    for _ in range(3):\n"
        "        yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1 + 0.1 * coins.random())\n",
        function="waits",
    )
    run = ("simulate", waits, "--family", "pure:0.2", "--rounds", 3, "--trials", 100, "--seed", 4)
    call = Call(*run, "--block-size", 50, "--jobs", 1, "--out", out)
    wait_for(lambda: begun.exists() and begun.stat().st_size > 120, call.process)
    code, _, err, _ = call.interrupt()
    assert code == 130
    assert re.search("[123] of 4 blocks are stored", err)
    goes_on.touch()
    whole = dpcompose(*run, "--block-size", 50, "--jobs", 1, "--json").json
    resumed = dpcompose(*run, "--block-size", 50, "--jobs", 2, "--out", out, "--json").json
    assert lasting(resumed) == lasting(whole)


def test_ctrl_c_before_anything_is_played_is_as_quiet():
    call = Call("verify")
    wait_for(lambda: hears_signals(call.process), call.process)
    code, out, err, seconds = call.interrupt()
    assert (code, out) == (130, "")
    [line] = err.strip().splitlines()  # a fast machine has begun to play, and says where to store
    assert line.startswith("interrupted")
    assert seconds < A_MOMENT


def test_a_slow_adversary_is_stored_early_in_small_blocks(adversary_file, tmp_path):
    slow = adversary_file(
        "\n\ndef slow(coins):\n"
        "    import time, pathlib\n"
        f"    pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n"
        "    for _ in range(3):\n"
        "        time.sleep(0.02)\n"
        "        yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1)\n",
        function="slow",
    )
    run = ("simulate", slow, "--family", "pure:0.2", "--rounds", 3, "--trials", 5000, "--jobs", 1)
    call = Call(*run, "--out", tmp_path / "large")
    wait_for((tmp_path / "begun").exists, call.process)
    code, _, err, _ = call.interrupt()
    assert code == 130
    assert "a block has up to 43690 trials: --block-size, or block_size=, makes smaller ones" in err
    call = Call(*run, "--out", tmp_path / "small", "--block-size", 4)
    wait_for_blocks(tmp_path / "small", 500)
    code, _, err, _ = call.interrupt()
    assert code == 130
    assert re.search(r"[1-9]\d* of 2500 blocks are stored", err)
