"""The report on auditors, as Markdown and as plain values for JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from experiments.auditors_on_trial.games import AuditGame, Scores
from experiments.auditors_on_trial.subjects import AuditorLibrary, AuditorUnderTest
from experiments.auditors_on_trial.trial import CONFIDENCE, Cell
from simulator.analysis.estimation.intervals import clopper_pearson
from simulator.foundations.errors import NotApplicable
from simulator.foundations.wording import count_of


@dataclass(kw_only=True)
class AuditorReport:
    """All results of one library."""

    library: AuditorLibrary
    cells: list[Cell] = field(default_factory=list)
    programs: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """By auditor and game: the program that shows false bounds, and what it printed."""

    def groups(self) -> list[tuple[AuditorUnderTest, list[Cell]]]:
        """The cells with too many false bounds, by auditor; those that count come first."""
        found = []
        for auditor in self.library.auditors:
            some = [c for c in self.cells if c.auditor == auditor.name and c.too_often]
            if some:
                found.append((auditor, sorted(some, key=lambda c: (not c.counts, -c.false))))
        return found


def plain(report: AuditorReport) -> dict[str, Any]:
    """The report of a library as plain JSON; NaN as None."""
    return {
        "library": report.library.name,
        "version": report.library.version,
        "absent": report.library.absent,
        "auditors": [
            {"name": a.name, "claims": a.claims, "remark": a.remark}
            for a in report.library.auditors
        ],
        "cells": [_cell(cell) for cell in report.cells],
        "programs": [
            {"auditor": auditor, "game": game, "program": text, "printed": printed}
            for (auditor, game), (text, printed) in report.programs.items()
        ],
    }


def restored(values: Mapping[str, Any]) -> AuditorReport:
    """Inverse of :func:`plain`, but for what is needed to play again."""

    def no_bound(scores: Scores, level: float, delta: float, seed: int) -> float:
        raise NotApplicable("an auditor of an earlier trial has no bound")

    auditors = [AuditorUnderTest(runs=(), bound=no_bound, **each) for each in values["auditors"]]
    library = AuditorLibrary(
        name=values["library"], version=values["version"], absent=values["absent"],
        auditors=auditors,
    )  # fmt: skip
    cells = []
    for each in values["cells"]:
        fields = {f.name: each[f.name] for f in dataclasses.fields(Cell)}
        if fields["rate"] is not None:
            fields["rate"] = clopper_pearson(fields["false"], fields["plays"], CONFIDENCE)
        fields["median"] = math.nan if fields["median"] is None else fields["median"]
        cells.append(Cell(**fields))
    programs = {
        (each["auditor"], each["game"]): (each["program"], each["printed"])
        for each in values["programs"]
    }
    return AuditorReport(library=library, cells=cells, programs=programs)


def _cell(cell: Cell) -> dict[str, Any]:
    values = asdict(cell) | {
        "rate": None if cell.rate is None else [cell.rate.lower, cell.rate.upper],
        "power": cell.power,
        "too_often": cell.too_often,
        "counts": cell.counts,
    }
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in values.items()
    }


PREAMBLE = """\
# Auditors on trial

Auditors bound epsilon from below. Here they judge mechanisms whose epsilon(delta) is known exactly,
each with fresh scores in every play, the same for all auditors. `make auditors` writes this page
and `auditors.json`.

- *false*: bounds above the true epsilon, of so many plays; the nominal level is {level:g}. The
  interval of the rate is Clopper and Pearson's at {confidence:.1%}. An auditor has a defect where
  the whole interval is above the level, and the game is within what its documentation says.
- *power*: the median bound over the truth. *seconds*: of one play.
- In *one run* each of {size} canaries is included with probability 1/2. In *many runs* there are
  {size} independent draws with the canary, and {size} without.
- The true epsilon is that of one canary while all others are fixed: certified ends from this
  package's accountant. Noisy floats are rounded to six decimals in every game: an audit that reads
  the bits of floats rightly finds more than that epsilon in plain floating-point noise.
- StatDP, DP-Sniper and DP-Auditorium are in no registry of packages: they are tried from a checkout
  of their public repositories where one is on `PYTHONPATH`, and are absent otherwise. They are
  tests or bounds of a mechanism, which draws here from the {size} and {size} scores of many runs,
  each once, and not from millions. DP-Auditorium is absent where TensorFlow is: importing any of
  its testers imports it. A test of one epsilon is inverted on the grid 0, 0.1, ..., 6; a
  bound on a pure epsilon is held to the pure one (that at delta = 1e-300).
- Not tried: dp-recorder, which compares recorded runs and gives no bound (its published violations
  are in `pipelines.md`); Privacy Meter and AuditML, which report the accuracy of attacks on trained
  models and no bound on epsilon; opake's `gdp` (a play takes some ten seconds, and its
  documentation keeps it to Gaussian mechanisms). Opacus has no auditor.
- *documented* rows are outside what the auditor says that it does, and are not counted.
"""


def table_of_games(games: Sequence[AuditGame]) -> str:
    """The games with their true epsilon."""
    lines = ["| game | delta | true epsilon | scores |", "|---|---|---|---|"]
    for game in games:
        how = "depend on each other" if game.dependent else "independent"
        lines.append(f"| {game.name} | {game.delta:g} | {game.truth.value:.6g} | {how} |")
    return "\n".join(lines) + "\n"


def page(reports: Sequence[AuditorReport], games: Sequence[AuditGame], level: float) -> str:
    """The part of the page on the trial of auditors."""
    head = PREAMBLE.format(level=level, confidence=CONFIDENCE, size=games[0].size)
    parts = [head, table_of_games(games), _summary(reports)]
    return "\n".join([*parts, *map(_section, reports)])


def _summary(reports: Sequence[AuditorReport]) -> str:
    lines = [
        "| library | version | auditors | with a defect | documented, not counted |",
        "|---|---|---|---|---|",
    ]
    for report in reports:
        library = report.library
        if library.absent:
            lines.append(f"| {library.name} | {library.absent} | | | |")
            continue
        groups = report.groups()
        counted = sum(any(cell.counts for cell in cells) for _, cells in groups)
        rest = len(groups) - counted
        lines.append(
            f"| {library.name} | {library.version} | {len(library.auditors)} | {counted} | {rest} |"
        )
    return "\n".join(lines) + "\n"


def _section(report: AuditorReport) -> str:
    library = report.library
    if library.absent:
        return f"## {library.name}\n\nAbsent: {library.absent}.\n"
    lines = [
        f"## {library.name} {library.version}\n",
        "| auditor | game | true epsilon | false | rate | median | power | seconds | verdict |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(cell) for cell in report.cells]
    lines.append("")
    for auditor in library.auditors:
        remark = f" Remark: {auditor.remark}." if auditor.remark else ""
        lines.append(f"- `{auditor.name}` claims {auditor.claims}.{remark}")
    lines.append("")
    for number, (auditor, cells) in enumerate(report.groups(), 1):
        lines += _false_bounds(number, auditor, cells, report.programs)
    return "\n".join(lines)


def _row(cell: Cell) -> str:
    rate = "" if cell.rate is None else f"[{cell.rate.lower:.3f}, {cell.rate.upper:.3f}]"
    power = "" if math.isnan(cell.power) else f"{cell.power:.2f}"
    failed = f"; {count_of(cell.failures, 'failure')}: {cell.why}" if cell.failures else ""
    cells = [
        f"`{cell.auditor}`",
        cell.game,
        f"{cell.truth:.3f}",
        f"{cell.false} of {cell.plays}",
        rate,
        f"{cell.median:.3f}",
        power,
        f"{cell.seconds:.2g}",
        verdict(cell) + failed,
    ]
    return "| " + " | ".join(cells) + " |"


def verdict(cell: Cell) -> str:
    """A word on a cell."""
    if not cell.too_often:
        return "sound here"
    return "**false bounds**" if cell.counts else "false bounds, documented"


def _false_bounds(
    number: int,
    auditor: AuditorUnderTest,
    cells: Sequence[Cell],
    programs: Mapping[tuple[str, str], tuple[str, str]],
) -> list[str]:
    counted = [cell for cell in cells if cell.counts]
    mark = "" if counted else " (documented, not counted)"
    lines = [f"### {number}. `{auditor.name}`{mark}", ""]
    for cell in cells:
        why = f" Documented: {cell.outside}." if cell.outside else ""
        lines.append(
            f"- {cell.game}: {cell.false} of {cell.plays} bounds are above {cell.truth:.4g}; "
            f"their median is {cell.median:.4g}.{why}"
        )
    for (name, game), (text, printed) in programs.items():
        if name == auditor.name:
            lines += ["", f"{game}:", "", "```python", text.rstrip(), "```", "", "prints", ""]
            lines += ["```", printed.rstrip() or "(nothing)", "```"]
    return [*lines, ""]
