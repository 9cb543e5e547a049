"""``python -m experiments.attacks``: search for adversaries of known claims, into results/worst/.

Each claim is attacked from itself alone, without a menu, unless the claim is about a menu. Writes
attacks.json and attacks.md, and the programs in programs/. A program that is stored is replaced
only by one that gets more.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from experiments.filter_trial.variants import EachWithin, SquaresOfCurve, Threshold
from experiments.stages import RESULTS, write_report
from simulator.attacks import FoundAdversary, find_adversary, find_conversation
from simulator.data.databases import Database
from simulator.data.queries import counting_query, function_query
from simulator.foundations.files import write_text
from simulator.teaching.mechanisms import SparseVector
from simulator.teaching.mechanisms.device import NO_DEVICE, UNITS, WHOLE, Device
from simulator.theory.guarantees.pure import PureDP
from simulator.worst import worst_case
from simulator.worst.policy_picture import draw
from simulator.worst.transcript import transcript

FOLDER = "worst"


class BudgetOfSquares:
    """Admits while the squares of the epsilons add up to at most .0549, for (1, 1e-6)."""

    initial, monotone = 0.0, True
    epsilon, delta = 1.0, 1e-6

    def admit(self, state: float, guarantee: Any) -> tuple[bool, float]:
        """Whether the round may run, and the sum after it."""
        after = state + guarantee.pure_epsilon**2
        return after <= 0.0549 * (1.0 + 1e-12), after


class FixedTimeOdometer:
    """Reads, after k rounds, the bound of advanced composition for k alone."""

    delta = 0.05

    def fresh(self) -> FixedTimeReading:
        """An odometer at zero."""
        return FixedTimeReading()


class FixedTimeReading:
    """The odometer in use: it forgets the drift of the mean loss."""

    delta = 0.05

    def __init__(self) -> None:
        self.squares = 0.0

    def spend(self, guarantee: Any) -> None:
        """Add a round."""
        self.squares += guarantee.pure_epsilon**2

    @property
    def epsilon(self) -> float:
        """The tail of a normal loss without its mean, at a fixed time."""
        return 1.0 * math.sqrt(self.squares)


def half_of_the_sum(view: Sequence[Any]) -> float:
    """An accountant that takes a record's two directions for two records: half of the sum."""
    return sum(turn.guarantee.pure_epsilon for turn in view) / 2.0


@dataclass(frozen=True)
class Attacked:
    """A claim that is attacked.

    Attributes
    ----------
    name : its name in the table and of its program.
    claim, options : of ``find_adversary``.
    known : what is known of it, in words.
    seconds : of processor time for the search, about.
    """

    name: str
    claim: Callable[[], Any]
    options: dict[str, Any]
    known: str
    seconds: float = 20.0


CLAIMS = (
    Attacked("natural filter", lambda: "natural:1,1e-5", {}, "2.81e-5 over {.025, .2}"),
    Attacked("budget of squares", BudgetOfSquares, {}, "1.0302e-6 over multiples of .007", 60.0),
    Attacked("clt filter", lambda: "clt:1,1e-5", {}, "at least 76 times, up to 230"),
    Attacked("squares of the curve", lambda: SquaresOfCurve(1.0, 0.01), {}, "1.11 times"),
    Attacked("threshold", lambda: Threshold(1.0, 0.05), {"rounds": 12}, "11.1 times over {.25, 2}"),
    Attacked(
        "each within delta", lambda: EachWithin(1.0, 0.05), {"rounds": 100}, "2.51 times over {.1}"
    ),
    Attacked("fixed-time odometer", FixedTimeOdometer, {"rounds": 60}, "no proof"),
    Attacked(
        "half of the sum", lambda: half_of_the_sum, {"rounds": 8, "delta": 1e-6}, "basic is tight"
    ),
    Attacked(
        "one direction of sampling",
        lambda: (0.995 * 1.835887, 1e-5),
        {
            "menu": "subsampled-gaussian:1,0.01,subsampled-gaussian-exchanged:1,0.01",
            "rounds": 1000,
        },
        "the adversary who turns has 1.835887 at 1e-5; a fixed direction 1.8282",
        60.0,
    ),
    Attacked("whitehouse filter", lambda: "whitehouse:1,1e-5", {}, "sound"),
    Attacked("residue filter", lambda: "residue:1,0.01", {}, "sound"),
)


@dataclass(frozen=True)
class AttackRow:
    """What an attack has found.

    Attributes
    ----------
    lower, exact : the lower end of the program, and whether it is certain.
    searched : the lower end of an exact search of the best menu; None where there is none.
    upper : an upper end over the menu that was given; None without one.
    """

    name: str
    claim: str
    promised: float
    verdict: str
    lower: float
    exact: bool
    searched: float | None
    upper: float | None
    lines: int
    shortest_rounds: int | None
    menus: int
    seconds: float
    known: str

    @property
    def best(self) -> float:
        """The largest lower end, of the program or of the exact search."""
        return max(self.lower, self.searched or 0.0)


def attacked(each: Attacked) -> tuple[AttackRow, FoundAdversary]:
    """The row of one claim, and what was found."""
    found = find_adversary(each.claim(), seconds=each.seconds, **each.options)
    searched = None if found.searched is None else found.searched.lower
    row = AttackRow(
        each.name, str(found.claim), found.claim.delta, found.verdict, found.measured.delta.lower,
        found.measured.exact, searched, found.upper, found.program.lines,
        None if found.shortest is None else found.shortest.rounds, found.tried,
        round(found.seconds, 1), each.known,
    )  # fmt: skip
    return row, found


def conversations() -> list[AttackRow]:
    """The rows of interactive mechanisms."""
    everyone = Database({"alice": 1, "others": 3})
    without = everyone.remove("alice")
    alice = counting_query("alice")
    absent = function_query(lambda database: 1.0 - float(alice(database)), 1.0)
    sparse = SparseVector(
        epsilon=1.0, most=3, threshold_scale=4.0, query_scale=4.0 / 3.0, queries=(alice, absent),
        longest=6,
    )  # fmt: skip
    device = Device(1.0 / UNITS, 8, 8 * UNITS, 4 * UNITS, PureDP(1.0))
    rows = []
    for name, found, known in (
        (
            "sparse vector of 2014",
            find_conversation(sparse, [(without, everyone)]),
            "Lyu, Su and Li 2017: not private as claimed",
        ),
        (
            "budgets of eight sites",
            find_conversation(device, [(NO_DEVICE, WHOLE)], epsilon=7.9),
            "8 where each site has 1; delta at 7.9",
        ),
    ):
        lines = found.program().count("\n") + 1
        row = AttackRow(
            name, f"({found.epsilon:g}, {found.promised:g})", found.promised, found.verdict,
            found.delta.lower, True, None, found.upper, lines, found.rounds, 1, 0.0, known,
        )  # fmt: skip
        rows.append(row)
    return rows


def page(rows: Sequence[AttackRow]) -> str:
    """The page, in Markdown, with its picture drawn beside it."""
    return "\n".join([table(rows), *picture()])


def table(rows: Sequence[AttackRow]) -> str:
    """The table of the page."""
    lines = [
        "# Adversaries that were found", "",
        "`make attacks` writes this page: each claim is attacked from itself alone, without a menu",
        "unless it is about one. The programs stand in [programs](programs/).", "",
        "- *program*: the lower end of what it gets, certain where it is exact, else at 99.9%.",
        "- *exact search*: the lower end of the best policy over the best menu, a table.", "",
        "| claim | promised | verdict | program | exact search | lines | fewest rounds | seconds | "
        "known |",
        "|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for row in rows:
        searched = "" if row.searched is None else f"{row.searched:.4g}"
        kind = " (exact)" if row.exact else ""
        fewest = "" if row.shortest_rounds is None else str(row.shortest_rounds)
        lines.append(
            f"| {row.name}: {row.claim} | {row.promised:g} | {row.verdict} | "
            f"{row.lower:.4g}{kind} | {searched} | {row.lines} | {fewest} | "
            f"{row.seconds:g} | {row.known} |"
        )
    return "\n".join([*lines, ""])


PICTURED = "natural:1,1e-5", "randomized-response:0.025,randomized-response:0.2"
"""The filter and the menu of the picture."""


def picture() -> list[str]:
    """Draw the best policy against the natural filter; the lines of the page about it."""
    found = worst_case(PICTURED[1], epsilon=1.0, filter=PICTURED[0])
    path = RESULTS / FOLDER / "natural_filter.png"
    path.unlink(missing_ok=True)
    draw(found.policy, path, seed=0)
    return [
        "## The policy against the natural filter", "",
        f"`dpcompose attack {PICTURED[0]} --menu {PICTURED[1]}`", "",
        "![What the best policy plays at each loss](natural_filter.png)", "",
        "```text", transcript(found.policy, seed=0).rstrip(), "```", "",
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack the claims, and write after each of them."""
    parser = argparse.ArgumentParser(prog="python -m experiments.attacks", description=__doc__)
    parser.add_argument("--only", action="append", help="the name of a claim; may be repeated")
    given = parser.parse_args(arguments)
    rows = {row.name: row for row in stored_rows()}
    for each in CLAIMS:
        if given.only and each.name not in given.only:
            continue
        row, found = attacked(each)
        print(f"attacked    {row}", file=sys.stderr, flush=True)
        before = rows.get(row.name)
        if before is None or before.best <= row.best:
            rows[row.name] = row
            write_program(each.name, "", found.program.source)
            if found.shortest is not None:
                write_program(each.name, "_shortest", found.shortest.source)
            store(rows)
    if not given.only:
        store(rows | {row.name: row for row in conversations()})
    return 0


def store(rows: Mapping[str, AttackRow]) -> None:
    """Write the data, and the page with its picture."""
    order = [each.name for each in CLAIMS]
    kept = sorted(rows.values(), key=lambda row: (row.name not in order, row.name not in order
                                                  or order.index(row.name)))  # fmt: skip
    write_report(f"{FOLDER}/attacks", {"rows": [asdict(row) for row in kept]}, page(kept))


def write_program(name: str, suffix: str, source: str) -> None:
    """Write a program into results/worst/programs/."""
    folder = RESULTS / FOLDER / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{name.replace(' ', '_').replace('-', '_')}{suffix}.py", source)


def stored_rows() -> list[AttackRow]:
    """The rows of the last time."""
    path = RESULTS / FOLDER / "attacks.json"
    if not path.exists():
        return []
    return [AttackRow(**each) for each in json.loads(path.read_text(encoding="utf-8"))["rows"]]


if __name__ == "__main__":
    sys.exit(main())
