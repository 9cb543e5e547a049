"""Checks of a query and of its values on two databases, which several mechanisms share."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.databases import Database, Relation
from simulator.data.queries import Query, ScalarQuery
from simulator.data.queries.kept import checked_values
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms.free import Free, check_parameter
from simulator.theory.laws.finite import FiniteLaw

NO_LOSS = FiniteLaw(np.zeros(1), np.zeros(1))
"""The law of a challenge without privacy loss: both databases have the same answers."""


def checked_vectors(
    query: Query, database_0: Database, database_1: Database, relation: Relation
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The query's values as float64 arrays; raises Breach when they exceed its sensitivity."""
    first, second = checked_values(query, database_0, database_1, relation)
    return np.asarray(first, dtype=float), np.asarray(second, dtype=float)


def is_number(value: Any) -> bool:
    """Whether a query's value is one number, and no vector."""
    return type(value) in (int, float) or np.ndim(value) == 0


def candidates(mechanism: str, value: Any) -> NDArray[np.float64]:
    """One value for each candidate, shape (n,); raises InvalidInput for anything else."""
    scores = np.asarray(value, dtype=float)
    if scores.ndim != 1 or len(scores) == 0:
        raise InvalidInput(
            f"{mechanism} selects among a vector of scores, the query gave {value!r}; "
            "use a score_query or a histogram_query"
        )
    return scores


def check_query(mechanism: str, query: object) -> None:
    """Raise InvalidInput for what is not a query: it has no sensitivity to calibrate to."""
    if not (callable(query) and hasattr(query, "sensitivity")):  # quicker than isinstance
        raise InvalidInput(
            f"{mechanism} needs a query such as counting_query({query!r}), not {query!r} itself"
        )


@cache
def _has_one_number(kind: Any) -> bool:
    return issubclass(kind, ScalarQuery)


def check_noise(mechanism: str, query: Query, name: str, parameter: float | Free) -> None:
    """Raise InvalidInput unless noise with this parameter can be added to the query's answer.

    A query of scores is refused: it states the sensitivity of a single one.
    """
    if type(parameter) is float and 0.0 < parameter < math.inf and _has_one_number(type(query)):
        return  # a fast path, as mechanisms are made in every round
    check_parameter(name, parameter)
    check_query(mechanism, query)
    if getattr(query, "norm", "L1") != "L1":
        raise InvalidInput(
            f"{mechanism} needs a query with an L1 sensitivity, {query.name} states that of "
            "a single score; use the exponential mechanism or report noisy max"
        )


def whole_number(mechanism: str, value: Any, instead: str) -> float:
    """Return a query's value as a float; raises InvalidInput unless it is a whole number."""
    number = real(mechanism, value)
    if not number.is_integer():
        raise InvalidInput(
            f"the {mechanism} mechanism answers whole numbers, the query gave {value!r}; "
            f"use {instead}"
        )
    return number


def real(mechanism: str, value: Any) -> float:
    """Return a query's value as a float; raises InvalidInput for a vector."""
    if np.ndim(value):
        raise InvalidInput(
            f"{mechanism} answers a query with one number, this one gave {value!r}; "
            "use Laplace or Gaussian, which answer vectors"
        )
    return float(value)
