"""The two stages of a figure: simulate writes small data, draw makes pictures of the data alone.

Pictures are a function of the data, without time, machine or revision, so the same data give the
same bytes. The points of a study are a table of their own beside the data,
``results/data/NAME.csv``, which ``dpcompose plot-study`` draws too.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from matplotlib.figure import Figure

from simulator.analysis.plots import save
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.files import write_json, write_text
from simulator.runner.store.provenance import provenance
from simulator.studies import Point, Study

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"
DIGITS = 10
"""Significant digits kept: further ones differ between machines."""
DECIMALS = 12
"""Decimals kept of a sum of losses: what is left of a sum that is zero differs, too."""


class Script(Protocol):
    """What a module of ``experiments.figures`` defines.

    Attributes
    ----------
    TITLE : what the figure shows, in a line.
    SPECIFICATION : every parameter of the simulation, seeds too, as plain JSON.
    """

    TITLE: str
    SPECIFICATION: dict[str, Any]

    def simulate(self, specification: Mapping[str, Any]) -> dict[str, Any]:
        """Play or compute what the figure shows, summarised to a small plain value.

        An entry ``study`` is a Study.
        """

    def draw(self, data: Mapping[str, Any]) -> Figure:
        """Draw the data, and nothing else; ``data["specification"]`` has the parameters."""


def names() -> list[str]:
    """Every figure."""
    files = (Path(__file__).parent / "figures").glob("[!_]*.py")
    return sorted(path.stem for path in files)


def script(name: str) -> Script:
    """The figure's module. Raises InvalidInput when there is none."""
    if name not in names():
        raise InvalidInput(f"no figure {name!r}; there are {', '.join(names())}")
    return cast(Script, importlib.import_module(f"experiments.figures.{name}"))


def data_path(name: str, results: Path = RESULTS) -> Path:
    """The path of a figure's data."""
    return results / "data" / f"{name}.json"


def table_path(name: str, results: Path = RESULTS) -> Path:
    """The path of the table of a figure that is a study."""
    return data_path(name, results).with_suffix(".csv")


def made(
    name: str, figure: Script, specification: Mapping[str, Any]
) -> tuple[dict[str, Any], Study | None]:
    """Simulate a figure; return what is stored, and its study.

    The stored data have the name of the study's table.
    """
    data = dict(figure.simulate(specification))
    study: Study | None = data.get("study")
    if study is not None:
        study, data["study"] = Study(tuple(map(rounded_point, study))), f"{name}.csv"
    request = {"figure": name, "title": figure.TITLE, "specification": specification}
    stored = json.loads(json.dumps(request | {"data": rounded(data)}, allow_nan=False))
    return stored, study


def simulate(name: str, results: Path = RESULTS, changed: Mapping[str, Any] | None = None) -> None:
    """Make a figure's data; ``changed`` replaces entries of the specification.

    A study with the same numbers keeps its table, which has times. What the project's own results
    were made from is in their records; elsewhere it is in the data.
    """
    figure, path, table = script(name), data_path(name, results), table_path(name, results)
    stored, study = made(name, figure, figure.SPECIFICATION | dict(changed or {}))
    if study is not None and not _same_numbers(study, table):
        path.parent.mkdir(parents=True, exist_ok=True)
        study.write(table)
    write_json(path, stored if results == RESULTS else stored | {"provenance": provenance()})


def _same_numbers(study: Study, table: Path) -> bool:
    """Whether a table has the numbers of a study, whatever its time and its versions."""
    try:
        stored = Study.load(table)
    except DpcomposeError:
        return False
    return len(stored) == len(study) and all(
        one.same_numbers(replace(other, program=one.program)) for one, other in zip(study, stored)
    )


def draw(name: str, results: Path = RESULTS) -> tuple[Path, Path]:
    """Draw a figure from its data; return the paths of its SVG and PNG."""
    figure, path = script(name), data_path(name, results)
    if not path.exists():
        out = "" if results == RESULTS else f" --out {results}"
        raise InvalidInput(f"no data in {path}; run: python -m experiments simulate {name}{out}")
    stored = json.loads(path.read_text(encoding="utf-8"))
    study = Study.load(table_path(name, results)) if "study" in stored["data"] else None
    return save(figure.draw(drawable(stored, study)), results / "figures" / name)


def drawable(stored: Mapping[str, Any], study: Study | None = None) -> dict[str, Any]:
    """What a figure is drawn from: its stored data, with their specification, and its study."""
    found = {**stored["data"], "specification": stored["specification"]}
    return found if study is None else found | {"study": study}


def write_texts(texts: Mapping[str, str], folder: Path = RESULTS) -> list[Path]:
    """Write each text into the file of its name, in one step each; return the paths."""
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def write_report(name: str, whole: Mapping[str, Any], page: str, folder: Path = RESULTS) -> None:
    """Write NAME.json and the page NAME.md; floats have DIGITS significant digits."""
    text = json.dumps(rounded(whole), indent=1, allow_nan=False, ensure_ascii=False)
    path, _ = write_texts({f"{name}.json": text + "\n", f"{name}.md": page}, folder)
    print(f"written     {path}", file=sys.stderr)


def rounded_point(point: Point) -> Point:
    """A point whose floats have DIGITS significant digits."""
    floats: dict[str, Any] = {
        name: float(f"{each:.{DIGITS}g}")
        for name, each in vars(point).items()
        if isinstance(each, float)
    }
    return replace(point, **floats)


def settled(losses: Any) -> list[float]:
    """Sums of losses to the decimals that they have on every machine, none of them -0."""
    return [float(each) + 0.0 for each in np.round(losses, DECIMALS)]


def rounded(value: Any) -> Any:
    """The value as plain JSON, floats rounded to DIGITS significant digits, infinities as None."""
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [rounded(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
