"""``dpcompose simulate --dask`` that is interrupted, or whose scheduler dies."""

import os
import signal
import subprocess
import time

import pytest

from tests.helpers.clusters import scheduler
from tests.helpers.interrupting import A_MOMENT, Call, fields_of, wait_for, wait_for_blocks

distributed = pytest.importorskip("distributed", reason="needs dpcompose[dask]")

TIMES = ("seconds", "compile_seconds", "rounds_per_second")
TWO_BLOCKS = 1_500


@pytest.fixture
def run(adversary_file, tmp_path):
    """The arguments of a run of 16 blocks of .3 s, but for where it is played and stored."""
    slow = adversary_file(
        "\n\ndef slow(coins):\n"
        "    import time\n"
        "    time.sleep(0.005)\n"
        "    for _ in range(10):\n"
        "        yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1 + 0.1 * coins.random())\n",
        function="slow",
    )
    settings = ("--family", "pure:0.2", "--rounds", 10, "--trials", 520, "--seed", 4, "--json")
    return "simulate", slow, *settings, "--block-size", 65


def require_resumed(dpcompose, run, folder):
    """The folder has some blocks, and resumes here as the run that was never stopped."""
    played = (folder / "blocks.log").stat().st_size
    assert played > TWO_BLOCKS // 2  # the second may have been half written
    resumed, whole = (dpcompose(*run, "--jobs", 2, *out).json for out in (["--out", folder], []))
    assert (folder / "blocks.log").stat().st_size > played
    assert {**resumed, **dict.fromkeys(TIMES)} == {**whole, **dict.fromkeys(TIMES)}


def session(pid):
    """The processes of a session that have not ended."""
    found = subprocess.run(["ps", "-o", "stat=", "-s", str(pid)], capture_output=True, text=True)
    return [state for state in found.stdout.split() if not state.startswith("Z")]


@pytest.mark.nightly
def test_ctrl_c_leaves_at_once_and_the_cluster_to_others(dpcompose, run, tmp_path):
    with scheduler(tmp_path) as (address, _):
        call = Call(*run, "--dask", address, "--out", tmp_path / "run")
        wait_for_blocks(tmp_path / "run", TWO_BLOCKS)
        code, out, err, seconds = call.interrupt()
        assert (code, out) == (130, "")
        assert err.strip().splitlines()[-1].startswith("interrupted; ")
        assert seconds < A_MOMENT
        assert session(call.process.pid) == []
        with distributed.Client(address, set_as_default=False, timeout=60) as client:
            until = time.monotonic() + 60
            while any(client.processing().values()):  # the one that is being played ends
                assert time.monotonic() < until, "tasks are left behind"
                time.sleep(0.05)
            assert client.nthreads()
    require_resumed(dpcompose, run, tmp_path / "run")


@pytest.mark.nightly
@pytest.mark.parametrize("pressed", [False, True])
def test_a_dead_scheduler_ends_the_command_and_so_does_ctrl_c(dpcompose, run, tmp_path, pressed):
    with scheduler(tmp_path) as (address, kill):
        call = Call(*run, "--dask", address, "--out", tmp_path / "run")
        wait_for_blocks(tmp_path / "run", TWO_BLOCKS)
        kill()
        if pressed:
            code, _, err, seconds = call.interrupt()
            assert code in (4, 130)  # the loss may have been noticed before
            assert seconds < A_MOMENT
        else:
            died = time.monotonic()
            out, err = call.process.communicate(timeout=60)
            assert time.monotonic() - died < 20.0  # a second or two on an idle machine
            assert (call.process.returncode, out) == (4, "")
            assert "is gone" in err
            assert f"blocks are stored in {tmp_path / 'run'}: run again" in err
        assert len(err.strip().splitlines()) == 1
    assert session(call.process.pid) == []
    require_resumed(dpcompose, run, tmp_path / "run")


@pytest.mark.nightly
def test_a_scheduler_that_answers_nobody_is_left_at_once_as_well(run, tmp_path):
    """It is stopped, and its connections stay: nothing tells that it is gone."""
    with scheduler(tmp_path) as (address, _):
        call = Call(*run, "--dask", address, "--out", tmp_path / "run")
        wait_for_blocks(tmp_path / "run", TWO_BLOCKS)
        with distributed.Client(address, set_as_default=False, timeout=60) as client:
            pid = client.run_on_scheduler(os.getpid)
        os.kill(pid, signal.SIGSTOP)
        wait_for(lambda: fields_of(pid)[0] == "T", call.process)
        code, _, err, seconds = call.interrupt()
        assert code == 130
        assert err.lstrip().startswith("interrupted; ")
        assert err.strip().endswith("the same command resumes from there")
        assert seconds < A_MOMENT
