"""The command line: parses, calls, prints; holds no logic."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from simulator import __version__
from simulator.doors.cli import process
from simulator.doors.cli.numerals import Numeral
from simulator.doors.cli.output import apart
from simulator.doors.cli.renamed import with_new_names
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.wording import did_you_mean, printable
from simulator.runner import prompt_exit as leaving
from simulator.runner.progress import on_a_terminal

OWN_FAULT = 70

COMMANDS = {
    "adversaries": "adversaries",
    "audit": "audit",
    "bounds": "bounds",
    "calibrate": "calibrate",
    "claims": "claims",
    "conform": "conform",
    "estimate-rare": "estimate_rare",
    "merge": "merge",
    "plot": "plot",
    "run": "run",
    "verify": "verify",
    "worst": "worst",
}
"""Each command, and the module of this package that holds a function of that module's name."""


class Commands(click.Group):
    """A group that imports a command when it is used: ``--version`` loads no scipy."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with; old names are replaced."""
        arguments = with_new_names(args)
        if arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
            near = did_you_mean(arguments[0], COMMANDS)
            ctx.fail(f"No such command {arguments[0]!r}{near}")
        return super().resolve_command(ctx, arguments)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the alphabet."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"{__name__}.{COMMANDS[cmd_name]}")
        command = getattr(module, COMMANDS[cmd_name])
        # click's mark of a paragraph to leave as it is; docstrings are raw, and hold it in letters
        command.help = (command.help or "").replace("\\b\n", "\b\n")
        for parameter in command.params:
            if parameter.type in (click.FLOAT, click.INT):
                parameter.type = Numeral(parameter.type)
        if not hasattr(command.callback, "__wrapped__"):  # a command is fetched more than once
            command.callback = apart(command.callback)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List every command with its first sentence, whole."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, first_sentence(name)) for name in self.list_commands(ctx)])


def first_sentence(name: str) -> str:
    """What a command's docstring begins with, read off its source: importing all takes a second."""
    source = Path(__file__).with_name(f"{COMMANDS[name]}.py").read_text(encoding="utf-8")
    body = ast.parse(source).body
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    [text] = [ast.get_docstring(node) for node in functions if node.name == COMMANDS[name]]
    return click.Command(name, help=text).get_short_help_str(limit=200)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.version_option(__version__, prog_name="dpcompose")
def group() -> None:
    """Play adversarial composition experiments for differential privacy.

    An adversary picks, round by round, two neighbouring databases and a private mechanism, and is
    handed the mechanism's answer on database b. dpcompose plays experiments b = 0 and b = 1 many
    times, and sets the privacy loss that was measured against what the theorems promise.

    Results go to standard output, everything else to standard error, also what an adversary
    prints. Exit codes: 0 done, 1 a check failed or a mechanism broke its promise, 2 bad input, or
    the operating system refused something (a full disk, a closed standard output), 3 an estimate
    was refused, 4 a worker or a cluster was lost, 70 a fault of dpcompose itself, 130 interrupted,
    143 terminated.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; a user's mistake is answered by one line.

    Without ``arguments`` it is the program itself: it takes those of the process, and its signals
    and streams as well. Results are written when all of them are there.
    """
    owner = arguments is None
    try:
        if owner:
            process.take_over()
        code = answered(arguments)
    except KeyboardInterrupt as error:
        number = getattr(error, "number", signal.SIGINT)
        code = leaving.exit_code(number)
        print(leaving.interrupted(number, error), file=sys.stderr)
    if owner:
        process.end(code)
    sys.exit(code)


def answered(arguments: Sequence[str] | None) -> int:
    """Run the command line, write its results and return its exit code."""
    stream, results = sys.stdout, io.StringIO()
    with contextlib.redirect_stdout(results):
        code = attempted(arguments)
    failed = process.write_out(
        results.getvalue(), stream, lambda line: complain(line, InvalidInput.exit_code)
    )
    return code or failed


def attempted(arguments: Sequence[str] | None) -> int:
    """Run the command line and return its exit code; an error is one line on standard error."""
    code: object
    try:
        with leaving.within_half_a_second(), on_a_terminal():
            code = group.main(arguments, prog_name="dpcompose", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = error.exit_code
    except click.UsageError as error:
        called = error.ctx.command_path if error.ctx else "dpcompose"
        code = complain(f"{error.format_message()} (see {called} --help)", error.exit_code)
    except click.ClickException as error:
        code = complain(error.format_message(), error.exit_code)
    except click.Abort as error:  # click's word for Ctrl-C
        cause = error.__cause__
        raise (cause if isinstance(cause, KeyboardInterrupt) else KeyboardInterrupt()) from None
    except DpcomposeError as error:
        code = complain(str(error), error.exit_code)
    except SystemExit as error:  # click does not exit here: a user's code did
        code = complain(
            f"code of an adversary, mechanism, query or filter exits ({error.code!r})",
            InvalidInput.exit_code,
        )
    except MemoryError as error:
        code = complain(
            f"out of memory: {error}; take fewer trials or rounds", InvalidInput.exit_code
        )
    except OverflowError as error:
        code = complain(
            f"a number leaves the range of floats ({error}); give less extreme ones",
            InvalidInput.exit_code,
        )
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        code = complain(
            f"the operating system refused{where}: {error.strerror or error}",
            InvalidInput.exit_code,
        )
    except Exception as error:
        code = complain(process.own_fault(error), OWN_FAULT)
    return code if isinstance(code, int) else 0


def complain(message: str, code: int) -> int:
    """Print an error as one line, whatever it quotes; return ``code``."""
    print(f"error: {printable(' '.join(message.split()))}", file=sys.stderr)
    return code
