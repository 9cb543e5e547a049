"""Say which results are of today's code, or make those that are not.

``python -m experiments.results status [--strict] [NAME ...]`` prints a line for each;
``python -m experiments.results make [--always] [NAME ...]`` makes what is stale, or, with
``--always``, all that is named. ``figures`` stands for every figure.
"""

from __future__ import annotations

import argparse
import signal
import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress

from experiments.results.listed import Listed, figures, listed
from experiments.results.records import Status, revision_of, stale_before, status, strays
from simulator.doors.cli.process import write_out
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.wording import printable

INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt(_number: int, _frame: object) -> None:
    """Interrupt once: a second signal must not keep what runs from being stopped."""
    for number in SIGNALS:
        signal.signal(number, lambda _number, _frame: None)
    raise KeyboardInterrupt


def chosen(names: Sequence[str]) -> list[Listed]:
    """The results of these names, in the order of the list; all of them without a name.

    Raises InvalidInput for a name that is none.
    """
    wanted = set(names)
    if "figures" in wanted:
        wanted |= {name for each in figures() for name in (each, f"{each}.svg")}
        wanted.remove("figures")
    if unknown := sorted(wanted - set(listed())):
        raise InvalidInput(f"no result {', '.join(unknown)}; there are {', '.join(listed())}")
    return [each for name, each in listed().items() if not wanted or name in wanted]


def with_those_before(results: Sequence[Listed]) -> list[Listed]:
    """The results, and those that have to be made before them and are not of today."""
    names, new = set[str](), {each.name for each in results}
    while new:
        names |= new
        new = {name for each in new for name in stale_before(listed()[each])} - names
    return [each for name, each in listed().items() if name in names]


def print_status(results: Sequence[Listed], *, strict: bool, whole: bool) -> int:
    """Print the status of results; with ``strict`` return 1 if one must be made again."""
    found = [status(each) for each in results]
    today = [each for each in found if each.state == "of today"]
    names = ", ".join(each.result.name for each in today)
    spent = sum(each.record.made["processor_seconds"] for each in today if each.record)
    lines = [
        f"of today: {len(today)} of {len(found)}, made in {spent / 3600:.1f} h of processor time"
    ]
    if whole:
        lines += [f"  {each.result.name:<28}{times(each)}" for each in today]
    elif names:
        lines += textwrap.wrap(names, 100, initial_indent="  ", subsequent_indent="  ",
                               break_on_hyphens=False)  # fmt: skip
    lines += [line(each, most=None if whole else 3) for each in found if each.state != "of today"]
    apart = strays() if whole or len(results) == len(listed()) else []
    lines += [f"{name} is of no result" for name in apart]
    wrong = [
        each.result.name
        for each in found
        if each.state == "edited" or (each.state != "of today" and each.result.strict)
    ]
    fails = strict and bool(wrong or apart)
    if fails:
        listing = ", ".join(wrong + apart)
        lines += [f"error: to be made again (make results), or not to be in results/: {listing}"]
    if error := write_out("\n".join(map(printable, lines)) + "\n", sys.stdout):
        raise InvalidInput(error)
    return int(fails)


def times(found: Status) -> str:
    """When and in which time a result was made."""
    if found.record is None:
        return ""
    made = found.record.made
    return (
        f"{made['seconds']:8.0f} s, {made['processor_seconds']:8.0f} s of a processor, on "
        f"{made['time'][:10]} at {revision_of(made)}, load {made['load']:g}"
    )


def line(found: Status, most: int | None) -> str:
    """One line about a result that is not of today."""
    causes = list(found.because)
    more = len(causes) - most if most is not None and len(causes) > most else 0
    text = ", ".join(causes[: len(causes) - more]) + (f" and {more} more" if more else "")
    made = f", made {found.record.made['time'][:10]}" if found.record else ""
    verb = {"stale": "changed since: ", "edited": "not as it was made: "}.get(found.state, "")
    return f"{found.state}: {found.result.name}{made}" + (f"; {verb}{text}" if text else "")


def main(arguments: list[str] | None = None) -> int:
    """Print the status, or make results."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.results", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("action", choices=("status", "make"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--strict", action="store_true", help="an error for figures and claims")
    parser.add_argument(
        "--whole", action="store_true", help="every time, and every file that has changed"
    )
    parser.add_argument("--always", action="store_true", help="make what is of today, too")
    parser.add_argument("--busy", action="store_true", help="measure on a busy machine, too")
    given = parser.parse_intermixed_args(arguments)
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as after nohup
            signal.signal(number, interrupt)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # it is inherited, and would hide how one ends
    try:
        results = chosen(given.names)
        if given.action == "status":
            return print_status(results, strict=given.strict, whole=given.whole)
        from experiments.results import making

        with making.alone() as lock:
            results = with_those_before(results)
            failed = making.make(results, always=given.always, busy=given.busy, lock=lock)
            return int(bool(failed))
    except DpcomposeError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        with suppress(OSError):  # the terminal may be closed
            print("interrupted: what is recorded is kept, run it again to go on", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
