"""``dpcompose merge`` and ``dpcompose simulate --part``: what they print, and what they refuse."""

import json
import subprocess
import sys

import pytest

CALL = "import sys; from simulator.doors.cli import main; main(sys.argv[1:])"
ADVERSARY = """
from simulator import Database, Laplace, counting_query

ALICE = counting_query("alice")
WITH = Database({"alice": 1, "others": 4})

def steady(coins):
    while True:
        yield WITH.remove("alice"), WITH, Laplace(ALICE, 0.1)
"""
RUN = [
    "simulate",
    "steady.py:steady",
    "--family",
    "pure:0.2",
    "--rounds",
    "2000",
    "--trials",
    "200",
    "--jobs",
    "1",
]


@pytest.fixture
def call(tmp_path):
    """Call the command in a folder with an adversary; return (exit code, output, errors)."""
    (tmp_path / "steady.py").write_text(ADVERSARY)

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", CALL, *arguments], capture_output=True, text=True, cwd=tmp_path
        )
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.mark.nightly
def test_parts_are_stored_merged_and_shown(call, tmp_path):
    assert call(*RUN, "--part", "1/2", "--out", "one") == (
        0, "one: part 1/2, blocks 0 to 1 of 4 in each experiment, 130 trials\n", ""
    )  # fmt: skip
    assert call("merge", "one", "--out", "some") == (
        0,
        "some: 4 of 8 blocks, from 1 folder\n"
        "experiment 0: blocks 2 to 3 are missing\n"
        "experiment 1: blocks 2 to 3 are missing\n"
        "the command that made the parts plays what is missing, with --out some\n",
        "",
    )
    code, out, _ = call(*RUN, "--part", "2/2", "--out", "two", "--json")
    assert (code, json.loads(out)["blocks"]) == (0, [2, 4])
    code, out, _ = call("merge", "one", "two", "some", "--out", "whole", "--json")
    assert (code, json.loads(out)["missing"]) == (0, {"0": [], "1": []})
    assert json.loads(out)["overlapping"] == 4
    shown = [call(*RUN, "--json", *out)[1] for out in ([], ["--out", "whole"])]
    first, second = ({**json.loads(text), **TIMES} for text in shown)
    assert first == second


@pytest.mark.nightly
def test_parts_without_a_block_are_no_run(call, tmp_path):
    code, out, _ = call(*RUN, "--part", "1/40", "--out", "one")
    assert (code, out) == (
        0, "one: part 1/40, no block of 4 in each experiment, 0 trials\n"
    )  # fmt: skip
    assert call("merge", "one", "--out", "some") == (
        2, "", "error: one: there is no block to merge; play the run, or its parts\n"
    )  # fmt: skip
    assert call("merge", "one", "--out", "one/some") == (
        2, "", "error: one/some is in one, which is only read; name another folder\n"
    )  # fmt: skip
    assert not (tmp_path / "some").exists()
    assert not (tmp_path / "one" / "some").exists()


TIMES = dict.fromkeys(("seconds", "compile_seconds", "rounds_per_second"))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([*RUN, "--part", "5/4", "--out", "x"], "there is no part 5 of 4"),
        ([*RUN, "--part", "half", "--out", "x"], "give a part as 2/8"),
        ([*RUN, "--part", "1/2"], "give a folder with --out"),
        ([*RUN, "--dask", "tcp://127.0.0.1:9", "--out", "x"], "leave out --jobs"),
        (["merge", "nowhere", "--out", "x"], "cannot read nowhere"),
        (["merge", "--out", "x"], "Missing argument 'FOLDER...'"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_writes_nothing(arguments, line, call, tmp_path):
    code, out, err = call(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert line in err
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == [
        "steady.py"
    ]


@pytest.mark.parametrize("length", [("--seconds", 3), ("--trials", 9, "--seconds", 3)])
def test_a_part_needs_the_number_of_trials(length, dpcompose, tmp_path):
    game = ("simulate", "press-when-ahead", "--family", "pure:0.2", "--rounds", 2, *length)
    said = dpcompose(*game, "--part", "1/2", "--out", tmp_path / "x")
    assert said.code == 2
    assert "give --trials, and leave out --seconds" in said.err
    assert not (tmp_path / "x").exists()


def test_a_cluster_that_is_not_installed_is_one_line(call, tmp_path):
    (tmp_path / "distributed.py").write_text("raise ImportError('none here')\n")
    arguments = [each for each in RUN if each not in ("--jobs", "1")]
    code, out, err = call(*arguments, "--dask", "tcp://127.0.0.1:9", "--out", "x")
    assert (code, out) == (2, "")
    assert err == "error: Dask is not installed: pip install 'dpcompose[dask]'\n"
    assert not (tmp_path / "x").exists()
