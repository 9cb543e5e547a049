"""The two stages of a figure, its data file, and what make is given."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from experiments import stages
from experiments.__main__ import changed, main, parsed
from experiments.figures import tails
from simulator.analysis.plots import paper_figure
from simulator.foundations.errors import InvalidInput
from simulator.studies import Study, Task, collect
from simulator.studies.storing import write_points


def toy(numbers):
    def draw(data):
        with paper_figure() as (figure, axes):
            axes.plot(data["numbers"])
        return figure

    return SimpleNamespace(
        TITLE="a toy",
        SPECIFICATION={"seed": 1},
        simulate=lambda specification: {"numbers": numbers},
        draw=draw,
    )


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(stages, "script", lambda name: toy([1.0, 2.0]))
    return tmp_path


def test_data_carry_what_made_them_where_no_record_is_kept(results, monkeypatch):
    stages.simulate("toy", results)
    stored = json.loads(stages.data_path("toy", results).read_text())
    assert stored["specification"] == {"seed": 1}
    assert stored["data"] == {"numbers": [1.0, 2.0]}
    assert {"versions", "revision", "machine", "time"} <= set(stored["provenance"])
    monkeypatch.setattr(stages, "RESULTS", results)
    stages.simulate("toy", results)
    assert set(json.loads(stages.data_path("toy", results).read_text())) == {*stored} - {
        "provenance"
    }


def test_a_study_is_kept_as_a_table_that_the_picture_is_drawn_from(results, monkeypatch):
    figure, drawn = toy([1.0]), []
    task = Task(None, "pure:0.1", 3, ["bound:basic epsilon(delta=1e-6)"])
    figure.simulate = lambda specification: {"study": Study.of(collect([task], jobs=1)), "one": 1}
    figure.draw = lambda data: drawn.append(data) or toy([1.0]).draw({"numbers": [1.0]})
    monkeypatch.setattr(stages, "script", lambda name: figure)
    stages.simulate("toy", results)
    table = stages.table_path("toy", results)
    (point,) = Study.load(table)
    assert (point.value, point.at) == (0.3, 1e-6)
    assert json.loads(stages.data_path("toy", results).read_text())["data"] == {
        "one": 1,
        "study": "toy.csv",
    }
    stages.draw("toy", results)
    assert [one.value for one in drawn[0]["study"]] == [0.3]
    before = table.read_bytes()
    stages.simulate("toy", results)  # it took another time
    assert table.read_bytes() == before
    write_points(table, [replace(point, value=0.31)])
    stages.simulate("toy", results)
    assert Study.load(table)[0].value == 0.3
    table.unlink()
    with pytest.raises(InvalidInput, match=r"toy\.csv"):
        stages.draw("toy", results)


def test_torn_data_are_made_again(results):
    path = stages.data_path("toy", results)
    path.parent.mkdir(parents=True)
    path.write_text('{"data": ')
    stages.simulate("toy", results)
    assert "numbers" in json.loads(path.read_text())["data"]


def test_pictures_do_not_depend_on_provenance(results):
    stages.simulate("toy", results)
    path = stages.data_path("toy", results)
    first = [drawn.read_bytes() for drawn in stages.draw("toy", results)]
    stored = json.loads(path.read_text())
    stored["provenance"] = {"time": "another day"}
    path.write_text(json.dumps(stored))
    assert [drawn.read_bytes() for drawn in stages.draw("toy", results)] == first


def test_pictures_without_data_say_what_to_do(results):
    with pytest.raises(InvalidInput, match="simulate toy"):
        stages.draw("toy", results)


def test_an_unknown_figure_is_refused():
    with pytest.raises(InvalidInput, match=r"there are .*tails"):
        stages.script("tail")


def test_the_command_tells_an_unknown_figure_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["experiments", "draw", "nothing"])
    assert main() == 2
    printed = capsys.readouterr().err
    assert printed.startswith("error: no figure 'nothing'")
    assert printed.count("\n") == 1


def command(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["experiments", *map(str, words)])
    return main()


def test_a_figure_takes_its_parameters_from_the_command(monkeypatch, tmp_path):
    figure = toy([1.0, 2.0])
    figure.SPECIFICATION = {"rounds": 100, "family": "pure:0.2", "source": "a page"}
    figure.simulate = lambda specification: {"numbers": [specification["rounds"], 0]}
    monkeypatch.setattr(stages, "script", lambda name: figure)
    words = ("toy", "--rounds", 6, "--epsilon=0.5", "--out", tmp_path)
    assert command(monkeypatch, "simulate", *words) == 0
    stored = json.loads(stages.data_path("toy", tmp_path).read_text())
    changes = {"rounds": 6, "family": "pure:0.5"}
    assert stored["specification"] == figure.SPECIFICATION | changes
    assert stored["data"] == {"numbers": [6, 0]}
    assert (tmp_path / "figures" / "toy.png").read_bytes().startswith(b"\x89PNG")


def test_a_family_and_all_trials_are_one_parameter_each():
    words = ("simulate", "tails", "--rounds=6", "--epsilon", ".5", "--trials", "20", "--out", "x")
    found = changed(parsed(words))
    trials = dict.fromkeys(tails.SPECIFICATION["trials"], 20)
    assert found == {"rounds": 6, "family": "pure:0.5", "trials": trials}
    assert changed(parsed(("simulate", "tails"))) == {}
    assert all(parsed(("simulate", name, "--out", "x")) for name in stages.names())
    several = parsed(("simulate", "worst_exponential", "--deltas", "1e-2,1e-3", "--out", "x"))
    assert changed(several) == {"deltas": [1e-2, 1e-3]}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("simulate", "tails", "--rounds", "x", "--out", "y"), "'x' is not a whole number"),
        (("simulate", "tails", "--round", "5", "--out", "y"), "unrecognized arguments: --round 5"),
        (("draw", "tails", "--rounds", "5"), "unrecognized arguments: --rounds 5"),
    ],
)
def test_a_parameter_that_makes_no_sense(monkeypatch, capsys, words, line):
    with pytest.raises(SystemExit, match="2"):
        command(monkeypatch, *words)
    printed = capsys.readouterr().err
    assert line in printed
    assert printed.count("\n") == 1


def test_other_parameters_do_not_go_into_the_results(monkeypatch, capsys):
    assert command(monkeypatch, "simulate", "tails", "--rounds", 5) == 2
    assert "give --out DIR" in capsys.readouterr().err


def test_the_command_leaves_on_an_interruption(monkeypatch, capsys):
    def interrupted(name, results):
        raise KeyboardInterrupt

    monkeypatch.setattr(stages, "draw", interrupted)
    monkeypatch.setattr("sys.argv", ["experiments", "draw", "tails"])
    assert main() == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_rounding_keeps_digits_of_small_numbers():
    value = {"a": np.array([1e-30 / 3.0, math.inf]), "b": (np.int64(3), True, "x", None)}
    assert stages.rounded(value) == {"a": [3.333333333e-31, None], "b": [3, True, "x", None]}
