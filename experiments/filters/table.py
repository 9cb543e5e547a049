"""The rounds that filters admit along usual schedules, as rows and as a page."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from experiments.filters.adversaries import least_broken
from experiments.filters.families import families, family_table
from experiments.filters.limits import most_of_schedule
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import filter_class, parse_filter
from simulator.theory.guarantees.pure import PureDP
from simulator.worst.filters.admitted import PUBLISHED
from simulator.worst.filters.certified import CertifiedFilter, certified_filter
from simulator.worst.filters.planned import PlannedFilter

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTAS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
STEPS = 300
"""Steps of the adversary per epsilon."""
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


def row(epsilon: float, delta: float, units: int, known: str | None = None) -> dict[str, Any]:
    """The filters of one promise: budgets, and the rounds of each schedule.

    ``known`` is a certified filter's text: it is proved anew in place of a search.
    """
    promise, family = (epsilon, delta), f"pure:{epsilon!r}"
    squares = parse_filter(known) if known else certified_filter(family, *promise, units=units)
    assert isinstance(squares, CertifiedFilter)
    assert (squares.epsilon, squares.delta, squares.units) == (*promise, units)
    limit = least_broken(epsilon, delta, STEPS, squares.budget)
    sizes = [epsilon / share for share in (100, 50, 20, 12, 10)]
    every = certified_filter(
        family, *promise, plan=f"pure:{epsilon / ANY_PLAN!r}", sizes=sizes, spare=0.02
    )
    assert isinstance(every, PlannedFilter)
    filters: dict[str, Filter] = {name: filter_class(name)(epsilon, delta) for name in PUBLISHED}
    filters |= {"certified": squares, "plan of ε/200": every}
    rounds, plans = {}, {}
    for name, schedule in SCHEDULES.items():
        found = {key: admitted(each, schedule(epsilon)) for key, each in filters.items()}
        plan = plan_of(schedule(epsilon))
        planned = certified_filter(family, *promise, plan=plan)
        assert isinstance(planned, PlannedFilter)
        plans[name] = {"rows": planned.rows, "proved": planned.verify()}
        found["planned"] = admitted(planned, schedule(epsilon))
        most = 2 * found["planned"] + 20
        found["limit of any"] = most_of_schedule(promise, schedule(epsilon), most)
        rounds[name] = found
    return {
        "epsilon": epsilon,
        "delta": delta,
        "certified": {
            "filter": str(squares),
            "budget": squares.budget,
            "proved": squares.verify(),
        },
        "plan of ε/200": {"filter": str(every), "proved": every.verify()},
        "plans": plans,
        "limit": limit,
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
    parts = [OPENING, _goal(rows), _budgets(rows)]
    parts += [_schedule(rows, name) for name in SCHEDULES]
    parts.append(family_table(rows))
    return "\n\n".join(parts) + "\n"


OPENING = """# Rounds that filters admit

Each filter promises (ε, δ) against every adversary that chooses its mechanisms adaptively.
*Certified* charges ε² and has a certificate, as `dpcompose filter` makes it. *Planned* is made for
the schedule, as `dpcompose filter --plan`; *plan of ε/200* is made for rounds of ε/200 and plays
all schedules. Both price every other round, too, and have certificates. The *limit of any* filter
is the longest beginning of the schedule that keeps (ε, δ) where it is fixed beforehand: no sound
filter admits more. The *limit of squares* is the least sum of squares at which an adversary that
was found exceeds δ: it plays randomized responses of multiples of ε/300 and chooses after every
answer. `make filters` writes this page; the texts in rounds.json are filters that
`simulator.theory.parse_filter` reads and whose `verify()` proves them anew."""


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


def _budgets(rows: list[dict[str, Any]]) -> str:
    lines = [
        "## Budgets of Σε²",
        "",
        "| ε | δ | certified | limit | certified / limit |",
        "|---|---|---|---|---|",
    ]
    for each in rows:
        budget, limit = each["certified"]["budget"], each["limit"]
        lines.append(
            f"| {each['epsilon']:g} | {each['delta']:g} | {budget:.5g} | {limit:.5g} | "
            f"{budget / limit:.3f} |"
        )
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
