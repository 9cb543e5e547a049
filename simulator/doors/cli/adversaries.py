"""The command ``dpcompose adversaries``."""

from __future__ import annotations

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import print_json, print_table, say


@click.command()
@click.option("--about", metavar="NAME", help="Print the whole description of one adversary.")
@options.as_json
def adversaries(about: str | None, as_json: bool) -> None:
    """List the library of adversaries.

    Each is made for the family and the number of rounds that it is run with.
    """
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
