"""Queries whose author states the sensitivity: functions, and scores for selection."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simulator.data.databases import Database, Group, Relation
from simulator.data.queries.arguments import distinct, label
from simulator.data.queries.contract import Answer
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import instance, real
from simulator.identity.keys import Unchanging

Sensitivity = float | Mapping[Relation, float]
"""A sensitivity under every relation, or one for each relation."""

_Statement = tuple[tuple[Relation | None, float], ...]


def _statement(sensitivity: Sensitivity) -> _Statement:
    """Return the sensitivities as a tuple; a single number, under None, is for every relation."""
    by_relation = sensitivity if isinstance(sensitivity, Mapping) else {None: sensitivity}
    for relation, stated in by_relation.items():
        if relation is not None:
            instance("the key of a sensitivity", relation, Relation)
        stated = real("a sensitivity", stated)
        if not (math.isfinite(stated) and stated > 0):
            raise InvalidInput(f"a sensitivity must be positive and finite, not {stated}")
    return tuple((relation, float(stated)) for relation, stated in by_relation.items())


def _stated(statement: _Statement, relation: Relation, name: str) -> float:
    by_relation = dict(statement)
    if isinstance(relation, Group) and relation not in by_relation:
        return relation.size * _stated(statement, relation.of, name)
    stated = by_relation.get(relation, by_relation.get(None))
    if stated is None:
        known = ", ".join(str(key) for key in by_relation)
        raise NotApplicable(f"{name} states its sensitivity under {known}, not under {relation}")
    return stated


@dataclass(frozen=True, slots=True)
class FunctionQuery:
    """A function of a database, with sensitivities that its author states.

    >>> from simulator.data import ADD_REMOVE, function_query
    >>> query = function_query(lambda database: database.size, sensitivity=1.0, name="size")
    >>> query.name, query.sensitivity(ADD_REMOVE)
    ('size', 1.0)
    """

    function: Callable[[Database], Answer]
    l1: _Statement
    l2: _Statement
    name: str = field(compare=False)

    def __call__(self, database: Database) -> Answer:
        """Return the function's answer; of an array a copy, as it may fill the same one again."""
        value = self.function(database)
        return value.copy() if isinstance(value, np.ndarray) else value

    def sensitivity(self, relation: Relation) -> float:
        """Return the stated L1 sensitivity; :class:`NotApplicable` when none is stated."""
        return _stated(self.l1, relation, self.name)

    def l2_sensitivity(self, relation: Relation) -> float:
        """Return the stated L2 sensitivity, by default the L1 sensitivity, which bounds it."""
        return _stated(self.l2, relation, self.name)


def function_query(
    function: Callable[[Database], Answer],
    sensitivity: Sensitivity,
    *,
    l2_sensitivity: Sensitivity | None = None,
    name: str | None = None,
    fixed: bool = False,
) -> FunctionQuery:
    """Return the query of a function whose value is a number or an array of shape (d,).

    Sensitivities are one number for every relation, or a mapping from relation to number. A
    ``fixed`` function reads nothing but the database, and has one value on equal databases,
    whatever the order of their records, and where a record is 1, 1.0 or True, 0.0 or -0.0: the
    value is computed once and kept. Otherwise it is computed in every round, as it may read a
    variable that changes.

    >>> from simulator import Database
    >>> from simulator.data import ADD_REMOVE, function_query
    >>> kinds = function_query(lambda database: len(set(database)), sensitivity=1.0, name="kinds")
    >>> kinds(Database({"tea": 3, "coffee": 5})), kinds.sensitivity(ADD_REMOVE)
    (2, 1.0)
    """
    l1 = _statement(sensitivity)
    l2 = l1 if l2_sensitivity is None else _statement(l2_sensitivity)
    name = name or label(function)
    return FunctionQuery(Unchanging(function) if fixed else function, l1, l2, name)


@dataclass(frozen=True, slots=True)
class ScoreQuery:
    """A score for each candidate of a selection mechanism.

    Its sensitivity is that of selection: the largest change of any one score (Dwork and Roth 2014,
    section 3.4), not an L1 norm. A mechanism that adds noise to every coordinate does not accept
    it; see ``norm``.

    >>> from simulator.data import ADD_REMOVE, counting_scores
    >>> scores = counting_scores(["tea", "coffee"])
    >>> scores.candidates, scores.sensitivity(ADD_REMOVE)
    (('tea', 'coffee'), 1.0)
    """

    norm: ClassVar[str] = "max"
    candidates: tuple[Hashable, ...]
    score: Callable[[Any, Database], float]
    stated: _Statement
    name: str = field(compare=False)

    def __call__(self, database: Database) -> NDArray[np.float64]:
        """Return the scores, shape (len(candidates),)."""
        return np.array([self.score(c, database) for c in self.candidates], dtype=np.float64)

    def sensitivity(self, relation: Relation) -> float:
        """Return the largest change of any one score between neighbours."""
        return _stated(self.stated, relation, self.name)

    def l2_sensitivity(self, relation: Relation) -> float:
        """Scores are for selection: raises :class:`NotApplicable`."""
        raise NotApplicable(f"{self.name} holds scores to select by; use a vector query for noise")


def score_query(
    candidates: Iterable[Hashable],
    score: Callable[[Any, Database], float],
    sensitivity: Sensitivity,
    name: str = "scores",
    *,
    fixed: bool = False,
) -> ScoreQuery:
    """Score each candidate by ``score(candidate, database)``; ``sensitivity`` bounds any one.

    ``fixed`` is that of :func:`function_query`.

    >>> from simulator import Database
    >>> from simulator.data import score_query
    >>> def below(candidate, database):
    ...     return database.count(lambda record: record < candidate)
    >>> score_query([10, 20], below, sensitivity=1.0)(Database([5, 15, 15]))
    array([1., 3.])
    """
    kept = Unchanging(score) if fixed else score
    return ScoreQuery(distinct(candidates, "candidate"), kept, _statement(sensitivity), name)


def _popularity(candidate: Hashable, database: Database) -> float:
    return float(database.count_of(candidate))


def counting_scores(candidates: Iterable[Hashable], name: str = "counting scores") -> ScoreQuery:
    """Score each candidate record by how often it occurs; sensitivity 1 under both relations.

    >>> from simulator import Database
    >>> from simulator.data import counting_scores
    >>> counting_scores(["tea", "coffee"])(Database({"tea": 3, "coffee": 5}))
    array([3., 5.])
    """
    return score_query(candidates, _popularity, 1.0, name)
