"""The two stages of a figure: simulate writes small data, draw makes pictures of the data alone.

Pictures are a function of the data, without time, machine or revision, so the same data give the
same bytes. The same file has their provenance.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from matplotlib.figure import Figure

from simulator.analysis.plots import save
from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import write_json, write_text
from simulator.runner.store.provenance import provenance

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"
DIGITS = 10
"""Significant digits kept: further ones differ between machines."""


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
        """Play or compute what the figure shows, summarised to a small plain value."""

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


def simulate(name: str, results: Path = RESULTS, changed: Mapping[str, Any] | None = None) -> bool:
    """Make a figure's data; return whether they differ from those that were there.

    Data that come out the same keep the provenance of their first making. ``changed`` replaces
    entries of the specification.
    """
    figure, path = script(name), data_path(name, results)
    specification = figure.SPECIFICATION | dict(changed or {})
    start = time.perf_counter()
    data = rounded(figure.simulate(specification))
    seconds = time.perf_counter() - start
    request = {"figure": name, "title": figure.TITLE, "specification": specification}
    made = json.loads(json.dumps(request | {"data": data}, allow_nan=False))
    if path.exists() and _without_provenance(path) == made:
        path.touch()
        return False
    origin = provenance() | {"seconds": round(seconds, 2)}
    write_json(path, made | {"provenance": origin})
    return True


def _without_provenance(path: Path) -> dict[str, Any] | None:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        del stored["provenance"]
    except (ValueError, KeyError, TypeError):
        return None
    return cast(dict[str, Any], stored)


def draw(name: str, results: Path = RESULTS) -> tuple[Path, Path]:
    """Draw a figure from its data; return the paths of its SVG and PNG."""
    figure, path = script(name), data_path(name, results)
    if not path.exists():
        out = "" if results == RESULTS else f" --out {results}"
        raise InvalidInput(f"no data in {path}; run: python -m experiments simulate {name}{out}")
    stored = json.loads(path.read_text(encoding="utf-8"))
    return save(figure.draw(drawable(stored)), results / "figures" / name)


def drawable(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What a figure is drawn from: its stored data, with their specification."""
    return {**stored["data"], "specification": stored["specification"]}


def write_texts(texts: Mapping[str, str], folder: Path = RESULTS) -> list[Path]:
    """Write each text into the file of its name, in one step each; return the paths."""
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def write_report(name: str, whole: Mapping[str, Any], page: str, folder: Path = RESULTS) -> None:
    """Write NAME.json, with what made it, and the page NAME.md."""
    content = {**whole, "provenance": provenance()}
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False, default=float)
    path, _ = write_texts({f"{name}.json": text + "\n", f"{name}.md": page}, folder)
    print(f"written     {path}", file=sys.stderr)


def rounded(value: Any) -> Any:
    """The value as plain JSON, floats rounded to DIGITS significant digits, infinities as None."""
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [rounded(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
