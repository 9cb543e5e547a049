"""Sample and aggregate: any statistic on blocks of records, and a private median of its values."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database, Relation
from simulator.data.queries.arguments import interval
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import whole
from simulator.teaching.mechanisms.median import admissible_beta, median, smooth_sensitivity
from simulator.teaching.mechanisms.scaled_laplace import ScaledLaplace
from simulator.theory.guarantees.pure import ApproxDP


@dataclass(frozen=True, slots=True)
class SampleAndAggregate(ScaledLaplace):
    """The smooth-sensitivity median of a statistic's values on blocks of the database.

    Parameters
    ----------
    statistic : a number for every non-empty database; its sensitivity may be anything.
    blocks : how many, at least 1.
    epsilon : > 0.
    delta : in (0, 1).
    lower, upper : the range that the statistic's values are clipped to.
    seed : chooses the partition, publicly.

    (epsilon, delta)-DP: a record's block does not depend on other records, so one step changes one
    of the block values (two, when a replaced record changes blocks). Nissim, Raskhodnikova and
    Smith 2007, section 4; Zhang 2020 (lecture 7). A record's block is a hash of the record, so
    equal records share a block. A block without records counts as the middle of the range.
    """

    statistic: Callable[[Database], float]
    blocks: int
    epsilon: float
    delta: float
    _: KW_ONLY
    lower: float
    upper: float
    seed: int = 0

    def __post_init__(self) -> None:
        if not callable(self.statistic):
            raise InvalidInput(f"the statistic must be a function, not {self.statistic!r}")
        whole("blocks", self.blocks)
        interval(self.lower, self.upper)
        admissible_beta(self.epsilon, self.delta)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> ApproxDP:
        """(epsilon, delta)-DP."""
        return ApproxDP(self.epsilon, self.delta)

    def block_of(self, record: object) -> int:
        """The block that holds ``record``, in every database."""
        digest = hashlib.blake2b(repr((self.seed, record)).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.blocks

    def block_values(self, database: Database) -> np.ndarray:
        """The statistic's clipped value on every block, shape (blocks,).

        Raises InvalidInput where the statistic is not a number.
        """
        parts: list[dict[Any, int]] = [{} for _ in range(self.blocks)]
        for record, times in database.records():
            parts[self.block_of(record)][record] = times
        values = np.full(self.blocks, 0.5 * (self.lower + self.upper))
        for place, part in enumerate(parts):
            if part:
                values[place] = self._value(Database(part))
        clipped: np.ndarray = np.clip(values, self.lower, self.upper)
        return clipped

    def _value(self, block: Database) -> float:
        value = float(self.statistic(block))
        if math.isnan(value):
            raise InvalidInput(f"the statistic of {block!r} is not a number")
        return value

    def centre_and_scale(self, database: Database, relation: Relation) -> tuple[float, float]:
        """The median of the block values, and a smooth bound on its change over alpha.

        Where a step changes t block values, the bound is that for t steps of beta/t each.
        """
        values = np.sort(self.block_values(database))
        moved = relation.records_touched
        beta = admissible_beta(self.epsilon, self.delta) / moved
        smooth = smooth_sensitivity(values, self.lower, self.upper, beta, REPLACE_ONE)
        bound = smooth * sum(math.exp(beta * step) for step in range(moved))
        return median(values, self.lower), 2.0 * bound / self.epsilon
