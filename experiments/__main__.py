"""Command line of the figures: ``python -m experiments simulate|draw NAME... [--out DIR]``.

One figure takes its parameters as options: ``simulate tails --rounds 50 --epsilon 0.1 --out DIR``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from experiments import stages
from simulator.foundations.errors import DpcomposeError, InvalidInput


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)


def simulate(name: str, results: Path, changed: Mapping[str, Any]) -> None:
    """Make the data of one figure; outside of the project's results, draw them too."""
    say(f"simulating  {name}: {stages.script(name).TITLE}")
    start = time.perf_counter()
    stages.simulate(name, results, changed)
    say(f"            done, {time.perf_counter() - start:.1f} s")
    if results != stages.RESULTS:
        draw(name, results)


def draw(name: str, results: Path) -> None:
    """Draw one figure."""
    for path in stages.draw(name, results):
        shown = path.relative_to(stages.ROOT) if results == stages.RESULTS else path
        say(f"drawn       {shown}")


def parameters(name: str) -> dict[str, Any]:
    """The parameters of a figure that are options, with their defaults.

    These are its numbers, its lists of numbers, its ``family`` and, for all adversaries at once,
    its ``trials``. A pure family has the option ``epsilon`` instead.
    """
    found: dict[str, Any] = {}
    for key, value in stages.script(name).SPECIFICATION.items():
        if key == "family" and value.startswith("pure:"):
            found["epsilon"] = float(value.removeprefix("pure:"))
        elif key == "trials" and isinstance(value, dict):
            found[key] = max(value.values())
        elif key == "family" or _numbers(value if isinstance(value, list) else [value]):
            found[key] = value
    return found


def _numbers(values: list[Any]) -> bool:
    return all(type(value) in (int, float) for value in values)


class Parser(argparse.ArgumentParser):
    """A parser whose error is one line."""

    def error(self, message: str) -> NoReturn:
        """Print the line and exit."""
        say(f"error: {message} (see python -m experiments --help)")
        sys.exit(InvalidInput.exit_code)


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments; a figure that is named alone has its parameters as options."""
    parser = Parser(
        prog="python -m experiments", description=__doc__, add_help=False, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("stage", choices=("simulate", "draw"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures; all, without any")
    parser.add_argument(
        "--out", type=Path, default=stages.RESULTS, metavar="DIR",
        help="write DIR/data and DIR/figures, not those of results/; simulate draws there, too",
    )  # fmt: skip
    known, _ = parser.parse_known_args(arguments)
    parser.add_argument("-h", "--help", action="help")
    if known.stage == "simulate" and len(known.names) == 1:
        group = parser.add_argument_group(f"parameters of {known.names[0]}, with --out")
        for key, value in parameters(known.names[0]).items():
            default = ",".join(f"{v:g}" for v in value) if isinstance(value, list) else value
            option = f"--{key.replace('_', '-')}"
            group.add_argument(option, type=like(value), help=f"[default: {default}]", metavar="X")
    return parser.parse_args(arguments)


def like(default: Any) -> Callable[[str], Any]:
    """A reader of values of the default's kind: text, a number, or several with commas."""
    if isinstance(default, str):
        return str
    sample = default[0] if isinstance(default, list) else default
    noun = "a whole number" if isinstance(sample, int) else "a number"

    def read(text: str) -> Any:
        try:
            values = [type(sample)(part) for part in text.split(",")]
        except ValueError:
            values = []
        if not values or (len(values) > 1 and not isinstance(default, list)):
            raise argparse.ArgumentTypeError(f"{text!r} is not {noun}")
        return values if isinstance(default, list) else values[0]

    return read


def changed(arguments: argparse.Namespace) -> dict[str, Any]:
    """The entries of the figure's specification that options replace."""
    found = {key: value for key, value in vars(arguments).items() if value is not None}
    for key in ("stage", "names", "out"):
        del found[key]
    if found and arguments.out == stages.RESULTS:
        raise InvalidInput("a figure with other parameters is not the project's: give --out DIR")
    specification = stages.script(arguments.names[0]).SPECIFICATION if found else {}
    if "epsilon" in found and "epsilon" not in specification:
        found["family"] = f"pure:{found.pop('epsilon'):g}"
    if "trials" in found and isinstance(specification["trials"], dict):
        found["trials"] = dict.fromkeys(specification["trials"], found["trials"])
    return found


def main() -> int:
    """Run one stage of the figures named, or of all."""
    try:
        arguments = parsed(sys.argv[1:])
        replaced = changed(arguments)
        for name in arguments.names or stages.names():
            if arguments.stage == "draw":
                draw(name, arguments.out)
            else:
                simulate(name, arguments.out, replaced)
    except DpcomposeError as error:
        say(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
