"""The audit on the standard suite in small: what is broken is flagged, what is not is not.

Seeds are fixed. A correct mechanism is flagged with probability at most 1e-4 per row.
"""

import pytest

from experiments.suite.mechanisms import STANDARD
from simulator.auditing import audit

CORRECT = ("laplace", "snapping-laplace", "truncated-geometric")
BROKEN = ("sparse-vector-5", "laplace-floats", "noisy-histogram-2")


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("name", [*CORRECT, *BROKEN])
def test_verdicts(name):
    entry = STANDARD[name]
    found = audit(
        entry.sample, pairs=entry.pairs, claimed=entry.claimed, samples=40_000,
        confidence=1 - 1e-4, seed=1,
    )  # fmt: skip
    assert found.violated == (name in BROKEN)
    assert found.epsilon <= entry.law.epsilon(*entry.pairs[found.pair_number])
