"""Notebooks executed: their outputs made, compared, and their exercises solved.

A cell tagged ``sampled`` prints numbers that depend on the number of trials. A cell tagged
``exercise`` leaves ``answer = ...`` open and checks it; the next cell has the solution, in Python.
"""

from __future__ import annotations

import copy
import os
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.foundations.errors import DpcomposeError, InvalidInput

FOLDER = Path(__file__).parent
LIGHT = "DPCOMPOSE_LIGHT"
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
SOLUTION = re.compile(r"```python\n(.*?)```", re.DOTALL)
OPEN = re.compile(r"^answer = \.\.\..*\n", re.MULTILINE)
TRIED = "tried"
WRONG = "answer = 123456.789\n"
KEPT = ("tags",)
"""Metadata of a cell that is kept; the rest, such as times, belongs to a run."""


def paths() -> list[Path]:
    """Every notebook, in the order of the classes."""
    return sorted(FOLDER.glob("[0-9]_*.ipynb"))


def read(path: Path) -> Any:
    """A notebook. Raises InvalidInput where the package that reads it is missing."""
    try:
        import nbformat
    except ImportError as missing:
        raise needs(missing) from None
    return nbformat.read(path, as_version=4)


def needs(missing: ImportError) -> InvalidInput:
    """The error that says which line installs a missing package."""
    return InvalidInput(f"{missing.name} is missing; run: pip install '.[notebooks]'")


def executed(notebook: Any, light: bool = False) -> Any:
    """The notebook with fresh outputs, in a new kernel.

    Raises DpcomposeError where a cell fails, with what it printed.
    """
    try:
        from nbclient import NotebookClient
        from nbclient.exceptions import CellExecutionError
    except ImportError as missing:
        raise needs(missing) from None
    made = copy.deepcopy(notebook)
    root = str(FOLDER.parents[1])
    surroundings = os.environ | {LIGHT: "1" if light else ""}
    surroundings["PYTHONPATH"] = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    client = NotebookClient(made, timeout=600, kernel_name="python3", coalesce_streams=True)
    try:
        client.execute(cwd=str(FOLDER), env=surroundings)
    except CellExecutionError as error:
        raise DpcomposeError(f"a cell fails:\n{error}") from None
    return tidied(made)


def tidied(notebook: Any) -> Any:
    """The notebook without what differs from run to run; cells are numbered in order."""
    count = 0
    for cell in notebook.cells:
        cell.metadata = {key: cell.metadata[key] for key in KEPT if key in cell.metadata}
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = count
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def write(notebook: Any, path: Path) -> None:
    """Write a notebook."""
    import nbformat

    path.write_text(nbformat.writes(notebook, indent=1) + "\n", encoding="utf-8")


def text(cell: Any) -> str:
    """What a cell printed."""
    return "".join(
        output.text if output.output_type == "stream" else output.data.get("text/plain", "")
        for output in cell.outputs
        if output.output_type in ("stream", "execute_result")
    )


def differences(old: Any, new: Any, sampled: bool = True, tolerance: float = 1e-6) -> list[str]:
    """Where two runs of one notebook print another text, or numbers further apart than allowed.

    ``sampled`` compares cells of that tag as well.
    """
    found = []
    for before, after in zip(code_cells(old), code_cells(new), strict=True):
        if tagged(before, "sampled") and not sampled:
            continue
        expected, printed = text(before), text(after)
        if NUMBER.sub("#", expected) != NUMBER.sub("#", printed) or not close(
            expected, printed, tolerance
        ):
            found.append(f"{before.source.splitlines()[0]}\n- {expected}\n+ {printed}")
    return found


def close(expected: str, printed: str, tolerance: float) -> bool:
    """Whether the numbers of two texts agree, one by one."""
    pairs = zip(numbers(expected), numbers(printed))
    return all(abs(a - b) <= tolerance * max(abs(a), abs(b)) for a, b in pairs)


def numbers(expected: str) -> Iterator[float]:
    """The numbers of a text."""
    return (float(each.replace(",", "")) for each in NUMBER.findall(expected))


def code_cells(notebook: Any) -> list[Any]:
    """The cells that run, without those that are there for the tests alone."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and not tagged(cell, TRIED)]


def tagged(cell: Any, tag: str) -> bool:
    """Whether a cell has that tag."""
    return tag in cell.metadata.get("tags", [])


def exercises(notebook: Any) -> list[tuple[int, str]]:
    """(place, solution) of every exercise. Raises InvalidInput where one has no solution."""
    found = []
    for place, cell in enumerate(notebook.cells):
        if tagged(cell, "exercise"):
            given = SOLUTION.search(notebook.cells[place + 1].source)
            if given is None or OPEN.search(cell.source) is None:
                raise InvalidInput(f"the exercise in cell {place} has no solution after it")
            found.append((place, given[1]))
    return found


def with_answers(notebook: Any) -> Any:
    """The notebook with two more cells after every exercise: it solved, and answered wrongly.

    The first prints "right", the second "refused".
    """
    made = copy.deepcopy(notebook)
    for place, solution in reversed(exercises(notebook)):
        before, after = OPEN.split(made.cells[place].source)
        wrong = textwrap.indent(before + WRONG + after, "    ")
        tried = [
            before + solution + after,
            f"try:\n{wrong}\nexcept Exception:\n    print('refused')",
        ]
        for source in reversed(tried):
            cell = copy.deepcopy(made.cells[place])
            cell.source, cell.id, cell.metadata["tags"] = source, f"{len(made.cells)}", [TRIED]
            made.cells.insert(place + 1, cell)
    return made
