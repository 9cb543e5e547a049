"""Runs of a mechanism, and the law of the best of them."""

import math

import numpy as np

from simulator.teaching.mechanisms.best_of import best_of_law


def best_pair(on_0, on_1, runs):
    """The two laws of the best run, whose outcomes have ascending scores."""
    return tuple(best_of_law(law, range(len(law)), runs) for law in (on_0, on_1))


def random_runs(draws, epsilon):
    """A random epsilon-DP pair: randomized response through a random channel, in random order."""
    channel = draws.dirichlet(np.full(4, 0.4), size=2)
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    on_0 = truth * channel[0] + (1.0 - truth) * channel[1]
    on_1 = (1.0 - truth) * channel[0] + truth * channel[1]
    return on_0, on_1
