"""``dpcompose plot``, ``dpcompose simulate --table``, and the knobs of ``dpcompose claims``."""

import csv
import struct

import pytest

GAME = ("--family", "pure:0.2", "--rounds", 10, "--trials", 300, "--jobs", 1)


@pytest.fixture
def folder(dpcompose, tmp_path):
    """A run of the library's adversary, stored."""
    said = dpcompose("simulate", "press-when-ahead", *GAME, "--trace", "--out", tmp_path / "run")
    assert said.code == 0
    return tmp_path / "run"


@pytest.mark.nightly
def test_a_stored_run_is_drawn_as_the_run_itself(dpcompose, folder, tmp_path):
    said = dpcompose("plot", folder)
    assert (said.code, said.out, said.err) == (0, f"{folder / 'run.png'}\n", "")
    at_once = tmp_path / "at_once.svg"
    dpcompose("simulate", "press-when-ahead", *GAME, "--trace", "--plot", at_once)
    dpcompose("plot", folder, "--out", tmp_path / "later.svg")
    assert (tmp_path / "later.svg").read_bytes() == at_once.read_bytes()
    assert dpcompose("simulate", "press-when-ahead", *GAME, "--trace", "--out", folder).code == 0


@pytest.mark.nightly
def test_an_adversary_of_ones_own(dpcompose, adversary_file, tmp_path):
    mine = adversary_file()
    dpcompose("simulate", mine, *GAME, "--trace", "--keep-views", 2, "--out", tmp_path / "run")
    assert dpcompose("plot", tmp_path / "run").code == 0
    without = (tmp_path / "run" / "run.png").read_bytes()
    assert dpcompose("plot", tmp_path / "run", "--adversary", mine).code == 0
    assert (tmp_path / "run" / "run.png").read_bytes() != without
    other = adversary_file("\n\ndef other(coins):\n    yield 1\n", "other", "other.py")
    complaint = dpcompose("plot", tmp_path / "run", "--adversary", other).complaint
    assert "was played with something else" in complaint


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("nowhere",), "nowhere is not the folder of a run"),
        (("",), "folder must name a folder, not be empty"),
        (("{folder}", "--out", "x.txt"), "a picture ends in one of"),
        (("{folder}", "--adversary", "nowhere.py:f"), "no file 'nowhere.py'"),
        (("{folder}", "--size", "7"), "'7' is not a size; write WIDTHxHEIGHT in inches"),
        (("{folder}", "--size", "0.5x3"), "is not a size"),
        (("{folder}", "--labels", "a"), "--labels takes two names"),
        (("{folder}", "--labels", "a,a"), "--labels takes two names"),
        (("{folder}", "--confidence", "2"), "confidence must lie strictly between 0 and 1"),
    ],
)
def test_bad_input_gets_one_line(dpcompose, folder, arguments, line):
    asked = [argument.format(folder=folder) for argument in arguments]
    assert line in dpcompose("plot", *asked).complaint
    assert sorted(path.name for path in folder.iterdir()) == ["blocks.log", "specification.json"]


def test_a_picture_takes_its_size_title_and_names_from_the_command(dpcompose, folder, tmp_path):
    path = tmp_path / "mine.png"
    how = ("--size", "5x2.5", "--title", "mine", "--labels", "without Alice, with Alice")
    assert dpcompose("plot", folder, "--out", path, *how).out == f"{path}\n"
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    assert (width, height) == (1500, 750)  # 300 dots per inch


def test_the_losses_of_a_run_are_written_as_a_table(dpcompose, tmp_path):
    path = tmp_path / "losses.csv"
    assert dpcompose("simulate", "press-when-ahead", *GAME, "--table", path).code == 0
    with open(path, newline="") as file:
        names, *rows = csv.reader(file)
    assert (names, len(rows)) == (["experiment", "trial", "loss"], 600)


def test_a_table_that_cannot_be_written_is_refused_before_the_play(dpcompose, tmp_path):
    for name, line in (("x.txt", "a table ends in one of"), ("no/x.csv", "no folder")):
        said = dpcompose("simulate", "press-when-ahead", *GAME, "--table", tmp_path / name)
        assert line in said.complaint
    part = ("--part", "1/2", "--out", tmp_path / "part", "--table", tmp_path / "x.csv")
    assert "--plot and --table" in dpcompose("simulate", "press-when-ahead", *GAME, *part).complaint


def test_a_claim_with_another_seed(dpcompose):
    said = dpcompose("claims", "zhang2020-survey-played", "--seed", 5, "--json")
    assert said.json["parameters"]["seed"] == "5"
    assert said.json["verdict"] == "holds"
    assert "draws nothing" in dpcompose("claims", "zhang2020-bob", "--seed", 5).complaint
    assert "exactly one ID" in dpcompose("claims", "--seed", 5).complaint
    assert (
        "seed goes from 0" in dpcompose("claims", "zhang2020-survey-played", "--seed", -1).complaint
    )


def test_a_sweep_is_drawn(dpcompose, tmp_path):
    path = tmp_path / "bob.png"
    sweep = ("--sweep", "denominator=780..900", "--plot", path)
    said = dpcompose("claims", "zhang2020-bob", *sweep)
    assert (said.code, said.err) == (0, "")
    assert path.read_bytes().startswith(b"\x89PNG")
    unswept = ("claims", "roth2011-view-reproduces", "--plot", path)
    assert "draws a sweep" in dpcompose(*unswept).complaint
