"""Clusters on this machine, adversaries that can be watched from outside, and deaths of workers."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

from simulator import Laplace
from tests.helpers.games import ALICE, WITH_ALICE, WITHOUT_ALICE


def watched(folder, seconds=0.0, deaths=0):
    """An adversary that writes down every trial, by the first word of its block's coins.

    It takes a while for each. In the block that the file ``fatal`` names it kills its worker, the
    first ``deaths`` times.
    """

    def watched_adversary(coins):
        word = str(coins.bit_generator.state["state"]["state"][0])
        with (folder / "trials").open("a") as trials:
            trials.write(word + "\n")
        fatal, marker = folder / "fatal", folder / "deaths"
        if fatal.exists() and fatal.read_text() == word:
            before = int(marker.read_text()) if marker.exists() else 0
            if before < deaths:
                marker.write_text(str(before + 1))
                os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(seconds)
        answer = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1)
        while True:
            answer = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1 if answer < 0 else 0.2)

    return watched_adversary


def trials_played(folder):
    """{first word of a block's coins: how many of its trials were begun}."""
    path = folder / "trials"
    return Counter(path.read_text().split()) if path.exists() else Counter()


class When:
    """Call ``act`` in another thread once so many trials were begun in a folder."""

    def __init__(self, folder, trials, act):
        self.arguments = folder, trials, act
        self.thread = threading.Thread(target=self.wait, daemon=True)
        self.acted = False

    def wait(self):
        folder, trials, act = self.arguments
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if trials_played(folder).total() >= trials:
                act()
                self.acted = True
                return
            time.sleep(0.01)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.thread.join()
        assert self.acted


SCHEDULER = """
import asyncio, sys
from distributed import Nanny, Scheduler

async def main():
    async with Scheduler(port=0, dashboard_address=None, host="127.0.0.1") as scheduler:
        async with Nanny(scheduler.address, nthreads=1):
            print(scheduler.address, flush=True)
            await scheduler.finished()

if __name__ == "__main__":
    asyncio.run(main())
"""


@contextlib.contextmanager
def scheduler(folder):
    """A Dask scheduler with a worker, in processes of their own: its address, and what kills all.

    They are killed at the end.
    """
    script = folder / "scheduler.py"
    script.write_text(SCHEDULER)
    process = subprocess.Popen(
        [sys.executable, script], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip

    def kill():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    try:
        yield process.stdout.readline().strip(), kill
    finally:
        kill()
        process.communicate()
