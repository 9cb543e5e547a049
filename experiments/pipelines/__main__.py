"""``make pipelines``: published violations of pipelines, into results/pipelines.md and .json.

A case whose library is not installed is reported as absent. With names of libraries, as
``python -m experiments.pipelines synthcity``, their cases are printed, and nothing is written.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from experiments.pipelines import of_diffprivlib, of_dpmm, of_opacus, of_synthcity
from experiments.pipelines.case import PAPER, PipelineCase, Setting
from experiments.stages import RESULTS, write_texts
from simulator.auditing import PipelineReport, record
from simulator.runner.store.provenance import provenance

CASES = [*of_diffprivlib.CASES, *of_dpmm.CASES, *of_opacus.CASES, *of_synthcity.CASES]


def recorded(setting: Setting) -> PipelineReport:
    """The report of a setting."""
    return record(
        setting.pipeline, *setting.databases, claimed=setting.claimed, patches=setting.patches(),
        public_coins=setting.public_coins,
    )  # fmt: skip


def tried(case: PipelineCase) -> dict[str, Any]:
    """One case as plain values: what was found, and whether that is what is published."""
    row: dict[str, Any] = {
        "pipeline": case.name, "library": case.package, "defect": case.defect,
        "source": case.source, "neighbours": case.relation,
    }  # fmt: skip
    try:
        row["version"] = version(case.package)
        start = time.perf_counter()
        report = recorded(case.make())
        row["seconds"] = round(time.perf_counter() - start, 3)
    except (ImportError, PackageNotFoundError) as error:
        return row | {"version": None, "absent": " ".join(str(error).split())}
    kind, part = case.expected
    blamed = report.blamed
    row |= {
        "verdict": report.verdict,
        "finding": "" if blamed is None else _without_folders(str(blamed)),
        "as_published": bool(
            report.violated and blamed and blamed.kind == kind and part in str(blamed)
        ),
        "calls": report.total,
        "epsilon": None if report.epsilon is None else
        [_finite(report.epsilon.lower), _finite(report.epsilon.upper)],
        "delta": report.delta,
    }  # fmt: skip
    if case.control is not None:
        control = recorded(case.control())
        row["control"] = control.verdict
    return row


def _wrong(row: dict[str, Any]) -> bool:
    if "absent" in row:
        return False
    return not row["as_published"] or row.get("control") == "violated"


def _finite(value: float) -> float | str:
    return value if value < float("inf") else "infinite"


def _without_folders(text: str) -> str:
    """The text with file names alone, which do not depend on the machine."""
    words = text.split(" ")
    return " ".join(word.rpartition("/")[2] if ".py:" in word else word for word in words)


def to_markdown(rows: list[dict[str, Any]]) -> str:
    """The page."""
    lines = [
        "# Pipelines of other libraries on trial",
        "",
        "Each pipeline is recorded on a database and replayed on a neighbour with the answers of",
        "its mechanisms frozen (`simulator.auditing.record`). Where there is a control, the same",
        "pipeline is used in a way that keeps its claim. `make pipelines` writes this page",
        "and `pipelines.json`.",
        "",
        "*Published* is the list of 13 violations in 12 libraries of Cebere, Erb, Desfontaines,",
        "Bellet and Fitzsimons 2026, *Privacy in Theory, Bugs in Practice: Grey-Box Auditing of",
        "Differential Privacy Libraries* (arXiv 2602.17454), as far as its artifact and its",
        "reports to the libraries name them.",
        "",
        "| library | pipeline | what is wrong | verdict | what was found | control |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        found = row.get("absent") or row["finding"]
        lines.append(
            f"| {row['library']} {row['version'] or ''} | {row['pipeline']} | {row['defect']} "
            f"({row['source']}) | {row.get('verdict', 'absent')} | {found.replace('|', ' ')} | "
            f"{row.get('control', '')} |"
        )
    shown = [row for row in rows if row.get("as_published")]
    blamed = [row for row in rows if row.get("control") == "violated"]
    lines += [
        "",
        f"{len(shown)} of {len(rows)} are found as described; {len(blamed)} controls are blamed.",
        _of_the_list(shown),
        "`python -m experiments.pipelines LIBRARY` in the same environment tries those of one "
        "library.",
        "",
    ]
    return "\n".join(lines)


def _of_the_list(rows: list[dict[str, Any]]) -> str:
    """Which of the published ones are among these."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["source"].startswith(PAPER):
            found.setdefault(row["library"], []).append(row["pipeline"])
    names = "; ".join(f"{library}: {', '.join(each)}" for library, each in found.items())
    return (
        f"Of the published list {sum(map(len, found.values()))} pipelines are among them: {names}."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the cases, and write where it is all; 1 where one is not found or a control is blamed."""
    parser = argparse.ArgumentParser(prog="python -m experiments.pipelines", description=__doc__)
    known = list(dict.fromkeys(case.package for case in CASES))
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=", ".join(known))
    names = parser.parse_args(arguments).libraries
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no library {', '.join(unknown)}; there are {', '.join(known)}")
    warnings.simplefilter("ignore")  # of the libraries
    rows = []
    for case in [each for each in CASES if not names or each.package in names]:
        print(f"trying      {case.package}: {case.name}", file=sys.stderr, flush=True)
        rows.append(tried(case))
    if names:
        for row in rows:
            found = row.get("absent") or row["finding"]
            print(f"{row['library']}: {row['pipeline']}: {row.get('verdict', 'absent')}: {found}")
        return int(any(map(_wrong, rows)))
    content = json.dumps({"cases": rows, "provenance": provenance()}, indent=1) + "\n"
    for path in write_texts(
        {"pipelines.md": to_markdown(rows), "pipelines.json": content}, RESULTS
    ):
        print(f"written     {path}", file=sys.stderr)
    wrong = [row for row in rows if _wrong(row)]
    for row in wrong:
        print(f"not as published: {row['library']}: {row['pipeline']}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
