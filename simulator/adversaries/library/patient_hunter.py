"""Scenario 2: hunting one real patient by adaptive counting queries."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.adversaries.registry import library, pure_budget
from simulator.data import datasets
from simulator.data.queries import counting_query
from simulator.mechanisms import Laplace
from simulator.theory.guarantees.interface import Guarantee

COLUMNS = ("mean_radius", "mean_texture", "mean_smoothness", "mean_symmetry")
CROWD = 8.0
"""An interval with fewer patients is not halved again."""
HALVINGS = 16


@dataclass(frozen=True)
class Between:
    """Whether a patient's value in one column lies in [low, high)."""

    column: str
    low: float
    high: float

    def __call__(self, patient: Any) -> bool:
        """Return it for one record."""
        return bool(self.low <= patient[self.column] < self.high)

    def half_with(self, value: float) -> Between:
        """The half of the interval that holds ``value``."""
        middle = 0.5 * (self.low + self.high)
        if value < middle:
            return Between(self.column, self.low, middle)
        return Between(self.column, middle, self.high)


@lru_cache(maxsize=4)
def challenges(epsilon: float) -> tuple[tuple[Challenge, ...], ...]:
    """For each column, counts of ever narrower intervals around the hunted patient's value."""
    table = datasets.load("breast_cancer", COLUMNS)
    records: list[Any] = [record for record, _ in table.records()]
    patient = records[0]
    without = table.remove(patient)
    narrowing = []
    for column in COLUMNS:
        values = [record[column] for record in records]
        interval = Between(column, min(values), max(values) * 1.001)
        chain = []
        for _ in range(HALVINGS):
            query = counting_query(interval, name=f"count({interval})")
            chain.append(Challenge(without, table, Laplace(query, epsilon)))
            interval = interval.half_with(patient[column])
        narrowing.append(tuple(chain))
    return tuple(narrowing)


@library("patient-hunter")
def patient_hunter(family: Guarantee, rounds: int) -> Callable[..., Any]:
    """Binary-search one real patient in the Wisconsin breast-cancer table.

    It knows the patient's measurements and wants to know whether she is in the table. It counts
    the patients in an interval around her value by the Laplace mechanism; while the noisy count
    is large it halves the interval, else it goes on to the next measurement. The next predicate
    depends on the answers so far: scenario 2 of the chapter on properties of DP. Every
    interval contains her value, so a smaller one separates the databases no better than the first
    did: it learns what the privacy loss allows.
    """
    return Hunt(pure_budget(family))


@dataclass(frozen=True)
class Hunt:
    """The hunter, with Laplace noise at ``epsilon`` in every round."""

    epsilon: float
    name: ClassVar[str] = "patient-hunter"

    def __call__(self, coins: np.random.Generator) -> Generator[Challenge, float, None]:
        """Play."""
        column, depth = 0, 0
        narrowing = challenges(self.epsilon)
        while True:
            answer = yield narrowing[column][depth]
            if answer > CROWD and depth + 1 < HALVINGS:
                depth += 1
            else:
                column, depth = (column + 1) % len(COLUMNS), 0
