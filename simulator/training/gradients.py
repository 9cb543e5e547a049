"""The gradient of a training loss as a query: a sum over the records, each term clipped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.data.databases import Database, Relation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import positive

Floats = NDArray[np.float64]


class LabelledRows(NamedTuple):
    """The records of a database as arrays, each as often as it occurs.

    Attributes
    ----------
    features : shape (n, d).
    labels : shape (n,), 0 or 1.
    norms : shape (n,), the L2 norms of the features.
    """

    features: Floats
    labels: Floats
    norms: Floats

    def taken(self, places: NDArray[np.intp]) -> LabelledRows:
        """The rows at the given indices."""
        return LabelledRows(self.features[places], self.labels[places], self.norms[places])


@lru_cache(maxsize=16)
def labelled_rows(database: Database) -> LabelledRows:
    """The arrays of a database whose records are tuples of d features and, last, a label.

    Raises InvalidInput for other records, numbers that are not finite, and labels other than 0 and
    1.
    """
    records = list(database)
    try:
        table = np.array(records, dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if not records:
        table = np.empty((0, 1))
    if table.ndim != 2 or not table.shape[1] or not np.isfinite(table).all():
        raise InvalidInput(
            "a gradient is taken at records that are tuples of finite numbers, all of one length: "
            f"the features, then the label; the first record here is {records[0]!r}"
        )
    features, labels = table[:, :-1], table[:, -1]
    if not np.isin(labels, (0.0, 1.0)).all():
        odd = records[int(np.flatnonzero(~np.isin(labels, (0.0, 1.0)))[0])]
        raise InvalidInput(f"a label, the last number of a record, is 0 or 1, unlike in {odd!r}")
    norms = np.array([math.hypot(*row) for row in features])
    for array in (features, labels, norms):
        array.setflags(write=False)
    return LabelledRows(features, labels, norms)


@dataclass(frozen=True, slots=True)
class LogisticGradient:
    """The sum over the records of the logistic loss's gradient, each record's clipped in L2 norm.

    The gradient at a record (x, label) is (1/(1 + e^{-<weights, x>}) - label) x, and where it is
    longer than ``clip`` it is scaled down to that length (Abadi and others, "Deep Learning with
    Differential Privacy", CCS 2016, Algorithm 1).

    Parameters
    ----------
    weights : d finite numbers. A record is a tuple of d features and a label; see
        :func:`labelled_rows`.
    clip : > 0, the largest L2 norm of a record's gradient.

    >>> from simulator import Database
    >>> from simulator.training import LogisticGradient
    >>> gradient = LogisticGradient((0.0, 0.0), clip=1.0)
    >>> gradient(Database([(0.6, 0.8, 1.0), (3.0, 4.0, 0.0)])).round(6).tolist()
    [0.3, 0.4]
    """

    weights: tuple[float, ...]
    clip: float

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=float)
        if weights.ndim != 1 or not weights.size or not np.isfinite(weights).all():
            raise InvalidInput(f"weights are finite numbers, at least one, not {self.weights!r}")
        object.__setattr__(self, "weights", tuple(weights.tolist()))
        positive("clip", self.clip)

    @property
    def name(self) -> str:
        """A short name."""
        return f"clipped gradient({len(self.weights)} weights)"

    def terms(self, rows: LabelledRows, weights: Floats | None = None) -> Floats:
        """The clipped gradient of each row, shape (n, d); at other weights where they are given."""
        if len(rows.labels) and rows.features.shape[1] != len(self.weights):
            raise InvalidInput(
                f"{len(self.weights)} weights need records of as many features and a label, and "
                f"these have {rows.features.shape[1]} features"
            )
        if not len(rows.labels):
            return np.zeros((0, len(self.weights)))
        at = np.array(self.weights) if weights is None else weights
        residuals = scipy.special.expit(rows.features @ at) - rows.labels
        lengths = np.abs(residuals) * rows.norms
        # A row within the clip is divided by 1, which is exact.
        scaled: Floats = residuals / np.maximum(lengths / self.clip, 1.0)
        return scaled[:, None] * rows.features

    def __call__(self, database: Database) -> Floats:
        """Return the sum, shape (d,)."""
        total: Floats = self.terms(labelled_rows(database)).sum(axis=0)
        return total

    def l2_sensitivity(self, relation: Relation) -> float:
        """``clip`` for each record that neighbours may differ in."""
        return relation.records_touched * self.clip

    def sensitivity(self, relation: Relation) -> float:
        """In L1 norm, sqrt(d) times as much."""
        return math.sqrt(len(self.weights)) * self.l2_sensitivity(relation)
