"""A process of one library, which replies to each line of JSON with one line of JSON.

``python -m simulator.auditing.conformance.worker ADDRESS MEGABYTES``, where ADDRESS is a module or
a file with a ``LIBRARY``, or ``added:NAME``.
It is started by ``Worker``; a library that hangs, crashes or takes too much memory ends this
process alone. What a library prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from numbers import Real
from typing import Any

from simulator.auditing.conformance.events import read
from simulator.auditing.conformance.known_libraries import at_address
from simulator.auditing.conformance.protocol import Library, Spend, Subject
from simulator.foundations.errors import NotApplicable


class Session:
    """The library's subjects, and the current filter or odometer."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.subjects: dict[str, Subject] = {}
        self.playing: Any = None

    def load(self) -> dict[str, Any]:
        """Import the library."""
        try:
            named = self.library.distribution
            found = version(named) if named else ""
        except PackageNotFoundError:
            found = "unknown"
        least = self.library.least
        if found != "unknown" and numbers(found) < numbers(least):  # the adapter would fail
            raise ImportError(f"version {found} is older than {least}, the oldest that is tried")
        self.subjects = {subject.name: subject for subject in self.library.load()}
        listed = [
            {
                "name": s.name,
                "role": s.role,
                "claims": s.claims,
                "kinds": list(s.kinds),
                "relations": list(s.relations),
                "documented": s.documented,
                "declines": list(s.declines),
                "remark": s.remark,
            }
            for s in self.subjects.values()
        ]
        return {"version": found, "subjects": listed}

    def value(self, request: dict[str, Any]) -> dict[str, Any]:
        """One call of a new accountant, and the processor time that it took."""
        began = time.process_time()
        accountant = self.subjects[request["subject"]].make()
        curve = accountant.epsilon if request["question"] == "epsilon" else accountant.delta
        value = number(curve(read(request["events"]), request["at"]))
        return {"value": value, "processor": time.process_time() - began}

    def snippet(self, request: dict[str, Any]) -> dict[str, Any]:
        """The program that makes the same call without this package."""
        subject = self.subjects[request["subject"]]
        if "events" in request:
            write = subject.snippet
            events = read(request["events"])
            text = write(events, request["question"], request["at"]) if write else ""
        else:
            spends = [Spend(*spend) for spend in request["spends"]]
            text = subject.play(spends, tuple(request["opened"])) if subject.play else ""
        return {"text": text}

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make a new filter or odometer."""
        self.playing = self.subjects[request["subject"]].make(*request["arguments"])
        return {}

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Request a round of a filter."""
        admitted = self.playing.ask(Spend(*request["spend"]))
        if not isinstance(admitted, bool):
            raise TypeError(f"a filter admits or refuses; it returned {admitted!r}")
        return {"admitted": admitted}

    def spend(self, request: dict[str, Any]) -> dict[str, Any]:
        """Charge an odometer."""
        self.playing.spend(Spend(*request["spend"]))
        return {}

    def reading(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reading of an odometer."""
        epsilon, delta = self.playing.reading()
        return {"reading": [number(epsilon), number(delta)]}

    def charged(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a filter reports as spent, and how many rounds were run."""
        charged, runs = self.playing.charged(), self.playing.runs()
        return {"charged": None if charged is None else list(map(number, charged)), "runs": runs}


def numbers(version: str) -> list[int]:
    """The leading numbers of a version, to compare: [0, 16, 1] of 0.16.1rc2."""
    found = re.match(r"\d+(\.\d+)*", version)
    return [int(part) for part in found[0].split(".")] if found else []


def number(value: Any) -> float:
    """A real number as a float; TypeError for anything else."""
    if hasattr(value, "item") and getattr(value, "size", 1) == 1:
        value = value.item()  # numpy, torch
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"the answer is not a number but {value!r}")
    return float(value)


def limit_memory(megabytes: int) -> None:
    """Limit the further memory of this process, on systems that support it."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        limit = now + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def answer(act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result of a call, or its exception as text, with the first warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            reply = act()
        except NotApplicable as error:
            reply = {"not_applicable": str(error)}
        except Exception as error:  # an exception of the library is its answer
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{os.path.basename(where.filename)}:{where.lineno}"
            message = " ".join(str(error).split())[:300]
            reply = {"error": type(error).__name__, "message": message, "place": place}
    if caught:
        reply["warned"] = " ".join(str(caught[0].message).split())[:200]
    return reply


def end_with(parent: int) -> None:
    """End this process when its parent has ended, also during a call."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def main(address: str, megabytes: int) -> None:
    """Reply to requests until standard input ends."""
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints goes to standard error
    session = Session(at_address(address))
    reply = answer(session.load)
    limit_memory(megabytes)
    print(json.dumps(reply), file=replies, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        act = getattr(session, request["do"])
        reply = answer(partial(act, request))
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
