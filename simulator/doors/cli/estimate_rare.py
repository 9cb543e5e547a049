"""The command ``dpcompose estimate-rare``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.analysis.rare.methods import METHODS
from simulator.doors.cli import options
from simulator.doors.cli.output import number, print_json, say
from simulator.foundations.errors import Refusal
from simulator.foundations.wording import count_of

if TYPE_CHECKING:
    from simulator.analysis.estimation import Estimate
    from simulator.analysis.rare import RareEvent
    from simulator.theory.guarantees.interface import Guarantee

CURVE_POINTS = 13
"""How many further points a picture has."""
JSON_FIELDS = (
    "value",
    "lower",
    "upper",
    "confidence",
    "method",
    "relative_standard_error",
    "hits",
    "effective_sample_size",
    "largest_weight_share",
    "lower_valid",
    "upper_valid",
    "no_value",
)
"""The fields of an estimate that are printed as JSON."""


@click.command()
@click.argument("adversary")
@options.family
@options.rounds
@click.option(
    "--epsilon", type=float, default=None, help="Estimate the tail and delta at this epsilon."
)
@click.option("--delta", type=float, default=None, help="Estimate epsilon at this delta instead.")
@options.trials(default=100_000)
@options.seed
@options.jobs
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help=f"One of {', '.join(METHODS)}; or a measure, as tilted:3 for a theta without a pilot.",
)
@click.option(
    "--experiment",
    type=click.Choice(("0", "1")),
    default="0",
    show_default=True,
    help="0 for V0 against V1, 1 for the exchanged direction.",
)
@options.privacy_filter
@options.out
@options.confidence
@options.relation
@options.plot
@options.as_json
def estimate_rare(
    *,
    adversary: str,
    family: Guarantee,
    rounds: int,
    epsilon: float | None,
    delta: float | None,
    trials: int,
    seed: int,
    jobs: int | None,
    method: str,
    experiment: str,
    filter_text: str | None,
    out: str | None,
    confidence: float,
    relation: str,
    plot: Path | None,
    as_json: bool,
) -> None:
    r"""Estimate a tail of ADVERSARY that is too rare to count, by a change of measure.

    \b
    Example (Bob's ten thousand databases, delta near e^-32):
      dpcompose estimate-rare fixed-worst-case --family pure:0.00124843945 --rounds 10000 \
          --epsilon 0.890468 --trials 100000 --seed 7

    The result is exact if a rule's states and losses can be enumerated. Otherwise answers are drawn
    from laws tilted towards large losses, and every trial has a weight. Both ends of an interval
    hold at every number of trials. Where no bound known in advance limits what the trials may miss
    there is no value. An event that no trial reached is refused with exit code 3 and a line on what
    to try, after its ends.
    """
    # slow to import; --help does not need them
    from simulator.analysis import rare

    setting = rare.Setting(
        relation=options.relation_of(relation), filter=filter_text, jobs=jobs, out=out
    )
    event = rare.estimate_rare(
        adversary, family, rounds, trials, epsilon=epsilon, delta=delta, method=method,
        experiment=int(experiment), confidence=confidence, seed=seed, setting=setting,
    )  # fmt: skip
    if as_json:
        print_json(plain(event))
    else:
        show(event, adversary, experiment)
    if plot is not None:
        game = f"{adversary} in {family}, {count_of(rounds, 'round')}, experiment {experiment}"
        draw(event, game, plot)
    if event.tail.method == "refused":
        raise Refusal(f"the ends hold, and there is no estimate: {event.tail.no_value}")


def around(event: RareEvent) -> Iterator[RareEvent]:
    """The same play at epsilons from somewhat below to a little above, where it reaches them."""
    import numpy as np  # slow to import; --help does not need it

    reach = max(abs(event.epsilon), 1e-3)
    for part in np.linspace(-0.4, 0.15, CURVE_POINTS):
        with contextlib.suppress(Refusal):
            yield event.read(event.epsilon + reach * float(part))


def draw(event: RareEvent, title: str, path: Path) -> None:
    """Draw the event and its surroundings into a file."""
    from simulator.analysis.plots import legend, paper_figure, plot_rare
    from simulator.analysis.plots.style import save_as

    points = sorted((event, *around(event)), key=lambda point: point.epsilon)
    with paper_figure(width=4.6) as (figure, axes):
        plot_rare(
            axes,
            [point.epsilon for point in points],
            {
                "Pr[L > ε]": [point.tail for point in points],
                "δ(ε)": [point.delta for point in points],
            },
            event.epsilon,
        )
        axes.set_title(f"{title}, {event.method}", fontsize="small", parse_math=False)
        legend(figure)
        save_as(figure, path)


def plain(event: RareEvent) -> dict[str, Any]:
    """The event as plain values, for JSON."""
    measured: dict[str, Any] = {
        "epsilon": event.epsilon,
        "tail": estimate_values(event.tail),
        "delta": estimate_values(event.delta),
        "method": event.method,
        "theta": event.theta,
        "trials": event.trials,
        "seconds": event.seconds,
        "pilot_seconds": event.pilot_seconds,
        "pilot_rounds": event.pilot_rounds,
    }
    if event.at_delta is not None:
        measured["epsilon_at_delta"] = estimate_values(event.at_delta)
    return measured


def estimate_values(estimate: Estimate) -> dict[str, Any]:
    """An estimate as plain values; None stands for a number that is not finite."""
    named = estimate.as_dict()
    return {name: named[name] for name in JSON_FIELDS}


def show(event: RareEvent, adversary: str, experiment: str) -> None:
    """Print the event as text."""
    theta = "" if event.theta is None else f", theta {number(event.theta)}"
    trials = "" if event.delta.computed else f"{count_of(event.trials, 'trial')}, "
    say(f"{adversary}, experiment {experiment}: {trials}{event.method}{theta}")
    if event.at_delta is not None:
        say(f"epsilon(delta)      {event.at_delta}")
    for name, estimate in (("Pr[L > epsilon]", event.tail), ("delta(epsilon)", event.delta)):
        say(f"{name:<15} at {number(event.epsilon, 7)}:  {estimate}")
        if estimate.computed:
            continue
        say(
            f"{'':<15} relative standard error {number(estimate.relative_standard_error, 3)}, "
            f"{count_of(estimate.hits, 'hit')}, effective sample size "
            f"{number(estimate.effective_sample_size)}, largest weight "
            f"{number(100 * estimate.largest_weight_share, 3)}%"
        )
    pilot = f" ({count_of(event.pilot_rounds, 'round')})" if event.pilot_rounds else ""
    say(f"{event.seconds:.2f} s, and {event.pilot_seconds:.2f} s to choose the measure{pilot}")
