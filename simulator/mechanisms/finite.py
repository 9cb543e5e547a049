"""The table-driven implementation of mechanisms with finitely many outcomes.

The answer is the index of the outcome. A mechanism defines its two probability vectors; sampling,
loss, tilting and the exact law follow from the table.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms.base import Numbers, ScalarMechanism, Scalars
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw

# row: n, then P0 and P1 of the n outcomes
# params: n, cumulated P0, cumulated P1, losses, P0
# tilted: psi, cumulated tilted probabilities


def _width(row: Sequence[float]) -> int:
    return 1 + 4 * int(row[0])


def _prepare(row: Numbers, _parameter: float, params: Any) -> None:
    n = int(row[0])
    params[0] = row[0]
    total_0 = 0.0
    total_1 = 0.0
    for i in range(n):
        p0, p1 = row[1 + i], row[1 + n + i]
        total_0 += p0
        total_1 += p1
        params[1 + i] = total_0
        params[1 + n + i] = total_1
        if p0 > 0.0 and p1 > 0.0:
            params[1 + 2 * n + i] = math.log(p0) - math.log(p1)
        else:
            params[1 + 2 * n + i] = math.inf if p0 > 0.0 else -math.inf
        params[1 + 3 * n + i] = p0
    for b in range(2):  # the cumulated vectors end at 1 from the last possible outcome on
        last = n - 1
        while last > 0 and params[b * n + last] == params[1 + b * n + last]:
            last -= 1
        for i in range(last, n):
            params[1 + b * n + i] = 1.0


def _sample(params: Numbers, b: int, noise: np.random.Generator) -> float:
    u = noise.random()
    start = 1 + int(params[0]) if b else 1
    first = 0.0 if u < params[start] else 1.0  # a branch would be mispredicted
    if u < max(params[start], params[start + 1]):  # always, where there are one or two outcomes
        return first
    place = start + 2
    while u >= params[place]:
        place += 1
    return float(place - start)


def _loss(params: Numbers, answer: float) -> float:
    return params[1 + 2 * int(params[0]) + int(answer)]


def _tilt(params: Numbers, theta: float, tilted: Any) -> None:
    n = int(params[0])
    losses, masses = 1 + 2 * n, 1 + 3 * n
    finite = 0.0
    peak = -math.inf
    for i in range(n):
        if params[masses + i] > 0.0 and params[losses + i] < math.inf:
            finite += params[masses + i]
            peak = max(peak, theta * params[losses + i])
    normalizer = 0.0
    for i in range(n):
        if params[masses + i] > 0.0 and params[losses + i] < math.inf:
            normalizer += params[masses + i] * math.exp(theta * params[losses + i] - peak)
    total = 0.0
    last = 0
    for i in range(n):
        p = params[masses + i]
        if p > 0.0:
            last = i
            if params[losses + i] < math.inf:
                p *= math.exp(theta * params[losses + i] - peak) * finite / normalizer
        total += p
        tilted[1 + i] = total
    for i in range(last, n):
        tilted[1 + i] = 1.0
    tilted[0] = peak + math.log(normalizer / finite) if finite > 0.0 else 0.0


def _sample_tilted(params: Numbers, tilted: Numbers, noise: np.random.Generator) -> float:
    u = noise.random()
    place = 1
    while u >= tilted[place]:
        place += 1
    return float(place - 1)


def _mass(params: Numbers, b: int, answer: float) -> float:
    n, i = int(params[0]), int(answer)
    if b == 0:
        return float(params[1 + 3 * n + i])
    loss = params[1 + 2 * n + i]
    if loss > -math.inf:
        return float(params[1 + 3 * n + i] * math.exp(-loss))
    start = 1 + n + i
    return float(params[start] - (params[start - 1] if i else 0.0))


FINITE = Scalars(
    name="finite",
    width=_width,
    prepare=_prepare,
    sample=_sample,
    loss=_loss,
    tilt_width=lambda params: 1 + int(params[0]),
    tilt=_tilt,
    sample_tilted=_sample_tilted,
    outcomes=lambda params: [float(i) for i in range(int(params[0]))],
    mass=_mass,
)


class FiniteMechanism(ScalarMechanism):
    """A mechanism whose outcome probabilities are known on any two databases.

    A subclass is a frozen dataclass with a ``query`` and an ``epsilon``; it defines
    ``probabilities``. The answer is an outcome's index, as a float.

    >>> from simulator import Database, counting_query
    >>> from simulator.mechanisms import LeakyRandomizedResponse
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> mechanism = LeakyRandomizedResponse(counting_query("alice"), epsilon=0.5, delta=1e-3)
    >>> round(mechanism.law(everyone.remove("alice"), everyone).infinite_mass, 9)
    0.001
    """

    __slots__ = ()

    scalars: ClassVar[Scalars] = FINITE

    @abstractmethod
    def probabilities(
        self, value_0: Any, value_1: Any, relation: Relation
    ) -> tuple[np.ndarray, np.ndarray]:
        """Outcome probabilities (shape (outcomes,) each) for two values of the query."""

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """(outcomes, P0..., P1...)."""
        first, second = self.probabilities(value_0, value_1, relation)
        return table_row(first, second)

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """The exact finite law of the loss."""
        values = self.query(database_0), self.query(database_1)
        return FiniteLaw.from_probabilities(*self.probabilities(*values, relation))


def table_row(first: ArrayLike, second: ArrayLike) -> tuple[float, ...]:
    """A table's row, from two probability vectors of one length."""
    p0, p1 = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    for p in (p0, p1):
        if p.shape != p0.shape or p.ndim != 1 or not np.isfinite(p).all() or (p < 0).any():
            raise InvalidInput("outcome probabilities must be two vectors of one length, all >= 0")
        if abs(math.fsum(p) - 1.0) > 1e-12:
            raise InvalidInput(f"outcome probabilities must add up to 1, not {math.fsum(p)!r}")
    return (float(len(p0)), *p0.tolist(), *p1.tolist())
