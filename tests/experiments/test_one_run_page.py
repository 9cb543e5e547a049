"""results/one_run.md: made of its data, with the level kept; a broken audit is not."""

import json
from dataclasses import replace

import pytest

from experiments import one_run
from experiments.auditors_on_trial.games import games
from experiments.results.records import unstamped
from experiments.stages import RESULTS

STORED = json.loads((RESULTS / "one_run.json").read_text(encoding="utf-8"))
FOUND = [one_run.ManyPlays(**each) for each in STORED["games"]]


def test_the_page_is_that_of_its_data():
    page = unstamped((RESULTS / "one_run.md").read_text(encoding="utf-8"))
    assert page == one_run.page(FOUND, STORED["plays"])


def test_no_false_bound_above_the_level_in_2000_plays_of_each_game():
    assert STORED["plays"] == 2000
    assert [each.game for each in FOUND] == [
        each.name for each in games() if each.runs == "one run"
    ]
    assert all(each.kept for each in FOUND)


def test_a_broken_audit_is_seen():
    assert "| NO |" in one_run.page([replace(FOUND[0], lower=0.06)], 2000)


@pytest.mark.nightly
def test_a_wrong_truth_is_seen_by_play():
    """Against half of the true epsilon most bounds are false."""
    game = next(each for each in games() if each.name == "randomized response, one run")
    wrong = replace(game, true=lambda delta: game.true(0.4))
    found = one_run.played(wrong, 20)
    assert found.truth < 0.9 * game.truth.value
    assert not found.kept
