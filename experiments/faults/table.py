"""The report in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.faults.cases import Tally

HEAD = (
    "| fault | tries | equal | one line | before main | after the end | wrong | gone within, s |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


def markdown(rows: Sequence[Tally], seconds: float) -> str:
    """The whole report."""
    tries, wrong = sum(row.tries for row in rows), sum(len(row.wrong) for row in rows)
    listed = [f"- {row.kind}: {line}" for row in rows for line in row.wrong]
    return "\n".join(
        [
            "# Faults\n",
            "Runs of `dpcompose simulate --out` that are killed, damaged or short of resources, "
            "and strangers' files before every reader; `make faults` writes this file.\n",
            f"{tries} tries, {wrong} with a wrong outcome. Made in {seconds / 60:.0f} minutes.\n",
            HEAD + "".join(line(row) for row in rows),
            *(["What went wrong:\n", *listed, ""] if listed else []),
            "## What the columns say\n",
            "- **equal**: ended or resumed, it printed and stored the bits of the run "
            "without a fault; of a stranger's file: it was read.",
            "- **one line**: refused by one line, with nothing changed.",
            "- **before main**: died as any program of Python does, before the first statement of "
            "dpcompose; what is resumed is equal.",
            "- **after the end**: the run was over before it was hit.",
            "- **gone within**: the longest time until every process of the run was gone and its "
            "output closed.",
            "",
        ]
    )


def line(row: Tally) -> str:
    """One row."""
    slowest = "" if row.slowest is None else f"{row.slowest:.1f}"
    return (
        f"| {row.kind} | {row.tries} | {row.equal} | {row.lines} | {row.early} | {row.late} "
        f"| {len(row.wrong)} | {slowest} |\n"
    )
