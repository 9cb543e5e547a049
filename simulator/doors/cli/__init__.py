"""The command line: it parses arguments, calls the library and prints."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import io
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from simulator import __version__
from simulator.doors.cli import process
from simulator.doors.cli.numerals import Numeral
from simulator.doors.cli.output import note, redirecting, say
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.extensions import added, load_added
from simulator.foundations.surroundings import require_memory, require_usable
from simulator.foundations.wording import did_you_mean
from simulator.runner import prompt_exit
from simulator.runner.progress import on_a_terminal

INTERNAL_ERROR = 70
"""The exit code of an error that is a fault of dpcompose itself."""

CITATION = f"""\
@software{{dpcompose,
  author  = {{The dpcompose maintainers}},
  title   = {{dpcompose: adversarial composition experiments for differential privacy}},
  version = {{{__version__}}},
  year    = {{2026}}
}}"""

COMMANDS = (
    "adversaries",
    "bounds",
    "calibrate",
    "estimate-rare",
    "merge",
    "plot",
    "simulate",
    "verify",
)
"""The commands of the core. Each is a function in a module of the same name, with underscores."""


class Commands(click.Group):
    """A group of commands that imports a command when it is used: ``--version`` loads no scipy.

    Other packages add commands, and so do the shelves of this one: an entry point of the group
    ``dpcompose.commands`` names a click command, whose function has the name of the entry point.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments begin with; fails with the nearest name."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            near = did_you_mean(args[0], known)
            ctx.fail(f"No such command {args[0]!r}{near}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in alphabetical order."""
        return sorted({*COMMANDS, *added("commands")})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None; raises InvalidInput where its code is gone."""
        if cmd_name in COMMANDS:
            command = getattr(importlib.import_module(module_of(cmd_name)), function_of(cmd_name))
        elif cmd_name in added("commands"):
            command = load_added("commands", cmd_name)
        else:
            return None
        # \b on a line of its own keeps click from wrapping a paragraph; raw docstrings spell it out
        command.help = (command.help or "").replace("\\b\n", "\b\n")
        for parameter in command.params:
            if parameter.type in (click.FLOAT, click.INT):
                parameter.type = Numeral(parameter.type)
        if not hasattr(command.callback, "__wrapped__"):  # click calls this more than once
            command.callback = redirecting(command.callback)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every command with the first sentence of its docstring, in a section per package.

        What other packages add, and the shelves of this one, stands below the core's commands. A
        command whose code is gone is left out.
        """
        sections: dict[str, list[tuple[str, str]]] = {"Commands": []}
        for name in self.list_commands(ctx):
            title = "Commands" if name in COMMANDS else f"Commands of {package_of(name)}"
            sentence = first_sentence(name)
            if sentence is not None:
                sections.setdefault(title, []).append((name, sentence))
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def function_of(command: str) -> str:
    """The name of a command's function."""
    return command.replace("-", "_")


def module_of(command: str) -> str:
    """The name of a command's module."""
    if command in COMMANDS:
        return f"{__name__}.{function_of(command)}"
    return added("commands")[command].module


def package_of(command: str) -> str:
    """The package that adds a command, as ``simulator.worst``, without its folder of commands."""
    return module_of(command).partition(".commands")[0]


def first_sentence(command: str) -> str | None:
    """The first sentence of a command's docstring, read off its source; None if that is gone.

    Importing all commands would take a second.
    """
    name = function_of(command)
    try:
        found = importlib.util.find_spec(module_of(command))
    except ImportError:
        return None
    if found is None or found.origin is None:
        return None
    source = Path(found.origin).read_text(encoding="utf-8")
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    texts = [ast.get_docstring(node) for node in functions if node.name == name]
    return click.Command(command, help=texts[0]).get_short_help_str(limit=200) if texts else ""


def cite(context: click.Context) -> None:
    """Print the citation and the versions, and end the command."""
    from simulator.runner.store.provenance import fingerprint_of_program

    versions = ", ".join(f"{name} {version}" for name, version in fingerprint_of_program().items())
    say(CITATION)
    say(f"\nNumbers depend on the seed and on: {versions}")
    context.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.version_option(__version__, prog_name="dpcompose")
@click.option(
    "--cite",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, _, given: cite(context) if given else None,
    help="Show how to cite dpcompose, with the versions that numbers depend on, and exit.",
)
def group() -> None:
    """Play adversarial composition experiments for differential privacy.

    Each round an adversary picks two neighbouring databases and a private mechanism, and receives
    the mechanism's answer on database b. dpcompose plays experiments b = 0 and b = 1 many times,
    and compares the measured privacy loss with the bounds of the theorems.

    Results go to standard output, everything else to standard error, also what an adversary
    prints. Exit codes: 0 done, 1 a check failed or a mechanism broke its promise, 2 bad input or
    an error of the operating system (a full disk, a closed standard output), 3 an estimate was
    refused, 4 a worker or a cluster was lost, 70 a fault of dpcompose itself, 130 interrupted,
    143 terminated.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; an error of the user is one line on standard error.

    Without ``arguments`` it runs those of the process, and sets the process's signal handlers and
    streams. Results are written when the command has ended.
    """
    is_program = arguments is None
    try:
        if is_program:
            process.set_up()
        code = run_and_write(arguments)
    except KeyboardInterrupt as error:
        number = getattr(error, "number", signal.SIGINT)
        code = prompt_exit.exit_code(number)
        note(prompt_exit.interrupted(number, error))
    if is_program:
        process.end(code)
    sys.exit(code)


def run_and_write(arguments: Sequence[str] | None) -> int:
    """Run the command line, write its results and return its exit code."""
    stream, results = sys.stdout, io.StringIO()
    with contextlib.redirect_stdout(results):
        code = run(arguments)
    error = process.write_out(results.getvalue(), stream)
    return code or (print_error(error, InvalidInput.exit_code) if error else 0)


def run(arguments: Sequence[str] | None) -> int:
    """Run the command line and return its exit code; an error is one line on standard error."""
    code: object
    try:
        require_usable()
        require_memory()
        with prompt_exit.within_half_a_second(), on_a_terminal():
            code = group.main(arguments, prog_name="dpcompose", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = error.exit_code
    except click.UsageError as error:
        called = error.ctx.command_path if error.ctx else "dpcompose"
        code = print_error(f"{error.format_message()} (see {called} --help)", error.exit_code)
    except click.ClickException as error:
        code = print_error(error.format_message(), error.exit_code)
    except click.Abort as error:  # click raises it for Ctrl-C
        cause = error.__cause__
        raise (cause if isinstance(cause, KeyboardInterrupt) else KeyboardInterrupt()) from None
    except DpcomposeError as error:
        code = print_error(str(error), error.exit_code)
    except SystemExit as error:  # raised by a user's code: click does not exit here
        code = print_error(
            f"code of an adversary, mechanism, query or filter called exit({error.code!r})",
            InvalidInput.exit_code,
        )
    except MemoryError as error:
        what = f": {error}" if str(error) else ""
        code = print_error(
            f"out of memory{what}; take fewer trials, rounds or jobs", InvalidInput.exit_code
        )
    except OverflowError as error:
        code = print_error(
            f"a number is outside the range of floats ({error}); give less extreme parameters",
            InvalidInput.exit_code,
        )
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        code = print_error(
            f"the operating system refused{where}: {error.strerror or error}",
            InvalidInput.exit_code,
        )
    except ModuleNotFoundError as error:
        gone = (error.name or "").startswith("simulator.")  # a shelf that another one stands on
        text = f"{error.name} is not installed" if gone else process.internal_error(error)
        code = print_error(text, InvalidInput.exit_code if gone else INTERNAL_ERROR)
    except Exception as error:
        code = print_error(process.internal_error(error), INTERNAL_ERROR)
    return code if isinstance(code, int) else 0


def print_error(message: str, code: int) -> int:
    """Print an error as one line on standard error, and return ``code``."""
    note(f"error: {message}")
    return code
