"""Exact laws of the loss of shuffled reports, by enumeration of histograms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.laws.base import Floats
from simulator.theory.laws.finite import FiniteLaw

_MOST_HISTOGRAMS = 1 << 22


def shuffled_law(
    randomizer: ArrayLike, database_0: Sequence[int], database_1: Sequence[int]
) -> FiniteLaw:
    """The law of the loss of n shuffled reports, exactly.

    Parameters
    ----------
    randomizer : shape (inputs, outputs), the probabilities of each report for each input.
    database_0, database_1 : n inputs each, as rows of the randomizer. Their order does not matter.

    Raises InvalidInput for invalid parameters, and NotApplicable where (n + 1)^(outputs - 1), the
    size of the table, is above four million.

    >>> from simulator.theory import shuffled_law
    >>> coin = [[0.75, 0.25], [0.25, 0.75]]               # randomized response to 0 and to 1
    >>> round(shuffled_law(coin, [0, 0, 0, 0], [1, 0, 0, 0]).delta(0.0), 6)
    0.210938
    """
    table = np.asarray(randomizer, dtype=float)
    if table.ndim != 2 or table.size == 0 or not (table >= 0.0).all():
        raise InvalidInput("a randomizer is a table of probabilities, a row for each input")
    if (np.abs(table.sum(axis=1) - 1.0) > 1e-9).any():
        raise InvalidInput("every row of a randomizer must sum to 1")
    inputs = [np.asarray(database) for database in (database_0, database_1)]
    if any(rows.ndim != 1 or rows.dtype.kind not in "iu" for rows in inputs) or not (
        inputs[0].size == inputs[1].size > 0
    ):
        raise InvalidInput("two databases of the same number of inputs are needed, at least one")
    if any(rows.min() < 0 or rows.max() >= len(table) for rows in inputs):
        raise InvalidInput(f"inputs are rows of the randomizer, 0 to {len(table) - 1}")
    size = float(inputs[0].size + 1) ** (table.shape[1] - 1)
    if size > _MOST_HISTOGRAMS:
        raise NotApplicable(f"{size:.3g} histograms are too many to enumerate")
    first, second = (_histograms(table, rows).ravel() for rows in inputs)
    possible = (first > 0.0) | (second > 0.0)
    return FiniteLaw.from_probabilities(first[possible], second[possible])


def _histograms(table: Floats, inputs: np.ndarray) -> Floats:
    """Probabilities of the number of reports of each output but the last, one axis per output."""
    axes = table.shape[1] - 1
    law = np.zeros((inputs.size + 1,) * axes)
    law[(0,) * axes] = 1.0
    for row in table[inputs]:
        # The last cell of an axis is empty until all reports are counted, so nothing wraps.
        law = row[-1] * law + sum(row[axis] * np.roll(law, 1, axis) for axis in range(axes))
    return law
