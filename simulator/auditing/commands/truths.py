"""The command ``dpcompose truths``."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import number, print_json, say
from simulator.foundations.wording import count_of

if TYPE_CHECKING:
    from simulator.auditing.truths.scoring import ScoredClaim, TableScore

SHOWN = 10


@click.command()
@click.option(
    "--check",
    "table",
    type=click.Path(path_type=Path),
    metavar="FILE.csv",
    help="Score this table of claims, with columns id and value.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print the questions as CSV, with all digits.")
@options.as_json
def truths(*, table: Path | None, as_csv: bool, as_json: bool) -> None:
    r"""Score a table of epsilons and deltas by certified answers.

    \b
    Examples:
      dpcompose truths --csv > questions.csv
      dpcompose truths --check answers.csv

    There are some 2,000 compositions, and 200 games with their worst adversary. A claim is an upper
    end: unsound where it is below the certified lower end, loose where it is far above the upper
    one. A table may leave questions out. Exit code 1 if a claim is unsound or invalid.
    """
    from simulator.auditing.truths import documents, scoring

    if table is not None and as_csv:
        raise click.UsageError("--csv prints the questions; --check scores answers: give one")
    claims = None if table is None else scoring.claims_of(table)
    rows = documents.rows()
    if claims is None:
        if as_csv:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(scoring.questions(rows))
            say(text.getvalue().rstrip("\n"))
        elif as_json:
            print_json({"questions": len(rows), "folder": str(documents.folder())})
        else:
            games = sum("menu" in row.about for row in rows)
            say(f"{len(rows) - games} questions about compositions, {games} about games")
            say(f"in {documents.folder()}")
        return
    found = scoring.score(claims, rows)
    if as_json:
        print_json(as_dict(found))
    else:
        show(found)
    if not found.sound:
        click.get_current_context().exit(1)


def as_dict(found: TableScore) -> dict[str, object]:
    """A score as plain values."""
    return {
        "counts": {str(verdict): count for verdict, count in found.counts.items()},
        "missing": found.missing,
        "sound": found.sound,
        "claims": [
            {
                "id": claim.row.name,
                "claimed": claim.claimed,
                "lower": claim.row.truth.lower,
                "upper": claim.row.truth.upper,
                "verdict": str(claim.verdict),
                "why": claim.why,
            }
            for claim in found.claims
        ],
    }


def show(found: TableScore) -> None:
    """Print the worst claims of each verdict but sound ones, and how many there are."""
    from simulator.auditing.conformance import Ruling

    for verdict in (Ruling.UNSOUND, Ruling.FAILS, Ruling.LOOSE):
        claims = found.of(verdict)
        for claim in claims[:SHOWN]:
            say(in_words(claim))
        if len(claims) > SHOWN:
            say(f"... {len(claims) - SHOWN} more {verdict}")
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(found.counts.items()))
    say(f"{count_of(len(found.claims), 'claim')}: {counts}; {found.missing} questions left out")


def in_words(claim: ScoredClaim) -> str:
    """One claim and the truth, in a line."""
    ends = f"[{number(claim.row.truth.lower, 10)}, {number(claim.row.truth.upper, 10)}]"
    why = f" ({claim.why})" if claim.why else ""
    return f"{claim.verdict}: {claim.row.name}: {number(claim.claimed, 10)}, truth {ends}{why}"
