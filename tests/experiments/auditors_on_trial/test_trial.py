"""Auditors whose errors are known: a broken one is caught, an honest one is not.

An honest auditor is accused in a game with probability at most 0.0005 (one side of an interval at
99.9%); the seeds are fixed.
"""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.special
import scipy.stats

from experiments.auditors_on_trial.games import games, leaking_response
from experiments.auditors_on_trial.report import AuditorReport, page, plain, restored
from experiments.auditors_on_trial.subjects import AuditorLibrary, AuditorUnderTest
from experiments.auditors_on_trial.trial import all_tried, program, tried

GAMES = {game.name: game for game in games()}
EITHER = ("one run", "many runs")


def at_zero(scores, level, delta, seed):
    """Clopper-Pearson limits at a threshold known beforehand; scores must be independent."""
    n, m = scores.inside.size, scores.outside.size
    hits, misses = np.sum(scores.inside > 0.5), np.sum(scores.outside > 0.5)
    low = scipy.special.betaincinv(hits, n - hits + 1, level / 2) if hits else 0.0
    high = scipy.special.betaincinv(misses + 1, m - misses, 1 - level / 2)
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def naive(scores, level, delta, seed):
    """The ratio of frequencies: no bound at all."""
    return max(0.0, math.log(np.mean(scores.inside > 0.5) / np.mean(scores.outside > 0.5)))


def auditor(bound, **more):
    code = (
        "bound = np.log(np.mean(inside > 0.5) / np.mean(outside > 0.5))" if bound is naive else ""
    )
    return AuditorUnderTest(
        name=bound.__name__, runs=EITHER, bound=bound, claims="a lower bound", code=code, **more
    )


@pytest.mark.parametrize("name", [name for name in GAMES if not GAMES[name].dependent])
def test_an_honest_auditor_is_not_accused(name):
    cell = tried("test", auditor(at_zero), GAMES[name])
    assert not cell.too_often
    assert cell.plays == 200
    assert cell.rate.lower <= cell.false / 200 <= cell.rate.upper
    assert cell.power <= 1.0 or math.isnan(cell.power)


@pytest.mark.parametrize("runs", EITHER)
def test_a_broken_auditor_is_caught(runs):
    cell = tried("test", auditor(naive), GAMES[f"randomized response, {runs}"])
    assert cell.counts
    assert 0.3 < cell.false / cell.plays < 0.7


def test_limits_for_independent_scores_are_false_for_dependent_ones():
    """One run in four reveals 118 canaries, so the rate of false bounds is at least about that."""

    def at_five(scores, level, delta, seed):
        leaked = scores._replace(inside=scores.inside - 5.0, outside=scores.outside - 5.0)
        return at_zero(leaked, level, delta, seed)

    cell = tried("test", auditor(at_five), GAMES["joint leak, one run"])
    assert cell.counts
    assert cell.rate.lower < 0.25 < cell.rate.upper


def test_what_is_documented_is_not_counted():
    cell = tried(
        "test",
        auditor(naive, outside=lambda game: "an estimate"),
        GAMES["randomized response, one run"],
    )
    assert cell.too_often
    assert not cell.counts


def test_an_exception_and_nan_are_failures_and_not_bounds():
    def fails(scores, level, delta, seed):
        if seed % 2:
            raise ValueError("odd")
        return math.nan

    cell = tried("test", auditor(fails), GAMES["Gaussian, one run"], plays=6)
    assert (cell.plays, cell.failures, cell.false, cell.rate) == (0, 6, 0, None)
    assert cell.why == "returns NaN"
    assert not cell.too_often


def test_true_epsilons_agree_with_closed_forms():
    e, delta = math.e, 1e-5
    right = e / (1 + e)
    assert GAMES["randomized response, one run"].truth.value == pytest.approx(
        math.log((right - delta) / (1 - right)), rel=1e-12
    )
    assert GAMES["Laplace, many runs"].truth.value == pytest.approx(
        1 + 2 * math.log1p(-delta), rel=1e-9
    )
    found = GAMES["Gaussian, one run"].truth.value
    normal = scipy.stats.norm
    assert normal.cdf(0.5 - found) - math.exp(found) * normal.cdf(-0.5 - found) == pytest.approx(
        delta, rel=1e-9
    )
    leak = 0.25 * 118 / 1000
    above = (
        leak
        + (1 - leak) * right
        - math.exp(GAMES["joint leak, one run"].truth.value) * (1 - leak) * (1 - right)
    )
    assert above == pytest.approx(0.03, rel=1e-9)
    assert leaking_response(1.0, leak).infinite_mass == pytest.approx(leak)


@pytest.mark.parametrize("name", GAMES)
def test_a_program_draws_what_the_game_draws(name):
    """Means and spreads of 200 plays by both ways, within five standard errors."""
    game = GAMES[name]
    ours = [game.play(0, number) for number in range(200)]
    space = {"np": np}
    theirs = []
    for seed in range(200):
        space["rng"] = np.random.default_rng(seed)
        exec(game.code, space)
        theirs.append((space["inside"] * 1.0, space["outside"] * 1.0))
    for side in (0, 1):
        for value in (np.mean, np.std):
            a, b = (np.array([value(play[side]) for play in each]) for each in (ours, theirs))
            error = math.sqrt((a.var() + b.var()) / 200)
            assert abs(a.mean() - b.mean()) < 5 * error


def test_equal_seeds_give_equal_scores_and_other_plays_others():
    game = GAMES["Laplace counts of 8, one run"]
    assert np.array_equal(game.play(3, 4).inside, game.play(3, 4).inside)
    assert not np.array_equal(game.play(3, 4).inside[:9], game.play(3, 5).inside[:9])


def test_the_program_of_a_defect_runs_alone():
    text = program(auditor(naive), GAMES["randomized response, one run"])
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert 30 < int(ran.stdout.split()[0]) < 70
    assert ran.stdout.endswith("of 100 bounds are above the truth\n")


def test_the_page_has_the_cells_the_programs_and_the_absent():
    library = AuditorLibrary(name="some", version="1", auditors=[auditor(naive)])
    some = [GAMES["randomized response, one run"], GAMES["Gaussian, many runs"]]
    report = AuditorReport(library=library, cells=all_tried(library, some, plays=40))
    report.programs["naive", "randomized response, one run"] = "print(1)", "1"
    gone = AuditorReport(library=AuditorLibrary(name="gone", absent="not installed: no module"))
    text = page([report, gone], games(), 0.05)
    assert "**false bounds**" in text
    assert "print(1)" in text
    assert "Absent: not installed: no module." in text
    assert "| some | 1 | 1 | 1 | 0 |" in text
    whole = plain(report)
    assert [cell["plays"] for cell in whole["cells"]] == [40, 40]
    assert whole["cells"][0]["counts"]


def test_a_report_is_restored_from_its_json():
    """So that a part of a trial can be made again."""
    library = AuditorLibrary(name="some", version="1", auditors=[auditor(naive)])
    some = [GAMES["randomized response, one run"], GAMES["Gaussian, many runs"]]
    report = AuditorReport(library=library, cells=all_tried(library, some, plays=40))
    report.programs["naive", "randomized response, one run"] = "print(1)", "1"
    again = restored(json.loads(json.dumps(plain(report))))
    assert plain(again) == plain(report)
    assert page([again], games(), 0.05) == page([report], games(), 0.05)
    nothing = AuditorReport(library=AuditorLibrary(name="gone", absent="not installed"))
    assert plain(restored(plain(nothing))) == plain(nothing)


def test_a_part_of_a_trial_keeps_the_rest(tmp_path, capsys):
    from experiments.auditors import main

    bad = tmp_path / "bad.json"
    bad.write_text('{"plays": 3}')
    for wrong in ([str(tmp_path / "none.json")], [str(bad)]):
        assert main(["dpcompose", "--plays", "3", "--keep", *wrong, "--out", str(tmp_path)]) != 0
        assert "is no result of a trial" in capsys.readouterr().err
    bad.write_text('{"plays": 4, "libraries": []}')
    assert main(["dpcompose", "--plays", "3", "--keep", str(bad), "--out", str(tmp_path)]) != 0
    assert "has 4 plays, and not 3" in capsys.readouterr().err
