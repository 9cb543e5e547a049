"""How many workers are started, and that they end with the process that started them."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from simulator.engine.specification import LARGE_BLOCK_ROUNDS, Specification
from simulator.runner import memory, pool
from simulator.runner.memory import WORKER_BYTES, affordable, available_bytes
from tests.helpers.games import PRESS, PureDP, press_when_ahead
from tests.helpers.workplaces import Script

PLAYS = """
    import sys
    from tests.helpers.games import PureDP, press_when_ahead
    from simulator import simulate

    def in_python(coins):    # not in the closed form, so that blocks need processes
        playing = press_when_ahead(coins)
        challenge = next(playing)
        while True:
            challenge = playing.send((yield challenge))

    if __name__ == "__main__":
        print("ready", flush=True)
        simulate(in_python, PureDP(0.2), 200, 10**7, jobs=2, out="run")
"""


@pytest.mark.sampled
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_their_parent(number, tmp_path):
    script = Script(tmp_path, PLAYS)
    script.wait_for("ready")
    log = tmp_path / "run" / "blocks.log"
    until = time.monotonic() + 60
    while not (log.exists() and log.stat().st_size > 2000):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert len(script.members()) > 2
    os.kill(script.process.pid, number)
    assert script.finish(10)[0] == -number  # its output is closed
    assert script.left_behind() == []


WATCHES = """
import os, threading
from simulator.runner.lifetime import end_with
end_with({parent})
threading.Event().wait(2)
os._exit(7)
"""


def test_a_worker_ends_by_itself_where_its_parent_has_ended():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    watching = [sys.executable, "-c", WATCHES.format(parent=gone.pid)]
    assert subprocess.run(watching, check=False).returncode == 1


IN_A_PROCESS = """
    import multiprocessing, sys
    from tests.helpers.games import PureDP, press_when_ahead
    from simulator import simulate

    def play():
        result = simulate(press_when_ahead, PureDP(0.2), 5, 60, block_size=10, jobs=2)
        print(float(result.losses(0).sum()), flush=True)

    if __name__ == "__main__":
        play()
        process = multiprocessing.get_context("{start}").Process(target=play)
        process.start()
        process.join()
        play()
        sys.exit(process.exitcode)
"""


@pytest.mark.nightly
@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_a_process_of_a_program_has_workers_of_its_own_and_ends_with_them(start, tmp_path):
    # a fork waited for its parent's workers for ever, and either for idle ones for five minutes
    script = Script(tmp_path, IN_A_PROCESS.format(start=start))
    code, out, _ = script.finish(60)
    assert code == 0
    first, second, third = out.split()
    assert first == second == third
    assert script.left_behind() == []


@pytest.mark.parametrize("rounds", [10, LARGE_BLOCK_ROUNDS + 1])
def test_a_single_job_plays_long_trials_beside_the_main_thread(rounds, monkeypatch):
    """A kernel holds Ctrl-C back to the end of its block, in the thread that it runs in."""
    seen = set()

    class Player:
        specification = Specification(PRESS, PureDP(0.2), rounds, 3)

        def __call__(self, b, block):
            seen.add(threading.current_thread() is threading.main_thread())
            return b, block

    monkeypatch.setattr(pool, "preference", lambda specification: "threads")
    keys = [(0, 0), (1, 0), (0, 1)]
    assert sorted(pool.parallel(Player(), keys, 1, {})) == sorted(keys)
    assert seen == {rounds == 10}


def test_no_more_workers_than_memory_allows():
    assert affordable(222, at_once=10 * WORKER_BYTES + 5) == 10
    assert affordable(4, at_once=10**12) == 4
    assert affordable(4, at_once=0) == 1
    assert available_bytes() > 10**6


def test_a_container_has_less_than_its_machine(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("400000\n")
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    assert available_bytes() == 600_000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_bytes() > 10**6


def test_one_line_says_that_fewer_were_started(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 3 * WORKER_BYTES)
    interpreted = Specification(press_when_ahead, PureDP(0.2), 10, 100)
    assert pool.crowded(interpreted, 1000, 50).startswith("started 3 of 50 workers")
    assert pool.crowded(interpreted, 1000, 2) == ""
    assert pool.crowded(interpreted, None, 50) == ""
    compiled = Specification(PRESS, PureDP(0.2), 10, 100_000)
    assert pool.crowded(compiled, 1000, 50) == ""  # threads
