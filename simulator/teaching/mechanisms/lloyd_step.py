"""One step of private Lloyd's k-means: noisy counts and noisy sums of every cluster."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Column
from simulator.data.queries.arguments import label, reader
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite, positive
from simulator.mechanisms.base import Pair, PairMechanism
from simulator.mechanisms.laplace import VectorLaplacePair
from simulator.theory.guarantees.pure import PureDP

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class LloydStep(PairMechanism):
    """Assign every point to its closest centre; release noisy counts and sums of the clusters.

    Parameters
    ----------
    centres : k points of d coordinates each, as nested sequences; ties go to the first.
    epsilon : > 0, of the counts and of the sums each (epsilon' in the notes).
    columns : the d columns that hold a record's coordinates; by default the record itself is
        their tuple.
    radius : every point's L1 norm is at most this; a point outside raises InvalidInput.

    The answer is a float64 array of shape (k, 1 + d): a noisy count, then a noisy sum, for each
    cluster; :func:`lloyd_centres` returns the next centres. The counts get Lap(1/epsilon) and
    the sums Lap(radius/epsilon) under add/remove-one (twice as much under replace-one), so a step
    is 2 epsilon-DP (lecture notes on group privacy and composition, private Lloyd's).
    """

    centres: tuple[tuple[float, ...], ...]
    epsilon: float
    columns: tuple[Column, ...] | None = None
    radius: float = 1.0

    def __post_init__(self) -> None:
        centres = tuple(tuple(finite("a centre", c) for c in centre) for centre in self.centres)
        sizes = {len(centre) for centre in centres}
        if self.columns is not None:
            sizes.add(len(self.columns))
        if len(sizes) != 1 or 0 in sizes:
            raise InvalidInput("Lloyd's step needs centres that all have the points' coordinates")
        object.__setattr__(self, "centres", centres)
        positive("epsilon", self.epsilon)
        positive("radius", self.radius)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """2 epsilon-DP: one epsilon for the counts, one for the sums."""
        return PureDP(2.0 * self.epsilon)

    def exact(self, database: Database) -> np.ndarray:
        """Counts and sums without noise, shape (k, 1 + d)."""
        centres = np.array(self.centres)
        points, times = self._points(database)
        distances = ((points[:, None, :] - centres) ** 2).sum(axis=2)
        closest = distances.argmin(axis=1)
        rows = np.column_stack([np.ones(len(points)), points]) * times[:, None]
        answer = np.zeros((len(centres), rows.shape[1]))
        np.add.at(answer, closest, rows)
        return answer

    def _points(self, database: Database) -> tuple[np.ndarray, np.ndarray]:
        readers = [reader(column) for column in self.columns] if self.columns else None
        points, times = [], []
        for record, n in database.records():
            coordinates = [read(record) for read in readers] if readers else record
            points.append(self._inside(coordinates, record))
            times.append(n)
        shape = len(points), len(self.centres[0])
        return np.array(points, dtype=float).reshape(shape), np.array(times, dtype=float)

    def _inside(self, coordinates: object, record: object) -> np.ndarray:
        try:
            point = np.asarray(coordinates, dtype=float)
        except (TypeError, ValueError):
            point = np.full(1, math.nan)
        if point.shape != (len(self.centres[0]),) or not np.isfinite(point).all():
            where = ", ".join(map(label, self.columns)) if self.columns else "the record"
            raise InvalidInput(
                f"{where} of {record!r} must give {len(self.centres[0])} finite coordinates"
            )
        if np.abs(point).sum() > self.radius * (1.0 + _ROUNDING):
            raise InvalidInput(
                f"the point {record!r} has L1 norm {np.abs(point).sum():g}, above the stated "
                f"radius {self.radius:g}; scale the points, or state a larger radius"
            )
        return point

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """Independent Laplace noise on every count and coordinate, in units of its own scale."""
        scale = relation.records_touched / self.epsilon
        scales = np.full((len(self.centres), 1 + len(self.centres[0])), scale)
        scales[:, 1:] *= self.radius
        return LloydPair(
            VectorLaplacePair(
                self.exact(database_0) / scales, self.exact(database_1) / scales, 1.0
            ),
            scales,
        )


@dataclass(frozen=True, slots=True)
class LloydPair:
    """A step on two databases: unit Laplace noise after a public change of units."""

    unit: VectorLaplacePair
    scales: np.ndarray

    def sample(self, b: int, noise: np.random.Generator) -> np.ndarray:
        """Draw the noisy counts and sums on database ``b``."""
        answer: np.ndarray = self.unit.sample(b, noise) * self.scales
        return answer

    def loss(self, answer: np.ndarray) -> float:
        """Privacy loss."""
        return self.unit.loss(answer / self.scales)


def lloyd_centres(
    answer: np.ndarray, otherwise: Iterable[Iterable[float]]
) -> tuple[tuple[float, ...], ...]:
    """The next centres: noisy sum over noisy count, or ``otherwise`` where the count is below 1.

    Post-processing of a :class:`LloydStep` answer, shape (k, 1 + d). ``otherwise`` has a centre for
    each cluster: the notes draw it at random, keeping the last one is equally private. Raises
    InvalidInput where the shapes differ.
    """
    rows, others = np.asarray(answer, np.float64), [tuple(map(float, old)) for old in otherwise]
    if rows.ndim != 2 or any(len(old) != rows.shape[1] - 1 for old in others):
        raise InvalidInput("answer must have shape (k, 1 + d), and otherwise centres of d numbers")
    if len(rows) != len(others):
        raise InvalidInput(f"answer has {len(rows)} clusters, and otherwise {len(others)} centres")
    return tuple(
        tuple((row[1:] / row[0]).tolist()) if row[0] >= 1.0 else old
        for row, old in zip(rows, others)
    )
