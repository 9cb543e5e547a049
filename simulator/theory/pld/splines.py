"""Cardinal B-splines, whose pieces are polynomials between whole numbers."""

from __future__ import annotations

import numpy as np

from simulator.theory.laws.base import Floats


def next_splines(splines: Floats, nodes: Floats) -> Floats:
    """B_(j+1)(u + i), i = 0..j, shape (j + 1, n), from B_j(u + i), shape (j, n), and u in [0, 1].

    By the recurrence of de Boor, all terms of which are positive. B_1 is 1 on [0, 1].
    """
    j = splines.shape[0]
    places = nodes + np.arange(j + 1.0)[:, None]
    total = np.zeros(places.shape)
    total[:-1] = places[:-1] * splines
    total[1:] += (j + 1 - places[1:]) * splines
    return np.asarray(total / j)
