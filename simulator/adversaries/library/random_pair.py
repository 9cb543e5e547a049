"""An adversary that tosses coins."""

from __future__ import annotations

import numpy as np

from simulator.adversaries.contract import Challenge, GeneratorAdversary, Playing
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import EVERYONE
from simulator.data.queries import counting_query
from simulator.mechanisms import Laplace
from simulator.theory.guarantees.interface import Guarantee

PEOPLE = ("alice", "bob", "others")


@library("random-pair")
def random_pair(family: Guarantee, rounds: int) -> GeneratorAdversary:
    """Pick a random pair of databases and a random count every round, by the coins alone.

    One of three people comes or goes, and the Laplace mechanism counts one of three people; the
    answer depends on b only when the two agree. It exercises the coins R of the view, and shows
    how little a random adversary learns.
    """
    epsilon = pure_budget(family)
    pairs = tuple(
        Challenge(EVERYONE.remove(leaves), EVERYONE, Laplace(counting_query(counted), epsilon))
        for leaves in PEOPLE
        for counted in PEOPLE
    )

    def adversary(coins: np.random.Generator) -> Playing:
        while True:
            yield pairs[int(coins.random() * len(pairs))]

    return adversary
