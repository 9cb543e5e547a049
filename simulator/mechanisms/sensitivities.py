"""Check the queries of a user's mechanism on the pair of databases that it is applied to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from simulator.data.databases import Database, Relation
from simulator.data.queries import Query, exceeded
from simulator.foundations.errors import Breach, DpcomposeError, raised
from simulator.identity.origins import is_of_package
from simulator.mechanisms.base import Mechanism


def parts_of(mechanism: Mechanism) -> Iterator[Any]:
    """The values that a mechanism holds, in its attributes and in tuples or lists of them."""
    held = [getattr(mechanism, "query", None), *getattr(mechanism, "__dict__", {}).values()]
    if is_dataclass(mechanism):
        held += [getattr(mechanism, part.name, None) for part in fields(mechanism)]
    for part in held:
        if isinstance(part, tuple | list):
            yield from part
        else:
            yield part


def check_sensitivities(
    mechanism: Mechanism, database_0: Database, database_1: Database, relation: Relation
) -> None:
    """Raise Breach when this pair moves a query of the mechanism by more than the query states.

    Mechanisms of this package check their queries themselves, each by its own rule, and hold
    another mechanism as ``mechanism`` at most; those of users are searched for queries and for
    mechanisms.
    """
    own = is_of_package(type(mechanism))
    parts = [getattr(mechanism, "mechanism", None)] if own else list(parts_of(mechanism))
    for part in {id(part): part for part in parts if part is not None}.values():
        if isinstance(part, Mechanism):
            check_sensitivities(part, database_0, database_1, relation)
        elif not own and isinstance(part, Query) and not isinstance(part, type):
            complaint = problem_of(part, database_0, database_1, relation)
            if complaint is not None:
                raise Breach(complaint)


def problem_of(
    query: Query, database_0: Database, database_1: Database, relation: Relation
) -> str | None:
    """How the pair breaks what the query states, or None; raises Breach for what it raises."""
    try:
        return exceeded(query, query(database_0), query(database_1), relation)
    except (DpcomposeError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a query may be a user's code
        raise Breach(f"the query {query.name} raised {raised(error)}") from error
