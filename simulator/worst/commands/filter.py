"""The command ``dpcompose filter``."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import print_json, say
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import positive
from simulator.worst.commands import filter_table

FINEST = 2000
"""A round of the table costs at least this part of epsilon: finer ones take minutes to count."""
_MAKING = (
    "family_text", "epsilon", "delta", "rounds_delta", "units", "plan", "pool", "rounds_at", "out",
    "plot",
)  # fmt: skip
"""The parameters of a filter that is made."""


@click.command()
@click.argument("words", nargs=-1, metavar="[verify FILE]")
@click.option(
    "--family",
    "family_text",
    default=None,
    metavar="FAMILY",
    help="pure:EPSILON, every pure mechanism up to it; laplace:EPSILON, range:EPSILON or a mixture "
    "as pure:0.2+laplace:0.5; or subsampled-gaussian:SIGMA,RATE, Gaussian noise from that sigma on "
    "Poisson samples up to that rate.",
)
@click.option("--epsilon", type=float, default=None, help="The promised epsilon.")
@click.option("--delta", type=float, default=None, help="The promised delta.")
@click.option(
    "--rounds-delta",
    type=float,
    default=0.0,
    show_default=True,
    help="The part of delta for the rounds' own deltas.",
)
@click.option(
    "--units",
    type=int,
    default=None,
    help="Of --family subsampled-gaussian: rows of the proof, 1000 where it is left out.",
)
@click.option(
    "--plan",
    default=None,
    metavar="ROUNDS",
    help="The rounds that are expected, as pure:0.1*2,pure:0.01; the last one repeats. As many are "
    "admitted as by any sound filter.",
)
@click.option(
    "--pool",
    type=float,
    default=None,
    metavar="SHARE",
    help="Of a plan: the share of the budget for rounds smaller than all of it.",
)
@click.option(
    "--round-epsilon",
    "rounds_at",
    type=options.Numbers(click.FLOAT),
    default=None,
    metavar="EPSILON,...",
    help="Print how many rounds of these epsilons are admitted.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), default=None, help="Write the certificate here."
)
@click.option(
    "--plot",
    type=options.Picture(),
    default=None,
    metavar="FILE",
    help="Draw the table here: .png, .svg or .pdf.",
)
@options.as_json
def filter(
    *,
    words: tuple[str, ...],
    family_text: str | None,
    epsilon: float | None,
    delta: float | None,
    rounds_delta: float,
    units: int | None,
    plan: str | None,
    pool: float | None,
    rounds_at: tuple[float, ...] | None,
    out: Path | None,
    plot: str | None,
    as_json: bool,
) -> None:
    r"""Show a privacy filter with a proved budget, make its certificate, or verify one.

    \b
    Examples:
      dpcompose filter --family pure:0.5 --epsilon 1 --delta 1e-6
      dpcompose filter --family pure:0.5 --epsilon 1 --delta 1e-6 --plot rounds.png
      dpcompose filter --family pure:0.5 --epsilon 1 --delta 1e-6 --plan pure:0.1*2,pure:0.01 \
        --out filter.json
      dpcompose filter --family laplace:0.5 --epsilon 1 --delta 1e-6
      dpcompose filter --family subsampled-gaussian:sigma=1,rate=0.02 --epsilon 2 --delta 1e-6
      dpcompose filter verify filter.json

    Pure mechanisms without a plan have the residue filter, which needs no certificate. With a
    plan, or of Laplace noise and bounded range, a round leads from row to row of the plan, and
    sampled Gaussians cost whole rows. The certificate proves it for every adaptive adversary and
    every parameter up to the largest. The table has the rounds of usual schedules that are
    admitted by this filter, by the residue filter, by the published ones, and the most that any
    sound filter can admit; beside sampled Gaussians stands Renyi accounting. --plot draws it.

    `verify` proves the certificate of FILE anew, without the search, and prints what it has
    proved. Exit code 1 if it is refused.
    """
    if words:
        if words[0] != "verify" or len(words) != 2 or _given(*_MAKING):
            raise click.UsageError("write dpcompose filter verify FILE, or options alone")
        return verified(Path(words[1]), as_json=as_json)
    missing = {"--family": family_text, "--epsilon": epsilon, "--delta": delta}
    for name, given in missing.items():
        if given is None:
            raise click.UsageError(f"missing option {name!r}")
    family = family_text or ""
    if out is not None and out.exists():
        raise InvalidInput(f"{out} exists already and is kept; name a new file")
    rounds_at = tuple(positive("--round-epsilon", each) for each in rounds_at or ())
    finest = float(epsilon or 0.0) / FINEST
    if any(each < finest for each in rounds_at):
        raise InvalidInput(f"--round-epsilon must be at least {finest:g}, epsilon / {FINEST}")
    promise = float(epsilon or 0.0), float(delta or 0.0), rounds_delta
    if family.startswith("pure:") and "+" not in family and plan is None:
        if ignored := _given("out", "units", "pool"):
            raise click.UsageError(
                f"{_option(ignored[0])} is of a certificate; the residue filter, which is shown "
                "without --plan, needs none"
            )
        rows = filter_table.residue(family, promise, rounds_at, as_json=as_json)
    else:
        if family.startswith("subsampled") and rounds_at:
            raise click.UsageError("--round-epsilon has no effect with subsampled-gaussian")
        from simulator.worst.filters.plans import certified_filter  # slow to import

        found = certified_filter(
            family, *promise, units=units, plan=plan, pool=pool, sizes=rounds_at if plan else ()
        )
        if out is not None:
            found.save(out)
        rows = filter_table.certified(found, rounds_at, as_json=as_json)
    if plot is not None:
        from simulator.worst.filters.picture import draw_filters  # slow to import

        draw_filters(rows, promise[:2], plot)
    for kind, path in (("saved", out), ("drawn", plot)):
        if path is not None and not as_json:
            say(f"\n{kind}: {path}")


def _given(*names: str) -> list[str]:
    """Those of the parameters that stand on the command line."""
    context = click.get_current_context()
    sources = {name: context.get_parameter_source(name) for name in names}
    return [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]


def _option(name: str) -> str:
    return f"--{name.replace('_', '-').replace('rounds-at', 'round-epsilon')}"


def verified(file: Path, *, as_json: bool) -> None:
    """Verify a certificate, and print what it proves; exit with 1 if it is refused."""
    from simulator.worst.filters.certificate_check import check
    from simulator.worst.filters.certificate_format import Refused
    from simulator.worst.filters.certified import read_certificate

    text = read_certificate(file)
    try:
        proved = check(text)
    except Refused as error:
        if as_json:
            print_json({"file": str(file), "proved": None, "refused": str(error)})
        else:
            say(f"REFUSED: {file} proves nothing: {error}")
        click.get_current_context().exit(1)
    if as_json:
        print_json({"file": str(file), "proved": proved.plain(), "refused": None})
    else:
        say("\n".join(proved.lines()))
