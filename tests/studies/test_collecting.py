"""Studies: the numbers of single runs, valid early stops, resumption, failures."""

import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from simulator import simulate
from simulator.analysis.rare import Setting, estimate_rare
from simulator.foundations.errors import InvalidInput
from simulator.studies import Quantity, StoppingRule, Study, Task, collect, grid
from simulator.studies.collecting import blocks_folder
from simulator.worst import worst_case
from tests.studies.games import adaptive, leaving, raising, steady

TAIL, DELTA, EPSILON = "tail(epsilon=0.5)", "delta(epsilon=0.5)", "epsilon(delta=0.01)"


def collected(tasks, out=None, **settings):
    return Study.of(collect(tasks, out, jobs=1, **settings))


def test_a_point_is_that_of_a_single_run():
    study = collected([Task(steady, "pure:0.2", 8, [TAIL, DELTA, EPSILON], seed=5)], trials=3000)
    result = simulate(steady, "pure:0.2", 8, 3000, seed=5, jobs=1, progress=False)
    for experiment in (0, 1):
        wanted = [
            result.tail(0.5, experiment),
            result.delta(0.5, experiment),
            result.epsilon(0.01, experiment),
        ]
        found = study.filter(experiment=experiment)
        assert [(p.value, p.lower, p.upper) for p in found] == [
            (e.value, e.lower, e.upper) for e in wanted
        ]
        assert {p.stopped for p in found} == {"trials"}


def test_an_early_stop_uses_the_share_of_the_error_of_its_look():
    (point, _) = collected([Task(steady, "pure:0.2", 8, DELTA)], trials=50_000, width=0.2)
    assert point.stopped == "width"
    assert point.relative_width <= 0.2
    look = point.looks - 1
    assert point.trials == 1000 << look
    share = 0.05 / ((look + 1) * (look + 2))
    result = simulate(steady, "pure:0.2", 8, point.trials, jobs=1, progress=False)
    alone = result.delta(0.5, 0, 1 - share)
    assert (point.lower, point.upper) == (alone.lower, alone.upper)
    before = simulate(steady, "pure:0.2", 8, point.trials // 2, jobs=1, progress=False)
    wide = before.delta(0.5, 0, 1 - 0.05 / (look * (look + 1)))
    assert wide.upper - wide.lower > 0.2 * wide.upper


def test_the_shares_of_all_looks_are_the_error():
    rule = StoppingRule(trials=10**9, width=0.1)
    shares = [rule.error_at(look, 0.05) for look in range(10_000)]
    assert math.fsum(shares) <= 0.05
    assert math.fsum(shares) > 0.0499
    assert StoppingRule(trials=500).error_at(0, 0.05) == 0.05


def test_an_end_at_infinity_is_not_narrow():
    rule = StoppingRule(trials=8000, width=0.5)
    assert rule.reason(0, 1.0, math.inf, 5) == ""
    assert rule.reason(3, 1.0, math.inf, 5) == "trials"
    assert rule.reason(0, 0.0, 0.0, 0) == "width"


def test_early_stops_keep_their_confidence():
    """Looking at every doubling: at most 5% of 300 studies miss, with false alarm 1e-6.

    Stopping at the first look whose plain 95% interval misses the truth, which the shares forbid,
    misses in far more of them: the check can fail.
    """
    from scipy.stats import beta, binom

    rule, truth = StoppingRule(trials=64_000, width=1e-9), 0.1
    rng = np.random.default_rng(20261123)
    n = np.array([rule.trials_at(look) for look in range(7)])
    seen = np.array([(rng.random(n[-1]) < truth).cumsum()[n - 1] for _ in range(300)])

    def missed(errors):
        """Studies in which an interval of Clopper and Pearson misses at one of the looks."""
        low = beta.ppf(errors / 2, seen, n - seen + 1)
        high = beta.ppf(1 - errors / 2, seen + 1, n - seen)
        return int(((truth < low) | (truth > high)).any(axis=1).sum())

    misses = missed(np.array([rule.error_at(look, 0.05) for look in range(7)]))
    most = binom.ppf(1 - 1e-6, 300, 0.05)
    assert misses <= most < missed(np.full(7, 0.05))


def test_sources_agree_on_one_quantity():
    """Simulation, recursion, the worst adversary and the theorems, of randomized response."""
    asked = [DELTA, f"exact {DELTA}", f"rare {DELTA}", f"bound:basic {EPSILON}", f"bound {DELTA}"]
    study = collected(
        [Task("fixed-worst-case", "pure:0.2", 8, [*asked, f"worst {DELTA}"], experiments=[0])],
        trials=20_000,
    )
    found = {point.quantity: point for point in study}
    exact = found[f"exact {DELTA}"]
    assert exact.stopped == "certified"
    assert found[DELTA].lower <= exact.value <= found[DELTA].upper
    assert found[f"rare {DELTA}"].lower <= exact.value <= found[f"rare {DELTA}"].upper
    assert found[f"worst {DELTA}"].value == pytest.approx(exact.value, rel=1e-9)
    assert found[f"bound:privacy-loss-distribution {DELTA}"].upper >= exact.value * (1 - 1e-9)
    assert found[f"bound:basic {EPSILON}"].value == pytest.approx(1.6)
    guessed = found[f"bound:gdp-clt {DELTA}"]
    assert (guessed.stopped, guessed.confidence) == ("approximation", 0.0)


def test_a_rare_quantity_names_its_method():
    """The numbers are those of estimate_rare with that method; each method has its own line."""
    methods = ("tilted", "plain", "doob")
    quantities = [f"rare:{method} delta(epsilon=0.5)" for method in methods]
    study = collected([Task("fixed-worst-case", "pure:0.2", 20, quantities)], trials=2000)
    for method, quantity in zip(methods, quantities):
        (point,) = study.filter(quantity=quantity, experiment=0)
        event = estimate_rare(
            "fixed-worst-case",
            "pure:0.2",
            20,
            2000,
            epsilon=0.5,
            method=method,
            setting=Setting(jobs=1),
        )
        assert (point.value, point.lower) == (event.delta.value, event.delta.lower)
        assert f"--method {method}" in point.command
    assert len({point.value for point in study.filter(experiment=0)}) == 3


def test_a_family_alone_has_bounds_and_a_worst_case():
    """What an adaptive adversary gains on bounded range is a few per cent (Dong et al. 2020)."""
    fixed = "bound:bounded-range-non-adaptive delta(epsilon=1.0)"
    tasks = [Task(None, "range:0.5", 8, [fixed, "worst delta(epsilon=1)"], experiments=[0])]
    assert {point.adversary for point in collected(tasks)} == {""}
    (best_fixed, worst) = collected(tasks)
    assert best_fixed.value < worst.lower <= worst.upper < 1.1 * best_fixed.value
    (both,) = collected(
        [Task(None, "subsampled-gaussian:1,0.2", 3, "worst delta(epsilon=1)", experiments=[0])]
    )
    alone = worst_case("subsampled-gaussian:1,0.2", rounds=3, epsilon=1.0)
    assert alone.delta.upper < both.lower  # the adversary may choose who has the record
    with pytest.raises(InvalidInput, match="without an adversary"):
        Task(None, "pure:0.1", 3, ["bound delta(epsilon=1)", "delta(epsilon=1)"])


def test_a_resumed_study_is_the_same_and_plays_nothing_twice(tmp_path):
    tasks = grid([steady, adaptive], ["pure:0.2"], [4], [TAIL, EPSILON], experiments=[0])
    whole = collected(tasks, tmp_path / "whole.csv", trials=4000, width=0.05)
    part = collect(tasks, tmp_path / "part.csv", trials=4000, width=0.05, jobs=1)
    for _ in range(3):
        next(part)
    part.close()
    collected(tasks, tmp_path / "part.csv", trials=4000, width=0.05)
    again = Study.load(tmp_path / "part.csv")
    assert [p.key for p in again] == [p.key for p in whole]
    assert all(one.same_numbers(other) for one, other in zip(again, whole))
    content = (tmp_path / "part.csv").read_bytes()
    start = time.perf_counter()
    collected(tasks, tmp_path / "part.csv", trials=4000, width=0.05)
    assert time.perf_counter() - start < 1.0
    assert (tmp_path / "part.csv").read_bytes() == content


SCRIPT = """
import sys
from simulator.studies import collect, grid
from tests.studies.games import adaptive, steady
if __name__ == "__main__":
    tasks = grid([steady, adaptive], ["pure:0.2"], [5, 50, 200], ["epsilon(delta=0.01)"])
    for point in collect(tasks, sys.argv[1], trials=16_000, width=0.01, jobs=2):
        pass
"""


@pytest.mark.nightly
def test_a_study_killed_again_and_again_has_the_same_numbers(tmp_path):
    """Kills at random moments, against one undisturbed study, whose time sets the moments."""

    def run(out, seconds=None):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, out], start_new_session=True, stderr=subprocess.DEVNULL
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None

    start = time.perf_counter()
    assert run(tmp_path / "whole.csv") == 0
    seconds = time.perf_counter() - start
    rng, kills = np.random.default_rng(3), 0
    while run(tmp_path / "killed.csv", rng.uniform(0.05, 0.5) * seconds) is None:
        kills += 1
        assert kills < 100
    assert kills >= 3
    whole, killed = Study.load(tmp_path / "whole.csv"), Study.load(tmp_path / "killed.csv")
    assert [p.key for p in whole] == [p.key for p in killed]
    assert all(one.same_numbers(other) for one, other in zip(whole, killed))


def test_a_large_look_is_stored_in_blocks_and_leaves_none(tmp_path, monkeypatch):
    monkeypatch.setattr("simulator.studies.collecting.LARGE_COMPILED", 0)
    task = Task(steady, "pure:0.2", 4, TAIL)
    large = collected([task], tmp_path / "study.csv", trials=2000)
    assert not blocks_folder(tmp_path / "study.csv").exists()
    monkeypatch.undo()
    small = collected([task], trials=2000)
    assert all(one.same_numbers(other) for one, other in zip(large, small))


def test_a_task_that_fails_does_not_stop_the_others(tmp_path):
    out = tmp_path / "study.csv"
    tasks = [Task(raising, "pure:0.2", 3, TAIL), Task(steady, "pure:0.2", 3, TAIL)]
    study = collected(tasks, out, trials=1000)
    assert [point.stopped for point in study] == ["failed", "failed", "trials", "trials"]
    assert "no second round" in study[0].error
    retried = collected(tasks[:1], out, trials=1000)
    assert [point.stopped for point in retried] == ["failed", "failed"]


def test_a_bound_that_does_not_apply_fails_and_ends(monkeypatch):
    asked = ["bound epsilon(delta=0.01)", "bound:basic epsilon(delta=0.01)", TAIL]
    task = Task(steady, "pure:0.2", 4, asked, filter="sum:0.5", experiments=[0])
    study = collected([task], trials=1000)
    found = {point.quantity: point for point in study}
    assert [found[each].stopped for each in asked] == ["failed", "failed", "trials"]
    assert "not of a filter" in found[asked[0]].error
    monkeypatch.setattr("simulator.studies.answers._rows", lambda *_: ())
    (point,) = collected([Task(steady, "pure:0.2", 4, f"bound {EPSILON}")], trials=1000)
    assert "no bound applies" in point.error


@pytest.mark.nightly
def test_a_worker_that_dies_fails_its_task_alone():
    tasks = [Task(leaving, "pure:0.2", 2, TAIL), Task(steady, "pure:0.2", 2, TAIL)]
    study = Study.of(collect(tasks, trials=1000, jobs=2))
    by_name = {point.adversary: point for point in study}
    assert by_name["steady"].stopped == "trials"
    assert by_name["leaving"].stopped == "failed"
    assert "died" in by_name["leaving"].error


def test_nothing_is_begun_after_the_time():
    said = []
    study = collected(
        [Task(steady, "pure:0.2", 4, TAIL)], trials=10**6, width=1e-6, at_most=0.5,
        notice=said.append,
    )  # fmt: skip
    assert {point.stopped for point in study} == {""}
    assert said == ["the time is over: 1 of 1 tasks are not done"]


def test_other_quantities_of_one_game_are_one_task():
    tasks = [Task(steady, "pure:0.2", 4, TAIL), Task(steady, "pure:0.2", 4, [TAIL, DELTA])]
    assert tasks[0].id == tasks[1].id
    assert len(collected(tasks, trials=1000)) == 4
    apart = [Task(steady, "pure:0.2", 4, TAIL, experiments=[b]) for b in (0, 1)]
    assert [point.experiment for point in collected(apart, trials=1000)] == [0, 1]


def test_the_identity_is_that_of_the_game(monkeypatch):
    one = Task(steady, "pure:0.2", 4, TAIL, metadata={"why": "first"})
    assert one.id == Task(steady, "pure:0.2", 4, DELTA, metadata={"why": "second"}).id
    others = [
        Task(adaptive, "pure:0.2", 4, TAIL), Task(steady, "pure:0.3", 4, TAIL),
        Task(steady, "pure:0.2", 5, TAIL), Task(steady, "pure:0.2", 4, TAIL, seed=1),
        Task(steady, "pure:0.2", 4, TAIL, relation="replace-one"),
        Task(steady, "pure:0.2", 4, TAIL, filter="sum:1"),
    ]  # fmt: skip
    assert len({one.id, *(other.id for other in others)}) == 7
    monkeypatch.setattr("tests.studies.games.IS_BOB", adaptive)
    assert Task(steady, "pure:0.2", 4, TAIL).id != one.id


@pytest.mark.parametrize(("text", "canonical"), [
    ("tail(0.5)", "tail(epsilon=0.5)"),
    ("  rare epsilon(delta=1e-12)", "rare epsilon(delta=1e-12)"),
    ("bound:basic delta(epsilon=1)", "bound:basic delta(epsilon=1.0)"),
])  # fmt: skip
def test_quantities_are_read_and_written(text, canonical):
    assert str(Quantity.parse(text)) == canonical
    assert Quantity.parse(canonical) == Quantity.parse(text)


@pytest.mark.parametrize(("text", "complaint"), [
    ("epsilom(delta=1e-6)", "did you mean epsilon"),
    ("epsilon(epsilon=1)", "epsilon is a function of delta, not of epsilon"),
    ("epsilon(delta=2)", "delta"),
    ("rara tail(epsilon=1)", "did you mean rare"),
    ("rare:tiltd tail(epsilon=1)", "did you mean tilted"),
    ("exact:doob tail(epsilon=1)", "no exact:doob"),
    ("worst tail(epsilon=1)", "a worst quantity is"),
    ("tail(epsilon=x)", "'x' is not a number"),
    ("everything", "is not a quantity"),
])  # fmt: skip
def test_bad_quantities_are_refused_in_one_line(text, complaint):
    with pytest.raises(InvalidInput, match=complaint) as refused:
        Quantity.parse(text)
    assert "\n" not in str(refused.value)
