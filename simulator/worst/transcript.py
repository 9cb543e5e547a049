"""A typical and a winning play of a policy, as text.

Consecutive rounds of one option are one line. A long play shows its beginning, its turning points
and its end, and one line for each stretch between them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from simulator.foundations.wording import count_of
from simulator.mechanisms import ScalarMechanism
from simulator.mechanisms.base import ScalarPair
from simulator.worst.policy import Policy
from simulator.worst.sample_plays import Play, Remaining, Round, play

FIRST, LAST = 6, 8
"""Lines shown at the start and at the end of a long play."""
LONG = 22


@dataclass(frozen=True)
class Run:
    """Consecutive rounds of one option; the first is the ``begins``-th of the play."""

    begins: int
    rounds: tuple[Round, ...]

    @property
    def option(self) -> int:
        """The option of these rounds."""
        return self.rounds[0].option

    @property
    def ends(self) -> int:
        """The number of the last round."""
        return self.begins + len(self.rounds) - 1


def transcript(policy: Policy, *, seed: int = 0) -> str:
    """The text of a random play, and of a random play among those that win.

    Raises NotApplicable where the probabilities do not fit into memory.
    """
    remaining = Remaining.of(policy)
    where = f"in experiment {policy.experiment}"
    chance = policy.probabilities.win(*policy.start)
    titles = (
        f"A typical play {where}:",
        f"A play that wins {where}, as {_share(chance)}:",
    )
    parts: list[str] = []
    for title, winning in zip(titles, (False, True)):
        if winning and not chance > 0.0:
            parts.append(f"No play wins {where}.")
            break
        shown = play(policy, seed=seed, winning=winning)
        parts += [title, *(f"  {line}" for line in play_lines(policy, remaining, shown)), ""]
    if not all(policy.law(option).is_discrete for option in range(len(policy.menu))):
        parts.append(f"(losses of continuous answers to the nearest {policy.grid.step:.3g})")
    return "\n".join(parts).rstrip("\n")


def play_lines(policy: Policy, remaining: Remaining, shown: Play) -> list[str]:
    """The lines of one play."""
    runs = _runs(shown.rounds)
    kept = set(range(len(runs)))
    if len(runs) > LONG:
        kept = {*range(FIRST), *range(len(runs) - LAST, len(runs)), *_turning(runs)}
    rows: list[tuple[str, str, str, str]] = []
    skipped: list[Run] = []
    for i, run in enumerate(runs):
        if i not in kept:
            skipped.append(run)
            continue
        if skipped:
            rows.append(_between(policy, remaining, skipped))
            skipped = []
        rows.append(_row(policy, remaining, run))
    widths = [max(len(row[i]) for row in rows) for i in range(3)] if rows else []
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]])
        for row in rows
    ]
    beside = "above" if shown.won else "not above"
    lines.append(
        f"{'wins' if shown.won else 'loses'} after {count_of(len(shown.rounds), 'round')}: "
        f"loss {_loss(shown.loss)}, {beside} {shown.threshold:.6g}"
        + (
            f"; {remaining.words(shown.left)}"
            if shown.left > 0 and not math.isinf(shown.loss)
            else ""
        )
    )
    return lines


def _runs(rounds: Sequence[Round]) -> list[Run]:
    found: list[Run] = []
    for number, this in enumerate(rounds, start=1):
        if found and found[-1].option == this.option:
            found[-1] = Run(found[-1].begins, (*found[-1].rounds, this))
        else:
            found.append(Run(number, (this,)))
    return found


def _turning(runs: Sequence[Run]) -> set[int]:
    """The indices of the least and the greatest loss, and of the longest run."""
    losses = [run.rounds[0].loss for run in runs]
    lengths = [len(run.rounds) for run in runs]
    return {
        losses.index(min(losses)),
        losses.index(max(losses)),
        lengths.index(max(lengths)),
    }


def _row(policy: Policy, remaining: Remaining, run: Run) -> tuple[str, str, str, str]:
    first = run.rounds[0]
    move = f"plays {policy.labels[run.option]}"
    if len(run.rounds) == 1:
        outcome = f"{answer(policy, run.option, first.gained)}{_signed(first.gained)}"
        name = f"round {run.begins}"
    else:
        counted = Counter(_signed(r.gained) for r in run.rounds)
        total = sum(r.gained for r in run.rounds)
        name = f"rounds {run.begins} to {run.ends}"
        if len(counted) <= 3:
            parts = [
                f"{gained} {'once' if times == 1 else f'{times} times'}"
                for gained, times in counted.most_common()
            ]
            outcome = f"{', '.join(parts)}, together {_signed(total)}"
        else:
            outcome = f"together {_signed(total)}"
    return name, f"loss {_loss(first.loss)}, {remaining.words(first.left)}", move, outcome


def _between(
    policy: Policy, remaining: Remaining, runs: Sequence[Run]
) -> tuple[str, str, str, str]:
    rounds = [r for run in runs for r in run.rounds]
    often = Counter(r.option for r in rounds).most_common(1)[0][0]
    low, high = min(r.loss for r in rounds), max(r.loss for r in rounds)
    return (
        f"rounds {runs[0].begins} to {runs[-1].ends}",
        f"loss {_loss(rounds[0].loss)}, {remaining.words(rounds[0].left)}",
        f"{len({r.option for r in rounds})} different, most often {policy.labels[often]}",
        f"loss between {_loss(low)} and {_loss(high)}",
    )


def answer(policy: Policy, option: int, gained: float) -> str:
    """``answer 1, `` where exactly one answer has that loss, else the empty string."""
    database_0, database_1, mechanism = policy.menu[option]
    pair = mechanism.pair(database_0, database_1, policy.relation)
    if not isinstance(mechanism, ScalarMechanism) or not isinstance(pair, ScalarPair):
        return ""
    if mechanism.scalars.outcomes is None:
        return ""
    sign = -1.0 if policy.experiment else 1.0
    fitting = [
        a
        for a in mechanism.scalars.outcomes(pair.params)
        if math.isclose(sign * pair.loss(a), gained, rel_tol=1e-9, abs_tol=1e-12)
    ]
    return f"answer {fitting[0]:g}, " if len(fitting) == 1 else ""


def _loss(value: float) -> str:
    return f"{value:.4g}" if abs(value) > 1e-12 else "0"


def _signed(value: float) -> str:
    if math.isinf(value):
        return "which reveals the experiment"
    return f"{value:+.4g}" if abs(value) > 1e-12 else "0"


def _share(chance: float) -> str:
    return (
        f"{100 * chance:.3g}% do" if chance > 1e-4 else f"1 in {1 / max(chance, 1e-300):.3g} does"
    )
