"""The command ``dpcompose game``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import number, print_json, print_labelled, print_table, say
from simulator.foundations.wording import rounded

if TYPE_CHECKING:
    from simulator.teaching.games import GameOutcome, JudgedRow, Variant


@click.command()
@click.argument("name", required=False, metavar="[NAME|FILE.py]")
@click.option(
    "--set", "settings", metavar="KNOB=VALUE", multiple=True, help="Play with another value."
)
@click.option(
    "--plot",
    type=options.Picture(),
    default=None,
    metavar="FILE",
    help="Play along the game's own knob, and draw the numbers here.",
)
@options.as_json
def game(name: str | None, *, settings: tuple[str, ...], plot: Path | None, as_json: bool) -> None:
    r"""Play variants of the experiment: interactive, continual, selected, shared.

    A game prints exact values, worst cases, plays, bounds and wrong claims, compared. Without a
    NAME the games are listed.

    \b
    Examples:
      dpcompose game
      dpcompose game concurrent
      dpcompose game concurrent --set epsilon=1 --plot concurrent.png
      dpcompose game path/to/my_game.py

    Exits with 1 when a bound is exceeded or two numbers contradict, and when a wrong claim is not
    exceeded; with other values that is no failure.
    """
    from simulator.teaching.games import all_games, find  # slow to import

    if name is None:
        if settings or plot is not None:
            raise click.UsageError("name the game that --set and --plot are for")
        games = all_games()
        if as_json:
            print_json([{"name": one.name, "title": one.title} for one in games])
        else:
            print_table("games", ["name", "title"], [[one.name, one.title] for one in games])
        return
    chosen = find(name)
    changes = chosen.read(settings)
    along = None if plot is None else chosen.along(**changes)
    outcome = chosen.play(**changes)
    if as_json:
        print_json(outcome.as_dict())
    else:
        show(chosen, outcome)
    if plot is not None and along is not None:
        draw(chosen, along, plot)
    if not outcome.as_expected:
        click.get_current_context().exit(1)


def show(chosen: Variant, outcome: GameOutcome) -> None:
    """Print the text, the knobs and the rows of a game."""
    say(chosen.title)
    say()
    say(chosen.text)
    say()
    for i, source in enumerate(chosen.sources):
        print_labelled("" if i else "sources", source)
    for i, (knob, value) in enumerate(outcome.parameters.items()):
        about = chosen.knobs[knob]
        limits = about.choice.noun if about.choice else about.range
        said = "; ".join(filter(None, (about.meaning, limits)))
        print_labelled("" if i else "knobs", f"{knob} = {value} ({said})")
    for quantity in outcome.quantities:
        say()
        print_table(
            quantity,
            ["what", "kind", "lower", "upper", "standing", "source"],
            [row_of(each) for each in outcome.judged if each.row.quantity == quantity],
            right=["lower", "upper"],
            spare=["source"],
        )
    if outcome.error:
        say(f"the ends of plays are all true with probability {number(1.0 - outcome.error)}")


def row_of(each: JudgedRow) -> list[str]:
    """The cells of a row."""
    row = each.row
    slack = f", {number(each.slack)} times" if each.slack and row.stated else ""
    lower = "" if row.stated else rounded(row.lower, "ROUND_FLOOR", 6)
    upper = rounded(row.upper, "ROUND_CEILING", 6)
    return [row.what, str(row.kind), lower, upper, f"{each.standing}{slack}", row.source]


def draw(chosen: Variant, along: list[tuple[Any, GameOutcome]], plot: Path) -> None:
    """Draw the game along its knob."""
    from simulator.analysis.plots.style import save_as
    from simulator.teaching.games.picture import picture

    save_as(picture(chosen, along), plot)
