"""Ctrl-C while a call into C lasts: the process ends all the same, with one line."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from simulator.run.leaving import within_half_a_second

DEAF = """
import hashlib, sys
from simulator.run.leaving import within_half_a_second
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
    time.sleep(0.1)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err == {signal.SIGINT: "interrupted\n", signal.SIGTERM: "terminated\n"}[number]


def test_without_the_lookout_it_stays():
    program = DEAF.replace("with within_half_a_second():", "if True:")
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)  # it is in the call by then
    os.kill(process.pid, signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=3)
    process.kill()
    process.communicate()


def test_python_answers_where_it_can_and_everything_is_put_back():
    answer, wakeup = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    with pytest.raises(KeyboardInterrupt), within_half_a_second():
        signal.raise_signal(signal.SIGINT)
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
