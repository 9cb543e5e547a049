"""Certificates of filters as plain values: the claim, its cost as a table, and the proof's lattice.

A reader needs ``budget`` and ``table``: with x = tanh(eps/2), the cost is interpolated linearly
between rows, and is the first row's times (x / its x)^2 below it. What proves it is stated in
:mod:`simulator.worst.filters.certificate_check`.
"""

from __future__ import annotations

import math
import platform
from typing import Any

import numpy as np

from simulator.worst.filters.certificate_check import NAME, digest_of
from simulator.worst.filters.certified_budget import CostShape, ProofLayout

FINENESS = 1.015
"""Ratio of successive epsilons of the table's small rows."""
SMALLEST = 1e-3
"""Of the small rows, over the root of the unit."""
COVERS = (
    "Any adaptive choice of eps-DP mechanisms with eps <= largest, of mu-GDP mechanisms at cost "
    "mu^2, and of (eps, delta_i)-DP ones while the delta_i add up to at most rounds_delta. Both "
    "directions. Costs are of single rounds, added up over all; a round is refused where the sum "
    "would exceed the budget, and then costs nothing."
)


def document(
    promise: tuple[float, float, float], shape: CostShape, found: ProofLayout, budget: float
) -> dict[str, Any]:
    """The certificate of a promise (epsilon, delta, rounds_delta), with its digest."""
    epsilon, delta, rounds_delta = promise
    x, costs = cost_table(found, shape.largest)
    made = {
        "dpcompose": NAME,
        "version": 1,
        "covers": COVERS,
        "epsilon": epsilon,
        "delta": delta,
        "rounds_delta": rounds_delta,
        "largest": shape.largest,
        "order": shape.order,
        "budget": budget,
        "table": {"x": x, "cost": costs},
        "unit": found.unit,
        "units": found.units,
        "reserve": found.reserve,
        "reserve_units": shape.reserve,
        "grid": {
            "step": found.step,
            "first": found.first,
            "start": found.start,
            "last": found.last,
            "cells": list(found.cells),
            "ends": list(found.ends),
        },
        "made_by": {"python": platform.python_version(), "numpy": np.__version__},
    }
    return made | {"digest": digest_of(made)}


def numbers_of(document: dict[str, Any]) -> dict[str, Any]:
    """A certificate without the versions that made it."""
    return {name: each for name, each in document.items() if name not in ("made_by", "digest")}


def small_cost(epsilon: float, reserve: float) -> float:
    """The cost of lemma 4 of the check, for epsilon^2 up to twice the reserve."""
    square = epsilon * epsilon
    ratio = square / reserve
    gain = (ratio + math.sqrt(ratio * ratio + 4.0)) / 2.0
    return square * gain * (1.0 + gain * square / 2.0)


def cost_table(found: ProofLayout, largest: float) -> tuple[list[float], list[float]]:
    """The columns x = tanh(eps/2) and cost, rounded up, of rounds up to ``largest``.

    Small rounds up to that which costs a unit, then the ends of the cells of one unit.
    """
    root = found.ends[0] if found.ends else math.inf
    end = min(root, largest)
    epsilons = [end * SMALLEST]
    while (after := epsilons[-1] * FINENESS) < end:
        if small_cost(after * FINENESS, found.reserve) >= found.unit:
            break
        epsilons.append(after)
    # a row has the factor of the row after it, so that chords are above the cost
    tops = [*epsilons[1:], epsilons[-1] * FINENESS]
    factors = [small_cost(top, found.reserve) / (top * top) for top in tops]
    rows = [(math.tanh(e / 2.0), e * e * factor) for e, factor in zip(epsilons, factors)]
    if largest <= root:
        rows.append((math.tanh(largest / 2.0), small_cost(largest, found.reserve)))
    else:
        x = math.tanh(epsilons[-1] * FINENESS / 2.0)
        rows += [(x, found.unit)] if x < math.tanh(root / 2.0) * (1.0 - 1e-9) else []
        rows += _cell_rows(found, largest)
    return [x for x, _ in rows], [cost * (1.0 + 1e-9) for _, cost in rows]


def _cell_rows(found: ProofLayout, largest: float) -> list[tuple[float, float]]:
    """The rows of the ends of cells up to ``largest``, and of ``largest`` itself."""
    ends = found.ends[: found.units]
    rows = [(math.tanh(e / 2.0), j * found.unit) for j, e in enumerate(ends, 1) if e < largest]
    if (j := len(rows)) < len(ends):  # the cell that largest is in
        low, high, x = (math.tanh(e / 2.0) for e in (ends[j - 1], ends[j], largest))
        if x > low * (1.0 + 1e-12):
            rows.append((x, found.unit * (j + (x - low) / (high - low))))
    return rows
