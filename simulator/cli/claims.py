"""``dpcompose claims``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from simulator import claims as ledger
from simulator.claims import Claim, ClaimResult
from simulator.claims.rendering import complaints_first, counts, how, slack_text
from simulator.claims.sources import SOURCES
from simulator.cli import options
from simulator.cli.output import print_table
from simulator.errors import InvalidInput


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--source",
    type=click.Choice([source.key for source in SOURCES]),
    help="Check the claims of this document only.",
)
@click.option("--jobs", type=int, default=1, show_default=True, help="Parallel workers.")
@options.as_json
def claims(ids: tuple[str, ...], source: str | None, jobs: int, as_json: bool) -> int:
    """Check the claims of the lecture notes, and say which of them are wrong.

    Each claim has an id such as roth2011-theorem-6. With IDs only these are checked, and printed in
    full: the statement, how it was decided, and what should be printed where the print is wrong.

    \b
    Examples:
      dpcompose claims
      dpcompose claims --source chapter5
      dpcompose claims zhang2020-bob zhang2020-ballot-table-5

    \b
    A verdict is one of
      holds, with the slack (what is claimed over what is measured; 1 is tight)
      holds, not tight
      fails as printed
      true but does not follow from the cited theorem
      undecided, with the interval it got

    Exits 1 when a verdict differs from the recorded one. That a print is wrong is such a record:
    it makes no failure. The whole ledger takes some ten seconds.
    """  # noqa: D301 (click must see the character, to keep the lines that follow it as they are)
    results = checked(chosen(ids, source), jobs)
    if as_json:
        print(ledger.to_json(results), end="")
    else:
        show(results, in_full=bool(ids))
    strays = [result for result in results if not result.as_recorded]
    if strays:
        for result in strays:
            print(
                f"{result.claim.id}: {result.finding.verdict}, recorded: {result.claim.expected}",
                file=sys.stderr,
            )
        print(
            f"{len(strays)} of {len(results)} verdicts differ from the recorded ones",
            file=sys.stderr,
        )
    return 1 if strays else 0


def chosen(ids: Sequence[str], source: str | None) -> tuple[Claim, ...]:
    """The claims asked for, each once."""
    if ids and source is not None:
        raise InvalidInput("give claims by id or by --source, not both")
    return tuple(ledger.find(id) for id in dict.fromkeys(ids)) or ledger.all_claims(source)


def checked(claims: Sequence[Claim], jobs: int) -> list[ClaimResult]:
    """Check them; on a terminal a line says how far it is."""
    if not sys.stderr.isatty():
        return ledger.run(claims, jobs=jobs)
    done = 0

    def on_result(result: ClaimResult) -> None:
        nonlocal done
        done += 1
        print(f"\r\x1b[K{done} of {len(claims)}  {result.claim.id}", end="", file=sys.stderr)

    try:
        return ledger.run(claims, on_result, jobs=jobs)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def show(results: Sequence[ClaimResult], in_full: bool) -> None:
    """Print the table of each source, complaints first, then what should be printed instead."""
    for source in SOURCES:
        of_source = [result for result in results if result.claim.source is source]
        if of_source:
            print_table(
                source.cite,
                ("claim", "place", "verdict", "slack", "measured"),
                [line(result) for result in complaints_first(of_source)],
                right=("slack",),
            )
            print()
    if in_full:
        for result in results:
            tell_in_full(result)
    else:
        show_complaints(results)
    print(counts(results))


def line(result: ClaimResult) -> tuple[str, ...]:
    """A result in the table."""
    claim, finding = result.claim, result.finding
    verdict = str(finding.verdict)
    if not result.as_recorded:
        verdict += f" (recorded: {claim.expected})"
    return claim.id, claim.place, verdict, slack_text(finding.slack), str(finding.measured)


def show_complaints(results: Sequence[ClaimResult]) -> None:
    """Print what is printed and what is right, where the two differ."""
    found = [result for result in results if result.finding.verdict.is_complaint]
    if found:
        print_table(
            "Found wrong or unsupported",
            ("claim", "printed", "right"),
            [(r.claim.id, r.finding.printed, r.finding.right) for r in found],
        )
        print()


def tell_in_full(result: ClaimResult) -> None:
    """Print everything that is known of one claim."""
    claim, finding = result.claim, result.finding
    complaint = finding.verdict.is_complaint
    sections = {
        "claim": f"{claim.id} ({claim.source.cite}, {claim.place})",
        "statement": claim.statement,
        "verdict": str(finding.verdict),
        "printed": finding.printed if complaint else "",
        "right": finding.right if complaint else "",
        "measured": str(finding.measured),
        "how": how(finding),
        "note": finding.note,
        "parameters": ", ".join(f"{name} = {value}" for name, value in claim.parameters.items()),
    }
    for name, text in sections.items():
        if text:
            print(f"{name:<11} {text}")
    print()
