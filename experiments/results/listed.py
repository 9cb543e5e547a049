"""Every result: the files, the command that makes them, and what it needs.

A result on the list is made by ``make results``; a file in ``results/`` that no result has is an
error of ``make status``.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cache

from experiments.results import digests

DRAWING = ("simulator/analysis/plots/", "experiments/drawing/")
"""Imported by the scripts of figures, but no part of what is simulated."""


@dataclass(frozen=True)
class Listed:
    """A result that can be made.

    Attributes
    ----------
    name : of the result, and of its record.
    files : patterns of the files that it writes, within ``results/``.
    command : what Python runs: a module and its arguments.
    after : names of results that have to be made before it.
    environment : the folder within ``build/`` that has its Python; "" is the one that runs.
    jobs : how many processors it keeps busy.
    quiet : whether nothing else may run beside it.
    strict : whether continuous integration fails where it is stale.
    ignores : parts of the project that it reads and does not depend on.
    libraries : whether it tries libraries that need environments of their own.
    """

    name: str
    files: tuple[str, ...]
    command: tuple[str, ...]
    _: KW_ONLY
    after: tuple[str, ...] = ()
    environment: str = ""
    jobs: int = 1
    quiet: bool = False
    strict: bool = False
    ignores: tuple[str, ...] = ()
    libraries: bool = False

    def written(self) -> list[str]:
        """The files that are there, by their names within the project."""
        results = digests.ROOT / "results"
        found = {path for pattern in self.files for path in results.glob(pattern)}
        files = (path for path in found if path.is_file() and path.name[0] != ".")
        return sorted(path.relative_to(digests.ROOT).as_posix() for path in files)


def _report(name: str, module: str = "", files: tuple[str, ...] = (), **more: object) -> Listed:
    """A report: one module writes a page and the numbers behind it."""
    short = name.replace("-", "_")
    files = files or (f"{short}.md", f"{short}.json")
    return Listed(name, files, (module or f"experiments.{short}",), **more)  # type: ignore[arg-type]


def figures() -> list[str]:
    """The names of the figures."""
    return sorted(path.stem for path in (digests.ROOT / "experiments/figures").glob("[!_]*.py"))


def _of_figure(name: str) -> tuple[Listed, Listed]:
    data = (f"data/{name}.json", f"data/{name}.csv")
    picture = (f"figures/{name}.svg", f"figures/{name}.png")
    return (
        Listed(name, data, ("experiments", "simulate", name), strict=True, ignores=DRAWING),
        Listed(f"{name}.svg", picture, ("experiments", "draw", name), after=(name,), strict=True),
    )  # fmt: skip


@cache
def listed() -> dict[str, Listed]:
    """Every result by its name, in the order in which they are made."""
    of_figures = [each for name in figures() for each in _of_figure(name)]
    worst = tuple(name for name in figures() if name.startswith("worst_"))
    code_alone = ("results/",)
    rows = (
        *of_figures,
        Listed("worst", ("worst/README.md",), ("experiments.worst_texts",), after=worst),
        _report("claims", "experiments.ledger", strict=True, jobs=2),
        _report("knobs", "experiments.site.played", ("knobs.json",), after=("claims",), jobs=2),
        _report("truths", files=("truths/*.json",), jobs=2),
        _report("shuffled-ends"),
        _report("filters", files=("filters/rounds.*",)),
        _report("filter-trial", files=("filters/trial.*", "filters/odometers.*")),
        _report("one-run"),
        _report("attacks", files=("worst/attacks.*", "worst/programs/*", "worst/*.png")),
        _report("auditors", environment="auditors"),
        _report("auditing-limits", environment="auditors"),
        _report("pipelines", environment="pipelines"),
        Listed("conformance", ("conformance.md", "conformance.json"),
               ("experiments.conformance",), after=("truths",), environment="conform",
               libraries=True, jobs=2),
        Listed("accountants", ("accountants.md", "accountants.json"),
               ("experiments.accountants",), after=("truths",), environment="conform",
               libraries=True),
        Listed("coverage", ("coverage.md", "coverage.json"),
               ("experiments.coverage", "--minutes", "22", "--most", "24", "--workers", "1")),
        _report("suite", jobs=2),
        _report("faults", jobs=2),
        _report("mutations", "tests.helpers.mutations", ignores=code_alone),
        _report("mutants-by-chance", "tests.helpers.chance", ignores=code_alone),
        _report("benchmarks", files=("benchmarks.json",), environment="peers", jobs=2, quiet=True,
                ignores=code_alone),
    )  # fmt: skip
    return {each.name: each for each in rows}
