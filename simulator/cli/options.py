"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Relation
from simulator.errors import InvalidInput
from simulator.theory.guarantees import Guarantee, PureDP, parse_guarantee

RELATIONS = {str(relation): relation for relation in (ADD_REMOVE, REPLACE_ONE)}


class Family(click.ParamType):
    """A family of mechanisms, as ``pure:0.2``."""

    name = "family"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Guarantee:
        """Read it, or fail with one line."""
        if isinstance(value, Guarantee):
            return value
        try:
            family = parse_guarantee(value)
        except InvalidInput as error:
            self.fail(str(error), param, ctx)
        if family.implies(PureDP(0.0)):
            self.fail(f"{value} allows no loss at all; its parameter must be above 0", param, ctx)
        return family


def relation_of(text: str) -> Relation:
    """The neighbouring relation of that name."""
    return RELATIONS[text]


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

family: Decorator = click.option(
    "--family",
    type=Family(),
    required=True,
    metavar="FAMILY",
    help="The class of mechanisms the adversary must choose from: pure:EPSILON, "
    "approx:EPSILON,DELTA, gaussian:MU, zcdp:RHO, range:EPSILON or subsampled-gaussian:SIGMA,RATE.",
)
rounds: Decorator = click.option("--rounds", type=int, required=True, help="Rounds k of a trial.")
seed: Decorator = click.option(
    "--seed", type=int, default=0, show_default=True, help="Root seed of every random draw."
)
jobs: Decorator = click.option(
    "--jobs", type=int, default=None, help="Parallel workers; every core by default."
)
as_json: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
relation: Decorator = click.option(
    "--relation",
    type=click.Choice(list(RELATIONS)),
    default=str(ADD_REMOVE),
    show_default=True,
    help="When two databases are neighbours.",
)
event: Decorator = click.option(
    "--event",
    metavar="FILE",
    default=None,
    help="JSON of an event tree, or of an Opacus history, that says all of the rounds.",
)
confidence: Decorator = click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence of each interval.",
)
out: Decorator = click.option(
    "--out", type=click.Path(), help="Keep every finished block here, and resume."
)
privacy_filter: Decorator = click.option(
    "--filter",
    "filter_text",
    default=None,
    metavar="FILTER",
    help="A privacy filter asked before every query: NAME:EPSILON[,DELTA[,ROUNDS_DELTA]].",
)


def trials(default: int | None = None) -> Decorator:
    """How often each experiment is played."""
    return click.option(
        "--trials",
        type=int,
        required=default is None,
        default=default,
        show_default=default is not None,
        help="Trials of each experiment.",
    )


def text_of(path: str) -> str:
    """The text of a file. Raises InvalidInput with one line for one that cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: is no text in UTF-8") from None
