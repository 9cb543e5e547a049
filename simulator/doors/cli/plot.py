"""The command ``dpcompose plot``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import say
from simulator.foundations.errors import InvalidInput

if TYPE_CHECKING:
    from simulator.analysis.result import Result


@click.command()
@click.argument("folder", type=click.Path(), metavar="FOLDER")
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
@options.confidence
def plot(
    *,
    folder: str,
    out: Path | None,
    adversary: str | None,
    size: tuple[float, float] | None,
    title: str | None,
    labels: str | None,
    confidence: float,
) -> None:
    r"""Draw a stored run.

    \b
    Example:
      dpcompose simulate press-when-ahead --family pure:0.2 --rounds 100 --trials 20000 --out DIR
      dpcompose plot DIR

    Draws tails, divergence, and the loss along the rounds. FOLDER was written by `dpcompose
    simulate --out` or `dpcompose merge`. It is only read, and nothing in it is executed. Of an
    interrupted run the stored blocks are drawn.
    """
    # slow to import; --help does not need them
    from simulator.analysis.plots.style import drawable, save_as
    from simulator.analysis.run_picture import EXPERIMENTS, picture

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
