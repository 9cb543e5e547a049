"""Whether the answers of two calls are the same by chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence


def surprise(answers: Sequence[Hashable], earlier: Sequence[Hashable]) -> float:
    """-ln of the probability that a call begins as an earlier one; -inf where it does not.

    The law of an answer is estimated by the earlier ones, so it is 0 if these are all the same.
    """
    some = min(len(answers), len(earlier))
    if list(answers[:some]) != list(earlier[:some]):
        return -math.inf
    counts = Counter(earlier)
    return math.fsum(-math.log(counts[answer] / len(earlier)) for answer in answers[:some])
