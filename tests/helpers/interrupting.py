"""Commands in sessions of their own, which tests interrupt."""

import contextlib
import os
import signal
import subprocess
import sys
import time

CALL = "import sys; from simulator.doors.cli import main; main()"
PATIENCE = 60.0
A_MOMENT = 3.0
"""Seconds that an interrupt may take; one suffices on an idle machine."""


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


def wait_for(sign, process):
    """Wait until ``sign()`` holds: a fixed time is too short on a busy machine."""
    until = time.monotonic() + PATIENCE
    while not sign():
        assert process.poll() is None, "it ended before"
        if time.monotonic() > until:
            process.kill()
            raise AssertionError("no sign")
        time.sleep(0.02)


def hears_signals(process):
    """Whether a process has set its handlers: one for SIGTERM, which Python itself does not."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        (caught,) = (line.split()[1] for line in status if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def fields_of(pid):
    """What the kernel says of a process after its name: its state, its parent, and so on."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return stat.read().rpartition(")")[2].split()


def is_blocked(process):
    """Whether the first thread of a process waits in a call of the system."""
    return fields_of(process.pid)[0] == "S"


def computes(process):
    """A sign that a process has computed for some hundredths of a second since now."""
    before = processor_seconds([process.pid])
    return lambda: processor_seconds([process.pid]) > before + 0.03


def processor_seconds(pids):
    """The processor's seconds that processes have used; those that have ended are left out."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            ticks += sum(map(int, fields_of(pid)[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def wait_for_blocks(folder, size):
    until = time.monotonic() + PATIENCE
    log = folder / "blocks.log"
    while not (log.exists() and log.stat().st_size > size):
        assert time.monotonic() < until, "nothing was played"
        time.sleep(0.02)
