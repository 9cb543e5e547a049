"""The command ``dpcompose worst-case``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.estimate_rare import estimate_values
from simulator.doors.cli.output import certain, note, number, print_json, say
from simulator.foundations.errors import DpcomposeError
from simulator.foundations.validation import whole
from simulator.foundations.wording import count_of

if TYPE_CHECKING:
    from simulator.analysis.estimation import Estimate
    from simulator.theory.bracket import Bracket
    from simulator.worst.search import WorstCase

STOPPED = {
    "tolerance": "the ends are within the tolerance",
    "time": "the time limit was reached; see --seconds and --tolerance",
    "rounding": "the ends differ by rounding only",
}
"""What is printed for the reason why no finer grid was tried."""


@click.command()
@click.option(
    "--menu",
    "menu_text",
    default=None,
    metavar="MENU",
    help="The mechanisms to choose from, separated by commas: laplace:0.1, "
    "randomized-response:0.01..0.2 for a free parameter, exponential:1 for any extremal pair.",
)
@click.option(
    "--family",
    "family_text",
    default=None,
    metavar="FAMILY",
    help="Instead of --menu: the dominating pairs of pure:EPSILON, approx:EPSILON,DELTA, "
    "gdp:MU, gaussian:SIGMA or range:EPSILON, or both directions of "
    "subsampled-gaussian:SIGMA,RATE.",
)
@click.option("--epsilon", type=float, required=True, help="The epsilon of delta(epsilon).")
@click.option(
    "--rounds",
    type=int,
    default=None,
    help="At most so many rounds k; not needed if the filter ends the game.",
)
@options.privacy_filter
@options.relation
@click.option(
    "--experiment",
    type=click.Choice(("0", "1")),
    default="0",
    show_default=True,
    help="0 for V0 against V1, 1 for the exchanged direction.",
)
@click.option(
    "--tolerance",
    type=float,
    default=1e-3,
    show_default=True,
    help="Stop at this distance of the ends, relative to the upper one.",
)
@click.option(
    "--seconds",
    type=float,
    default=60.0,
    show_default=True,
    help="Begin no finer grid after so many seconds of processor time.",
)
@click.option(
    "--play", type=int, default=None, metavar="TRIALS", help="Simulate the adversary too."
)
@options.seed
@options.jobs
@click.option(
    "--save", type=click.Path(), default=None, metavar="FILE.py", help="Write the adversary here."
)
@options.plot
@click.option("--transcript", is_flag=True, help="Print a typical play, and one that wins.")
@options.as_json
def worst_case(
    *,
    menu_text: str | None,
    family_text: str | None,
    epsilon: float,
    rounds: int | None,
    filter_text: str | None,
    relation: str,
    experiment: str,
    tolerance: float,
    seconds: float,
    play: int | None,
    seed: int,
    jobs: int | None,
    save: str | None,
    plot: Path | None,
    transcript: bool,
    as_json: bool,
) -> int:
    r"""Find the worst adaptive adversary: the largest delta(epsilon), between certified ends.

    \b
    Examples:
      dpcompose worst-case --menu randomized-response:0.1,laplace:0.2 --rounds 20 --epsilon 1
      dpcompose worst-case --menu randomized-response:0.025,randomized-response:0.2 \
          --filter whitehouse:1,1e-5 --epsilon 1 --play 100000 --save worst.py --plot worst.png

    No adversary of the game gets more than the upper end; the one that was found gets the lower
    end. --play simulates it, --save writes it as a rule for the commands simulate and
    estimate-rare, --plot draws its choice at each loss, --transcript prints two plays.

    If a filter promises a delta at this epsilon the verdict is `sound`, `broken` or, for a promise
    between the ends, `undecided`. Exits with 1 if a filter is broken.
    """
    # slow to import; --help does not need them
    from simulator.runner.play import checked_jobs
    from simulator.theory.filters.named import parse_filter
    from simulator.worst import search
    from simulator.worst.menu_parsing import parse_family, parse_menu
    from simulator.worst.played import played
    from simulator.worst.policy_files import NAME, new_python_file
    from simulator.worst.policy_header import header
    from simulator.worst.policy_picture import draw
    from simulator.worst.transcript import transcript as transcript_of

    if (menu_text is None) == (family_text is None):
        raise click.UsageError("give either --menu or --family")
    if as_json and transcript:
        raise click.UsageError("--transcript and --json do not go together: a transcript is text")
    if play is not None:
        whole("the trials of --play", play)
    whole("seed", seed, 0)
    checked_jobs(jobs)
    save_to = None if save is None else new_python_file(save)
    found = search.worst_case(
        parse_menu(menu_text) if menu_text is not None else parse_family(family_text or ""),
        epsilon=epsilon, rounds=rounds,
        filter=None if filter_text is None else parse_filter(filter_text),
        experiment=int(experiment), relation=options.relation_of(relation),
        tolerance=tolerance, seconds=seconds,
    )  # fmt: skip
    estimate, failure = None, None
    try:  # the result is printed even if a file cannot be written or the play fails
        if save_to is not None:
            found.policy.save(save_to, header(found, save_to, commands(found, save_to)))
        if plot is not None:
            draw(found.policy, plot, seed=seed)
        if play is not None:
            estimate = played(found.policy, play, seed=seed, jobs=jobs)
    except DpcomposeError as error:
        failure = error
    if as_json:
        print_json(plain(found, estimate))
    else:
        show(found, estimate)
        if transcript:
            say(f"\n{transcript_of(found.policy, seed=seed)}")
        if save_to is not None and save_to.exists():
            say(f"\nsaved: {save_to}:{NAME}")
    if failure is not None:
        if found.verdict != "broken":
            raise failure
        note(f"error: {failure}")
    return 1 if found.verdict == "broken" else 0


def commands(found: WorstCase, path: Path) -> tuple[str, str]:
    """The commands that simulate the saved policy, and estimate its tail."""
    from simulator.worst.policy_files import NAME

    policy = found.policy
    game = f"{path.name}:{NAME} --family {policy.family} --rounds {policy.rounds}"
    game += f" --relation {policy.relation} --epsilon {found.epsilon!r}"
    return (
        f"dpcompose simulate {game} --trials 100000",
        f"dpcompose estimate-rare {game} --experiment {policy.experiment}",
    )


def plain(found: WorstCase, estimate: Estimate | None) -> dict[str, Any]:
    """The result as plain values, for JSON."""
    from simulator.worst.played import agrees

    non_adaptive = found.non_adaptive
    return {
        "epsilon": found.epsilon,
        "delta": ends(found.delta),
        "non_adaptive": None if non_adaptive is None else ends(non_adaptive),
        "non_adaptive_reason": found.non_adaptive_reason or None,
        "dominating": found.dominating,
        "dominating_reason": found.dominating_reason or None,
        "promised": found.promised,
        "verdict": found.verdict,
        "ratio": found.ratio,
        "tolerance": found.tolerance,
        "seconds": found.seconds,
        "stopped": found.stopped,
        "step": found.last.step,
        "states": found.last.graph.nodes,
        "played": None
        if estimate is None
        else {**estimate_values(estimate), "agrees": agrees(estimate, found.delta)},
    }


def ends(bracket: Bracket) -> dict[str, float]:
    """A bracket as plain values."""
    return {"lower": bracket.lower, "upper": bracket.upper}


def show(found: WorstCase, estimate: Estimate | None) -> None:
    """Print the result as text."""
    from simulator.worst.played import agrees

    non_adaptive, dominating, promised = found.non_adaptive, found.dominating, found.promised
    missing = f"not computed: {found.non_adaptive_reason}"
    lines = [
        (f"delta({number(found.epsilon, 7)})", certain(found.delta)),
        ("non-adaptive", missing if non_adaptive is None else certain(non_adaptive)),
        (
            "dominating pairs",
            f"not computed: {found.dominating_reason}"
            if dominating is None
            else number(dominating, 8),
        ),
    ]
    if found.game.filter is not None:
        granted = "nothing at this epsilon" if promised is None else number(promised, 8)
        lines.append(("promised", granted))
    if found.verdict is not None:
        lines.append(("verdict", verdict(found)))
    if estimate is not None:
        relation = "agrees" if agrees(estimate, found.delta) else "DOES NOT AGREE"
        lines += [("played", str(estimate)), ("", f"which {relation} with the ends above")]
    lines += [
        (
            "grid",
            f"step {number(found.last.step)}, {count_of(found.last.graph.nodes, 'state')}, "
            f"{found.seconds:.2f} s",
        ),
        ("stopped", STOPPED[found.stopped]),
    ]
    for name, value in lines:
        say(f"{name:<17} {value}")


def verdict(found: WorstCase) -> str:
    """The verdict as text."""
    ratio = "" if found.ratio is None else f"at least {number(found.ratio)} times what is promised"
    if found.verdict == "broken":
        return f"BROKEN: {ratio}" if ratio else "BROKEN"
    if found.verdict == "undecided":
        return "undecided: the promise lies between the ends"
    return f"sound: {ratio} is lost" if ratio else "sound"
