"""Machines without semaphores, and variables of the environment that are no numbers."""

import os
import resource
import subprocess
import sys
import weakref

import joblib
import pytest

from simulator import PureDP, simulate
from simulator.adversaries import loading
from simulator.analysis.likelihoods import NotTested
from simulator.analysis.plots.style import drawable
from simulator.doors.cli import process
from simulator.errors import InvalidInput
from simulator.foundations.surroundings import (
    BLAS_THREADS,
    CORES,
    DATE,
    LEAST_BYTES,
    PICKLER,
    POOLS,
    STARTS,
    require_memory,
    require_usable,
    require_whole,
)
from simulator.runner.calls import calls
from simulator.runner.pool import workers
from tests.helpers.games import press_when_ahead


@pytest.fixture
def without_semaphores(monkeypatch):
    """What joblib is where no semaphore can be made, as in a container without /dev/shm."""
    for name in ("loky", "multiprocessing"):
        monkeypatch.delitem(joblib.parallel.BACKENDS, name)
    monkeypatch.setattr(joblib.parallel, "DEFAULT_BACKEND", "threading")


def generator(coins):
    """The rule press-when-ahead, by its own generator."""
    yield from press_when_ahead(coins)


@pytest.mark.parametrize("jobs", [1, 2])
def test_threads_play_where_no_process_can_be_started(without_semaphores, jobs):
    def played(jobs):
        return simulate(
            generator, PureDP(0.2), 5, 40, block_size=20, jobs=jobs, progress=False
        ).losses(0)

    assert played(jobs).tolist() == played(1).tolist()


def test_calls_are_made_in_threads_too(without_semaphores):
    assert sorted(calls(abs, [-1, -2, 3], jobs=2, kind="processes")) == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("name", [CORES, DATE, POOLS])
def test_a_variable_that_is_no_number_gets_one_line(dpcompose, monkeypatch, tmp_path, name):
    monkeypatch.setenv(name, "junk")
    said = f"the environment variable {name} must be a whole number, not 'junk'; unset it"
    assert said in dpcompose("adversaries").complaint
    with pytest.raises(InvalidInput, match=said):
        require_whole()
    if name == CORES:
        with pytest.raises(InvalidInput, match=said):
            workers(-1, 1)
    if name == DATE:
        with pytest.raises(InvalidInput, match=said):
            drawable(tmp_path / "a.png")
    monkeypatch.setenv(name, "1")
    require_whole()


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        (STARTS, "junk", "one of fork"),
        (PICKLER, "no_such_module.inner", "a module that is installed, not 'no_such_module.inner'"),
        (PICKLER, ".junk", "a module that is installed"),
        (DATE, "99999999999999999999", "seconds since 1970, up to 253402300799, not '9999"),
        (DATE, "-1", "seconds since 1970"),
    ],
)
def test_a_variable_that_joblib_or_matplotlib_cannot_take(
    dpcompose, monkeypatch, name, value, wanted
):
    monkeypatch.setenv(name, value)
    assert f"the environment variable {name} must be {wanted}" in dpcompose("adversaries").complaint


def test_what_joblib_takes_is_taken(monkeypatch):
    for name, value in {STARTS: "spawn", PICKLER: "cloudpickle", DATE: "253402300799"}.items():
        monkeypatch.setenv(name, value)
    require_usable()


@pytest.mark.parametrize("name", ["matplotlibrc", ".numba_config.yaml", "rc"])
def test_settings_that_are_no_file_are_not_waited_for(monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MATPLOTLIBRC", "rc" if name == "rc" else "")
    path = tmp_path / name
    said = f"{name} is no regular file of at most 1 MB"
    os.mkfifo(path)
    with pytest.raises(InvalidInput, match=said):
        require_usable()
    path.unlink()
    path.symlink_to(os.devnull)
    with pytest.raises(InvalidInput, match=said):
        require_usable()
    path.unlink()
    path.write_text("font.size: 8\n")
    require_usable()
    os.truncate(path, 1 << 30)
    with pytest.raises(InvalidInput, match=said):
        require_usable()


def limited(most, *words):
    """A command in a process with a limit of its address space: (exit code, lines of errors)."""
    done = subprocess.run(
        [sys.executable, "-c", "from simulator.doors.cli import main; main()", *words],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.returncode, done.stderr.splitlines()


def test_too_little_memory_is_one_line_before_numpy_is_loaded():
    code, (line,) = limited(300 * 10**6, "bounds", "laplace:0.1", "--rounds", "3")
    assert code == 2
    assert line == (
        "error: the memory of a process is limited to 300 MB (ulimit -v), and 500 MB are needed; "
        "raise the limit"
    )


@pytest.mark.nightly
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_asked_for_is_enough(adversary_file, jobs):
    """Without a limit of the threads of OpenBLAS this ended as if it had been interrupted."""
    game = ("--family", "pure:0.2", "--rounds", "10", "--trials", "2000", "--jobs", str(jobs))
    for adversary in ("press-when-ahead", adversary_file()):
        assert limited(LEAST_BYTES, "simulate", adversary, *game) == (0, [])


def test_threads_of_linear_algebra_are_few_only_where_memory_is_limited(monkeypatch):
    monkeypatch.delenv(BLAS_THREADS, raising=False)
    limits = dict.fromkeys((resource.RLIMIT_AS, resource.RLIMIT_DATA), resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits[kind], 0))
    require_memory()
    assert BLAS_THREADS not in os.environ
    limits[resource.RLIMIT_DATA] = LEAST_BYTES
    require_memory()
    assert os.environ[BLAS_THREADS] == "1"
    limits[resource.RLIMIT_DATA] -= 1
    with pytest.raises(InvalidInput, match=r"ulimit -d"):
        require_memory()


def test_only_warnings_that_a_user_can_act_on_are_shown(capsys, tmp_path):
    process.show_warning(NotTested("no scikit-learn"), NotTested, process.__file__, 1)
    process.show_warning("overflow", RuntimeWarning, str(tmp_path / "mine.py"), 7)
    process.show_warning("overflow", RuntimeWarning, process.__file__, 1)
    process.show_warning("glyph missing", UserWarning, joblib.__file__, 1)
    assert capsys.readouterr().err.splitlines() == [
        "warning: no scikit-learn",
        f"warning: overflow ({tmp_path / 'mine.py'}, line 7)",
    ]


def test_a_weak_proxy_of_what_is_gone_stops_no_flush(monkeypatch, tmp_path):
    held = set()
    gone = weakref.proxy(held)
    del held
    monkeypatch.setattr(loading, "_run", {"a file"})
    with (tmp_path / "left open").open("w") as file:
        file.write("said")
        process._flush_files()
        assert (tmp_path / "left open").read_text() == "said"
    assert type(gone) is weakref.ProxyType
