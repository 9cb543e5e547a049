"""The curve of two steps of unit noise, by the midpoint rule on the plane."""

import math

import numpy as np
from scipy import stats

EDGES = np.linspace(-7.0, 8.0, 301)
"""Cells are 0.05 wide; the rule's error is far below what play of thousands of trials sees."""


def delta_of_two(epsilon, experiment, means=((1.0, 0.0), (0.0, 1.0))):
    """Normal noise around one of the two means, each as likely, against noise around 0."""
    middle = 0.5 * (EDGES[1:] + EDGES[:-1])

    def density(first, second):
        return np.outer(stats.norm.pdf(middle, first), stats.norm.pdf(middle, second))

    present = 0.5 * (density(*means[0]) + density(*means[1]))
    both = (present, density(0.0, 0.0))
    first, second = both if experiment else both[::-1]
    area = (EDGES[1] - EDGES[0]) ** 2
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum() * area)


def missed(result, means=((1.0, 0.0), (0.0, 1.0))):
    """Where an interval of a result misses that curve; six, each with a false alarm of 1e-6."""
    points = [(e, b, result.delta(e, b, 1.0 - 1e-6)) for e in (0.0, 0.4, 0.8) for b in (0, 1)]
    return [(e, b) for e, b, at in points if not at.lower <= delta_of_two(e, b, means) <= at.upper]
