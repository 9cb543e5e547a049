"""``--plot`` and ``--views``: pictures and plays in words from the command line."""

import pytest

from simulator import PureDP, estimate_rare
from simulator.adversaries import make
from simulator.analysis import Setting
from simulator.doors.cli.estimate_rare import around

RUN = ("simulate", "press-when-ahead", "--family", "pure:0.2", "--rounds", 6, "--trials", 300,
       "--jobs", 1)  # fmt: skip
TAIL = ("estimate-rare", "fixed-worst-case", "--family", "pure:0.2", "--rounds", 20)
BOUNDS = ("bounds", "laplace:0.1", "--rounds", 10)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "call",
    [
        (*RUN, "--trace"),
        (*TAIL, "--epsilon", 2.5),
        (*TAIL, "--epsilon", 2.5, "--method", "tilted", "--trials", 4000, "--jobs", 1),
        BOUNDS,
        (*BOUNDS, "--epsilon", 0.2),
    ],
    ids=str,
)
def test_each_draws_a_picture_and_prints_as_before(dpcompose, tmp_path, call):
    path = tmp_path / "drawn.png"
    said = dpcompose(*call, "--plot", path)
    assert (said.code, said.err) == (0, "")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 10_000
    silent = dpcompose(*call)
    assert said.out.split("\n\n")[0] == silent.out.split("\n\n")[0] or call[0] == "estimate-rare"


@pytest.mark.parametrize("call", [RUN, (*TAIL, "--epsilon", 2.5), BOUNDS])
@pytest.mark.parametrize(
    ("path", "complaint"),
    [("drawn.gif", "a picture ends in one of"), ("no/folder/drawn.png", "no folder 'no/folder'")],
)
def test_a_picture_that_cannot_be_written_is_refused_at_once(dpcompose, call, path, complaint):
    assert complaint in dpcompose(*call, "--plot", path).complaint


@pytest.mark.nightly
def test_the_picture_of_bounds_says_what_was_composed(dpcompose, tmp_path):
    path = tmp_path / "drawn.svg"
    dpcompose("bounds", "laplace:0.1*5", "laplace:0.2*3", "--plot", path)
    assert "composition of laplace:0.1*5, laplace:0.2*3" in path.read_text(encoding="utf-8")
    dpcompose(*BOUNDS, "--plot", path)
    assert "composition of 10 rounds of laplace:0.1" in path.read_text(encoding="utf-8")


def test_where_no_theorem_grants_an_epsilon_a_line_says_so(dpcompose):
    leaky = ("simulate", "fixed-worst-case", "--family", "approx:0.2,0.1", "--rounds", 9,
             "--trials", 50, "--jobs", 1)  # fmt: skip
    said = dpcompose(*leaky)
    assert "No theorem grants an epsilon at delta = 1e-06" in said.out
    assert "What the theorems grant at delta = 0.9" in dpcompose(*leaky, "--delta", 0.9).out


def test_views_are_told_in_words_and_in_json(dpcompose):
    said = dpcompose(*RUN, "--keep-views", 2)
    assert said.out.count("Trial 1 of experiment") == 2
    assert "Laplace(count('alice'), epsilon=0.1): 0 or 1" in said.out
    told = dpcompose(*RUN, "--keep-views", 2, "--json").json["views"]
    assert [(view["experiment"], view["trial"]) for view in told] == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip
    turns = told[0]["turns"]
    assert len(turns) == 6
    assert turns[-1]["total"] == pytest.approx(sum(turn["loss"] for turn in turns))
    assert "views" not in dpcompose(*RUN, "--json").json


def test_splitting_is_drawn_at_its_point_alone(dpcompose, tmp_path):
    path = tmp_path / "drawn.png"
    call = (*TAIL, "--epsilon", 0.5, "--method", "splitting", "--trials", 400, "--plot", path)
    assert "splitting" in dpcompose(*call).out
    assert path.stat().st_size > 1000


@pytest.mark.nightly
def test_a_curve_is_estimated_from_the_same_sample():
    family = PureDP(0.2)
    adversary = make("fixed-worst-case", family, 20)
    drawn = estimate_rare(
        adversary, family, 20, 4000, epsilon=2.5, method="tilted", setting=Setting(jobs=1)
    )
    curve = list(around(drawn))
    assert [round(one.epsilon, 3) for one in curve[::3]] == [1.5, 1.844, 2.188, 2.531, 2.875]
    exact = estimate_rare(adversary, family, 20, 1, epsilon=2.5, method="doob")
    for one in curve:
        true = exact.read(one.epsilon)
        assert one.tail.lower <= true.tail.value <= one.tail.upper
        assert one.delta.lower <= true.delta.value <= one.delta.upper
