"""A lower bound on the ratio of two probabilities, from a fixed number of pairs of draws.

Let x be 1 if a draw of the first kind hits, with probability p, and y the same for the second, with
probability q, all independent. Of the pairs in which exactly one hits, it is the first with
probability w/(1 + w), w = p (1 - q)/(q (1 - p)) the odds ratio; so Clopper and Pearson's bound on a
binomial bounds w from below, exactly (McNemar 1947; Gart 1969). And w and p give the ratio,
p/q = p + w (1 - p), which grows with w and, where w > 1, falls with p.
"""

from __future__ import annotations

import math

from simulator.analysis.estimation.intervals import proportion_lower, proportion_upper
from simulator.engine.outcomes.samples import error_level

_SHARE = 0.05
"""The share of the error level for the upper bound on p, which matters little."""


def log_ratio_lower(
    only_first: int, only_second: int, hits: int, pairs: int, confidence: float = 0.95
) -> float:
    """A lower bound on ln(p/q), at least 0.

    Parameters
    ----------
    only_first, only_second : the pairs in which the first, or the second, alone hits.
    hits : the pairs in which the first hits.
    pairs : the number of pairs; it and the event are fixed in advance.
    confidence : the probability that the bound holds is at least this, for all p and q.

    Raises InvalidInput.
    """
    alpha = error_level(confidence)
    highest = proportion_upper(hits, pairs, _SHARE * alpha)
    if only_first + only_second == 0:
        return 0.0
    share = proportion_lower(only_first, only_first + only_second, (1.0 - _SHARE) * alpha)
    if share <= 0.5:
        return 0.0
    return math.log(highest + share / (1.0 - share) * (1.0 - highest))
