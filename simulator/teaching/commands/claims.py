"""The command ``dpcompose claims``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import note, print_json, print_labelled, print_table, say
from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import count_of
from simulator.teaching import claims as ledger
from simulator.teaching.claims import Claim, ClaimResult, Finding, Stretch, Verdict, read_settings
from simulator.teaching.claims.registry import sources
from simulator.teaching.claims.rendering import complaints_first, counts, how, slack_text

VERDICTS = {
    "holds": Verdict.HOLDS,
    "not-tight": Verdict.NOT_TIGHT,
    "fails": Verdict.FAILS,
    "does-not-follow": Verdict.DOES_NOT_FOLLOW,
}
"""The choices of --verdict."""


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--source",
    type=click.Choice([source.key for source in sources()]),
    help="Only the claims of this document.",
)
@click.option("--place", metavar="TEXT", help="Only the claims whose place contains this text.")
@click.option("--verdict", type=click.Choice(list(VERDICTS)), help="Only those recorded so.")
@click.option("--list", "only_list", is_flag=True, help="List the claims without checking them.")
@click.option(
    "--set",
    "settings",
    metavar="KNOB=VALUE",
    multiple=True,
    help="Check one claim with another value.",
)
@click.option("--wrong", is_flag=True, help="Check the claim's wrong variant.")
@click.option("--sweep", "swept", metavar="KNOB=LOW..HIGH", help="Print where the verdict changes.")
@click.option("--seed", type=int, default=None, help="Check one claim with other draws.")
@click.option(
    "--plot",
    type=options.Picture(),
    default=None,
    metavar="FILE",
    help="Draw the sweep here; by default the claim's own.",
)
@click.option("--code", is_flag=True, help="Print the source code of the check.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Parallel workers.")
@options.as_json
def claims(
    ids: tuple[str, ...],
    *,
    source: str | None,
    place: str | None,
    verdict: str | None,
    only_list: bool,
    settings: tuple[str, ...],
    wrong: bool,
    swept: str | None,
    seed: int | None,
    plot: Path | None,
    code: bool,
    jobs: int,
    as_json: bool,
) -> int:
    """Check the claims of the lecture notes, and print which of them are wrong.

    Each claim has an id such as roth2011-theorem-6. With IDs only these are checked, and printed in
    full: the statement, how it was decided, the right number where the source is wrong, and the
    knobs, which are the parameters of the check that --set and --sweep change.

    \b
    Examples:
      dpcompose claims
      dpcompose claims --source chapter5 --verdict fails
      dpcompose claims zhang2020-bob
      dpcompose claims zhang2020-bob --set denominator=813
      dpcompose claims zhang2020-bob --sweep denominator=700..900 --plot bob.png
      dpcompose claims zhang2020-survey-played --seed 5

    \b
    A verdict is one of
      holds, with the slack (claimed over measured; 1 is tight)
      holds, not tight
      fails as printed
      true but does not follow from the cited theorem
      undecided, with the interval that was measured

    Exits with 1 when a verdict differs from the recorded one. A claim that is recorded as wrong is
    no failure, and neither is a check with other values. The whole ledger takes some twenty
    seconds.
    """  # noqa: D301 (click needs the character \b, which keeps the lines after it unwrapped)
    require_one_use(
        {
            "--list": only_list, "--set": settings, "--seed": seed is not None, "--wrong": wrong,
            "--sweep": swept is not None, "--plot": plot is not None, "--code": code,
        },
        as_json,
    )  # fmt: skip
    listed = [
        claim
        for claim in chosen(ids, source)
        if (place or "").lower() in claim.place.lower()
        and (verdict is None or claim.expected is VERDICTS[verdict])
    ]
    if not listed:
        raise InvalidInput("no claim matches: give another --place, --verdict or --source")
    if plot is not None and swept is None:
        swept = default_sweep(listed)
    if settings or wrong or swept is not None or code or seed is not None:
        if len(ids) != 1 or len(listed) != 1:
            raise InvalidInput("--set, --seed, --wrong, --sweep and --code take exactly one ID")
        changes = read_settings(listed[0], settings)
        if seed is not None and "seed" in changes:
            raise InvalidInput("give the seed once, by --seed or by --set")
        changes |= seeded(listed[0], seed)
        if swept is not None:
            print_sweep(listed[0], swept, plot, as_json)
        else:
            check_one(listed[0], changes, wrong, as_json)
        return 0
    if only_list:
        print_list(listed, as_json)
        return 0
    results = ledger.run(listed, jobs=jobs)
    if as_json:
        say(ledger.to_json(results), end="")
    else:
        show(results, in_full=bool(ids))
    different = [result for result in results if not result.as_recorded]
    if different:
        for result in different:
            note(f"{result.claim.id}: {result.finding.verdict}, recorded: {result.claim.expected}")
        note(
            f"{len(different)} of {count_of(len(results), 'verdict')} "
            f"{'differs' if len(different) == 1 else 'differ'} from the recorded ones"
        )
    return 1 if different else 0


COMPATIBLE = (("--list",), ("--set", "--seed"), ("--wrong",), ("--sweep", "--plot"), ("--code",))
"""Options that replace the plain check: only those of one tuple may be given together."""


def require_one_use(given: Mapping[str, object], as_json: bool) -> None:
    """Raise InvalidInput for options of which one would have no effect."""
    used = [flag for flag, value in given.items() if value]
    if not any(set(used) <= set(flags) for flags in COMPATIBLE):
        each = ", ".join(" with ".join(flags) for flags in COMPATIBLE)
        raise InvalidInput(f"{' and '.join(used)} do not go together: give one of {each}")
    if given["--code"] and as_json:
        raise InvalidInput("--code and --json do not go together: the source code is not JSON")


def print_list(listed: Sequence[Claim], as_json: bool) -> None:
    """Print the claims with their recorded verdicts, without checking them."""
    if as_json:
        print_json([
            {"id": c.id, "place": c.place, "statement": c.statement, "expected": str(c.expected)}
            for c in listed
        ])  # fmt: skip
        return
    rows = [(claim.id, claim.place, str(claim.expected)) for claim in listed]
    print_table(count_of(len(rows), "claim"), ("claim", "place", "recorded"), rows)


def seeded(claim: Claim, seed: int | None) -> dict[str, Any]:
    """The change of the seed; raises InvalidInput for a check that draws nothing."""
    if seed is None:
        return {}
    if "seed" not in claim.parameters:
        raise InvalidInput(f"the check of {claim.id} draws nothing, and has no seed")
    return {"seed": seed}


def check_one(claim: Claim, changes: Mapping[str, Any], wrong: bool, as_json: bool) -> None:
    """Check one claim with other values, or print the source code of its check."""
    if changes or wrong:
        if wrong:
            claim.run_wrong()  # raises InvalidInput if there is no wrong variant
        values = dict(claim.wrong) if wrong else dict(changes)
        finding = claim.check(**values)
        if as_json:
            print_json({
                "id": claim.id,
                "parameters": {n: str(v) for n, v in (claim.parameters | values).items()},
                **finding.as_dict(),
            })  # fmt: skip
            return
        given = ", ".join(f"{name} = {value}" for name, value in values.items())
        print_labelled("claim", f"{claim.id} with {given}")
        print_finding(finding)
    else:
        module, line = claim.written
        lines, first = inspect.getsourcelines(claim.function)
        say(f"# the claim is in {module}, line {line}; its check in ", end="")
        say(f"{claim.function.__module__}, line {first}\n{''.join(lines)}", end="")


def print_sweep(claim: Claim, swept: str, plot: Path | None, as_json: bool) -> None:
    """Print the intervals of a knob with one verdict each, and draw them."""
    name, _, given = swept.partition("=")
    low, _, high = given.partition("..")
    try:
        ends = float(low), float(high)
    except ValueError:
        raise InvalidInput(f"give a sweep as KNOB=LOW..HIGH, not {swept!r}") from None
    found = ledger.sweep(claim, name.strip(), *ends)
    if plot is not None:
        draw(claim, name.strip(), found, plot)
    if as_json:
        print_json([{"from": s.first, "to": s.last, **s.finding.as_dict()} for s in found])
        return
    rows = [
        (f"{s.first:.10g}", f"{s.last:.10g}", str(s.finding.verdict), str(s.finding.measured))
        for s in found
    ]
    print_table(claim.id, (f"{name} from", "to", "verdict", "measured at the first"), rows)
    if len(found) == 1:
        say(f"no change: {claim.id} {found[0].finding.verdict} at every value tried")


def default_sweep(listed: Sequence[Claim]) -> str:
    """The sweep that is drawn if none is given; raises InvalidInput for a claim without one."""
    own = ledger.own_sweep(listed[0]) if len(listed) == 1 else None
    if own is None:
        raise InvalidInput("--plot draws a sweep: give one ID, and --sweep KNOB=LOW..HIGH too")
    return f"{own[0]}={own[1]!r}..{own[2]!r}"


def draw(claim: Claim, knob: str, found: Sequence[Stretch], path: Path) -> None:
    """Draw a sweep into a file."""
    from simulator.analysis.plots.style import save_as
    from simulator.teaching.claims.sweep_picture import sweep_picture

    save_as(sweep_picture(claim, knob, found), path)


def chosen(ids: Sequence[str], source: str | None) -> tuple[Claim, ...]:
    """The claims of these ids, each once, or all claims of a source."""
    if ids and source is not None:
        raise InvalidInput("give claims by id or by --source, not both")
    return tuple(ledger.find(id) for id in dict.fromkeys(ids)) or ledger.all_claims(source)


def show(results: Sequence[ClaimResult], in_full: bool) -> None:
    """Print the table of each source, complaints first, then the corrections."""
    for source in sources():
        of_source = [result for result in results if result.claim.source is source]
        if of_source:
            print_table(
                source.cite,
                ("claim", "place", "verdict", "slack", "measured"),
                [line(result) for result in complaints_first(of_source)],
                right=("slack",),
            )
            say()
    if in_full:
        for result in results:
            print_in_full(result)
    else:
        show_complaints(results)
    say(counts(results))


def line(result: ClaimResult) -> tuple[str, ...]:
    """A result as a row of the table."""
    claim, finding = result.claim, result.finding
    verdict = str(finding.verdict)
    if not result.as_recorded:
        verdict += f" (recorded: {claim.expected})"
    return claim.id, claim.place, verdict, slack_text(finding.slack), str(finding.measured)


def show_complaints(results: Sequence[ClaimResult]) -> None:
    """Print what the sources print and what is right, where these differ."""
    found = [result for result in results if result.finding.verdict.is_complaint]
    if found:
        print_table(
            "Found wrong or unsupported",
            ("claim", "printed", "right"),
            [(r.claim.id, r.finding.printed, r.finding.right) for r in found],
        )
        say()


def print_in_full(result: ClaimResult) -> None:
    """Print everything about one claim; its wrong variant is checked too."""
    claim = result.claim
    print_labelled("claim", f"{claim.id} ({claim.source.cite}, {claim.place})")
    print_labelled("statement", claim.statement)
    print_finding(result.finding)
    if result.finding.verdict.is_complaint:
        print_labelled("fault", str(claim.fault))
    print_labelled("check", " ".join((inspect.getdoc(claim.function) or "").split()))
    if claim.wrong:
        given = ", ".join(f"{name} = {value}" for name, value in claim.wrong.items())
        print_labelled("wrong", f"with {given}: {claim.run_wrong().verdict}")
    else:
        print_labelled("wrong", f"no such variant: {claim.cannot_be_wrong}")
    if own := ledger.own_sweep(claim):
        print_labelled(
            "picture", f"--plot FILE draws --sweep {own[0]}={own[1]:.10g}..{own[2]:.10g}"
        )
    print_labelled("code", f"{claim.written[0]}, line {claim.written[1]}")
    for i, knob in enumerate(claim.knobs.values()):
        about = "; ".join(filter(None, (knob.kind, knob.range, knob.meaning)))
        print_labelled("" if i else "knobs", f"{knob.name} = {knob.default} ({about})")
    say()


def print_finding(finding: Finding) -> None:
    """Print a finding, one line per part."""
    complaint = finding.verdict.is_complaint
    sections = {
        "verdict": str(finding.verdict),
        "printed": finding.printed if complaint else "",
        "right": finding.right if complaint else "",
        "measured": str(finding.measured),
        "slack": slack_text(finding.slack),
        "how": how(finding),
        "note": finding.note,
    }
    for name, text in sections.items():
        if text:
            print_labelled(name, text)
