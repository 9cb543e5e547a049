"""Run a script in a session of its own, interrupt it as a terminal does, and see what remains."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Script:
    """A Python script that prints "ready" before it plays, and can be interrupted."""

    def __init__(self, folder, body):
        path = folder / "script.py"
        opening = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        path.write_text(opening + textwrap.dedent(body))
        self.process = subprocess.Popen(
            [sys.executable, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=folder,
        )

    def wait_for(self, line):
        """Wait until the script prints the line."""
        for printed in self.process.stdout:
            if printed.strip() == line:
                return
        raise AssertionError(self.process.stderr.read())

    def interrupt(self):
        """Press Ctrl-C: the terminal sends SIGINT to the whole process group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def finish(self, seconds):
        """Wait for the end; return (exit code, standard output, standard error)."""
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
            raise AssertionError(f"still running after {seconds} s") from None
        return self.process.returncode, out, err

    def left_behind(self, seconds=3.0):
        """Live processes of the script's session, after giving them a moment to end."""
        until = time.monotonic() + seconds
        while (alive := self.members()) and time.monotonic() < until:
            time.sleep(0.05)
        return alive

    def members(self):
        """Process ids of the session that are neither gone nor defunct."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid and fields[0] not in "ZX":
                found.append(int(entry.name))
        return found
