"""``make accountants``: the accountants of every library on the stored truths.

It writes results/accountants.md and .json. Each is given the same compositions of
``results/truths/``, this package's accountant among them. No truth is computed here: a claim is
held against the stored ends.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from experiments.conformance import interpreters
from experiments.stages import RESULTS, write_report
from simulator.auditing import conformance
from simulator.auditing.conformance.accountants import LibraryTrial
from simulator.auditing.conformance.client import TOO_LATE
from simulator.auditing.conformance.defects import question_of, simplest, witnessed
from simulator.auditing.conformance.events import NOTHING, PrivacyEvent
from simulator.auditing.conformance.protocol import Question
from simulator.auditing.conformance.verdicts import ROUNDING, Ruling
from simulator.auditing.truths import documents
from simulator.foundations.children import interruptible
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.files import check_writable
from simulator.foundations.seeds import Stream, generator
from simulator.foundations.validation import whole
from simulator.theory import Bracket

COMPOSITIONS = 200
SEED = 43
LIMITS = conformance.Limits(seconds=10.0, total=20.0)


class StoredTruths(conformance.Truths):
    """The ends in ``results/truths/``, by composition, question and its argument."""

    def __init__(self, rows: Iterable[documents.TrueRow]) -> None:
        super().__init__()
        self.ends: dict[tuple[str, str], tuple[float, Bracket]] = {
            (row.name.partition("/")[0], row.question): (row.at, row.truth) for row in rows
        }

    def place(self, case: conformance.Case, question: Question) -> float | None:
        """The argument at which the document has the answer, or None."""
        found = self.ends.get((case.name, question))
        return None if found is None else found[0]

    def answer(self, case: conformance.Case, question: Question, at: float) -> Bracket | None:
        """The stored ends."""
        place, truth = self.ends[case.name, question]
        assert place == at
        return truth


def cases_of(rows: Iterable[documents.TrueRow]) -> list[conformance.Case]:
    """The compositions of the document, in a random order that is always the same.

    A limit of time then leaves out compositions of every kind.
    """
    found = [
        conformance.Case(name, tuple(map(_event, row.about["rounds"])), row.at, name)
        for row in rows
        if row.question == "epsilon" and "menu" not in row.about
        for name in (row.name.partition("/")[0],)
    ]
    return [found[i] for i in generator(SEED, 0, Stream.COINS, 0).permutation(len(found))]


def _event(item: Mapping[str, Any]) -> PrivacyEvent:
    return PrivacyEvent(
        item["mechanism"], item["parameter"], item["count"],
        item.get("delta", 0.0), item.get("rate", 1.0),
    )  # fmt: skip


class AccountantRow(NamedTuple):
    """The answers of one accountant to the questions of the kinds that it takes.

    ``below`` and ``above`` are the largest relative errors of an epsilon under the lower end and
    over the upper end, ``usual`` the median over all claims that are not unsound; ``delta_below``
    and ``delta_above`` are the smallest and largest delta over the end of the truth. They are None
    without such a claim; claims of infinity are counted apart. ``kinds`` has (usual, above) of
    epsilon by the kind of round, ``seconds`` the median processor time of an epsilon. ``worst`` is
    in words the simplest unsound claim of at least half the largest shortfall, and ``witness`` the
    truth by two computations; ``documented`` is where the library says that it is no bound.
    """

    library: str
    version: str
    accountant: str
    calls: int
    unsound: int
    below: float | None
    delta_below: float | None
    usual: float | None
    above: float | None
    delta_above: float | None
    infinite: int
    refused: int
    failed: int
    late: int
    not_made: int
    seconds: float | None
    kinds: Mapping[str, Sequence[float]]
    worst: str
    witness: Sequence[str]
    documented: str


def row_of(found: LibraryTrial, subject: Mapping[str, Any]) -> AccountantRow:
    """The row of one accountant of a library."""
    name = subject["name"]
    judged = [one for one in found.judged if one.subject == name]
    verdicts = Counter(one.verdict for one in judged)
    late = sum(one.why.startswith(TOO_LATE) for one in judged)
    unsound = [one for one in judged if one.verdict is Ruling.UNSOUND]
    epsilons = [one for one in unsound if one.question == "epsilon"]
    over = [one for one in judged if _is_over(one)]
    kinds: dict[str, list[float]] = {}
    for one in over:
        if one.question == "epsilon":
            kinds.setdefault(kind_of(one), []).append(one.factor - 1.0)
    excess = [each for some in kinds.values() for each in some]
    times = [one.processor for one in judged if one.question == "epsilon" and one.processor >= 0.0]
    worst = simplest(epsilons or unsound) if unsound else None
    return AccountantRow(
        library=found.name,
        version=found.version,
        accountant=name,
        calls=len(judged) - verdicts[Ruling.NOT_OFFERED],
        unsound=len(unsound),
        below=max((1.0 - one.factor for one in epsilons), default=None),
        delta_below=min((one.factor for one in unsound if one.question == "delta"), default=None),
        usual=median(excess) if excess else None,
        above=max(excess, default=None),
        delta_above=max((one.factor for one in over if one.question == "delta"), default=None),
        infinite=sum(one.why == "claims infinity" for one in judged),
        refused=verdicts[Ruling.DECLINES] + verdicts[Ruling.NOT_OFFERED],
        failed=verdicts[Ruling.FAILS] - late,
        late=late,
        not_made=found.skipped.get(name, 0),
        seconds=median(times) if times else None,
        kinds={kind: (median(some), max(some)) for kind, some in sorted(kinds.items())},
        worst="" if worst is None else f"{question_of(worst)}: {worst.claimed:.9g}",
        witness=() if worst is None else witnessed(worst)[0],
        documented=subject["documented"],
    )


def _is_over(one: conformance.Judged) -> bool:
    """Whether a claim is finite, and not below the truth."""
    return one.verdict in (Ruling.SOUND, Ruling.LOOSE) and 1.0 <= one.factor < math.inf


def kind_of(one: conformance.Judged) -> str:
    """The kind of all the rounds of a call, or ``mixed``."""
    kinds = {event.kind for event in one.events} - {NOTHING}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def rows_of(
    names: Sequence[str], pythons: Mapping[str, str], cases: Sequence[conformance.Case],
    truths: StoredTruths,
) -> tuple[list[AccountantRow], dict[str, str]]:  # fmt: skip
    """The rows of the libraries' accountants, one library at a time, and why others are absent."""
    rows, absent = [], {}
    for name in names:
        found = conformance.try_accountants(
            name, cases, limits=LIMITS, truths=truths, python=pythons.get(name), progress=_shown
        )
        if found.absent:
            absent[name] = found.absent
        rows += [
            row_of(found, subject) for subject in found.subjects if subject["role"] == "accountant"
        ]
    return rows, absent


def _shown(line: str) -> None:
    print(f"trying      {line}", file=sys.stderr, flush=True)


_PAGE = """\
# Which accountant?

Every accountant of the libraries on trial, this package's (`dpcompose`) among them, is given the
same {compositions} compositions, drawn from a fixed seed out of the {all} of
[results/truths/](truths/schema.json): epsilon at a delta from .01 to 1e-15, and delta at an
epsilon. A claim is held against the stored certified ends, which this package has made; a large
shortfall of each unsound accountant is computed again by code that shares nothing with it. A record
is added or removed. `make accountants` writes this page and `accountants.json`.

- *below*: how many claims are unsound, by more than rounding
  (relative {rounding}).
  *shortfall*: the largest of an epsilon; where none is too small, of a delta.
- *above*: the excess of epsilon over the truth, median and worst, of claims that are not unsound
  (`x 2`: twice the truth), and the largest delta over the true one.
- *refused*: no answer because the library says that the question is out of reach, or has no such
  call. *failed*: an exception, NaN or a negative number, or the end of the process; *late*: no
  answer within {seconds:g} s; *not made*: left out after {total:g} s.
- *time*: the median processor time of an epsilon, in ms, from a new accountant on. The first call
  of a process, which compiles, counts too.
- An accountant answers to the kinds of round that it takes: only numbers in one column of the
  second table are of the same questions.

{table}

## The excess of epsilon by kind of round

Median and worst; a dash without an answer.

{kinds}

## Large shortfalls

The simplest call of those with at least half the largest shortfall, and the truth by two
computations.

{worst}
"""


def page(rows: Sequence[AccountantRow], absent: Mapping[str, str], sizes: tuple[int, int]) -> str:
    """The page, of so many compositions out of all."""
    head = ["accountant", "calls", "below", "shortfall", "above, median", "worst", "delta, worst"]
    head += ["infinite", "refused", "failed", "late", "not made", "time (ms)"]
    ordered = sorted(rows, key=lambda row: (row.unsound > 0, _number(row.usual), row.accountant))
    kinds = sorted({kind for row in rows for kind in row.kinds})
    shortfalls = [
        f"- {_name(row)}: {row.worst}; the truth: {'; '.join(row.witness)}."
        + (f" Documented: {row.documented}." if row.documented else "")
        for row in ordered
        if row.unsound
    ]
    shortfalls += [f"- {name} is absent: {why}." for name, why in absent.items()]
    return _PAGE.format(
        compositions=sizes[0],
        all=sizes[1],
        rounding=f"{ROUNDING['epsilon']:g} for an epsilon, {ROUNDING['delta']:g} for a delta",
        seconds=LIMITS.seconds,
        total=LIMITS.total,
        table=_table(head, [_cells(row) for row in ordered]),
        kinds=_table(
            ("accountant", *kinds),
            [[_name(row), *(_pair(row.kinds.get(kind)) for kind in kinds)] for row in ordered],
        ),
        worst="\n".join(shortfalls) or "None.",
    )


def _name(row: AccountantRow) -> str:
    return f"{row.library} {row.version} `{row.accountant}`"


def _cells(row: AccountantRow) -> list[str]:
    below = "" if row.below is None else _percent(row.below)
    if row.below is None and row.delta_below is not None:
        below = f"delta x {row.delta_below:.3g}"
    above = [_percent(row.usual), _percent(row.above)]
    above += ["–" if row.delta_above is None else f"x {row.delta_above:.3g}"]
    counts = (row.infinite, row.refused, row.failed, row.late, row.not_made)
    time = "–" if row.seconds is None else f"{1e3 * row.seconds:.3g}"
    return [_name(row), str(row.calls), str(row.unsound), below, *above, *map(str, counts), time]


def _pair(of_kind: Sequence[float] | None) -> str:
    return "–" if of_kind is None else ", ".join(map(_percent, of_kind))


def _percent(part: float | None) -> str:
    if part is None:
        return "–"
    return f"{100.0 * part:.2g}%" if part < 0.995 else f"x {1.0 + part:.3g}"


def _number(part: float | None) -> float:
    return math.inf if part is None else part


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try, and write; 0, or the exit code of an error that was printed in a line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.accountants", description=__doc__)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--compositions", type=int, default=COMPOSITIONS)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    given = parser.parse_args(arguments)
    try:
        with interruptible():
            run(given)
    except DpcomposeError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return error.exit_code
    return 0


def run(given: argparse.Namespace) -> None:
    """Check the arguments, then try, then write."""
    names = conformance.check_names(given.names or list(conformance.MODULES))
    pythons = interpreters(given.python)
    part = set(names) != set(conformance.MODULES) or given.compositions != COMPOSITIONS
    if part and given.out == RESULTS:
        raise InvalidInput("a part of the trial does not replace the whole: name a folder by --out")
    check_writable(given.out)
    answers = documents.rows()
    every = cases_of(answers)
    cases = every[: whole("compositions", given.compositions)]
    rows, absent = rows_of(names, pythons, cases, StoredTruths(answers))
    content = {
        "compositions": len(cases),
        "absent": absent,
        "rows": [row._asdict() for row in rows],
    }
    write_report("accountants", content, page(rows, absent, (len(cases), len(every))), given.out)


if __name__ == "__main__":
    sys.exit(main())
