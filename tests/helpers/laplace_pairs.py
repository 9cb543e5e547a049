"""The divergence of two Laplace laws of different scales, by their distribution functions."""

import itertools
import math

import numpy as np
from scipy import stats


def hockey_stick(row, epsilon):
    """The integral of (p0 - e^epsilon p1)+ of a row (centre 0, centre 1, scale 0, scale 1)."""
    v0, v1, s0, s1 = row
    first, second = stats.laplace(v0, s0), stats.laplace(v1, s1)

    def gap(y):
        return first.logpdf(y) - second.logpdf(y) - epsilon

    # the loss is linear between the two centres and on both sides of them: a zero at most each
    ends = [min(v0, v1) - 600 * min(s0, s1), *sorted({v0, v1}), max(v0, v1) + 600 * min(s0, s1)]
    edges = [-np.inf]
    for a, b in itertools.pairwise(ends):
        ya, yb = gap(a), gap(b)
        edges.append(a)
        if ya * yb < 0:
            edges.append(a + (b - a) * ya / (ya - yb))
    edges += [ends[-1], np.inf]
    total = 0.0
    for a, b in itertools.pairwise(edges):
        masses = [law.cdf(b) - law.cdf(a) for law in (first, second)]
        total += max(masses[0] - math.exp(epsilon) * masses[1], 0.0)
    return total
