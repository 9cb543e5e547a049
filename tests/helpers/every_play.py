"""The law of the loss of a small game, by adding up every play with the step on numbers."""

import math

import numpy as np


def law_of_plays(rule, epsilons, rounds):
    """The losses of all plays of a rule without coins, and their probabilities in experiment 0.

    The menu is randomized response about Alice at these epsilons.
    """
    plays = [(rule.state, math.nan, 0.0, 1.0)]
    for i in range(rounds):
        longer = []
        for state, answer, loss, chance in plays:
            state, move = rule.step(state, i, answer, None)
            epsilon = epsilons[move]
            truth = 1.0 / (1.0 + math.exp(-epsilon))
            # in experiment 0 the database has nobody: the true answer is 0
            longer.append((state, 0.0, loss + epsilon, chance * truth))
            longer.append((state, 1.0, loss - epsilon, chance * (1.0 - truth)))
        plays = longer
    return np.array([play[2] for play in plays]), np.array([play[3] for play in plays])


def hockey_stick(law, epsilon):
    """The delta at ``epsilon`` of a law of losses."""
    losses, chances = law
    return math.fsum(chances * np.maximum(0.0, -np.expm1(epsilon - losses)))
