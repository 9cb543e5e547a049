"""Ctrl-C while a call into C lasts: the process ends all the same, with one line."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from simulator.runner import prompt_exit
from simulator.runner.prompt_exit import within_half_a_second
from tests.helpers.interrupting import computes, is_blocked, wait_for

DEAF = """
import hashlib, sys
from simulator.runner.prompt_exit import within_half_a_second
def call():
    print("ready", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # some minutes, without the interpreter lock
with within_half_a_second():
    call()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_does_not_hear_is_ended(number):
    program = DEAF
    if number is signal.SIGTERM:  # which Python answers only where it is told to
        program = DEAF.replace(
            "with within", "import signal\nsignal.signal(15, lambda *_: sys.exit(143))\nwith within"
        )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    wait_for(computes(process), process)  # it is in the call
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err == {signal.SIGINT: "interrupted\n", signal.SIGTERM: "terminated\n"}[number]


@pytest.mark.nightly
def test_without_the_lookout_it_stays():
    program = DEAF.replace("with within_half_a_second():", "if True:")
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    wait_for(computes(process), process)  # it is in the call
    os.kill(process.pid, signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=3)
    process.kill()
    process.communicate()


LATE = """
import multiprocessing, sys, time
from simulator.runner.prompt_exit import within_half_a_second

def main():
    worker = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
    worker.start()
    try:
        with within_half_a_second():
            try:
                print(worker.pid, flush=True)
                time.sleep(600)
            finally:
                time.sleep(60)  # puts in order what is not worth it
    finally:
        time.sleep(60)

if __name__ == "__main__":
    main()
"""


def late_leaving(program, tmp_path):
    """Interrupt a program that takes a minute to leave; (its worker's pid, code, err, seconds)."""
    script = tmp_path / "late.py"
    script.write_text(program)
    process = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    worker = int(process.stdout.readline())
    wait_for(lambda: is_blocked(process), process)
    pressed = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    try:
        _, err = process.communicate(timeout=20)
    finally:
        process.kill()
    return worker, process.returncode, err, time.monotonic() - pressed


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.sampled
@pytest.mark.parametrize("slow", ["inside", "outside"])
def test_workers_that_nobody_stops_are_killed_and_not_waited_for(slow, tmp_path):
    program = LATE if slow == "inside" else LATE.replace("time.sleep(60)  # puts", "pass  # puts")
    worker, code, err, seconds = late_leaving(program, tmp_path)
    assert (code, err) == (130, "interrupted\n")
    assert seconds < 3.0  # half a second on an idle machine; tests share theirs
    until = time.monotonic() + 10
    while is_there(worker):
        assert time.monotonic() < until, "the worker is still there"
        time.sleep(0.05)


def test_everything_is_put_back():
    answer, wakeup = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    with within_half_a_second():
        assert signal.getsignal(signal.SIGINT) is not answer
    with pytest.raises(ZeroDivisionError), within_half_a_second():
        _ = 1 / 0
    assert signal.getsignal(signal.SIGINT) is answer
    assert signal.set_wakeup_fd(wakeup) == -1


def test_in_another_thread_nothing_is_changed():
    seen = []

    def work():
        with within_half_a_second():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def stopped(lines, at_once):
    """Interrupt plays with these lines; ``at_once`` receives what an immediate exit prints."""
    prompt_exit.under_way.extend(partial(str, line) for line in lines)
    at_once.append(prompt_exit.interrupted(signal.SIGINT))
    prompt_exit.under_way.clear()
    error = KeyboardInterrupt()
    for line in lines:
        error.add_note(line)
    raise error


@pytest.mark.parametrize(
    ("always", "lines", "said"),
    [
        (True, ["nothing is stored: name a folder"], "interrupted; all"),
        (True, [], "interrupted; all"),
        (False, ["nothing is stored: name a folder"], "interrupted; all"),
        (False, [], "interrupted"),
    ],
)
def test_one_line_stands_for_those_of_many_plays(always, lines, said):
    """Of a study, and of a command that has no folder to name; the other lines advise one."""
    at_once = []
    standing = prompt_exit.standing_for_all(lambda: "all", always=always)
    with pytest.raises(KeyboardInterrupt) as raised, standing:
        stopped(lines, at_once)
    assert at_once == [prompt_exit.interrupted(signal.SIGINT, raised.value)] == [said]
    assert prompt_exit.in_place == []
