"""Which source files a simulation has used, written as rules for make.

Every module that was imported counts, as with a compiler's ``-MD``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.stages import ROOT

FOLDER = ROOT / "build" / "depends"
DRAWING = ("simulator/analysis/plots", "experiments/drawing")
"""Imported by the scripts, but no part of what is simulated."""


def used() -> list[str]:
    """Paths, relative to the repository, of the project's own files that are imported."""
    files = {
        Path(file).resolve()
        for module in list(sys.modules.values())
        if (file := getattr(module, "__file__", None))
    }
    own = {ROOT / "simulator", ROOT / "experiments"}
    paths = [path.relative_to(ROOT).as_posix() for path in files if own & set(path.parents)]
    if any(path.startswith("simulator/data/datasets/") for path in paths):
        paths += [
            path.relative_to(ROOT).as_posix() for path in ROOT.glob("simulator/data/datasets/*.csv")
        ]
    return sorted(path for path in paths if not path.startswith(DRAWING))


def record(name: str, folder: Path = FOLDER) -> None:
    """Write the make rule of a figure's data. Source files may vanish without an error."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = used()
    rule = f"results/data/{name}.json: " + " \\\n  ".join(paths)
    vanished = "\n".join(f"{path}:" for path in paths)
    (folder / f"{name}.d").write_text(f"{rule}\n{vanished}\n", encoding="utf-8")
