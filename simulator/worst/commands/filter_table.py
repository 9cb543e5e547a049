"""The table of ``dpcompose filter``: rounds along schedules, by filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.doors.cli.output import number, print_json, say

if TYPE_CHECKING:
    from simulator.worst.filters.certified import CertifiedFilter
    from simulator.worst.filters.planned import PlannedFilter
    from simulator.worst.filters.sampled import SampledFilter
    from simulator.worst.filters.schedules import ScheduleRow


def rows_of(
    found: CertifiedFilter | PlannedFilter | SampledFilter, rounds_at: Sequence[float]
) -> list[ScheduleRow]:
    """The rows of a filter: of constant schedules ``rounds_at`` of pure rounds, or the usual."""
    from simulator.worst.filters.planned import PlannedFilter
    from simulator.worst.filters.sampled import SampledFilter  # slow to import
    from simulator.worst.filters.schedules import planned_rows, pure_rows, sampled_rows

    if isinstance(found, SampledFilter):
        return sampled_rows(found)
    if isinstance(found, PlannedFilter):
        return planned_rows(found, list(rounds_at) or None)
    promise = found.epsilon, found.delta - found.rounds_delta
    return pure_rows({"certified": found}, promise, found.largest, list(rounds_at) or None)


def show(
    found: CertifiedFilter | PlannedFilter | SampledFilter,
    rows: Sequence[ScheduleRow],
    *,
    as_json: bool,
) -> None:
    """Print what a filter promises and proves, and its table."""
    budget, words = _budget(found)
    if as_json:
        print_json(
            {
                "filter": str(found), **budget, "proved": found.verify(),
                "rounds_delta": found.rounds_delta,
                "rounds": [_plain(row) for row in rows],
            }
        )  # fmt: skip
        return
    say(f"{'promise':<9} ({number(found.epsilon)}, {number(found.delta)})")
    say(words)
    leaks = f", and {number(found.rounds_delta)} of the rounds' own" if found.rounds_delta else ""
    proved = number(found.verify(), 7)
    say(f"{'proved':<9} delta({number(found.epsilon)}) is at most {proved}{leaks}\n")
    names = list(dict.fromkeys(name for row in rows for name in row.rounds))
    limited = any(row.most is not None for row in rows)
    wide = max((len(row.schedule) for row in rows), default=8)
    heads = [*names, *(["at most"] if limited else [])]
    widths = [max(len(head), 6) for head in heads]
    say("  ".join([f"{'schedule':<{wide}}", *(f"{h:>{w}}" for h, w in zip(heads, widths))]))
    for row in rows:
        cells = [str(row.rounds.get(name, 0)) for name in names]
        cells += [] if not limited else ["-" if row.most is None else str(row.most)]
        say("  ".join([f"{row.schedule:<{wide}}", *(f"{c:>{w}}" for c, w in zip(cells, widths))]))


def _budget(found: CertifiedFilter | PlannedFilter | SampledFilter) -> tuple[dict[str, Any], str]:
    from simulator.worst.filters.planned import PlannedFilter
    from simulator.worst.filters.sampled import SampledFilter  # slow to import

    if isinstance(found, PlannedFilter):
        plan = ", ".join(f"{many} of {kind}:{number(size)}" for kind, size, many in found.plan[:8])
        more = ", ..." if len(found.plan) > 8 else ""
        return {"plan": [list(run) for run in found.plan]}, f"{'plan':<9} {plan}{more}"
    if isinstance(found, SampledFilter):
        return {"units": found.units}, f"{'units':<9} {found.units}"
    costs = "squared epsilons" if found.order == 0.0 else f"costs of order {number(found.order)}"
    return (
        {"budget": found.budget, "unit": found.unit},
        f"{'budget':<9} {number(found.budget, 7)} of {costs}",
    )


def _plain(row: ScheduleRow) -> dict[str, Any]:
    plain: dict[str, Any] = {"schedule": row.schedule, "rounds": row.rounds, "at_most": row.most}
    if row.epsilon is not None:
        plain |= {"epsilon": row.epsilon, "best": row.best_published}
    return plain
