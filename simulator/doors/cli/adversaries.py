"""The command ``dpcompose adversaries``."""

from __future__ import annotations

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import print_json, print_table, say
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP


@click.command()
@click.argument("adversary", required=False)
@click.option("--about", metavar="NAME", help="Print the whole description of one adversary.")
@click.option(
    "--explain", is_flag=True, help="Print the program of one adversary, or why it has none."
)
@click.option(
    "--family",
    type=options.Family(),
    default=str(PureDP(0.2)),
    show_default=True,
    metavar="FAMILY",
    help="With --explain: the class of mechanisms, as for `dpcompose simulate`.",
)
@options.as_json
def adversaries(
    adversary: str | None, about: str | None, explain: bool, family: Guarantee, as_json: bool
) -> None:
    """List the library of adversaries, or explain one.

    Each is made for the family and the number of rounds that it is run with. With --explain,
    ADVERSARY is a name of the library, or FILE.py:NAME.
    """
    if explain or adversary is not None:
        if not explain or adversary is None:
            raise click.UsageError("name one adversary together with --explain")
        from simulator.adversaries.loading import find_adversary
        from simulator.adversaries.program.explaining import explained
        from simulator.engine.enumerated.explaining import enumerability

        found = find_adversary(adversary, family, ROUNDS)
        for line in (*explained(found), *enumerability(found, family, ROUNDS)):
            say(line)
        return
    from simulator.adversaries.registry import entries  # slow to import; --help does not need it

    known = {entry.name: entry for entry in entries()}
    if about is not None and about not in known:
        raise click.UsageError(f"no adversary {about!r}; there are {', '.join(known)}")
    shown = [entry for entry in known.values() if about in (None, entry.name)]
    if as_json:
        print_json([{"name": entry.name, "about": entry.about} for entry in shown])
    elif about is not None:
        say(shown[0].about)
    else:
        rows = [(entry.name, entry.summary) for entry in shown]
        print_table("Adversaries of the library", ("name", "what it does"), rows)


ROUNDS = 100
"""For which an adversary of the library is explained."""
