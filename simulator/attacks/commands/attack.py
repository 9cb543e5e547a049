"""The command ``dpcompose attack``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import note, number, print_json, say
from simulator.foundations.errors import InvalidInput, NotApplicable, raised
from simulator.foundations.validation import open_probability, positive, whole

if TYPE_CHECKING:
    from simulator.attacks.search import FoundAdversary
    from simulator.worst.policy import Policy


@click.command()
@click.argument("claim", required=False, metavar="[CLAIM]")
@click.option(
    "--menu",
    default=None,
    metavar="MENU",
    help="What may be played, as for worst-case: laplace:0.1,randomized-response:0.01..0.2; "
    "without it menus in the scale of the claim are tried.",
)
@click.option("--epsilon", type=float, default=None, help="The promised epsilon.")
@click.option("--delta", type=float, default=None, help="The promised delta.")
@click.option("--rounds", type=int, default=None, help="The most rounds.")
@options.relation
@click.option(
    "--seconds",
    type=float,
    default=60.0,
    show_default=True,
    help="Processor time of the search, about.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.999,
    show_default=True,
    help="Of the ends of a program that is measured by plays.",
)
@options.seed
@click.option(
    "--save", type=click.Path(), default=None, metavar="FILE.py", help="Write the program here."
)
@options.plot
@click.option(
    "--transcript", is_flag=True, help="Print a typical play of the best policy, and one that wins."
)
@options.as_json
def attack(
    *,
    claim: str | None,
    menu: str | None,
    epsilon: float | None,
    delta: float | None,
    rounds: int | None,
    relation: str,
    seconds: float,
    confidence: float,
    seed: int,
    save: str | None,
    plot: Path | None,
    transcript: bool,
    as_json: bool,
) -> int:
    r"""Search for an adversary that breaks CLAIM, and print it as a program.

    \b
    Examples:
      dpcompose attack natural:1,1e-5
      dpcompose attack natural:1,1e-5 --menu randomized-response:0.025,randomized-response:0.2
      dpcompose attack my_filter.py:FILTER --save broken.py
      dpcompose attack --epsilon 1 --delta 1e-6 --rounds 40 --menu laplace:0.1

    CLAIM is a filter, as NAME:EPSILON,DELTA; or FILE.py:NAME, a filter, an odometer, or a function
    from the rounds so far to the epsilon that is promised. Without it the claim is that --rounds
    rounds of the menu are (--epsilon, --delta)-DP.

    The verdict is `broken` where an adversary gets more than is promised, exactly or with the
    stated confidence; `sound` where an upper end of the menu that was given is at most the promise;
    and `undecided`. Exits with 1 if the claim is broken. Ctrl-C ends the search with the best so
    far. --plot draws the policy of the exact search of the best menu: its choice at each loss.
    """
    # slow to import; --help does not need them
    from simulator.attacks.search import find_adversary
    from simulator.worst.menu_parsing import parse_menu
    from simulator.worst.policy_files import new_python_file
    from simulator.worst.policy_picture import draw
    from simulator.worst.transcript import transcript as transcript_of

    positive("--seconds", seconds)
    open_probability("--confidence", confidence)
    whole("seed", seed, 0)
    target = None if save is None else new_python_file(save)
    goal = _claim(claim, epsilon, delta, rounds)
    found = find_adversary(
        goal, None if menu is None else parse_menu(menu),
        epsilon=epsilon, delta=delta, rounds=rounds, relation=options.relation_of(relation),
        seconds=seconds, seed=seed, confidence=confidence,
        report=lambda line: note(f"best so far: {line}"),
    )  # fmt: skip
    handed = found.shortest or found.program
    if target is not None:
        found.program.save(target)
    if plot is not None:
        draw(_policy(found), plot, seed=seed)
    if as_json:
        print_json(plain(found))
    else:
        show(found)
        say(f"\n{found.program}")
        if found.shortest is not None and found.shortest.source != found.program.source:
            say(f"The shortest that was found to break it, with {found.shortest_measured}:\n")
            say(f"{handed}")
        if transcript:
            say(transcript_of(_policy(found), seed=seed))
        if target is not None:
            say(f"saved: {target}")
    return 1 if found.verdict == "broken" else 0


def _policy(found: FoundAdversary) -> Policy:
    """The policy of the exact search. Raises NotApplicable where there is none."""
    if found.policy is None or not found.policy.menu:
        raise NotApplicable("there is no policy to show: the search was approximate, or found none")
    return found.policy


def _claim(text: str | None, epsilon: float | None, delta: float | None, rounds: int | None) -> Any:
    from simulator.adversaries.loading import names_in

    if text is None:
        if epsilon is None or delta is None or rounds is None:
            raise click.UsageError(
                "give a CLAIM, or --epsilon, --delta and --rounds of a claim about rounds"
            )
        return epsilon, delta
    path, colon, name = text.rpartition(":")
    if not (colon and path.endswith(".py")):
        if text.endswith(".py"):
            raise InvalidInput(f"name the claim in the file, as {text}:FILTER")
        return text
    names = names_in(path, name)
    if name not in names:
        raise InvalidInput(f"no {name!r} in {path}")
    found = names[name]
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as error:
        raise InvalidInput(f"{name}() of {path} raised {raised(error)}") from error


def plain(found: FoundAdversary) -> dict[str, Any]:
    """The result as plain values, for JSON."""
    measured, short = found.measured, found.shortest_measured
    return {
        "claim": str(found.claim),
        "verdict": found.verdict,
        "promised": found.claim.delta,
        "delta": {
            "value": measured.value,
            "lower": measured.delta.lower,
            "upper": measured.delta.upper,
            "exact": measured.exact,
            "confidence": measured.confidence,
            "trials": measured.trials,
        },
        "searched": None
        if found.searched is None
        else {"lower": found.searched.lower, "upper": found.searched.upper},
        "upper": found.upper,
        "program": found.program.source,
        "shortest": None if found.shortest is None else found.shortest.source,
        "shortest_delta": None if short is None else short.value,
        "menus": found.tried,
        "seconds": found.seconds,
        "interrupted": found.interrupted,
    }


def show(found: FoundAdversary) -> None:
    """Print the result as text."""
    ratio = found.ratio
    times = "" if ratio is None else f": at least {number(ratio)} times what is promised"
    words = {
        "broken": f"BROKEN{times}",
        "sound": "sound: no adversary of this menu gets more than is promised",
        "undecided": "undecided: no adversary was found that breaks it",
    }
    lines = [
        ("claim", str(found.claim)),
        ("promised", number(found.claim.delta)),
        ("verdict", words[found.verdict]),
        ("program", str(found.measured)),
    ]
    if found.searched is not None:
        lines.append(("best policy", f"{found.searched} (a table, of an exact search of its menu)"))
    if found.upper is not None:
        lines.append(("upper end", number(found.upper, 7)))
    stopped = ", interrupted" if found.interrupted else ""
    lines.append(("search", f"{found.tried} menus, {found.seconds:.1f} s{stopped}"))
    for name, value in lines:
        say(f"{name:<13} {value}")
