"""Scenario 1: one person, many hospitals."""

from __future__ import annotations

import numpy as np

from simulator.adversaries.contract import Challenge, GeneratorAdversary, Playing
from simulator.adversaries.registry import library, pure_budget
from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.mechanisms import Laplace
from simulator.theory.guarantees.interface import Guarantee

HOSPITALS = 8
CONDITIONS = ("diabetes", "hypertension", "asthma", "migraine")


def hospital(number: int) -> Database:
    """The patients of one hospital without Alice, as (name, condition); neighbours overlap."""
    patients = range(10 * number, 10 * number + 25)
    return Database({(f"patient {p}", CONDITIONS[p % len(CONDITIONS)]): 1 for p in patients})


@library("database-changer")
def database_changer(family: Guarantee, rounds: int) -> GeneratorAdversary:
    """Query another hospital every round; which one depends on the last answer.

    Alice is, or is not, a patient of all of several hospitals whose records overlap; each round
    has its own pair of databases and counts the patients with her condition. This is the second
    scenario of Roth 2011 (Lecture 4) and scenario 1 of the chapter on properties of DP: the
    hospitals are not coordinated, and one bound holds for her total loss.
    """
    epsilon = pure_budget(family)
    record = ("alice", CONDITIONS[0])

    def has_condition(patient: tuple[str, str]) -> bool:
        return patient[1] == CONDITIONS[0]

    query = counting_query(has_condition, name="count(diabetes)")
    pairs = tuple(
        Challenge(hospital(h), hospital(h).add(record), Laplace(query, epsilon))
        for h in range(HOSPITALS)
    )
    typical = sum(float(query(pair.database_0)) for pair in pairs) / HOSPITALS

    def adversary(coins: np.random.Generator) -> Playing:
        place, answer = 0, 0.0
        while True:
            place += 3 if answer > typical else 1
            place %= HOSPITALS
            answer = yield pairs[place]

    return adversary
