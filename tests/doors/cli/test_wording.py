"""Counts in words: one of a thing is no plural."""

import pytest

from simulator import PureDP, simulate
from simulator.adversaries import make
from simulator.analysis import Tilted
from simulator.analysis.run_picture import picture
from simulator.errors import InvalidInput, Refusal
from simulator.foundations.wording import count_of


def test_one_is_no_plural():
    assert [count_of(n, "round") for n in (0, 1, 2)] == ["0 rounds", "1 round", "2 rounds"]
    assert [count_of(n, "loss", "losses") for n in (0, 1, 2)] == ["0 losses", "1 loss", "2 losses"]
    assert count_of(1, "block was", "blocks were") == "1 block was"
    assert count_of(12345, "sample", spec=",") == "12,345 samples"


def test_a_run_of_one_round_and_one_trial_says_so():
    """Titles and messages said "1 rounds, 1 trials"."""
    family = PureDP(0.2)
    game = make("press-when-ahead", family, 1), family, 1, 1
    plain = simulate(*game, jobs=1, progress=False)
    title = picture(plain, "mine", 0.95).get_suptitle()
    assert title == "mine in pure:0.2, 1 round, 1 trial"
    weighted = simulate(*game, sampling=Tilted(1.0), jobs=1, progress=False)
    with pytest.raises(Refusal, match=r"^0 of 1 trial hit the event"):
        weighted.tail(5.0)
    assert repr(plain.tail([0.1])) == "<1 estimate, threshold from 0.1 to 0.1>"


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("simulate", "fixed-worst-case"), "in pure:2.0, 1 round, 1 trial per experiment"),
        (("verify",), "pure:2.0, 1 round, 1 trial per experiment; a true bound"),
        (
            (
                "estimate-rare",
                "fixed-worst-case",
                "--epsilon",
                0.1,
                "--method",
                "tilted:1",
            ),
            "fixed-worst-case, experiment 0: 1 trial, ",
        ),
    ],
)
def test_the_head_line_of_a_command_says_so(dpcompose, words, line):
    command, *others = words
    game = ("--family", "pure:2", "--rounds", 1, "--trials", 1, "--jobs", 1)
    assert line in dpcompose(command, *others, *game).out.splitlines()[0]


def test_a_part_and_a_merge_of_one_folder_say_so(dpcompose, tmp_path):
    game = ("--family", "pure:0.2", "--rounds", 1, "--trials", 1, "--jobs", 1, "--part", "1/1")
    said = dpcompose("simulate", "press-when-ahead", *game, "--out", tmp_path / "part")
    assert said.out.rstrip().endswith("1 trial")
    said = dpcompose("merge", tmp_path / "part", "--out", tmp_path / "whole")
    assert said.out.rstrip().endswith("from 1 folder")
    twice = dpcompose("merge", tmp_path / "part", tmp_path / "part", "--out", tmp_path / "twice")
    assert "2 blocks were in more than one folder" in twice.out


def test_a_refusal_of_one_says_so():
    from simulator.analysis.estimation import clopper_pearson

    with pytest.raises(InvalidInput, match="2 hits among 1 trial:"):
        clopper_pearson(2, 1)
