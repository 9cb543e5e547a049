"""The rounds that filters admit along usual schedules, as rows and as a page."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from experiments.filters.families import families, family_table
from experiments.filters.limits import most_of_schedule
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import filter_class
from simulator.theory.guarantees.pure import PureDP
from simulator.worst.filters.admitted import PUBLISHED
from simulator.worst.filters.plans import certified_filter

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTAS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
ANY_PLAN = 200
"""The promised epsilon over the rounds of the filter that is used for all schedules."""
LISTED = 400
"""Most entries of a plan, the last one repeats."""
FEW = 33
"""Of at most so many rounds, one is 3% or more."""
ROOM = 1.10
"""Over the best published filter: the goal."""
SCHEDULES: dict[str, Callable[[float], Iterator[float]]] = {
    "constant ε/200": lambda epsilon: itertools.repeat(epsilon / 200),
    "constant ε/50": lambda epsilon: itertools.repeat(epsilon / 50),
    "constant ε/20": lambda epsilon: itertools.repeat(epsilon / 20),
    "constant ε/10": lambda epsilon: itertools.repeat(epsilon / 10),
    "decreasing, ε/20 over the fourth root of the round": lambda epsilon: (
        epsilon / 20 / i**0.25 for i in itertools.count(1)
    ),
    "two of ε/12, then ε/100": lambda epsilon: itertools.chain(
        [epsilon / 12] * 2, itertools.repeat(epsilon / 100)
    ),
}
MOST = 10**6


def admitted(filter_: Filter, schedule: Iterator[float]) -> int:
    """How many rounds of a schedule a filter admits before it first refuses one."""
    running = filter_.fresh()
    for count, epsilon in enumerate(itertools.islice(schedule, MOST)):
        guarantee = PureDP(epsilon)
        if not running.admits(guarantee):
            return count
        running.spend(guarantee)
    return MOST


def row(epsilon: float, delta: float) -> dict[str, Any]:
    """The filters of one promise, and the rounds of each schedule."""
    promise, family = (epsilon, delta), f"pure:{epsilon!r}"
    sizes = [epsilon / share for share in (100, 50, 20, 12, 10)]
    every = certified_filter(
        family, *promise, plan=f"pure:{epsilon / ANY_PLAN!r}", sizes=sizes, spare=0.02
    )
    filters = {name: filter_class(name)(epsilon, delta) for name in (*PUBLISHED, "residue")}
    filters["plan of ε/200"] = every
    rounds, plans = {}, {}
    for name, schedule in SCHEDULES.items():
        found = {key: admitted(each, schedule(epsilon)) for key, each in filters.items()}
        planned = certified_filter(family, *promise, plan=plan_of(schedule(epsilon)))
        plans[name] = {"rows": planned.rows, "proved": planned.verify().reached}
        found["planned"] = admitted(planned, schedule(epsilon))
        most = 2 * found["planned"] + 20
        found["limit of any"] = most_of_schedule(promise, schedule(epsilon), most)
        rounds[name] = found
    return {
        "epsilon": epsilon,
        "delta": delta,
        "plan of ε/200": {"filter": str(every), "proved": every.verify().reached},
        "plans": plans,
        "rounds": rounds,
        "families": families(promise),
    }


def plan_of(schedule: Iterator[float]) -> str:
    """The text of a schedule's plan; the last entry repeats."""
    listed = list(itertools.islice(schedule, LISTED))
    while len(listed) > 1 and listed[-2] == listed[-1]:
        listed.pop()
    return ",".join(f"pure:{size!r}" for size in listed)


def markdown(rows: list[dict[str, Any]]) -> str:
    """The page."""
    parts = [OPENING, _goal(rows), _residue(rows)]
    parts += [_schedule(rows, name) for name in SCHEDULES]
    parts.append(family_table(rows))
    return "\n\n".join(parts) + "\n"


OPENING = """# Rounds that filters admit

Each filter promises (ε, δ) against every adversary that chooses its mechanisms adaptively.
*Residue* charges what a round takes from a Gaussian curve, by a formula, as `dpcompose filter`
without a plan. *Planned* is made for the schedule, as `dpcompose filter --plan`; *plan of ε/200* is
made for rounds of ε/200 and plays all schedules. Both price every other round, too, and have
certificates. The *limit of any* filter is the longest beginning of the schedule that keeps (ε, δ)
where it is fixed beforehand: no sound filter admits more. `make filters` writes this page; the
texts in rounds.json are filters that `simulator.theory.parse_filter` reads and whose `verify()`
proves them anew."""


def _goal(rows: list[dict[str, Any]]) -> str:
    """The cells in which 1.10 times the best published filter is possible, and reached."""
    lines = [
        "## Where there is room for 1.10 times the best published filter",
        "",
        "*Room*: cells (ε, δ) whose limit of any filter is at least 1.10 times the best published"
        " one. *Few*: cells without that room whose limit is at most 33 rounds, so that one round"
        " is 3% or more.",
        "",
        "| schedule | cells | room | planned reaches it | few | least planned / limit |",
        "|---|---|---|---|---|---|",
    ]
    for name in SCHEDULES:
        cells = [each["rounds"][name] for each in rows]
        best = [max(cell[key] for key in PUBLISHED) for cell in cells]
        room = [cell["limit of any"] >= ROOM * b for cell, b in zip(cells, best)]
        reached = [cell["planned"] >= ROOM * b for cell, b in zip(cells, best)]
        few = [c["limit of any"] <= FEW and not r for c, r in zip(cells, room)]
        least = min(cell["planned"] / cell["limit of any"] for cell in cells)
        counts = " | ".join(str(sum(each)) for each in (room, reached, few))
        lines.append(f"| {name} | {len(cells)} | {counts} | {least:.3f} |")
    return "\n".join(lines)


def _residue(rows: list[dict[str, Any]]) -> str:
    """The residue filter beside the best published one."""
    lines = [
        "## The residue filter beside the best published one",
        "",
        "Where it admits fewer, a few large rounds use all of it up: basic composition or Renyi",
        "divergence admits more there, and a plan as many as any filter.",
        "",
        "| schedule | more | as many | fewer | least residue / best published | residue / limit |",
        "|---|---|---|---|---|---|",
    ]
    for name in SCHEDULES:
        cells = [each["rounds"][name] for each in rows]
        pairs = [(cell["residue"], max(cell[key] for key in PUBLISHED)) for cell in cells]
        counts = [sum(r > b for r, b in pairs), sum(r == b for r, b in pairs)]
        counts.append(len(pairs) - sum(counts))
        least = min(r / b for r, b in pairs)
        limit = min(cell["residue"] / cell["limit of any"] for cell in cells)
        lines.append(f"| {name} | {' | '.join(map(str, counts))} | {least:.3f} | {limit:.3f} |")
    return "\n".join(lines)


def _schedule(rows: list[dict[str, Any]], name: str) -> str:
    columns = list(rows[0]["rounds"][name])
    lines = [
        f"## {name}",
        "",
        f"| ε | δ | {' | '.join(columns)} | planned / best published | limit / best published |",
        "|---" * (len(columns) + 4) + "|",
    ]
    for each in rows:
        found = each["rounds"][name]
        best = max(found[key] for key in PUBLISHED)
        numbers = " | ".join(str(found[key]) for key in columns)
        ratios = [f"{found[key] / best:.3f}" if best else "" for key in ("planned", "limit of any")]
        lines.append(
            f"| {each['epsilon']:g} | {each['delta']:g} | {numbers} | {' | '.join(ratios)} |"
        )
    return "\n".join(lines)
