"""Make results: what is stale and nothing else, in order, two processors at most.

A result is recorded as soon as it is made, so a killed ``make results`` goes on where it was.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.results import digests
from experiments.results.comparing import differences
from experiments.results.listed import Listed
from experiments.results.records import (
    Record,
    noted_in,
    opening,
    read_by,
    record_of,
    stale_before,
    stamped,
    status,
)
from experiments.results.watch.sitecustomize import source, state
from simulator.foundations.children import begin, printed
from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import explained, write_bytes, write_text

PROCESSORS = 2
LOGS = "build/results"
WATCH = Path(__file__).parent / "watch"
BUSY = 0.5
"""The load above which nothing is measured that has to be quiet."""
PATIENCE = 600.0
"""Seconds that a quiet result waits for the load to fall."""
PAUSE = 0.2
FIXED = ("PYTHONHASHSEED=0",)
"""So that a set has the same order each time."""
ORIGIN = (
    "import json; from simulator.runner.store.provenance import provenance; "
    "print(json.dumps(provenance()))"
)


def say(line: str) -> None:
    """Print a line of progress; that nobody can read it, as after ``| head``, stops nothing."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:  # a closed terminal, too, or a full disk
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def shown(seconds: float) -> str:
    """A time in words."""
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


@dataclass
class Making:
    """A result that is being made."""

    result: Listed
    process: subprocess.Popen[bytes]
    made: dict[str, Any]
    before: dict[str, bytes]
    log: Path
    start: float = field(default_factory=time.time)

    def ended(self) -> float | None:
        """The processor seconds, if the process has ended well; None while it runs.

        Raises InvalidInput where it failed.
        """
        pid, code, usage = os.wait4(self.process.pid, os.WNOHANG)
        if not pid:
            return None
        self.process.returncode = os.waitstatus_to_exitcode(code)
        fresh = [_written(name) >= self.start - 1.0 for name in self.result.written()]
        # 1 is a verdict, as of pytest, but for an error that nothing has caught, or came too early
        code, caught = self.process.returncode, f"!{self.process.pid}" not in noted_in(self.log)
        whole = any(fresh) if code == 0 else code == 1 and fresh and all(fresh)
        if not (whole and caught):
            raise InvalidInput(f"{self.result.name} was not made (exit {code}){self.last_line()}")
        return usage.ru_utime + usage.ru_stime

    def last_line(self) -> str:
        """The last line that the process has printed, and where the others are."""
        path = self.log.with_suffix(".txt")
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        return f": {text.strip().splitlines()[-1]}; see {path}" if text.strip() else ""

    def record(self, processor_seconds: float) -> Record:
        """Stamp the pages, and record what the result was made from."""
        made = self.made | {
            "seconds": round(time.time() - self.start, 1),
            "processor_seconds": round(processor_seconds, 1),
        }
        files = self.result.written()
        for name in files:
            if name.endswith(".md"):
                page = (digests.ROOT / name).read_text(encoding="utf-8")
                write_text(digests.ROOT / name, stamped(page, opening(made)))
        digests.forget()
        noted = noted_in(self.log)
        names = read_by(noted, self.result, files)
        module = self.result.command[0].replace(".", "/")
        if not {f"{module}.py", f"{module}/__main__.py"} & set(names):
            raise InvalidInput(
                f"{self.result.name} is not recorded: what it has read was not seen; Python must "
                "not ignore PYTHONPATH"
            )
        read = {name: (digests.of_bytes(name), digests.of_meaning(name)) for name in names}
        root = os.path.join(digests.ROOT, "")
        if changed := [n for n in names if noted[root + n] != {state(root + n)}]:
            raise InvalidInput(
                f"{self.result.name} is not recorded: {', '.join(changed[:3])} changed meanwhile"
            )
        of_files = {name: digests.of_bytes(name) for name in files}
        record = Record(self.result.command, of_files, read, made)
        record.write(self.result.name)
        return record


def _written(name: str) -> float:
    return (digests.ROOT / name).stat().st_mtime


def drop_doubtful_byte_code() -> None:
    """Remove cached byte code that is not clearly younger than its source.

    Python takes it for that of a source of the same size and the same second.
    """
    for top in digests.ROOT.iterdir():
        if top.name[0] == "." or top.name in ("build", "dist") or not top.is_dir():
            continue
        for cached in top.rglob("__pycache__/*.pyc"):
            with suppress(OSError):
                found = os.stat(source(str(cached)))
                if cached.stat().st_mtime <= max(found.st_mtime, found.st_ctime) + 1.0:
                    cached.unlink()


def contents(names: Iterable[str]) -> dict[str, bytes]:
    """The bytes of files, by their names within the project."""
    return {name: (digests.ROOT / name).read_bytes() for name in names}


def elsewhere() -> dict[str, str]:
    """The environments of libraries that cannot share one; two of them need Python 3.13."""
    found = {"smartnoise-sql": "conform-smartnoise"}
    try:
        printed(["python3.13", "-c", ""], 60.0)
    except OSError:
        return found
    return found | {"opake": "conform-opake", "tmlt-core": "conform-tmlt"}


def python_of(result: Listed) -> tuple[str, list[str]]:
    """The Python of a result's environment, and further arguments that name those of libraries.

    An environment is made where it is missing. Raises InvalidInput where that fails.
    """
    names = elsewhere() if result.libraries else {}
    folders = [f"build/{name}" for name in (result.environment, *names.values()) if name]
    missing = [name for name in folders if not (digests.ROOT / name / ".ready").exists()]
    if missing:
        say(f"installing  {', '.join(missing)}")
    if folders:  # one that is there may be older than what is installed in it
        targets = [f"{name}/.ready" for name in folders]
        ended = subprocess.run(
            ["make", "--silent", *targets], cwd=digests.ROOT, capture_output=True, text=True
        )
        if ended.returncode:
            last = ended.stderr.strip().splitlines()[-1:] or [f"exit {ended.returncode}"]
            raise InvalidInput(f"{result.name} was not made: no {', '.join(folders)}: {last[0]}")
    options = [
        word for name, folder in names.items()
        for word in ("--python", f"{name}=build/{folder}/bin/python")
    ]  # fmt: skip
    if not result.environment:
        return sys.executable, options
    return str(digests.ROOT / "build" / result.environment / "bin" / "python"), options


def start(result: Listed, *, alone: bool = False, lock: int | None = None) -> Making:
    """Begin to make a result; what one alone prints is printed.

    The process holds the ``lock``, too: it may go on where this one is killed.
    """
    python, options = python_of(result)
    log = digests.ROOT / LOGS / f"{result.name}.read"
    project = str(digests.ROOT / "pyproject.toml")
    write_bytes(log, f"{project}\0{state(project)}\0".encode())
    drop_doubtful_byte_code()
    made = json.loads(printed(["env", *FIXED, python, "-c", ORIGIN], 120.0))
    made["load"] = round(os.getloadavg()[0], 2)
    # the checkout comes first: another one may be installed
    paths = (str(WATCH), str(digests.ROOT), os.environ.get("PYTHONPATH"))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "DPCOMPOSE_READ": str(log),
        "DPCOMPOSE_ROOT": str(digests.ROOT),
        **dict(each.split("=") for each in FIXED),
    }
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONOPTIMIZE"):
        environment.pop(name, None)
    before = contents(result.written())
    said = log.with_suffix(".txt")
    said.unlink(missing_ok=True)
    with nullcontext(None) if alone else said.open("wb") as output:
        process = begin(
            python, ("-m", *result.command, *options), cwd=digests.ROOT, env=environment,
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            pass_fds=() if lock is None else (lock,),
        )  # fmt: skip
    return Making(result, process, made, before, log)


def waits_for(result: Listed) -> set[str]:
    """Files within the project that a result reads, as far as is known."""
    record = record_of(result.name)
    return set(record.read if record else ())


def seconds_of(result: Listed) -> float:
    """The seconds on all processors that the last making took, or a guess."""
    record = record_of(result.name)
    return record.made["seconds"] * result.jobs / PROCESSORS if record else 60.0


def make(
    results: Sequence[Listed], *, always: bool = False, busy: bool = False, lock: int | None = None
) -> int:
    """Make results, what is of today left out unless ``always``; return how many failed."""
    pending, running, failed = list(results), list[Making](), 0
    # what is of today may not be when it is due: it may read what is made before it
    wanted = [each for each in results if always or status(each).state != "of today"]
    known = f"some {shown(sum(map(seconds_of, wanted)))}, a minute where it is unknown"
    say(f"to make: {len(wanted)} of {len(results)}, {known}" if wanted else "all is of today")
    try:
        while pending or running:
            # what can be begun changes only where something has ended
            while (each := next(startable(pending, running), None)) is not None:
                pending.remove(each)
                digests.forget()
                if not always and status(each).state == "of today":
                    continue
                if stale := stale_before(each):
                    say(f"error: {each.name} was not made: {', '.join(stale)} is not of today")
                    failed += 1
                    continue
                ahead = [one for one in pending if one in wanted]
                left = sum(map(seconds_of, [each, *ahead, *(one.result for one in running)]))
                say(f"making      {each.name} ({len(ahead)} after it; left: {shown(left)})")
                try:
                    if each.quiet and not busy:
                        wait_for_silence(each)
                    running.append(start(each, alone=len(results) == 1, lock=lock))
                except (InvalidInput, OSError) as error:
                    say(f"error: {error}")
                    failed += 1
            if running:
                failed += not _one_ends(running)
    finally:
        for making in running:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(making.process.pid, signal.SIGKILL)
        for making in running:
            making.process.wait()
            say(f"stopped     {making.result.name}")
    return failed


def _one_ends(running: list[Making]) -> bool:
    """Wait until one has ended, and record it; return whether all is as it should be."""
    while True:
        for making in running:
            try:
                spent = making.ended()
            except InvalidInput as error:
                say(f"error: {error}")
                running.remove(making)
                return False
            if spent is not None:
                running.remove(making)
                return _finish(making, spent)
        time.sleep(PAUSE)


def _finish(making: Making, spent: float) -> bool:
    """Record what is made and print a line; return whether all is as it should be."""
    try:
        record = making.record(spent)
    except (InvalidInput, OSError, ValueError) as error:
        say(f"error: {error}")
        return False
    found = differences(making.before, contents(record.files))
    if making.before and not found:
        text = "equal to what was there"
    else:
        text = "differs: " + ", ".join(found[:6]) + (", ..." if len(found) > 6 else "")
    if making.process.returncode:
        text += "; a verdict in it is not as it should be"
    say(f"made        {making.result.name} in {shown(record.made['seconds'])}; {text}")
    return not making.process.returncode


@contextmanager
def alone() -> Iterator[int]:
    """Let no other process make results meanwhile; yield the descriptor of the lock.

    Raises InvalidInput where another one does, or goes on after the one that began it was killed.
    """
    path = digests.ROOT / LOGS / "lock"
    if os.pathsep in str(digests.ROOT):
        raise InvalidInput(f"no path may have a {os.pathsep} in it, as {digests.ROOT} has")
    with explained("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInput(
                "results are being made here already; one that a killed process has begun ends by "
                "itself"
            ) from None
        yield file.fileno()


def startable(pending: Sequence[Listed], running: Sequence[Making]) -> Iterator[Listed]:
    """Results that can be begun beside those that run, in order.

    One that needs more processors than are free is waited for: others would keep it waiting.
    """
    free = PROCESSORS - sum(making.result.jobs for making in running)
    if any(making.result.quiet for making in running):
        return
    ahead = [making.result for making in running]
    for each in list(pending):
        files = {name for other in ahead for name in other.written()}
        names = {other.name for other in ahead}
        if not names & set(each.after) and not files & waits_for(each):
            if each.jobs > free:
                return
            yield each
        ahead.append(each)


def wait_for_silence(result: Listed) -> None:
    """Wait until the load is low. Raises InvalidInput where it stays high."""
    end = time.monotonic() + PATIENCE
    while (load := os.getloadavg()[0]) > BUSY:
        if time.monotonic() > end:
            raise InvalidInput(f"{result.name} needs a quiet machine, and the load is {load:.2f}")
        time.sleep(5.0)
