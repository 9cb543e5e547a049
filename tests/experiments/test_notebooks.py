"""The notebooks run, print what is committed, and their exercises can be solved and failed."""

import importlib.util
import sys
import tempfile
from pathlib import Path

import pytest

from experiments.notebooks import __main__ as command
from experiments.notebooks import running
from simulator.foundations.errors import DpcomposeError, InvalidInput

PATHS = running.paths()
NAMES = [path.stem for path in PATHS]
needs_nbformat = pytest.mark.skipif(
    importlib.util.find_spec("nbformat") is None, reason="nbformat is not installed"
)
needs_kernel = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("nbclient", "ipykernel")),
    reason="nbclient and ipykernel are not installed",
)


def notebook(*cells):
    """Cells of (source, tags, what it printed), or text for prose, as a notebook."""
    import nbformat.v4 as v4

    made = []
    for each in cells:
        if isinstance(each, str):
            made.append(v4.new_markdown_cell(each))
            continue
        source, tags, printed = each
        cell = v4.new_code_cell(source)
        cell.metadata["tags"] = tags
        cell.outputs = [v4.new_output("stream", name="stdout", text=printed)]
        made.append(cell)
    return v4.new_notebook(cells=made)


@needs_kernel
@pytest.mark.sampled
@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_it_runs_prints_what_is_committed_and_its_exercises_can_be_solved_and_failed(path):
    committed = running.read(path)
    played = running.executed(running.with_answers(committed), light=True)
    assert running.differences(committed, played, sampled=False) == []
    tried = [running.text(cell) for cell in played.cells if running.tagged(cell, running.TRIED)]
    assert [text.splitlines()[-1] for text in tried] == ["right", "refused"] * 3


@needs_nbformat
@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_what_is_committed_is_whole_small_and_of_no_machine(path):
    committed = running.read(path)
    cells = running.code_cells(committed)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert kinds == {"stream", "display_data"}
    assert all(o.get("name") != "stderr" for cell in cells for o in cell.outputs)
    assert path.stat().st_size < 200_000
    text = path.read_text(encoding="utf-8")
    places = (tempfile.gettempdir(), str(Path.home()), sys.prefix, "site-packages")
    assert not any(place in text for place in places)
    prose = [cell.source for cell in committed.cells if cell.cell_type == "markdown"]
    for part in ("**Goal.**", "**The story.**", "## Exercises", "**Read on.**", "**Change it.**"):
        assert any(part in each for each in prose), part


def test_there_are_seven_classes():
    assert [name[:2] for name in NAMES] == [f"{n}_" for n in range(1, 8)]


@needs_nbformat
@pytest.mark.parametrize("missing", ["numpy", "matplotlib.pyplot", "simulator"])
@pytest.mark.parametrize("path", PATHS[:1] + PATHS[-1:], ids=[NAMES[0], NAMES[-1]])
def test_without_a_package_its_first_cell_says_which_line_installs_it(path, missing, monkeypatch):
    first = running.code_cells(running.read(path))[0].source
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit, match=rf"{missing} is missing.*pip install '\.\[notebooks\]'"):
        exec(first, {})


@pytest.mark.parametrize("missing", ["nbformat", "nbclient"])
def test_without_a_package_the_command_says_which_line_installs_it(missing, monkeypatch, capsys):
    if missing == "nbclient":
        pytest.importorskip("nbformat")
    monkeypatch.setitem(sys.modules, missing, None)
    assert command.main([NAMES[0]]) == 2
    printed = capsys.readouterr().err
    assert printed == f"error: {missing} is missing; run: pip install '.[notebooks]'\n"


def test_an_unknown_notebook_names_the_known_ones(capsys):
    assert command.main(["8_the_end"]) == 2
    assert "no notebook '8_the_end'; there are 1_the_game, " in capsys.readouterr().err


@needs_nbformat
@pytest.mark.parametrize(
    ("printed", "differs"),
    [
        ("delta 0.25\n", 0),
        ("delta 0.2500000001\n", 0),
        ("delta 0.26\n", 1),
        ("epsilon 0.25\n", 1),
        ("delta 0.25 0.25\n", 1),
        ("", 1),
    ],
)
def test_a_number_or_a_word_that_changed_is_a_difference(printed, differs):
    old = notebook(("print(1)", [], "delta 0.25\n"))
    new = notebook(("print(1)", [], printed))
    assert len(running.differences(old, new)) == differs


@needs_nbformat
def test_what_depends_on_the_number_of_trials_is_compared_only_on_demand():
    old, new = (notebook(("play()", ["sampled"], text)) for text in ("0.1\n", "0.2\n"))
    assert running.differences(old, new, sampled=False) == []
    assert len(running.differences(old, new)) == 1


@needs_nbformat
def test_an_exercise_without_a_solution_is_refused():
    open_one = ("answer = ...\ncheck(answer, 1)\n", ["exercise"], "")
    assert len(running.exercises(notebook(open_one, "```python\nanswer = 1\n```"))) == 1
    with pytest.raises(InvalidInput, match="cell 0 has no solution"):
        running.exercises(notebook(open_one, "think!"))


@needs_kernel
def test_a_cell_that_fails_is_an_error():
    with pytest.raises(DpcomposeError, match="ZeroDivisionError"):
        running.executed(notebook(("1 / 0", [], "")))
