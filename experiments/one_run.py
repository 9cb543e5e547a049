"""``python -m experiments.one_run``: many plays of the audit of one run, into results/.

Writes one_run.md and .json: of each game of one run that auditors are tried by, how many bounds of
``audit_one_run`` are above the truth, and how near they come. Whether a bound refutes an epsilon
grows with the surprise of the guesses, so thousands of plays are decided by some of them, and each
bound is that of ``audit_one_run``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from experiments.auditors_on_trial.games import AuditGame, games
from experiments.auditors_on_trial.trial import LEVEL
from experiments.stages import write_report
from simulator.analysis.estimation import clopper_pearson
from simulator.auditing.audits.one_run import bounds_of_plays

PLAYS, SEED, CONFIDENCE = 2000, 20_260_301, 0.999


@dataclass(frozen=True)
class ManyPlays:
    """What many plays of a game showed."""

    game: str
    truth: float
    false: int
    lower: float
    upper: float
    median: float
    seconds: float

    @property
    def kept(self) -> bool:
        """Whether the rate of false bounds may be at most the level."""
        return self.lower <= LEVEL


def scores_of(game: AuditGame, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The scores and coins of one play; equal scores are in random order."""
    inside, outside = game.play(SEED, number)
    included = np.repeat((True, False), (len(inside), len(outside)))
    order = np.random.default_rng(number).permutation(len(included))
    return np.concatenate((inside, outside))[order], included[order]


def played(game: AuditGame, plays: int) -> ManyPlays:
    """Play a game, and count the bounds above the truth."""
    start = time.process_time()
    drawn = [scores_of(game, number) for number in range(plays)]
    bounds = bounds_of_plays(drawn, delta=game.delta, confidence=1.0 - LEVEL)
    false = sum(bound > game.truth.upper for bound in bounds)
    rate = clopper_pearson(false, plays, confidence=CONFIDENCE)
    return ManyPlays(
        game.name, game.truth.value, false, rate.lower, rate.upper, statistics.median(bounds),
        round(time.process_time() - start, 1),
    )  # fmt: skip


def page(found: Sequence[ManyPlays], plays: int) -> str:
    """The table in Markdown."""
    rows = [
        f"| {each.game} | {each.truth:.6g} | {each.false} | [{each.lower:.4f}, {each.upper:.4f}] | "
        f"{each.median:.3f} | {each.median / each.truth:.2f} | {'yes' if each.kept else 'NO'} |"
        for each in found
    ]
    return "\n".join([
        "# The audit of one run, many times", "",
        f"`audit_one_run` bounds epsilon from below at level {LEVEL}. Here it judges {plays} plays",
        "of each game of one run of [auditors.md](auditors.md), with 1000 canaries. `make one-run`",
        "writes this page.", "",
        "- *false*: bounds above the true epsilon; the interval of the rate is Clopper and",
        "  Pearson's at 99.9%.",
        "- *power*: the median bound over the truth.", "",
        "| game | true epsilon | false | rate | median | power | level kept |",
        "|---|---|---|---|---|---|---|", *rows, "",
    ])  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Play all games of one run, and write."""
    parser = argparse.ArgumentParser(prog="python -m experiments.one_run", description=__doc__)
    parser.add_argument("--plays", type=int, default=PLAYS)
    given = parser.parse_args(arguments)
    found = []
    for game in games():
        if game.runs == "one run":
            found.append(played(game, given.plays))
            print(f"played      {found[-1]}", file=sys.stderr, flush=True)
    whole = {"level": LEVEL, "plays": given.plays, "games": [asdict(each) for each in found]}
    write_report("one_run", whole, page(found, given.plays))
    return 0


if __name__ == "__main__":
    sys.exit(main())
