"""The command line: parses, calls, prints; holds no logic."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from simulator import __version__
from simulator.cli.adversaries import adversaries
from simulator.cli.bounds import bounds, calibrate
from simulator.cli.check import check
from simulator.cli.run import run
from simulator.errors import DpcomposeError

INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96})
@click.version_option(__version__, prog_name="dpcompose")
def group() -> None:
    """Play adversarial composition experiments for differential privacy.

    An adversary picks, round by round, two neighbouring databases and a private mechanism, and is
    handed the mechanism's answer on database b. dpcompose plays experiments b = 0 and b = 1 many
    times, and sets the privacy loss that was measured against what the theorems promise.

    Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 a
    check failed, 2 bad input, 3 an estimate was refused, 130 interrupted.
    """


for command in (run, adversaries, check, bounds, calibrate):
    group.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; a user's mistake is answered by one line."""
    try:
        code = group.main(arguments, prog_name="dpcompose", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        code = INTERRUPTED
    except DpcomposeError as error:
        print(f"error: {error}", file=sys.stderr)
        code = error.exit_code
    except BrokenPipeError:  # the reader went away, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code if isinstance(code, int) else 0)
