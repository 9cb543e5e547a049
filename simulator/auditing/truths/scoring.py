"""A table of claims compared with the true answers."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.auditing.conformance.verdicts import Ruling, judge
from simulator.auditing.truths.documents import TrueRow
from simulator.foundations.errors import InvalidInput
from simulator.foundations.strangers import MOST_OF_A_TABLE, read_text
from simulator.foundations.wording import count_of

COLUMNS = ("id", "question", "at", "subject")


@dataclass(frozen=True)
class ScoredClaim:
    """One claim and its verdict; ``factor`` is the claim over the end that decides."""

    row: TrueRow
    claimed: float
    verdict: Ruling
    factor: float
    why: str


@dataclass(frozen=True)
class TableScore:
    """The claims of a table, and how many questions it leaves out."""

    claims: tuple[ScoredClaim, ...]
    missing: int

    def of(self, verdict: Ruling) -> list[ScoredClaim]:
        """The claims with a verdict, the worst factor first."""
        found = [claim for claim in self.claims if claim.verdict is verdict]
        return sorted(found, key=lambda claim: claim.factor, reverse=verdict is Ruling.LOOSE)

    @property
    def counts(self) -> Counter[Ruling]:
        """How many claims have each verdict."""
        return Counter(claim.verdict for claim in self.claims)

    @property
    def sound(self) -> bool:
        """Whether no claim is below the truth or invalid."""
        return not (self.of(Ruling.UNSOUND) or self.of(Ruling.FAILS))


def questions(rows: Iterable[TrueRow]) -> list[list[str]]:
    """The questions as lines of a table, without the answers; ``subject`` is JSON."""
    return [
        list(COLUMNS),
        *([row.name, row.question, repr(row.at), json.dumps(row.about)] for row in rows),
    ]


def claims_of(path: Path) -> dict[str, float]:
    """The column ``value`` of a table by its column ``id``; empty values are left out.

    Raises InvalidInput with the line of what is wrong.
    """
    try:
        text = read_text(path, MOST_OF_A_TABLE)
        with io.StringIO(text, newline="") as file:
            reader = csv.DictReader(file)
            if not {"id", "value"} <= set(reader.fieldnames or ()):
                given = ", ".join(reader.fieldnames or ()) or "none"
                raise InvalidInput(f"{path} needs the columns id and value; it has {given}")
            found: dict[str, float] = {}
            for line in reader:
                name, value = line["id"] or "", (line["value"] or "").strip()
                if name in found:
                    raise InvalidInput(f"{path}, line {reader.line_num}: {name!r} is there twice")
                if value:
                    found[name] = _number(value, f"{path}, line {reader.line_num}")
    except csv.Error as error:
        raise InvalidInput(f"{path} is no CSV: {error}") from None
    return found


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"{where}: {text!r} is not a number") from None


def score(claims: dict[str, float], rows: Sequence[TrueRow]) -> TableScore:
    """Compare claims, each an upper end, with the truth. Raises InvalidInput for an unknown id."""
    by_name = {row.name: row for row in rows}
    unknown = [name for name in claims if name not in by_name]
    if unknown:
        more = f" and {count_of(len(unknown) - 1, 'other')}" if len(unknown) > 1 else ""
        raise InvalidInput(f"no question has the id {unknown[0]!r}{more}; `dpcompose truths --csv`")
    if not claims:
        raise InvalidInput("the table has no value")
    found = []
    for name, claimed in claims.items():
        row = by_name[name]
        found.append(ScoredClaim(row, claimed, *judge(row.question, claimed, row.truth)))
    return TableScore(tuple(found), len(rows) - len(found))
