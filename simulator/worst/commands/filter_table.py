"""The table of ``dpcompose filter``: rounds along schedules, by filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.doors.cli.output import number, print_json, print_table, say

if TYPE_CHECKING:
    from simulator.worst.filters.certified import CertifiedFilter
    from simulator.worst.filters.schedules import ScheduleRow


def residue(
    family: str, promise: tuple[float, float, float], rounds_at: Sequence[float], *, as_json: bool
) -> list[ScheduleRow]:
    """Print the residue filter of a promise and its table for pure rounds; returns its rows."""
    from simulator.theory.filters.residue import ResidueFilter  # slow to import
    from simulator.theory.guarantees.named import parse_guarantee
    from simulator.worst.filters.schedules import pure_rows

    found, largest = ResidueFilter(*promise), parse_guarantee(family).pure_epsilon
    rows = pure_rows((promise[0], promise[1] - promise[2]), largest, list(rounds_at) or None)
    if as_json:
        print_json({"filter": str(found), "rounds": [_plain(row) for row in rows]})
    else:
        say(f"{'promise':<9} ({number(found.epsilon)}, {number(found.delta)})")
        say(f"{'filter':<9} {found}, by a formula, without a certificate")
        _table(rows)
    return rows


def certified(
    found: CertifiedFilter, rounds_at: Sequence[float], *, as_json: bool
) -> list[ScheduleRow]:
    """Print what a filter promises and proves, and its table; returns its rows."""
    from simulator.worst.filters.schedules import rows_of  # slow to import

    rows, proved = rows_of(found, list(rounds_at) or None), found.verify()
    if as_json:
        plain = {"filter": str(found), "plan": [list(run) for run in found.plan]}
        print_json({**plain, "proved": proved.plain(), "rounds": [_plain(row) for row in rows]})
        return rows
    plan = plan_text(found.plan[:8])
    say(f"{'promise':<9} ({number(found.epsilon)}, {number(found.delta)})")
    say(f"{'plan':<9} {plan}{', ...' if len(found.plan) > 8 else ''}")
    say("\n".join(proved.lines()))
    _table(rows)
    return rows


def plan_text(plan: Sequence[tuple[str, float, int]]) -> str:
    """Stretches (kind, size, rounds) of a plan, as ``--plan`` reads them."""
    texts = []
    for kind, size, many in plan:
        name, _, first = kind.partition(":")  # sampled Gaussians have their sigma in the kind
        texts.append(f"{name}:{f'{first},' if first else ''}{number(size)}*{many}")
    return ",".join(texts)


def _table(rows: Sequence[ScheduleRow]) -> None:
    """Print the table."""
    names = list(dict.fromkeys(name for row in rows for name in row.rounds))
    heads = [*names, *(["at most"] if any(row.most is not None for row in rows) else [])]
    cells = [
        [row.schedule, *(str(row.rounds.get(name, 0)) for name in names)]
        + (["-" if row.most is None else str(row.most)] if len(heads) > len(names) else [])
        for row in rows
    ]
    print_table("", ["schedule", *heads], cells, right=heads)


def _plain(row: ScheduleRow) -> dict[str, Any]:
    plain: dict[str, Any] = {"schedule": row.schedule, "rounds": row.rounds, "at_most": row.most}
    if row.epsilon is not None:
        plain |= {"epsilon": row.epsilon, "best": row.best_published}
    return plain
