"""Machines without semaphores, and variables of the environment that are no numbers."""

import weakref

import joblib
import pytest

from simulator import PureDP, simulate
from simulator.adversaries import loading
from simulator.analysis.likelihoods import NotTested
from simulator.analysis.plots.style import drawable
from simulator.doors.cli import process
from simulator.errors import InvalidInput
from simulator.foundations.surroundings import CORES, DATE, POOLS, require_whole
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
