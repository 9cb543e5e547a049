"""Play for a time: the number of trials is settled beforehand, and depends on no counted play."""

import time

import pytest

from simulator import Database, Laplace, PureDP, counting_query, simulate
from simulator.engine.block import Specification
from simulator.errors import InvalidInput
from simulator.runner import fitting
from simulator.runner.fitting import HELD_OUT, stored_trials, trials_that_fit
from tests.helpers.games import press_when_ahead

FAMILY = PureDP(0.2)
EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")


def played(monkeypatch):
    """The specifications whose blocks are played to measure speed, as they come."""
    seen = []
    original = fitting.outcomes

    def noted(specification, keys, jobs):
        seen.append((specification, keys))
        return original(specification, keys, jobs)

    monkeypatch.setattr(fitting, "outcomes", noted)
    return seen


@pytest.mark.nightly
def test_the_result_is_that_of_a_run_with_so_many_trials():
    timed = simulate(press_when_ahead, FAMILY, 20, seconds=0.3, seed=7, jobs=1)
    trials = timed.specification.trials
    assert trials > 1
    counted = simulate(press_when_ahead, FAMILY, 20, trials, seed=7, jobs=1)
    for b in (0, 1):
        assert len(timed.losses(b)) == trials
        assert timed.losses(b).tolist() == counted.losses(b).tolist()


def test_speed_is_measured_on_draws_that_no_result_uses(monkeypatch):
    seen = played(monkeypatch)
    specification = Specification(press_when_ahead, FAMILY, 20, 10**9, seed=7)
    trials_that_fit(specification, (0, 1), 0.2, 1)
    assert seen
    for held_out, keys in seen:
        assert held_out.seed == 7 + HELD_OUT
        assert all(block > 0 for _, block in keys)


@pytest.mark.parametrize("seconds", [30.0, 1e308])
def test_trials_is_the_most_that_is_played(seconds):
    result = simulate(press_when_ahead, FAMILY, 5, 3, seconds=seconds, jobs=1)
    assert result.specification.trials == 3


def test_one_trial_is_played_where_none_fits():
    def slow(coins):
        while True:
            time.sleep(0.01)
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1)

    result = simulate(slow, FAMILY, 3, seconds=1e-6, jobs=1)
    assert result.specification.trials == 1


def test_workers_that_are_slow_to_start_take_nothing_off_the_time(monkeypatch):
    original = fitting.outcomes

    def late(specification, keys, jobs):
        if jobs > 1:
            time.sleep(3.0)
        yield from original(specification, keys, 1)

    monkeypatch.setattr(fitting, "outcomes", late)
    specification = Specification(press_when_ahead, FAMILY, 20, 10**9, seed=7)
    assert trials_that_fit(specification, (0, 1), 2.0, 2) > 100


def test_no_block_is_timed_that_is_larger_than_those_of_the_run(monkeypatch):
    sizes = {1: [], 2: []}

    def at_once(specification, keys, jobs):
        sizes[jobs].append(specification.block_size)
        yield from keys

    monkeypatch.setattr(fitting, "outcomes", at_once)
    specification = Specification(press_when_ahead, FAMILY, 20, 10**9, seed=7, block_size=300)
    trials_that_fit(specification, (0, 1), 60.0, 2)
    assert max(sizes[1]) == 300
    assert sizes[2] == [300]


def test_what_fits_is_added_to_what_a_folder_holds(tmp_path, monkeypatch):
    out = tmp_path / "run"
    fitted = iter([700, 500])
    monkeypatch.setattr("simulator.runner.play.trials_that_fit", lambda *_: next(fitted))
    settings = {"seed": 7, "jobs": 1, "out": out, "block_size": 200}
    assert stored_trials(out, 200, (0, 1)) == (0, 0)
    first = simulate(press_when_ahead, FAMILY, 5, seconds=9.0, **settings)
    assert first.specification.trials == 700
    assert stored_trials(out, 200, (0, 1)) == (700, 700)
    longer = simulate(press_when_ahead, FAMILY, 5, seconds=9.0, **settings)
    assert longer.specification.trials == 1200
    whole = simulate(press_when_ahead, FAMILY, 5, 1200, seed=7, jobs=1, block_size=200)
    assert longer.losses(1).tolist() == whole.losses(1).tolist()


def test_a_run_that_was_interrupted_is_first_played_to_its_end(tmp_path, monkeypatch):
    out = tmp_path / "run"
    settings = {"seed": 7, "jobs": 1, "out": out, "block_size": 200}
    simulate(press_when_ahead, FAMILY, 5, 1000, experiments=(0,), **settings)
    assert stored_trials(out, 200, (0, 1)) == (0, 1000)
    monkeypatch.setattr("simulator.runner.play.trials_that_fit", lambda *_: 30)
    result = simulate(press_when_ahead, FAMILY, 5, seconds=9.0, **settings)
    assert result.specification.trials == 1000


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf"), "10m"])
def test_a_time_that_is_none_is_refused(seconds):
    with pytest.raises(InvalidInput, match="seconds must be"):
        simulate(press_when_ahead, FAMILY, 5, seconds=seconds)


def test_a_number_or_a_time_must_be_given():
    with pytest.raises(InvalidInput, match=r"(trials).* or .*(seconds)"):
        simulate(press_when_ahead, FAMILY, 5)


def test_an_interrupted_pilot_says_what_is_stored(monkeypatch, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    out = tmp_path / "run"
    monkeypatch.setattr("simulator.runner.play.trials_that_fit", interrupted)
    with pytest.raises(KeyboardInterrupt) as before:
        simulate(press_when_ahead, FAMILY, 20, seconds=5.0, seed=7, jobs=1, out=out)
    (note,) = before.value.__notes__
    assert "nothing is stored so far; the same command measures again" in note
    simulate(press_when_ahead, FAMILY, 20, 300, seed=7, jobs=1, out=out, block_size=100)
    with pytest.raises(KeyboardInterrupt) as after:
        simulate(press_when_ahead, FAMILY, 20, seconds=5.0, seed=7, jobs=1, out=out, block_size=100)
    (note,) = after.value.__notes__
    assert "300 trials of each experiment are stored so far" in note
