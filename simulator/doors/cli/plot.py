"""The command ``dpcompose plot``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import say
from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import count_of

if TYPE_CHECKING:
    from simulator.analysis.result import Result


@click.command()
@click.argument("folder", type=click.Path(), metavar="FOLDER|STUDY.csv")
@click.option(
    "--out",
    type=options.Picture(),
    metavar="FILE",
    help="Draw the run here: .png, .svg or .pdf; by default FOLDER/run.png.",
)
@click.option(
    "--adversary",
    metavar="FILE:FUNCTION",
    help="The adversary that was played, if it is not in the library; draws single trials.",
)
@click.option(
    "--size", type=options.Size(), metavar="WIDTHxHEIGHT", help="Of the picture, in inches: 7x3."
)
@click.option("--title", help="In place of the adversary and the parameters; '' for none.")
@click.option(
    "--labels", metavar="A,B", help="Names of experiments 0 and 1, as 'without Alice,with Alice'."
)
@click.option("--x", metavar="NAME", help="Of a study: rounds, seed, or at.  [default: rounds]")
@click.option(
    "--y",
    metavar="NAME",
    help="Of a study: epsilon, delta, tail, or one quantity.  [default: epsilon]",
)
@click.option(
    "--group", metavar="NAME", help="Of a study: what has a colour each.  [default: adversary]"
)
@click.option("--fit", is_flag=True, help="Of a study: add the exponent of growth with the rounds.")
@options.confidence
def plot(
    *,
    folder: str,
    out: Path | None,
    adversary: str | None,
    size: tuple[float, float] | None,
    title: str | None,
    labels: str | None,
    x: str | None,
    y: str | None,
    group: str | None,
    fit: bool,
    confidence: float,
) -> None:
    r"""Draw a stored run, or the table of a study.

    \b
    Example:
      dpcompose simulate press-when-ahead --family pure:0.2 --rounds 100 --trials 20000 --out DIR
      dpcompose plot DIR
      dpcompose plot study.csv --x rounds --y epsilon --group adversary --out study.png

    Of a run: tails, divergence, and the loss along the rounds. Of a study, as `dpcompose sweep`
    writes it: a quantity along the rounds with the bounds that the study has; by default drawn
    beside the table. FOLDER was written by `dpcompose simulate --out` or `dpcompose merge`. It is
    only read, and nothing in it is executed. Of an interrupted run the stored blocks are drawn.
    """
    # slow to import; --help does not need them
    from simulator.analysis.plots.style import drawable, save_as
    from simulator.analysis.run_picture import EXPERIMENTS, picture

    if folder.endswith(".csv"):
        from simulator.study import Study
        from simulator.study.points import latest

        if adversary is not None or labels is not None:
            raise InvalidInput("--adversary and --labels are for a run, not for a study")
        target = drawable(Path(folder).with_suffix(".png")) if out is None else out
        named = {"x": x, "y": y, "hue": group}
        chosen = {name: value for name, value in named.items() if value is not None}
        study = Study.load(folder)
        if older := len(study) - len(latest(study)):
            lines = f"{count_of(older, 'line')} of adversaries before their code changed"
            print(f"{folder}: not drawn: {lines}", file=sys.stderr)
        drawn = study.plot(**chosen, fit=fit, title=title, size=size)
        say(save_as(drawn, target))
        return
    if fit or any(value is not None for value in (x, y, group)):
        raise InvalidInput("--x, --y, --group and --fit are for a study, a .csv file")
    names = EXPERIMENTS if labels is None else tuple(part.strip() for part in labels.split(","))
    if len(set(names)) != 2 or not all(names):
        raise InvalidInput(
            f"--labels takes two names, as 'without Alice,with Alice', not {labels!r}"
        )
    result = load(folder, adversary)
    target = drawable(Path(folder) / "run.png") if out is None else out
    figure = picture(
        result, result.specification.name, confidence, title=title, size=size, labels=names
    )
    say(save_as(figure, target))


def load(folder: str, adversary: str | None) -> Result:
    """The result in a folder, with the adversary of the user if one is given."""
    from simulator.adversaries.loading import find_adversary
    from simulator.analysis.result import Result

    result = Result.load(folder)
    if adversary is None:
        return result
    game = result.specification
    return Result.load(folder, adversary=find_adversary(adversary, game.family, game.rounds))
