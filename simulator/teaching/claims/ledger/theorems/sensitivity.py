"""How far a histogram moves between neighbours, and what noise that takes."""

from __future__ import annotations

from itertools import combinations, product
from typing import Annotated

import numpy as np

from simulator.data.databases import ADD_REMOVE, RELATIONS, REPLACE_ONE, Database, Relation
from simulator.data.queries import Query, histogram_query
from simulator.foundations.knobs import ByName, Within
from simulator.teaching.claims.findings import equal, number
from simulator.teaching.claims.model import Finding

Cells = Annotated[int, "cells of the histogram (all combinations are listed)", Within(1, 5)]
Neighbours = Annotated[Relation, "which databases are neighbours", ByName(RELATIONS, "a relation")]
Claimed = Annotated[
    float, "what is claimed, in place of the sum or the sensitivity", Within(0.0, 1e6)
]


def databases_up_to(cells: int, size: int) -> list[Database]:
    """Every database of at most ``size`` records, each in one of the cells."""
    counts = product(range(size + 1), repeat=cells)
    return [Database(dict(zip(range(cells), c))) for c in counts if sum(c) <= size]


def largest_changes(databases: list[Database], query: Query, relation: Relation) -> np.ndarray:
    """The largest changes of a vector query between neighbours: in L1, and of a single entry."""
    pairs = [pair for pair in combinations(databases, 2) if relation.are_neighbours(*pair)]
    moves = np.array([np.abs(query(x) - query(y)) for x, y in pairs])
    return np.array([moves.sum(axis=1).max(), moves.max()])


def histogram_sensitivity(
    *, cells: Cells = 3, relation: Neighbours = ADD_REMOVE, claimed: Claimed = 1.0
) -> Finding:
    """Every pair of neighbours among the databases of up to four records."""
    databases, query = databases_up_to(cells, 4), histogram_query(range(cells))
    ways: tuple[Relation, ...] = (ADD_REMOVE, REPLACE_ONE)
    found = {way: largest_changes(databases, query, way) for way in ways}
    in_l1, of_entry = found[relation]
    return equal(
        float(in_l1),
        claimed,
        f"L1 sensitivity under {relation}",
        note=f"a single count moves by {number(float(of_entry))}; in L1 "
        + ", ".join(f"{number(float(moved[0]))} under {way}" for way, moved in found.items()),
    )
