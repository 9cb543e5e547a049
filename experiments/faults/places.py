"""Runs on full and read-only disks, in folders of others, two at once, and with odd clocks."""

from __future__ import annotations

import errno
import os
import pickle
import random
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from unittest import mock

from experiments.faults import damage
from experiments.faults.cases import COMMAND, SMALL, Tally, Whole, difference

PATIENCE = 120.0


def campaign(seed: int, quick: bool) -> Iterator[Tally]:
    """Every kind of place."""
    draw = random.Random(seed + 1)
    few = 3 if quick else 8
    with tempfile.TemporaryDirectory() as name:
        whole = Whole.of(SMALL, Path(name, "whole"))
        sizes = sum(path.stat().st_size for path in Path(name, "whole").iterdir())
    yield limited(whole, sizes, few, draw)
    yield small_disks(whole, sizes, few, draw)
    yield read_only()
    yield two_at_once(whole, few, draw)
    yield strangers()
    yield clocks(few, draw)
    yield without_locks()


def finished(process: subprocess.Popen[str]) -> tuple[int, str, list[str]]:
    """(exit code, output, lines of errors) of a process that is not killed."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return -1, "", ["hangs"]
    return process.returncode, out, err.strip().splitlines()


def refused_then_equal(ended: tuple[int, str, list[str]], whole: Whole, folder: Path) -> str:
    """The outcome of a run: exit 2 with one line and then an equal resume, or exit 0."""
    code, out, lines = ended
    if code == 0:
        return difference(SMALL, whole, folder) or "equal"
    if code != 2 or out or len(lines) != 1:
        return f"exit {code}: {' / '.join(lines)}"
    return difference(SMALL, whole, folder) or "lines"


def limited(whole: Whole, size: int, tries: int, draw: random.Random) -> Tally:
    """A limit of the size of files, as a quota."""
    tally = Tally("a limit of the size of a file, then none")
    for _ in range(tries):
        most = draw.randrange(1, size)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name, "run")
            process = SMALL.start(folder, 1, preexec_fn=partial(limit_files, most))
            tally.count(refused_then_equal(finished(process), whole, folder))
    return tally


def limit_files(most: int) -> None:
    """Let this process write no file larger than that."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def mounted(folder: Path, options: str, *commands: str) -> list[str]:
    """A shell's call with a small disk at ``folder``, which no other process can see."""
    script = " && ".join((f"mount -t tmpfs -o {options} tmpfs {folder}", *commands))
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", script]


def can_mount() -> bool:
    """Whether this user may mount a disk."""
    with tempfile.TemporaryDirectory() as name:
        try:
            done = subprocess.run(mounted(Path(name), "size=4k"), capture_output=True, check=False)
        except OSError:
            return False
    return done.returncode == 0


def quoted(arguments: list[str]) -> str:
    """The arguments quoted for a shell, as one text."""
    return " ".join(f"'{word}'" for word in arguments)


def start(call: list[str]) -> subprocess.Popen[str]:
    """Start a call in a new session."""
    return subprocess.Popen(
        call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def small_disks(whole: Whole, size: int, tries: int, draw: random.Random) -> Tally:
    """A disk that is full before the run ends, and then is not."""
    tally = Tally("a full disk, then room" if can_mount() else "a full disk (no right to mount)")
    for _ in range(tries if can_mount() else 0):
        pages = draw.randrange(1, 2 + size // 4096)
        with tempfile.TemporaryDirectory() as name:
            disk, folder = Path(name, "disk"), Path(name, "run")
            disk.mkdir()
            run = quoted([*COMMAND, *SMALL.call(disk / "run", 1)])
            call = mounted(disk, f"size={4 * pages}k", f"({run}; code=$?; "
                           f"cp -r {disk}/run {folder} 2>/dev/null; exit $code)")  # fmt: skip
            tally.count(refused_then_equal(finished(start(call)), whole, folder))
    return tally


def read_only() -> Tally:
    """A finished run on a disk that can only be read shows its result; nothing else is done."""
    tally = Tally("a read-only disk" if can_mount() else "a read-only disk (no right to mount)")
    if not can_mount():
        return tally
    with tempfile.TemporaryDirectory() as name:
        kept, disk = Path(name, "kept"), Path(name, "disk")
        disk.mkdir()
        Whole.of(SMALL, kept)
        for folder, more, expected in (
            (disk / "kept", (), 0),
            (disk / "kept", ("--trials=500",), 2),
            (disk / "kept", ("--seed=9",), 2),
            (disk / "new", (), 2),
        ):
            run = quoted([*COMMAND, *SMALL.call(folder, 1), *more])
            call = mounted(
                disk, "size=9m", f"cp -r {kept} {disk}", f"mount -o remount,ro {disk}", run
            )
            code, out, lines = finished(start(call))
            good = code == expected and bool(out) == (code == 0) and len(lines) == bool(code)
            done = "lines" if code else "equal"
            tally.count(done if good else f"exit {code}: {' / '.join(lines)}")
    return tally


def two_at_once(whole: Whole, tries: int, draw: random.Random) -> Tally:
    """Two processes in one folder: one plays, the other is refused or starts after it."""
    tally = Tally("two processes at once")
    for _ in range(tries):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name, "run")
            first = SMALL.start(folder, 1)
            time.sleep(draw.uniform(0.0, 0.5))
            ends = [finished(process) for process in (first, SMALL.start(folder, 1))]
            codes = sorted(code for code, _, _ in ends)
            wrong = [lines for code, _, lines in ends if len(lines) != bool(code)]
            if codes not in ([0, 0], [0, 2]) or wrong:
                tally.count(f"exit {codes}: {wrong}")
            else:
                outcome = "lines" if 2 in codes else "equal"
                tally.count(difference(SMALL, whole, folder) or outcome)
    return tally


class Boom:
    """An object that writes a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.trace}",)


def strangers() -> Tally:
    """Folders of strangers: nothing in them is executed or overwritten, and none blocks."""
    tally = Tally("a stranger's folder")
    with tempfile.TemporaryDirectory() as name:
        original = damage.Original(Path(name, "whole"))
    for file in (damage.LOG, damage.SPECIFICATION):
        for kind in ("pickle", "text", "empty", "folder", "pipe", "link", "code"):
            with tempfile.TemporaryDirectory() as name:
                folder, trace = Path(name, "run"), Path(name, "trace")
                folder.mkdir()
                put(folder / file, kind, trace)
                before = listing(folder)
                outcome = original.played_in(folder)
                if trace.exists():
                    outcome = "something was executed"
                elif outcome == "lines" and listing(folder) != before:
                    outcome = f"{file} as {kind}: refused, but changed"
                tally.count(outcome)
    return tally


def put(path: Path, kind: str, trace: Path) -> None:
    """Make a file or folder of one kind, as a stranger may."""
    if kind == "pickle":
        path.write_bytes(pickle.dumps(Boom(trace)))
    elif kind == "text":
        path.write_text("some text\n")
    elif kind == "empty":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(path.parent / "nowhere" / "at all")
    else:
        for module in ("numpy.py", "simulator.py", "sitecustomize.py", "conftest.py"):
            (path.parent / module).write_text(f"open({str(trace)!r}, 'w')\n")


def listing(folder: Path) -> dict[str, bytes | None]:
    """What is in a folder."""
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def clocks(tries: int, draw: random.Random) -> Tally:
    """Clocks that stop or jump while a run is played and resumed."""
    tally = Tally("a clock that jumps")
    with tempfile.TemporaryDirectory() as name:
        original = damage.Original(Path(name, "whole"))
    for i in range(tries):
        clock = (lambda: 1e9) if i % 2 else (lambda: draw.uniform(-1e9, 1e10))
        with (
            tempfile.TemporaryDirectory() as name,
            mock.patch("time.time", clock),
            mock.patch("time.perf_counter", clock),
        ):
            folder = Path(name)
            (folder / damage.LOG).write_bytes(original.log[: draw.randrange(len(original.log))])
            (folder / damage.SPECIFICATION).write_bytes(original.specification)
            tally.count(original.played_in(folder))
    return tally


def without_locks() -> Tally:
    """A file system that has no locks."""
    tally = Tally("a file system without locks")
    with tempfile.TemporaryDirectory() as name:
        original = damage.Original(Path(name, "whole"))
    for number in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EIO):
        refusal = OSError(number, os.strerror(number))
        with tempfile.TemporaryDirectory() as name, mock.patch("fcntl.flock", side_effect=refusal):
            folder = Path(name, "run")
            outcome = original.played_in(folder)
            tally.count(outcome if not folder.exists() else "refused, but left a folder")
    return tally
