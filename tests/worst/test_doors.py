"""``dpcompose worst-case``: its answer, its exit codes, and its messages."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from simulator.foundations import grammar
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.worst.commands.filter_table import plan_text
from simulator.worst.filters.certificate_format import PARAMETERS, SAMPLED
from simulator.worst.filters.plans import parse_plan
from tests.helpers.interrupting import hears_signals, wait_for

RESPONSES = ("--menu", "randomized-response:0.1", "--rounds", 3, "--epsilon", 0.1)
NATURAL = (
    "--menu", "randomized-response:0.1,randomized-response:0.4", "--filter", "natural:1,1e-3",
    "--epsilon", 1,
)  # fmt: skip
KEYS = {
    "epsilon", "delta", "non_adaptive", "non_adaptive_reason", "dominating", "dominating_reason",
    "promised", "verdict", "ratio", "tolerance", "seconds", "stopped", "step", "states", "played",
}  # fmt: skip


def test_the_answer_as_json(dpcompose):
    answer = dpcompose("worst-case", *RESPONSES, "--json")
    assert answer.code == 0
    found = answer.json
    assert set(found) == KEYS
    assert found["delta"]["lower"] == pytest.approx(found["delta"]["upper"], rel=1e-12)
    assert found["non_adaptive"]["lower"] == pytest.approx(found["delta"]["lower"], rel=1e-6)
    assert found["dominating"] == pytest.approx(found["delta"]["lower"], rel=1e-6)
    assert found["promised"] is found["verdict"] is found["ratio"] is found["played"] is None
    assert (found["stopped"], found["states"]) == ("tolerance", 4)


def test_a_family_is_its_dominating_pair(dpcompose):
    family = ("--family", "pure:0.1", *RESPONSES[2:])
    answers = [dpcompose("worst-case", *game, "--json").json for game in (RESPONSES, family)]
    assert answers[0]["delta"] == answers[1]["delta"]


def test_a_broken_filter_exits_1_and_the_play_agrees(dpcompose):
    answer = dpcompose("worst-case", *NATURAL, "--play", 1000, "--json")
    assert answer.code == 1
    found = answer.json
    assert found["verdict"] == "broken"
    assert found["ratio"] == pytest.approx(found["delta"]["lower"] / 1e-3)
    assert found["ratio"] > 1
    assert found["non_adaptive"]["upper"] <= 1e-3
    assert found["played"]["agrees"] is True
    assert found["played"]["value"] == pytest.approx(found["delta"]["lower"], rel=1e-9)
    text = dpcompose("worst-case", *NATURAL, "--play", 1000)
    assert text.code == 1
    assert "BROKEN: at least" in text.out
    assert "which agrees with the ends above" in text.out


def test_a_promise_between_the_ends_is_undecided(dpcompose):
    game = ("--menu", "randomized-response:0.05..0.4", "--filter", "renyi:1,1e-3", "--epsilon", 1)
    answer = dpcompose("worst-case", *game, "--seconds", 1e-9, "--json")
    found = answer.json
    assert found["delta"]["lower"] < 1e-3 < found["delta"]["upper"]
    assert (answer.code, found["verdict"], found["stopped"]) == (0, "undecided", "time")
    text = dpcompose("worst-case", *game, "--seconds", 1e-9).out
    assert "undecided: the promise lies between the ends" in text
    assert "sound" not in text


def test_a_proved_filter_is_sound(dpcompose):
    game = ("--menu", "laplace:0.1", "--filter", "whitehouse:1,1e-3", "--epsilon", 1)
    answer = dpcompose("worst-case", *game, "--json")
    assert (answer.code, answer.json["verdict"]) == (0, "sound")
    assert answer.json["ratio"] < 1
    assert "sound: at least" in dpcompose("worst-case", *game).out


def test_no_verdict_where_a_filter_promises_nothing(dpcompose):
    game = ("worst-case", "--menu", "laplace:0.5", "--filter", "sum:1", "--epsilon", 0.5)
    assert dpcompose(*game, "--json").json["verdict"] is None
    assert "nothing at this epsilon" in dpcompose(*game).out


@pytest.mark.parametrize("relation", ["add/remove-one", "replace-one"])
def test_the_adversary_plays_under_either_relation(dpcompose, relation):
    found = dpcompose(
        "worst-case", *RESPONSES, "--relation", relation, "--play", 100, "--json"
    ).json
    assert found["played"]["value"] == pytest.approx(found["delta"]["lower"], rel=1e-9)


def test_a_transcript_follows_the_answer(dpcompose):
    answer = dpcompose("worst-case", *RESPONSES, "--transcript")
    assert answer.code == 0
    assert "A typical play in experiment 0:" in answer.out
    assert "A play that wins in experiment 0, as" in answer.out


def test_what_no_play_wins_is_said(dpcompose):
    answer = dpcompose("worst-case", *RESPONSES[:4], "--epsilon", 3, "--transcript")
    assert answer.code == 0
    assert "No play wins in experiment 0." in answer.out


def test_saving_never_overwrites(dpcompose, tmp_path):
    path = tmp_path / "worst.py"
    assert dpcompose("worst-case", *RESPONSES, "--save", path).code == 0
    before = path.read_bytes()
    assert "exists already" in dpcompose("worst-case", *RESPONSES, "--save", path).complaint
    assert path.read_bytes() == before


def test_a_picture_is_written(dpcompose, tmp_path):
    path = tmp_path / "worst.png"
    assert dpcompose("worst-case", *NATURAL, "--plot", path).code == 1
    assert path.stat().st_size > 5000


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((), "--menu or --family"),
        (("--menu", "laplace:0.1", "--family", "pure:0.1"), "--menu or --family"),
        (("--menu", "laplac:0.1"), "unknown menu entry 'laplac:0.1'; did you mean laplace?"),
        (("--menu", "laplace:-1"), "must be above 0"),
        (("--menu", "laplace:nan"), "must be finite"),
        (("--menu", "randomized-response:0.2..0.1"), "low <= high"),
        (("--menu", ""), "unknown menu entry"),
        (("--menu", "laplace:"), "'laplace:' lacks its parameter"),
        (("--family", "zcdp:0.1"), "no dominating pair"),
        (("--family", "pur:0.1"), "unknown family"),
        (("--family", "pure:0"), "above 0"),
    ],
)
def test_menus_that_make_no_sense(dpcompose, options, named):
    assert named in dpcompose("worst-case", *options, "--rounds", 3, "--epsilon", 1).complaint


@pytest.mark.parametrize(
    ("options", "named"),
    [
        *((("--epsilon", value), "epsilon must be") for value in ("-1", "inf", "nan")),
        (("--epsilon", "x"), "--epsilon"),
        (("--rounds", "0"), "rounds must be at least 1"),
        (("--rounds", "1000000"), "states; take fewer rounds"),
        (("--tolerance", "0"), "tolerance must be above 0"),
        (("--seconds", "-1"), "seconds must be above 0"),
        (("--play", "0"), "--play must be at least 1"),
        (("--play", "-3"), "--play must be at least 1"),
        (("--seed", "-1"), "seed must be at least 0"),
        (("--jobs", "0"), "jobs must be at least 1"),
        (("--filter", "summ:1"), "unknown filter"),
        (("--relation", "add"), "add/remove-one"),
        (("--experiment", "2"), "--experiment"),
        (("--save", "worst.txt"), "ends in .py"),
        (("--save", "no/such/folder/worst.py"), "no folder"),
        (("--plot", "worst.doc"), "a picture ends in one of"),
        (("--plot", "no/such/folder/worst.png"), "no folder"),
        (("--transcript", "--json"), "a transcript is text"),
    ],
)
def test_options_that_make_no_sense(dpcompose, options, named):
    assert named in dpcompose("worst-case", *RESPONSES, *options).complaint


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--menu", "gdp:0.1"), "nothing ends the game"),
        (("--menu", "gdp:0.1", "--filter", "sum:1"), "cannot account for gdp:0.1"),
        (("--menu", "randomized-response:1e-9", "--filter", "sum:2"), "more than 200000 states"),
        (("--menu", "gdp:1e-300", "--rounds", 3), "choose an epsilon nearer"),
    ],
)
def test_games_that_cannot_be_searched(dpcompose, options, named):
    assert named in dpcompose("worst-case", *options, "--epsilon", 1).complaint


@pytest.mark.nightly
def test_ctrl_c_is_one_line():
    call = "from simulator.doors.cli import main; print('ready', flush=True); main()"
    game = ["worst-case", "--menu", "laplace:0.01", "--rounds", "100000", "--epsilon", "1"]
    process = subprocess.Popen(
        [sys.executable, "-c", call, *game],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    wait_for(lambda: hears_signals(process), process)
    os.kill(process.pid, 2)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.strip()) == (130, "", "interrupted")


@pytest.mark.parametrize("kind", [*PARAMETERS, f"{SAMPLED}:1.5"])
def test_a_printed_plan_is_read(kind):
    text = plan_text([(kind, 0.25, 2), (kind, 0.007953, 12)])
    terms = [grammar.read(each) for each in grammar.split(text)]
    assert [term.count for term in terms] == [2, 12]
    if kind in PARAMETERS:
        assert parse_plan(text) == [(kind, 0.25, 2), (kind, 0.007953, 12)]
    else:
        assert parse_guarantee(text.split("*")[0]) == SubsampledGaussianDP(1.5, 0.25)
