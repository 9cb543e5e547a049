"""A worker process with time limits: a hang, a crash or a full memory costs one call."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from simulator.foundations import children

SOURCE = Path(__file__).resolve().parents[3]
"""The folder that the package is imported from."""
STARTUP = 120.0
"""Seconds for importing a library."""

_LONGEST = 1 << 26
"""The largest number of bytes of a reply."""

TOO_LATE = "no answer within"
"""The beginning of the message about a call that took too long."""


class Lost(Exception):
    """The worker has ended; the message is the reason."""


class Worker:
    """A worker process, which starts with the first request, and again after it has ended.

    Parameters
    ----------
    module : dotted name of the module with a ``LIBRARY``.
    python : the interpreter that has the library.
    megabytes : memory that a call may take.
    """

    def __init__(self, module: str, *, python: str = sys.executable, megabytes: int = 2048) -> None:
        self.module, self.python, self.megabytes = module, python, megabytes
        self.loaded: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    @property
    def lost(self) -> bool:
        """Whether a process must be started before the next request."""
        return self._process is None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> dict[str, Any]:
        """Import the library in a new process, and return its description. Raises Lost."""
        self.stop()
        self.loaded = {}
        paths = [str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
        }
        module = "simulator.auditing.conformance.worker"
        try:
            self._process = children.begin(
                self.python,
                ["-m", module, self.module, str(self.megabytes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        except (OSError, ValueError) as error:  # ValueError: a null character in the path
            reason = getattr(error, "strerror", None) or str(error)
            raise Lost(f"{self.python!r} cannot be started: {reason}") from None
        self._rest = b""
        self.loaded = self._reply(STARTUP)
        return self.loaded

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the reply to one request. Raises Lost after ``seconds`` or if it ends."""
        if self._process is None:
            self.start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            self.stop()
            raise Lost("the process had ended") from None
        return self._reply(seconds)

    def _reply(self, seconds: float) -> dict[str, Any]:
        process, end = self._process, time.monotonic() + seconds
        assert process is not None
        assert process.stdout is not None
        while b"\n" not in self._rest:
            left = end - time.monotonic()
            if left <= 0.0 or not select.select([process.stdout], [], [], left)[0]:
                self.stop()
                raise Lost(f"{TOO_LATE} {seconds:g} s")
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                code = process.wait()
                self.stop()
                cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                raise Lost(f"the process ended: {cause}")
            self._rest += part
            if len(self._rest) > _LONGEST:
                break
        line, _, self._rest = self._rest.partition(b"\n")
        try:
            reply = json.loads(line)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            self.stop()
            raise Lost(f"the process wrote what is no reply: {line[:60]!r}")
        return reply

    def stop(self) -> None:
        """End the process and its children."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        children.end(process)
