"""The command ``dpcompose plot-study``."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import note, say
from simulator.foundations.wording import count_of


@click.command()
@click.argument("table", type=click.Path(), metavar="STUDY.csv")
@click.option(
    "--out",
    type=options.Picture(),
    metavar="FILE",
    help="Draw here: .png, .svg or .pdf; by default beside the table, as .png.",
)
@click.option(
    "--size", type=options.Size(), metavar="WIDTHxHEIGHT", help="Of the picture, in inches: 7x3."
)
@click.option("--title", help="In place of the adversary and the parameters; '' for none.")
@click.option("--x", metavar="NAME", help="Rounds, seed, or at.  [default: rounds]")
@click.option(
    "--y",
    metavar="NAME",
    help="Epsilon, delta, tail, or one quantity.  [default: epsilon]",
)
@click.option("--group", metavar="NAME", help="What has a colour each.  [default: adversary]")
@click.option(
    "--labels", metavar="NAME=TEXT,...", help="Other names of the groups, as 'basic=my bound'."
)
@click.option("--fit", is_flag=True, help="Add the exponent of growth with the rounds.")
def plot_study(
    *,
    table: str,
    out: Path | None,
    size: tuple[float, float] | None,
    title: str | None,
    x: str | None,
    y: str | None,
    group: str | None,
    labels: str | None,
    fit: bool,
) -> None:
    r"""Draw the table of a study: a quantity along the rounds, with the study's bounds.

    \b
    Example:
      dpcompose plot-study study.csv --x rounds --y epsilon --group adversary --out study.png

    The table was written by `dpcompose sweep` or `simulator.studies.collect`. It is only read.
    """
    # slow to import; --help does not need them
    from simulator.analysis.plots.style import drawable, save_as
    from simulator.studies import Study
    from simulator.studies.points import latest

    texts = dict(part.partition("=")[::2] for part in labels.split(",")) if labels else {}
    if any(not text.strip() for text in texts.values()):
        raise click.UsageError(f"--labels takes NAME=TEXT,..., not {labels!r}")
    texts = {name.strip(): text.strip() for name, text in texts.items()}
    target = drawable(Path(table).with_suffix(".png")) if out is None else out
    named = {"x": x, "y": y, "hue": group}
    chosen = {name: value for name, value in named.items() if value is not None}
    study = Study.load(table)
    if older := len(study) - len(latest(study)):
        lines = f"{count_of(older, 'line')} of adversaries before their code changed"
        note(f"{table}: not drawn: {lines}")
    say(save_as(study.plot(**chosen, fit=fit, title=title, size=size, labels=texts), target))
