"""A pair of laws that dominates an interactive mechanism, from its worst adversaries.

With alpha = e^epsilon, H(alpha) = delta(epsilon) of the worst adversary is convex, falls from
H(0) = 1, and is E_Q[(U - alpha)_+] for a ratio U of some pair: a change of slope of H at alpha is
Q's mass of U = alpha. Straight lines between points of H are above it, so the pair that is read
off a few points dominates, whatever the points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism
from simulator.theory.laws.finite import FiniteLaw
from simulator.worst.conversations import worst_conversation


def dominating_law(
    mechanism: InteractiveMechanism,
    database_0: Database,
    database_1: Database,
    *,
    epsilons: Sequence[float],
    experiment: int = 0,
    relation: Relation = ADD_REMOVE,
) -> FiniteLaw:
    """The law of the loss of a pair that dominates the mechanism, against every adversary.

    Its delta is that of the worst adversary at the ``epsilons``, and above it between them.
    Mechanisms that are played concurrently are dominated by the product of such pairs (Vadhan and
    Zhang 2023), so composing these laws bounds every interleaving.

    Raises
    ------
    InvalidInput : ``epsilons`` are empty or not finite.
    NotApplicable : see :func:`~simulator.worst.worst_conversation`.

    >>> from simulator import Database, PureDP, counting_query
    >>> from simulator.mechanisms import ResponseTree, randomized_response_tree
    >>> from simulator.worst import dominating_law
    >>> root = randomized_response_tree([0.1, 0.2])
    >>> tree = ResponseTree(counting_query("alice"), root, PureDP(0.3))
    >>> law = dominating_law(tree, Database(), Database(["alice"]), epsilons=[0.0, 0.1, 0.2])
    >>> round(law.delta(0.1), 6)
    0.052324
    """
    points = sorted({finite("epsilon", epsilon) for epsilon in epsilons})
    if not points:
        raise InvalidInput("a dominating law needs at least one epsilon")
    heights = [
        worst_conversation(
            mechanism, database_0, database_1,
            epsilon=epsilon, experiment=experiment, relation=relation,
        ).delta.upper
        for epsilon in points
    ]  # fmt: skip
    return law_of_curve(points, heights)


def law_of_curve(epsilons: Sequence[float], deltas: Sequence[float]) -> FiniteLaw:
    """The law of the pair whose delta is straight in e^epsilon between these points.

    ``epsilons`` ascend; ``deltas`` are of one convex curve, up to rounding. Beyond the last
    epsilon the curve counts as constant: its delta is the probability of an infinite loss.
    """
    alphas = np.array([0.0, *(math.exp(epsilon) for epsilon in epsilons)])
    heights = np.array([1.0, *deltas])
    heights = np.maximum(heights, 1.0 - alphas)
    slopes = np.append(np.diff(heights) / np.diff(alphas), 0.0)
    slopes = np.maximum.accumulate(np.clip(slopes, -1.0, 0.0))  # rounding may bend it
    masses = np.diff(slopes)
    on_1 = np.array([1.0 + slopes[0], *masses, 0.0])
    on_0 = np.append(alphas * on_1[:-1], 0.0)
    on_0[-1] = max(0.0, 1.0 - math.fsum(on_0))
    return FiniteLaw.from_probabilities(on_0 / math.fsum(on_0), on_1 / math.fsum(on_1))
