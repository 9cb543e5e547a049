"""Laplace noise whose scale depends on the database."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from simulator.data.databases import Database, Relation
from simulator.data.queries import Column
from simulator.data.queries.arguments import label, reader
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms.base import Numbers, ScalarMechanism, Scalars

# row, and params: value 0, value 1, scale 0, scale 1; then ln(scale 1/scale 0) where both are > 0


def _prepare(row: Numbers, _parameter: float, params: Any) -> None:
    for i in range(4):
        params[i] = row[i]
    if row[2] > 0.0 and row[3] > 0.0:
        params[4] = math.log(row[3]) - math.log(row[2])


def _sample(params: Numbers, b: int, noise: np.random.Generator) -> float:
    magnitude = params[2 + b] * noise.standard_exponential()
    return params[b] + magnitude * (1.0 if noise.random() < 0.5 else -1.0)


def _loss(params: Numbers, answer: float) -> float:
    scale_0, scale_1 = params[2], params[3]
    if scale_0 > 0.0 and scale_1 > 0.0:
        return abs(answer - params[1]) / scale_1 - abs(answer - params[0]) / scale_0 + params[4]
    # without noise the answer is the value itself, which noise has probability 0 of hitting
    first = scale_0 == 0.0 and answer == params[0]
    second = scale_1 == 0.0 and answer == params[1]
    if first == second:
        # both are certain; or neither is, and only the database with noise has this answer
        return 0.0 if first else (-math.inf if scale_0 == 0.0 else math.inf)
    return math.inf if first else -math.inf


SCALED_LAPLACE = Scalars(
    name="Laplace of two scales",
    width=lambda row: 5,
    prepare=_prepare,
    sample=_sample,
    loss=_loss,
)


class ScaledLaplace(ScalarMechanism):
    """A number plus Laplace noise whose scale depends on the database.

    A subclass is a frozen dataclass with an ``epsilon``; it defines ``centre_and_scale``. There is
    no tilted law, as with two scales its normalizer is infinite for large theta.
    """

    __slots__ = ()

    scalars: ClassVar[Scalars] = SCALED_LAPLACE

    @abstractmethod
    def centre_and_scale(self, database: Database, relation: Relation) -> tuple[float, float]:
        """The answer without noise, and the noise's scale, >= 0."""

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """(centre 0, centre 1, scale 0, scale 1)."""
        return value_0[0], value_1[0], value_0[1], value_1[1]

    def checked_row(
        self, database_0: Database, database_1: Database, relation: Relation
    ) -> tuple[float, ...]:
        """``row`` for two databases; no sensitivity is stated, so none is checked."""
        first = self.centre_and_scale(database_0, relation)
        return self.row(first, self.centre_and_scale(database_1, relation), relation)


def clipped_values(
    database: Database, column: Column | None, lower: float, upper: float
) -> np.ndarray:
    """The records' values clipped to [lower, upper], ascending, shape (records,).

    Raises InvalidInput for a value that is not a number.
    """
    read = reader(column)
    values: list[float] = []
    for record, times in database.records():
        values += [_number(read(record), column, record)] * times
    clipped: np.ndarray = np.clip(np.sort(np.array(values, dtype=float)), lower, upper)
    return clipped


def _number(value: Any, column: Column | None, record: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if number != number:
        what = "the value" if column is None else label(column)
        raise InvalidInput(f"{what} of record {record!r} is {value!r}, not a number")
    return number
