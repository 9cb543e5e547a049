"""Filters with a plan from a certificate's members, and from the text that ``str()`` writes."""

from __future__ import annotations

from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import numeral
from simulator.worst.filters.planned import COSTS_ONLY, PlannedFilter
from simulator.worst.filters.planned_lattice import PlanLattice


def planned_of(stored: dict[str, Any]) -> PlannedFilter:
    """The filter of a certificate's members; raises KeyError, TypeError or ValueError."""
    return PlannedFilter(
        *(stored[name] for name in ("epsilon", "delta", "rounds_delta")),
        plan=tuple((kind, size, rounds) for kind, size, rounds in stored["plan"]),
        moves=tuple(
            (move["kind"], move["size"], tuple((row, fall) for row, fall in move["falls"]))
            for move in stored["moves"]
        ),
        lattice=PlanLattice(**stored["grid"]),
        pool=stored["pool"]["squares"],
        floor=stored["pool"]["floor"],
    )


def parse_planned(values: str) -> PlannedFilter:
    """Read what ``str()`` writes after ``planned:``. Raises InvalidInput on anything else."""
    parts = values.split("/")
    basic = parts[-1] != COSTS_ONLY
    try:
        numbers, grid, plan, moves = parts if basic else parts[:-1]
        epsilon, delta, rounds_delta, pool, floor = map(numeral, numbers.split(","))
        step, *places = grid.split(",")
        first, start, last = map(int, places)
        runs = [run.split(",") for run in plan.split(";")]
        listed = []
        for move in moves.split(";"):
            kind, size, *falls = move.split(",")
            pairs = zip(map(int, falls[::2]), map(int, falls[1::2]), strict=True)
            listed.append((kind, numeral(size), tuple(pairs)))
        return PlannedFilter(
            epsilon,
            delta,
            rounds_delta,
            plan=tuple((kind, numeral(size), int(rounds)) for kind, size, rounds in runs),
            moves=tuple(listed),
            lattice=PlanLattice(step=numeral(step), first=first, start=start, last=last),
            pool=pool,
            floor=floor,
            basic=basic,
        )
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"planned:{values:.60} is not what str() writes of a filter") from None
