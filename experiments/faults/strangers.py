"""Strangers' files before every reader, and folders of files that are named as modules are.

Each try is a process of its own, with a limit of time and of memory. It may print an answer, or be
refused by one line. It may not end by a fault of dpcompose, hang, execute anything, or change what
is there.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.faults.cases import COMMAND, Tally

SECONDS = 60
"""No try may last longer, on its own processor."""
MEMORY = 3 << 30
"""Bytes that a try may take beside those of this process."""
KINDS = ("pipe", "device", "link", "depth", "gigabyte")
GIGABYTE = 1 << 30

GAME = ("--family", "pure:0.2", "--rounds", "3", "--trials", "20", "--jobs", "1")
RARE = ("--family", "pure:0.2", "--rounds", "3", "--epsilon", "0.5", "--jobs", "1")
AT = ("--target-epsilon", "1", "--target-delta", "1e-6")
BINS = "matrix-factorisation:sigma=3,bins=1,rounds=2,matrix="
PAIR = ("--claimed", "pure:1", "--pair", "0", "1")

PROGRAM = """\
from simulator import Database, Laplace, counting_query
ALL = Database({"alice": 1, "others": 9})
def attack(coins):
    while True:
        yield ALL.remove("alice"), ALL, Laplace(counting_query("alice"), 0.1)
"""
TOML = """\
[[task]]
adversary = "press-when-ahead"
family = "pure:0.2"
rounds = 3
quantity = "epsilon(delta=0.1)"
"""
EVENT = '{"dpcompose": "event", "version": 1, "event": {"kind": "gaussian", "sigma": 1.0}}'
DEEP = "[" * 60_000


@dataclass(frozen=True)
class Reader:
    """A command or a call that reads a file of a stranger.

    Attributes
    ----------
    file : the file's name, in a folder of its own, or in a run's folder ``run``.
    call : the words of the command, of which "@" is the file and "%" its folder, or a function.
    text : what a good file has.
    deep : what a file has that is nested deep.
    """

    name: str
    file: str
    call: tuple[str, ...] | Callable[[Path], Any]
    text: str = ""
    deep: str = DEEP


def _read_csv(path: Path) -> Any:
    from simulator.data.tables import read_csv

    return read_csv(path)


def _load_result(path: Path) -> Any:
    from simulator.analysis.result import Result

    return Result.load(path.parent)


def _merge(path: Path) -> Any:
    from simulator.runner import merge_folders

    return merge_folders([path.parent], path.parent.parent / "out")


def _load_study(path: Path) -> Any:
    from simulator.studies import Study

    return Study.load(path)


def _read_tasks(path: Path) -> Any:
    from simulator.studies.task_files import read_tasks

    return read_tasks(path)


def _read_certified(path: Path) -> Any:
    from simulator.worst.filters.certified import read_certified

    return read_certified(path)


def _truths(path: Path) -> Any:
    from simulator.auditing.truths.documents import rows

    path.with_name("games.json").write_text('{"truths": []}')  # the second file that is read
    return rows(path.parent)


def _matrix(path: Path) -> Any:
    from simulator.training.named import matrix_of

    return matrix_of(str(path))


def _simulate(path: Path) -> Any:
    from simulator import simulate

    return simulate(f"{path}:attack", "pure:0.2", 3, 20, jobs=1, progress=False)


def _scheduler(path: Path) -> Any:
    from simulator.runner.clusters.dask_cluster import require_listener

    return require_listener(str(path))


def _loaded_store(path: Path) -> Any:
    from simulator.runner.store import RunStore

    return RunStore.load(path.parent)


_ROW = "adversary,metadata\n"
_CLAIMS = "id,value\n"
_DEEP_PYTHON = f"attack = {'(' * 3000}0{')' * 3000}\n"
_DEEP_TOML = f"a = {'[' * 5000}"
_DEEP_KEY = f"{'a.' * 100_000}a = 1\n"
_SPECIFICATION, _LOG = "run/specification.json", "run/blocks.log"

READERS: tuple[Reader, ...] = (
    Reader("bounds --event", "f.json", ("bounds", "--event", "@", "--delta", "1e-6"), EVENT),
    Reader("bounds --event --json", "f.json",
           ("bounds", "--event", "@", "--delta", "1e-6", "--json"), EVENT,
           f'{{"dpcompose": "event", "version": 1, "event": {DEEP}'),
    Reader("calibrate --event", "f.json", ("calibrate", "--event", "@", *AT), EVENT),
    Reader("bounds, a matrix", "f.npy", ("bounds", f"{BINS}@", "--delta", "1e-6")),
    Reader("calibrate, a matrix", "f.npy",
           ("calibrate", f"{BINS.replace('sigma=3,', '')}@", *AT)),
    Reader("truths --check", "f.csv", ("truths", "--check", "@"), _CLAIMS, _CLAIMS + DEEP),
    Reader("truths --check --json", "f.csv", ("truths", "--check", "@", "--json"), _CLAIMS),
    Reader("sweep, TOML", "f.toml", ("sweep", "@", "--out", "%/o.csv", "--trials", "20"), TOML,
           _DEEP_TOML),
    Reader("sweep, a key of TOML", "f.toml",
           ("sweep", "@", "--out", "%/o.csv", "--trials", "20"), TOML, _DEEP_KEY),
    Reader("sweep, Python", "f.py", ("sweep", "@", "--out", "%/o.csv"), "tasks = []\n",
           _DEEP_PYTHON),
    Reader("sweep, an adversary", "f.py",
           ("sweep", "@:attack", "--family", "pure:0.2", "--rounds", "3", "--quantity",
            "epsilon(delta=0.1)", "--trials", "20", "--jobs", "1", "--out", "%/o.csv"),
           PROGRAM, _DEEP_PYTHON),
    Reader("sweep --out", "f.csv",
           ("sweep", "press-when-ahead", "--family", "pure:0.2", "--rounds", "3", "--quantity",
            "epsilon(delta=0.1)", "--trials", "20", "--jobs", "1", "--out", "@"), "", _ROW + DEEP),
    Reader("plot-study", "f.csv", ("plot-study", "@"), _ROW, _ROW + DEEP),
    Reader("diff, first", "f.csv", ("diff", "@", "%/other.csv"), _ROW, _ROW + DEEP),
    Reader("diff, second", "f.csv", ("diff", "@", "@"), _ROW, _ROW + DEEP),
    Reader("filter verify", "f.json", ("filter", "verify", "@"), "{}"),
    Reader("filter verify --json", "f.json", ("filter", "verify", "@", "--json"), "{}",
           f'{{"digest": "", "dpcompose": "certified filter", "version": 1, "plan": {DEEP}'),
    Reader("simulate --filter", "f.json",
           ("simulate", "press-when-ahead", *GAME, "--filter", "certified:@"), "{}"),
    Reader("simulate", "f.py", ("simulate", "@", *GAME), PROGRAM, _DEEP_PYTHON),
    Reader("simulate FILE:NAME", "f.py", ("simulate", "@:attack", *GAME), PROGRAM, _DEEP_PYTHON),
    Reader("verify", "f.py", ("verify", "@:attack", *GAME), PROGRAM, _DEEP_PYTHON),
    Reader("estimate-rare", "f.py", ("estimate-rare", "@:attack", *RARE), PROGRAM, _DEEP_PYTHON),
    Reader("adversaries --explain", "f.py", ("adversaries", "--explain", "@:attack"), PROGRAM,
           _DEEP_PYTHON),
    Reader("audit", "f.py", ("audit", "@:attack", *PAIR), PROGRAM, _DEEP_PYTHON),
    Reader("pipeline", "f.py", ("pipeline", "@:attack", *PAIR), PROGRAM,
           _DEEP_PYTHON),
    Reader("conform", "f.py", ("conform", "@"), PROGRAM, _DEEP_PYTHON),
    Reader("plot, a specification", _SPECIFICATION, ("plot", "%")),
    Reader("plot, a log", _LOG, ("plot", "%")),
    Reader("plot --adversary", "f.py", ("plot", "%/run", "--adversary", "@:attack"), PROGRAM,
           _DEEP_PYTHON),
    Reader("merge, a specification", _SPECIFICATION, ("merge", "%", "--out", "%/../out")),
    Reader("merge, a log", _LOG, ("merge", "%", "--out", "%/../out")),
    Reader("simulate --out, a specification", _SPECIFICATION,
           ("simulate", "press-when-ahead", *GAME, "--out", "%")),
    Reader("simulate --out, a log", _LOG, ("simulate", "press-when-ahead", *GAME, "--out", "%")),
    Reader("simulate --part", _SPECIFICATION,
           ("simulate", "press-when-ahead", *GAME, "--part", "1/2", "--out", "%")),
    Reader("read_csv", "f.csv", _read_csv, "a,b\n1,2\n", "a,b\n" + DEEP),
    Reader("Result.load, a specification", _SPECIFICATION, _load_result),
    Reader("Result.load, a log", _LOG, _load_result),
    Reader("RunStore.load", _LOG, _loaded_store),
    Reader("merge_folders", _SPECIFICATION, _merge),
    Reader("Study.load", "f.csv", _load_study, _ROW, _ROW + DEEP),
    Reader("tasks", "f.toml", _read_tasks, TOML, _DEEP_TOML),
    Reader("a certificate", "f.json", _read_certified, "{}"),
    Reader("true answers", "compositions.json", _truths, '{"truths": []}',
           f'{{"truths": {DEEP}'),
    Reader("a matrix", "f.npy", _matrix),
    Reader("simulate in Python", "f.py", _simulate, PROGRAM, _DEEP_PYTHON),
    Reader("a scheduler file", "f.json", _scheduler, "{}"),
)  # fmt: skip


def put(path: Path, reader: Reader, kind: str) -> Path:
    """Put a file of a kind where the reader looks; return what must not change."""
    good = path.read_bytes() if path.exists() else reader.text.encode()
    path.unlink(missing_ok=True)
    victim = path.parent.parent / "victim"
    victim.write_bytes(good)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "link":
        path.symlink_to(victim)
    elif kind == "depth":
        path.write_text(reader.deep)
    else:
        path.write_bytes(good)
        os.truncate(path, GIGABYTE)
    return victim


def tried(reader: Reader, kind: str, run: Path) -> str:
    """The outcome of one reader before one kind of file: ``equal``, ``lines``, or what is wrong."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(run, Path(name, "in", "run"))
        path = Path(name, "in", reader.file)
        victim = put(path, reader, kind)
        before = victim.read_bytes(), os.lstat(path).st_mode
        code, said, seconds = alone(lambda: called(reader, path))
        after = victim.read_bytes(), os.lstat(path).st_mode if os.path.lexists(path) else 0
    where = f"{reader.name}, {kind}"
    if after != before:
        return f"{where}: changed what was there"
    return f"{where}: {wrong}" if (wrong := fault(code, said, seconds)) else outcome(code)


def outcome(code: int) -> str:
    """What a call without a fault counts as."""
    return "lines" if code in (2, 3) else "equal"


def fault(code: int, said: str, seconds: float) -> str:
    """What is wrong with the end of a call, or ""."""
    ended_by = (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL)
    if code in ended_by or seconds > SECONDS:
        return f"a hang of {seconds:.0f} s"
    if code not in (0, 1, 2, 3):
        return f"exit {code}: {said.strip()[-300:]}"
    if any(word in said for word in ("Missing ", "No such ", "unexpected extra ")):
        return f"the try is mistaken: {said.strip()[-300:]}"
    if "Traceback" in said:
        return f"a traceback: {said.strip()[-300:]}"
    return ""


def called(reader: Reader, path: Path) -> int:
    """Call a reader in this process, and return its exit code."""
    from simulator.doors.cli import run_and_write
    from simulator.foundations.errors import DpcomposeError

    if isinstance(reader.call, tuple):
        words = [
            word.replace("@", str(path)).replace("%", str(path.parent)) for word in reader.call
        ]
        return run_and_write(words)
    try:
        reader.call(path)
    except DpcomposeError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def alone(call: Callable[[], int]) -> tuple[int, str, float]:
    """The exit code of a call in a process of its own, what it said, and its seconds.

    The time is the processor's, or ten times as much on the clock: a wait takes none.
    """
    with tempfile.TemporaryFile("w+") as said:
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            _in_the_child(call, said.fileno())
        _, status, used = os.wait4(child, 0)
        clock = time.monotonic() - start
        said.seek(0)
        code = os.waitstatus_to_exitcode(status)
        seconds = clock if code == -signal.SIGALRM else used.ru_utime + used.ru_stime
        return code, said.read(), seconds


def _in_the_child(call: Callable[[], int], said: int) -> None:
    code = 99
    try:
        os.setsid()
        for stream in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR) if stream == 0 else said, stream)
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(n, "w", closefd=False), write_through=True) for n in (1, 2)
        )
        limit = _memory() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(10 * SECONDS)
        code = call()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
    except BaseException:
        import traceback

        with contextlib.suppress(BaseException):
            traceback.print_exc()
    finally:
        os._exit(code)


def _memory() -> int:
    """The bytes of this process's address space."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


SHADOWS = (
    "joblib", "numpy", "scipy", "numba", "simulator", "secrets", "types", "click", "rich", "json",
    "random", "multiprocessing", "cloudpickle", "matplotlib", "struct", "signal", "sitecustomize",
    "usercustomize", "conftest", "queue",
)  # fmt: skip
"""Modules whose names files have in the folder of a stranger."""

LOUD = "import pathlib\npathlib.Path({trace!r}).touch()\nraise RuntimeError('executed')\n"

COMMANDS: dict[str, tuple[str, ...]] = {
    "adversaries": ("adversaries",),
    "adversaries --explain": ("adversaries", "--explain", "attack.py:attack"),
    "audit": ("audit", "attack.py:box", *PAIR, "--samples", "2000"),
    "bounds": ("bounds", "laplace:0.1", "--rounds", "3", "--delta", "1e-6"),
    "calibrate": ("calibrate", "laplace", "--rounds", "3", *AT),
    "claims": ("claims", "roth2011-lemma-7", "group-notes-basic-two", "--jobs", "2"),
    "conform": ("conform",),
    "conform FILE": ("conform", "adapter.py", "--quick"),
    "estimate-rare": ("estimate-rare", "attack.py:attack", *RARE),
    "filter": ("filter", "--family", "pure:0.5", "--epsilon", "1", "--delta", "1e-6"),
    "game": ("game", "concurrent"),
    "merge": ("merge", "run", "--out", "whole"),
    "pipeline": ("pipeline", "attack.py:box", *PAIR),
    "plot": ("plot", "run"),
    "simulate": ("simulate", "attack.py:attack", "--family", "pure:0.2", "--rounds", "10",
                 "--trials", "3000", "--jobs", "2"),
    "sweep": ("sweep", "attack.py:attack", "--family", "pure:0.2", "--rounds", "3,4", "--quantity",
              "epsilon(delta=0.1)", "--trials", "200", "--jobs", "2", "--out", "study.csv"),
    "truths": ("truths",),
    "verify": ("verify", "attack.py:attack", "--family", "pure:0.2", "--rounds", "10", "--trials",
               "3000", "--jobs", "2"),
    "worst-case": ("worst-case", "--menu", "randomized-response:0.5", "--rounds", "3",
                   "--epsilon", "1", "--jobs", "2"),
}  # fmt: skip
"""Commands that are called in the folder of a stranger."""

BESIDE = PROGRAM + "def box(data, coins):\n    return float(coins.laplace())\n"
ADAPTER = "LIBRARY = None\n"


def furnished(folder: Path, run: Path) -> Path:
    """Fill a folder with files that are named as modules; return the trace that one would leave."""
    trace = folder.parent / "trace"
    for name in SHADOWS:
        (folder / f"{name}.py").write_text(LOUD.format(trace=str(trace)))
    (folder / "attack.py").write_text(BESIDE)
    (folder / "adapter.py").write_text(ADAPTER)
    shutil.copytree(run, folder / "run")
    for link in ("run.png", "study.png", "whole"):
        where = folder / "run" / link if link == "run.png" else folder / link
        where.symlink_to(folder.parent / "victim")
    (folder.parent / "victim").write_text("mine\n")
    return trace


def in_a_furnished_folder(words: Sequence[str], run: Path) -> str:
    """The outcome of a command in a folder of files that are named as modules."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "here")
        folder.mkdir()
        trace = furnished(folder, run)
        start = time.monotonic()
        try:
            done = subprocess.run(
                [COMMAND[0], "-P", *COMMAND[1:], *words],
                cwd=folder, capture_output=True, text=True,
                timeout=10 * SECONDS, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"{words[0]}: a hang"
        if trace.exists():
            return f"{' '.join(words)}: a file of the folder was executed"
        if (folder.parent / "victim").read_text() != "mine\n":
            return f"{' '.join(words)}: overwrote a file through a link"
        seconds = min(time.monotonic() - start, SECONDS)
        wrong = fault(done.returncode, done.stderr, seconds)
        return f"{' '.join(words)}: {wrong}" if wrong else outcome(done.returncode)


def a_run(folder: Path) -> Path:
    """A small run on disk, as ``simulate press-when-ahead`` with GAME stores it."""
    from simulator.doors.cli import run_and_write

    out = folder / "a run"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run_and_write(["simulate", "press-when-ahead", *GAME, "--out", str(out)])
    return out


def warm(readers: Sequence[Reader]) -> None:
    """Import what the readers' commands import, once for all of their processes."""
    import pkgutil

    import simulator
    from simulator.doors.cli import group

    for reader in readers:
        if isinstance(reader.call, tuple):
            group.get_command(None, reader.call[0])  # type: ignore[arg-type]
    for room in ("theory", "studies", "worst", "training", "analysis", "runner", "auditing.truths"):
        for module in pkgutil.walk_packages(
            [str(Path(simulator.__file__).parent.joinpath(*room.split(".")))], f"simulator.{room}."
        ):
            with contextlib.suppress(Exception):  # it needs what is not installed
                importlib.import_module(module.name)


def campaign(quick: bool) -> Iterator[Tally]:
    """Every reader before every kind of file, and every command in a furnished folder."""
    readers = READERS[::8] if quick else READERS
    with tempfile.TemporaryDirectory() as name:
        run = a_run(Path(name))
        warm(readers)
        for kind in KINDS:
            tally = Tally(f"a stranger's file: {kind}")
            for reader in readers:
                tally.count(tried(reader, kind, run))
            yield tally
        tally = Tally("a folder of files that are named as modules")
        for words in list(COMMANDS.values())[:: 9 if quick else 1]:
            tally.count(in_a_furnished_folder(words, run))
        yield tally
