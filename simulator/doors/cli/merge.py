"""The command ``dpcompose merge``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import note, print_json, say
from simulator.foundations.wording import count_of

if TYPE_CHECKING:
    from simulator.runner.merged import Merged, Stretch


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path())
@click.option("--out", type=click.Path(), required=True, help="The new folder.")
@click.option(
    "--mixed-versions",
    is_flag=True,
    help="Merge folders of different versions or hash seeds; draws may differ between them.",
)
@options.as_json
def merge(*, folders: tuple[str, ...], out: str, mixed_versions: bool, as_json: bool) -> None:
    r"""Merge folders that hold parts of one run into a new folder.

    \b
    Example:
      dpcompose merge part-1 part-2 part-3 --out whole

    The folders are those of `dpcompose simulate --out`, with or without --part. They are only read.
    Blocks that are in several folders are compared to the bit. Missing blocks are listed; the
    command that made the parts plays them, with the new folder as --out, and prints the result.
    """
    from simulator.runner.merging import merge_folders  # slow to import

    merged = merge_folders(folders, out, mixed_versions=mixed_versions)
    for line in merged.notices:
        note(line)
    if as_json:
        print_json(merged.as_dict())
    else:
        show(merged, len(folders))


def show(merged: Merged, folders: int) -> None:
    """Print what was merged, and what is missing."""
    sources = count_of(folders, "folder")
    say(f"{merged.folder}: {merged.stored} of {2 * merged.blocks} blocks, from {sources}")
    if merged.overlapping:
        overlapping = count_of(merged.overlapping, "block was", "blocks were")
        say(f"{overlapping} in more than one folder, with the same bits")
    for experiment, gaps in merged.missing.items():
        if gaps:
            say(f"experiment {experiment}: {named(gaps)} missing")
    if not merged.complete:
        say(f"the command that made the parts plays what is missing, with --out {merged.folder}")


def named(gaps: tuple[Stretch, ...], most: int = 8) -> str:
    """Intervals of blocks in words: ``blocks 12 to 17, 40 are``."""
    shown = [f"{a} to {b - 1}" if b - a > 1 else str(a) for a, b in gaps[:most]]
    more = (
        [count_of(len(gaps) - most, "more stretch", "more stretches")] if len(gaps) > most else []
    )
    single = len(gaps) == 1 and gaps[0][1] - gaps[0][0] == 1
    listed = ", ".join(shown + more)
    return f"block {listed} is" if single else f"blocks {listed} are"
