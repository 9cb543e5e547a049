"""The rounds that filters admit along usual schedules, as rows and as a page."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from experiments.filters.adversaries import least_broken
from simulator.theory.filters.admitted import PUBLISHED, most_rounds
from simulator.theory.filters.certified import CertifiedFilter, certified_filter
from simulator.theory.filters.families import FILTERS, Filter
from simulator.theory.guarantees.families import PureDP

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTAS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
STEPS = 300
"""Steps of the adversary per epsilon."""
ORDER_SHARE = 0.4
"""The order of the second cost, as a share of that of the Renyi filter."""
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


def within(budget: float, schedule: Iterator[float]) -> int:
    """How many rounds of a schedule have squares that add up to less than a budget."""
    total = 0.0
    for count, epsilon in enumerate(itertools.islice(schedule, MOST)):
        total += epsilon * epsilon
        if total >= budget * (1.0 - 1e-12):
            return count
    return MOST


def row(epsilon: float, delta: float, units: int) -> dict[str, Any]:
    """The filters of one promise: budgets, and the rounds of each schedule."""
    squares = certified_filter(PureDP(epsilon), epsilon, delta, units=units)
    order = ORDER_SHARE * (FILTERS["renyi"](epsilon, delta).alpha - 1.0)  # type: ignore[attr-defined]
    slower = certified_filter(PureDP(epsilon), epsilon, delta, units=units, order=order)
    assert isinstance(squares, CertifiedFilter)
    limit = least_broken(epsilon, delta, STEPS, squares.budget)
    filters: dict[str, Filter] = {name: FILTERS[name](epsilon, delta) for name in PUBLISHED}
    filters |= {"certified": squares, "certified, order": slower}
    rounds = {}
    for name, schedule in SCHEDULES.items():
        found = {key: admitted(each, schedule(epsilon)) for key, each in filters.items()}
        basic = found["sum"]  # the adversary of the limit plays what costs allow, or basic does
        found["limit of squares"] = max(within(limit, schedule(epsilon)), basic)
        if name.startswith("constant"):
            found["limit of any"] = most_rounds((epsilon, delta), next(schedule(epsilon)))
        rounds[name] = found
    return {
        "epsilon": epsilon,
        "delta": delta,
        "certified": _plain(squares),
        "certified, order": _plain(slower),
        "limit": limit,
        "rounds": rounds,
    }


def _plain(filter_: Filter) -> dict[str, Any]:
    assert isinstance(filter_, CertifiedFilter)
    return {
        "filter": str(filter_),
        "budget": filter_.budget,
        "order": filter_.order,
        "proved": filter_.verify(),
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """The page."""
    parts = [OPENING, _budgets(rows)]
    parts += [_schedule(rows, name) for name in SCHEDULES]
    return "\n\n".join(parts) + "\n"


OPENING = """# Rounds that filters admit

Each filter promises (ε, δ) against every adversary that chooses its mechanisms adaptively.
*Certified* charges ε² and has a certificate, as `dpcompose filter` makes it; *order* charges less
for large rounds. The *limit* is the least sum of squares at which an adversary that was found
exceeds δ: it plays randomized responses of multiples of ε/300 and chooses after every answer; no
filter that charges ε² can admit more and be sound. The *limit of any* filter is the most rounds of
constant randomized response that keep (ε, δ), exactly. `make filters` writes this page; the
certificates are the texts in rounds.json, which `simulator.theory.parse_filter` reads and whose
`verify()` proves them anew."""


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
        f"| ε | δ | {' | '.join(columns)} | certified / best published |",
        "|---" * (len(columns) + 3) + "|",
    ]
    for each in rows:
        found = each["rounds"][name]
        best = max(found[key] for key in PUBLISHED)
        own = max(found["certified"], found["certified, order"])
        numbers = " | ".join(str(found[key]) for key in columns)
        ratio = f"{own / best:.3f}" if best else ""
        lines.append(f"| {each['epsilon']:g} | {each['delta']:g} | {numbers} | {ratio} |")
    return "\n".join(lines)
