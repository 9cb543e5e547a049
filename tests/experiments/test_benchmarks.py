"""The verdicts and the report of benchmarks; no test asserts a time."""

import contextlib
import io
import itertools
import json
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from experiments.benchmarks import (
    accuracy,
    adversaries,
    against,
    engine,
    loops,
    memory,
    peers,
    whole,
)  # fmt: skip
from experiments.benchmarks.__main__ import MODULES, chosen, main, shown
from experiments.benchmarks.measure import Line, alternately, fresh
from simulator.adversaries.program.rules import ProgramRule
from simulator.data import ADD_REMOVE
from simulator.engine.compiled.plain_kernel import Engine
from simulator.theory import LaplaceLaw, compose_laws
from tests.helpers.machine_steps import by_code


@pytest.mark.parametrize(
    ("figure", "target", "at_least", "met"),
    [(2.0, 1.8, True, True), (1.7, 1.8, True, False), (2.0, 3.0, False, True),
     (4.0, 3.0, False, False), (None, 1.0, True, None), (1.0, None, True, None)],
)  # fmt: skip
def test_a_line_is_judged_on_the_right_side(figure, target, at_least, met):
    line = Line("speed", figure, "x", target, at_least=at_least)
    assert line.met is met
    assert ("MISSED" in shown(line)) == (met is False)


def test_some_benchmarks_are_measured_alone_and_nothing_is_written(monkeypatch, capsys):
    def of_many_trials():
        yield Line("a folder", 0.5, "of 200 MB", 1.0, at_least=False)

    monkeypatch.setattr(memory, "BENCHMARKS", (of_many_trials,))
    monkeypatch.setattr("experiments.benchmarks.__main__.write_json", None)  # would raise
    for name in ("memory", "of_many_trials"):
        assert main(["--only", name]) == 0
        assert capsys.readouterr().out.splitlines() == [shown(next(of_many_trials()))]
    assert main(["--only", "nothing"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "no benchmark 'nothing', but whole, engine, calls, memory" in err
    assert chosen(None) == [each for module in MODULES for each in module.BENCHMARKS]


def test_a_part_that_is_measured_again_replaces_its_own_lines(monkeypatch, tmp_path):
    figures = {"first": 1.0, "second": 2.0}

    def first():
        yield Line("one", figures["first"], "x")

    def second():
        yield Line("two", figures["second"], "x")
        yield Line("three", figures["second"], "x")

    table = tmp_path / "benchmarks.json"
    monkeypatch.setattr("experiments.benchmarks.__main__.MODULES", (memory, accuracy))
    monkeypatch.setattr(memory, "BENCHMARKS", (first,))
    monkeypatch.setattr(accuracy, "BENCHMARKS", (second,))
    monkeypatch.setattr("experiments.benchmarks.__main__.TABLE", table)
    monkeypatch.setattr(
        "experiments.benchmarks.__main__.apart",
        lambda benchmark: main(["--only", benchmark.__name__, "--write"]),
    )
    table.write_text('{"benchmarks": [{"name": "of an earlier version"}]}')
    assert main(["--only", "second", "--write"]) == 0
    assert main([]) == 0
    figures["first"] = 5.0
    assert main(["--only", "memory", "--write"]) == 0
    lines = json.loads(table.read_text())["benchmarks"]
    assert [(line["name"], line["figure"], line["of"]) for line in lines] == [
        ("one", 5.0, "first"), ("two", 2.0, "second"), ("three", 2.0, "second"),
    ]  # fmt: skip
    assert all(line["time"] for line in lines)


def test_programs_are_timed_in_turn():
    calls = []
    ticks = itertools.count()
    durations = iter([1, 2, 1, 3, 1, 10])
    now = 0.0

    def clock():
        nonlocal now
        if next(ticks) % 2:
            now += next(durations)
        return now

    timed = alternately(lambda: calls.append("a"), lambda: calls.append("b"), 3, clock)
    assert calls == list("ababab")
    assert timed == (3.0, 1.0, 3.0, {"spread": [2.0, 10.0]})


def test_the_first_order_error_finds_a_shifted_epsilon():
    mpmath = pytest.importorskip("mpmath")
    # one round: delta = p - (1 - p) e^E, so E is known in closed form
    delta, epsilon = 0.01, 0.1
    p = 1.0 / (1.0 + math.exp(-epsilon))
    exact = math.log((p - delta) / (1.0 - p))
    with mpmath.workdps(30):
        for shift in (0.0, 1e-8, -1e-8):
            arguments = [mpmath.mpf(x) for x in (epsilon, exact + shift, delta)]
            assert float(accuracy._error(1, *arguments)) == pytest.approx(shift, abs=1e-14)


def test_the_truth_that_peers_are_held_against_is_in_our_bracket():
    found = compose_laws([(LaplaceLaw(0.1), peers.LONG)], tolerance=1e-8).epsilon(peers.DELTA)
    assert found.lower <= peers.TRUTH + 5e-9
    assert found.upper >= peers.TRUTH - 5e-9


def test_committed_benchmarks_are_strict_json():
    from experiments.stages import RESULTS

    stored = json.loads((RESULTS / "benchmarks.json").read_text())
    assert {"name", "figure", "unit", "target", "met"} <= set(stored["benchmarks"][0])
    assert stored["provenance"]["machine"]


def test_a_change_that_takes_half_as_long_again_is_slower(monkeypatch, capsys, tmp_path):
    took = {"same": [1.05] * 6, "slower": [1.5] * 6, "noisy": [1.4, 1.4, 1.4, 0.9, 1.4, 1.4]}
    now = 0.0

    def timed(program, statuses, environment):
        nonlocal now
        now += took[program].pop() if environment["PYTHONPATH"] == str(tmp_path) else 1.0

    monkeypatch.setattr(against, "program_seconds", timed)
    monkeypatch.setattr(against, "children", lambda: now)
    programs = {name: name for name in took}
    assert against.slower(programs, tmp_path, tmp_path / "before", tmp_path) == ["slower"]
    assert not any(took.values())
    assert capsys.readouterr().out.count("SLOWER") == 1


def test_a_revision_that_is_not_there_is_one_line(capsys):
    assert against.main(["no-such-revision"]) == 2
    assert capsys.readouterr().err.startswith("error: no sources of no-such-revision: ")


def test_both_programs_of_a_whole_game_have_the_same_tail():
    """The same seed gives other draws; 99.9% intervals of both tails must meet."""
    tails = []
    for program in (whole.GAME.format(trials=2_000),
                    whole.BY_HAND.format(decorator="", trials=2_000)):  # fmt: skip
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, {"__name__": "program"})
        tails.append(float(printed.getvalue().split()[0]))
    lower, upper = (binomtest(round(tail * 2_000), 2_000).proportion_ci(0.999) for tail in tails)
    assert max(lower.low, upper.low) <= min(lower.high, upper.high)


LOOPS = {
    **{name: (rule, adversaries.PURE, loops.LIBRARY[name])
       for name, rule in engine.rules_of_the_library()},
    "randomized response": (*adversaries.randomized_response(), loops.press_by_response),
    "Gaussian": (*adversaries.gaussian(), loops.press_by_gaussian),
}  # fmt: skip


@pytest.mark.parametrize("name", list(LOOPS))
def test_loops_by_hand_play_what_the_rules_play(name):
    rule, family, loop = LOOPS[name]
    if isinstance(rule, ProgramRule):
        rule = by_code(rule)
    built = Engine.build(rule, family, ADD_REMOVE, compiled=False)
    ours, theirs = np.empty(60), np.empty(60)
    built.play(0, np.random.default_rng(1), np.random.default_rng(2), ours, engine.ROUNDS)
    draws = np.random.default_rng(1), np.random.default_rng(2)
    assert loop(theirs, engine.ROUNDS, *draws) == -1
    np.testing.assert_allclose(theirs, ours, rtol=1e-12, atol=1e-12)


def test_the_draws_of_a_round_are_counted():
    rule, _ = adversaries.laplace()
    count = 2 * engine.REHEARSED
    assert engine.bare_draws_of(rule) == {"standard_exponential": count, "random": count}


def test_the_memory_of_a_program_is_its_own():
    held = np.ones(20_000_000)  # 160 MB, which a child's ru_maxrss would count on Linux
    program = "from experiments.benchmarks.measure import peak_megabytes as p; print(p())"
    assert fresh(program) < 100 < held.nbytes / 1e6


def test_the_loop_in_numpy_plays_what_is_timed_beside_it():
    """Two shares of 20,000 trials differ by six standard errors with a probability of 2e-9."""
    trials = 20_000
    for loop, played in zip(memory.in_numpy(trials), memory.as_a_summary(trials)):
        assert abs(loop - played) < 6.0 * math.sqrt(0.5 / trials)
